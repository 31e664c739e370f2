import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  PromptRenderError,
  PromptValidationError,
  defineParams,
  definePrompt,
  defineSection,
  defineTool,
  fromJsonSchema,
  md,
  ok,
  type AnySection,
} from '../../entries/index.ts'

const prompt = (...sections: AnySection[]) => definePrompt({ ns: 'test', key: 'prompt', sections })
const tool = (name: string) => defineTool({ name, description: `Does ${name}.`, execute: () => ok('done') })

describe('keys and paths', () => {
  it.each(['Task', '_private', 'a.b', '', 'a b', 'é', 'a'.repeat(65), '-a'])('R3 rejects the key %j', (key) => {
    expect(() => defineSection({ key, title: 'T', template: '' })).toThrow(PromptValidationError)
    expect(() => definePrompt({ ns: 'ok', key, sections: [] })).toThrow(PromptValidationError)
  })

  it.each(['a', '0', 'step-1', 'a_b', 'a'.repeat(64)])('R3 accepts the key %j', (key) => {
    expect(
      prompt(defineSection({ key, title: 'T', template: 'x' }))
        .bind()
        .render().nodes[0]!.path,
    ).toBe(key)
  })

  it('R3 joins paths with dots and rejects two siblings with the same key', () => {
    const twice = () => [
      defineSection({ key: 'a', title: 'One', template: '' }),
      defineSection({ key: 'a', title: 'Two', template: '' }),
    ]
    expect(() => prompt(...twice())).toThrow("Two sections have the path 'a'.")
    expect(() => prompt(defineSection({ key: 'top', title: 'T', children: twice() }))).toThrow(
      "Two sections have the path 'top.a'.",
    )
    const same = defineSection({ key: 'a', title: 'A', template: '' })
    const fine = prompt(
      defineSection({ key: 'x', title: 'X', children: [same] }),
      defineSection({ key: 'y', title: 'Y', children: [same] }),
    )
    expect(
      fine
        .bind()
        .render()
        .nodes.map((node) => node.path),
    ).toEqual(['x', 'x.a', 'y', 'y.a'])
  })

  it('R3 accepts 100 levels of sections and rejects more', () => {
    const nest = (levels: number): AnySection => {
      let section: AnySection = defineSection({ key: 's', title: 'T', template: 'The bottom.' })
      for (let i = 1; i < levels; i++) section = defineSection({ key: 's', title: 'T', children: [section] })
      return section
    }
    expect(prompt(nest(100)).bind().render().text).toContain('The bottom.')
    for (const levels of [101, 100_000]) {
      expect(() => prompt(nest(levels))).toThrow("The section 's' is nested deeper than 100 levels.")
    }
  })

  it('R3 a prompt has ns, key and name, and keeps their case', () => {
    expect(definePrompt({ ns: 'agents/support', key: 'triage', sections: [] })).toMatchObject({
      ns: 'agents/support',
      key: 'triage',
      name: 'triage',
    })
    expect(definePrompt({ ns: 'a', key: 'b', name: 'The B', sections: [] }).name).toBe('The B')
    for (const ns of ['', 'a//b', '/a', 'a/', 'A', 'a/B', '../a']) {
      expect(() => definePrompt({ ns, key: 'x', sections: [] })).toThrow(`'${ns}' cannot be the ns of a prompt.`)
    }
  })

  it('one section in two prompts keeps its definition and gets its own number and values in each', () => {
    const shared = defineSection({ key: 'shared', title: 'Shared', template: 'Hello ${name}' })
    const first = prompt(shared).bind({ name: 'Ada' })
    const second = prompt(defineSection({ key: 'a', title: 'A', template: '' }), shared).bind({ name: 'Bob' })
    expect(first.render().text).toBe('## 1 Shared\n\nHello Ada')
    expect(second.render().text).toBe('## 1 A\n\n## 2 Shared\n\nHello Bob')
    expect(first.render().text).toBe('## 1 Shared\n\nHello Ada')
    expect(Object.isFrozen(shared)).toBe(true)
    const clone = { ...shared }
    expect(prompt(clone).bind({ name: 'Cy' }).render().text).toBe('## 1 Shared\n\nHello Cy')
  })
})

