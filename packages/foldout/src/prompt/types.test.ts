import { type } from 'arktype'
import { describe, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import {
  defineParams,
  definePrompt,
  defineSection,
  defineTool,
  md,
  ok,
  type AnySection,
  type BoundPrompt,
} from '../entries/index.ts'
import type { OutputSpec, Printable } from '../entries/prompt.ts'

describe('types', () => {
  const leaf = defineSection({ key: 'leaf', title: 'L', template: '${a} and ${b}' })
  const outer = defineSection({
    key: 'outer',
    title: 'O',
    params: z.object({ n: z.coerce.number<string>() }),
    children: [leaf],
    visibility: ({ n }) => (expectTypeOf(n).toEqualTypeOf<number>(), 'full'),
  })

  it('R8 bind takes the values that the sections need, in the input form of their schemas', () => {
    const prompt = definePrompt({
      ns: 't',
      key: 't',
      sections: [outer, defineSection({ key: 'x', title: 'X', template: md`${'b'}`, summary: '${c}' })],
    })
    expectTypeOf(prompt.bind)
      .parameter(0)
      .toEqualTypeOf<{ n: string; readonly a: Printable; readonly b: Printable; readonly c: Printable }>()
    // Binds some values first and the others later.
    expectTypeOf(prompt.bind({ n: '1', a: 1, b: 2, c: 3 }).bind).toBeCallableWith({ a: 2 })
  })

  it('R3 R13 render knows the paths', () => {
    const prompt = definePrompt({ ns: 't', key: 't', sections: [outer] })
    type Options = NonNullable<Parameters<ReturnType<typeof prompt.bind>['render']>[0]>
    expectTypeOf<keyof NonNullable<Options['visibility']>>().toEqualTypeOf<'outer' | 'outer.leaf'>()
    expectTypeOf(prompt.bind({ n: '1', a: 1, b: 2 }).render().summarized).toEqualTypeOf<
      readonly ('outer' | 'outer.leaf')[]
    >()
  })

  it('R8 a prompt without values needs none to bind', () => {
    const prompt = definePrompt({
      ns: 't',
      key: 't',
      sections: [defineSection({ key: 'a', title: 'A', template: '' })],
    })
    expectTypeOf(prompt.bind).toBeCallableWith()
  })

  it('R8 sections assembled at run time accept any values', () => {
    const sections: AnySection[] = [leaf]
    expectTypeOf(definePrompt({ ns: 't', key: 't', sections }).bind).toBeCallableWith({ anything: 1 })
  })

  it('R17 the output is typed by its schema', () => {
    const prompt = definePrompt({
      ns: 't',
      key: 't',
      sections: [],
      output: type({ answer: 'string', 'sure?': 'boolean' }),
    })
    expectTypeOf(prompt.bind().render().output.parse).returns.toEqualTypeOf<{ answer: string; sure?: boolean }>()
  })

  it("R18 a tool's params have the output type of its schema, or unknown for a raw JSON Schema", () => {
    defineTool({
      name: 'a',
      description: '',
      params: z.object({ n: z.string().transform(Number), d: z.string().default('x') }),
      execute: (params) => {
        expectTypeOf(params).toEqualTypeOf<{ n: number; d: string }>()
        return ok('')
      },
    })
    defineTool({
      name: 'b',
      description: '',
      params: { type: 'object', properties: { a: { type: 'string' } } },
      execute: (params) => {
        expectTypeOf(params).toEqualTypeOf<Readonly<Record<string, unknown>>>()
        return ok('')
      },
    })
    const tool = defineTool({ name: 'c', description: '', execute: () => ok('done', { count: 1 }) })
    expectTypeOf(tool.name).toEqualTypeOf<'c'>()
  })

  it('R5 900 placeholders are all known to the compiler', () => {
    type Repeat<
      Text extends string,
      Count extends number,
      Done extends unknown[] = [],
      All extends string = '',
    > = Done['length'] extends Count ? All : Repeat<Text, Count, [...Done, 0], `${All}${Text}`>
    type Long = `${Repeat<'some words ${a} ', 899>}\${last}`
    type Needs = Parameters<ReturnType<typeof defineSection<'k', Long>>['~needs'] & {}>[0]
    expectTypeOf<keyof Needs>().toEqualTypeOf<'a' | 'last'>()
  })

  it('R2 defineParams declares params by type alone', () => {
    const section = defineSection({
      key: 'a',
      title: 'A',
      params: defineParams<{ list: string[] }>(),
      render: ({ list }) => list.join(),
    })
    expectTypeOf(definePrompt({ ns: 't', key: 't', sections: [section] }).bind)
      .parameter(0)
      .toEqualTypeOf<{ list: string[] }>()
  })

  it('R12 R17 the output of a render follows the prompt', () => {
    const sections = [defineSection({ key: 'a', title: 'A', template: '' })]
    const plain = definePrompt({ ns: 't', key: 't', sections })
    expectTypeOf(plain.bind().render().output).toEqualTypeOf<undefined>()
    const raw = definePrompt({ ns: 't', key: 't', sections, output: { type: 'object' } })
    expectTypeOf(raw.bind().render().output.parse('{}')).toEqualTypeOf<unknown>()
    const typed = definePrompt({ ns: 't', key: 't', sections, output: z.array(z.number()) })
    expectTypeOf(typed.bind().bind({}).render().output.parse('[1]')).toEqualTypeOf<number[]>()
    const any: readonly BoundPrompt[] = [plain.bind(), raw.bind(), typed.bind()]
    expectTypeOf(any[0]!.render().output).toEqualTypeOf<OutputSpec<unknown> | undefined>()
  })
})