describe('definitions', () => {
  it('R2 a section has a body by template or by a custom renderer, not both', () => {
    expect(() => defineSection({ key: 'a', title: 'A', template: 'x', render: () => 'y' })).toThrow(
      "Section 'a': it has both a template and a custom renderer.",
    )
  })

  it('R1 R6 a folded section needs a summary, and visibility is full or summary', () => {
    expect(() => defineSection({ key: 'a', title: 'A', template: '', visibility: 'summary' })).toThrow(
      "Section 'a': it is folded but has no summary.",
    )
    expect(() => defineSection({ key: 'a', title: 'A', template: '', visibility: 'ful' as never })).toThrow(
      "its visibility is 'ful'",
    )
  })

  it('R5 an unknown placeholder is rejected with path and name when the prompt is defined', () => {
    const bad = defineSection({
      key: 'bad',
      title: 'Bad',
      params: z.object({ objective: z.string() }),
      template: widened('Do ${objectve}'),
    })
    const error = thrownBy(() => prompt(defineSection({ key: 'top', title: 'Top', children: [bad] })))
    expect(error).toBeInstanceOf(PromptValidationError)
    expect(error).toMatchObject({ code: 'prompt-invalid', path: 'top.bad', placeholder: 'objectve' })
    expect((error as Error).message).toBe(
      "Section 'top.bad': its template names ${objectve}, which its params do not have. Its params are objective. Write $${ for a literal ${.",
    )
    const badSummary = defineSection({
      key: 'bad',
      title: 'Bad',
      template: '',
      params: type({ a: 'string' }),
      summary: widened('${b}'),
    })
    expect(thrownBy(() => prompt(badSummary))).toMatchObject({ path: 'bad', placeholder: 'b' })
  })

  it('R27 a custom suffix may contain only the section key', () => {
    expect(() =>
      defineSection({ key: 'a', title: 'A', template: '', summary: 's', summarySuffix: 'Read ${other}' }),
    ).toThrow('it can only contain ${section_key}')
  })

  it('R11 two tools with the same name are rejected, naming both paths', () => {
    const one = defineSection({ key: 'one', title: 'One', template: '', tools: [tool('look')] })
    const two = defineSection({
      key: 'two',
      title: 'Two',
      children: [defineSection({ key: 'in', title: 'In', template: '', tools: [tool('look')] })],
    })
    expect(() => prompt(one, two)).toThrow("Two tools are named 'look', in section 'one' and in section 'two.in'.")
  })

  it.each(['read_section', 'open_sections'])('R11 a tool cannot be named %s', (name) => {
    expect(() => prompt(defineSection({ key: 'a', title: 'A', template: '', tools: [tool(name)] }))).toThrow(
      `Tool '${name}' of section 'a' has the name of a disclosure tool`,
    )
  })
})

describe('values', () => {
  const schemas = {
    zod: z.object({ n: z.number(), greeting: z.string().default('Hi') }),
    arktype: type({ n: 'number', greeting: 'string = "Hi"' }),
    valibot: v.object({ n: v.number(), greeting: v.optional(v.string(), 'Hi') }),
    'zod, strict': z.strictObject({ n: z.number(), greeting: z.string().default('Hi') }),
    'JSON Schema': fromJsonSchema<{ n: number; greeting: string }>({
      type: 'object',
      properties: { n: { type: 'number' }, greeting: { type: 'string' } },
      required: ['n'],
    }),
  }
  it.each(Object.entries(schemas))(
    'R2 R8 params of %s are validated alongside the values of other sections',
    (name, params) => {
      const section = defineSection({
        key: 'a',
        title: 'A',
        params,
        template: '${greeting}, ${n}',
      }) as AnySection
      const other = defineSection({ key: 'b', title: 'B', template: '${other} ${n}' })
      const greeting = name === 'JSON Schema' ? { greeting: 'Hi' } : {}
      const bound = prompt(section, other).bind({ n: 3, other: 'x', ...greeting })
      expect(bound.render().text).toBe('## 1 A\n\nHi, 3\n\n## 2 B\n\nx 3')
      const error = thrownBy(() => prompt(section, other).bind({ n: 'three', other: 'x', ...greeting }))
      expect(error).toBeInstanceOf(PromptValidationError)
      expect(error).toMatchObject({ path: 'a', placeholder: 'n' })
    },
  )

  it('R5 a missing value fails the render that needs it, with path and placeholder', () => {
    const declared = prompt(
      defineSection({ key: 'a', title: 'A', params: z.object({ n: z.number() }), template: '${n}' }),
    )
    expect(thrownBy(() => declared.bind({}).render())).toMatchObject({
      code: 'prompt-render',
      path: 'a',
      placeholder: 'n',
      message: "Section 'a' cannot be rendered: 'n' is missing. Bind the value, or disable the section.",
    })
    const inferred = prompt(defineSection({ key: 'a', title: 'A', template: 'x ${n}' }))
    const error = thrownBy(() => inferred.bind({}).render())
    expect(error).toBeInstanceOf(PromptRenderError)
    expect(error).toMatchObject({
      path: 'a',
      placeholder: 'n',
      message: "Section 'a' cannot be rendered: the value 'n' is missing. Bind it.",
    })
    const typed = prompt(
      defineSection({ key: 'a', title: 'A', params: defineParams<{ n: number }>(), template: 'x ${n}' }),
    )
    expect(thrownBy(() => typed.bind({}).render())).toMatchObject({ path: 'a', placeholder: 'n' })
    expect(thrownBy(() => typed.bind({ n: { deep: 1 } }).render())).toMatchObject({
      message: "Section 'a' cannot be rendered: the value 'n' is an object. Bind a string, number or boolean.",
    })
  })

  it('R5 excess and mistyped values are rejected by bind', () => {
    const p = prompt(defineSection({ key: 'a', title: 'A', template: '${objective}' }))
    expect(() => p.bind({ objective: 'x', objectve: 'y' })).toThrow(
      "No section has a value 'objectve'. Did you mean 'objective'?",
    )
    expect(() => prompt().bind({ x: 1 })).toThrow("No section has a value 'x'. This prompt takes no values.")
    expect(() => p.bind({ objective: ['a'] })).toThrow("Section 'a': the value 'objective' is a list.")
    const withValibot = prompt(
      defineSection({ key: 'a', title: 'A', params: v.object({ n: v.number() }), template: '${n}' }),
    )
    expect(() => withValibot.bind({ n: 1, m: 2 })).toThrow("No section has a value 'm'.")
    const loose = prompt(
      defineSection({ key: 'a', title: 'A', params: z.looseObject({ n: z.number() }), template: '${n}' }),
    )
    expect(loose.bind({ n: 1, m: 2 }).render().text).toBe('## 1 A\n\n1')
  })

  it('R5 names of Object.prototype are not values', () => {
    const p = prompt(defineSection({ key: 'a', title: 'A', template: widened('${constructor} ${toString}') }))
    expect(thrownBy(() => p.bind().render())).toMatchObject({ placeholder: 'constructor' })
    expect(p.bind({ constructor: 'c', toString: 's' }).render().text).toBe('## 1 A\n\nc s')
  })

  it('R8 sections share values with the same name, and rebinding merges: later values win', () => {
    const p = definePrompt({
      ns: 'test',
      key: 'p',
      sections: [
        defineSection({ key: 'a', title: 'A', template: '${who} ${what}' }),
        defineSection({
          key: 'b',
          title: 'B',
          params: z.object({ who: z.string().transform((s) => s.toUpperCase()) }),
          template: '${who}',
        }),
      ],
    })
    const bound = p.bind({ who: 'ada', what: 'counts' })
    expect(bound.render().text).toBe('## 1 A\n\nada counts\n\n## 2 B\n\nADA')
    const again = bound.bind({ who: 'bob' })
    expect(again.render().text).toBe('## 1 A\n\nbob counts\n\n## 2 B\n\nBOB')
    expect(bound.render().text).toBe('## 1 A\n\nada counts\n\n## 2 B\n\nADA')
  })

  it('R2 a schema that validates asynchronously is rejected', () => {
    const params = z.object({ n: z.string().refine(async () => true) })
    const p = prompt(defineSection({ key: 'a', title: 'A', params, template: '${n}' } as never))
    expect(() => p.bind({ n: 'x' })).toThrow(/asynchronous/i)
  })

  it('R4 R5 a template accepts dates and lists only if they are formatted', () => {
    const params = z.object({ when: z.date(), name: z.string() })
    const p = prompt(
      defineSection({ key: 'a', title: 'A', params, render: ({ when, name }) => `${name} ${when.toISOString()}` }),
    )
    expect(p.bind({ when: new Date(0), name: 'x' }).render().text).toBe('## 1 A\n\nx 1970-01-01T00:00:00.000Z')
    expect(() => prompt(defineSection({ key: 'a', title: 'A', params, template: widened('${whn}') }))).toThrow(
      'which its params do not have',
    )
  })

  it('R4 md templates render like string templates', () => {
    const p = prompt(defineSection({ key: 'a', title: 'A', template: md`Costs $${'price'}.` }))
    expect(p.bind({ price: 5 }).render().text).toBe('## 1 A\n\nCosts $5.')
  })
})

/** A text that the compiler does not know, such as one read from a file. */
function widened(text: string): string {
  return text
}

function thrownBy(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  throw new Error('Nothing was thrown.')
}
