import { describe, expect, it, vi } from 'vitest'
import {
  createSession,
  definePrompt,
  defineSection,
  defineSlice,
  defineTool,
  ok,
  openSections,
  type AnySection,
} from '../../entries/index.ts'
import { visibility, type SessionReader } from '../../entries/session.ts'
import { takeTurns } from '../../../../../test/turns.ts'

const prompt = (...sections: AnySection[]) => definePrompt({ ns: 'test', key: 'prompt', sections })
const bound = (...sections: AnySection[]) => prompt(...sections).bind()
const tool = (name: string) => defineTool({ name, description: `Does ${name}.`, execute: () => ok('done') })
const names = (rendered: { readonly tools: readonly { readonly name: string }[] }) =>
  rendered.tools.map(({ name }) => name)
const SUFFIX = (key: string) =>
  `---\n[This section is summarized. To view full content, call \`read_section\` with key "${key}".]`

// oxlint-disable-next-line unicorn/no-thenable -- a test is about thenables
const lateThenable = { then: (_: unknown, reject: (error: Error) => void) => reject(new Error('late')) }

const flag = defineSlice({ name: 'flag', initial: false, reducers: { raised: () => true, lowered: () => false } })

describe('text', () => {
  it('R9 walks depth-first with numbered headings that stop at six', () => {
    const deep = (depth: number): AnySection =>
      defineSection({
        key: `d${depth}`,
        title: `Depth ${depth}`,
        template: `Body ${depth}`,
        children: depth < 6 ? [deep(depth + 1)] : [],
      })
    expect(bound(defineSection({ key: 'first', title: 'First', template: 'One' }), deep(0)).render().text).toBe(
      [
        '## 1 First\n\nOne',
        '## 2 Depth 0\n\nBody 0',
        '### 2.1 Depth 1\n\nBody 1',
        '#### 2.1.1 Depth 2\n\nBody 2',
        '##### 2.1.1.1 Depth 3\n\nBody 3',
        '###### 2.1.1.1.1 Depth 4\n\nBody 4',
        '###### 2.1.1.1.1.1 Depth 5\n\nBody 5',
        '###### 2.1.1.1.1.1.1 Depth 6\n\nBody 6',
      ].join('\n\n'),
    )
  })

  it('R9 leaves a gap in the numbers for a disabled sibling', () => {
    const text = bound(
      defineSection({ key: 'a', title: 'A', template: 'x' }),
      defineSection({ key: 'b', title: 'B', template: 'x', enabled: () => false }),
      defineSection({ key: 'c', title: 'C', template: 'x' }),
    ).render().text
    expect(text).toBe('## 1 A\n\nx\n\n## 3 C\n\nx')
  })

  it('R9 a prompt can have its own headings', () => {
    const p = definePrompt({
      ns: 'test',
      key: 'p',
      sections: [
        defineSection({
          key: 'a',
          title: 'A',
          template: 'x',
          children: [defineSection({ key: 'b', title: 'B', template: '' })],
        }),
      ],
      heading: ({ title, number, depth, path }) => `<${depth} ${path} ${number} ${title}>`,
    })
    expect(p.bind().render().text).toBe('<0 a 1 A>\n\nx\n\n<1 a.b 1.1 B>')
  })

  it('R9 a blank body leaves only the heading', () => {
    const p = prompt(
      defineSection({ key: 'a', title: 'A', template: '' }),
      defineSection({ key: 'b', title: 'B', template: '${x}' }),
      defineSection({ key: 'c', title: 'C', render: () => '\n ' }),
    )
    expect(p.bind({ x: '  \n' }).render().text).toBe('## 1 A\n\n## 2 B\n\n## 3 C')
  })

  it('R2 R9 a custom renderer gets params and session, and omits the section by returning nothing', () => {
    const section = defineSection({
      key: 'a',
      title: 'A',
      render: (_, { session }) => (session.get(flag) ? 'Raised.' : undefined),
      tools: [tool('look')],
      children: [defineSection({ key: 'child', title: 'Child', template: 'c' })],
    })
    const b = bound(section, defineSection({ key: 'b', title: 'B', template: '' }))
    const session = createSession({ slices: [flag] })
    expect(b.render({ session }).text).toBe('## 2 B')
    expect(names(b.render({ session }))).toEqual([])
    session.dispatch(flag.events.raised())
    expect(b.render({ session }).text).toBe('## 1 A\n\nRaised.\n\n### 1.1 Child\n\nc\n\n## 2 B')
    expect(names(b.render({ session }))).toEqual(['look'])
  })

  it('R10 a folded section shows heading, summary and suffix, and none of its content', () => {
    const rendered = bound(
      defineSection({
        key: 'docs',
        title: 'Docs',
        template: 'Secret body',
        summary: 'Docs are available.',
        visibility: 'summary',
        tools: [
          defineTool({
            name: 'look',
            description: 'Looks.',
            examples: [{ description: 'Example', input: {}, output: 'seen' }],
            execute: () => ok(''),
          }),
        ],
        children: [defineSection({ key: 'api', title: 'Api', template: 'Secret child', tools: [tool('call')] })],
      }),
      defineSection({ key: 'end', title: 'End', template: 'Last.', tools: [tool('stop')] }),
    ).render()
    expect(rendered.text).toBe(`## 1 Docs\n\nDocs are available.\n\n${SUFFIX('docs')}\n\n## 2 End\n\nLast.`)
    expect(names(rendered)).toEqual(['stop', 'read_section'])
    expect(rendered.summarized).toEqual(['docs'])
  })

  it('R10 a blank summary leaves only the suffix', () => {
    const text = bound(
      defineSection({ key: 'a', title: 'A', template: '', summary: '', visibility: 'summary' }),
    ).render().text
    expect(text).toBe(`## 1 A\n\n${SUFFIX('a')}`)
  })

  it('R6 a summary is a template over the same params', () => {
    const p = prompt(
      defineSection({ key: 'a', title: 'A', template: '${x}', summary: 'About ${x} and ${y}.', visibility: 'summary' }),
    )
    expect(p.bind({ x: 'cats', y: 'dogs' }).render().text).toContain('About cats and dogs.')
  })

  it('R27 a section has its own suffix, with the section key in it', () => {
    const text = bound(
      defineSection({
        key: 'p',
        title: 'P',
        children: [
          defineSection({
            key: 'a',
            title: 'A',
            template: '',
            summary: 's',
            visibility: 'summary',
            summarySuffix: "Ask for '${section_key}' at $${5}.",
          }),
        ],
      }),
    ).render().text
    expect(text).toBe("## 1 P\n\n### 1.1 A\n\ns\n\n---\nAsk for 'p.a' at ${5}.")
  })

  it('R18 examples are below the body while the section is open', () => {
    const search = defineTool({
      name: 'search',
      description: 'Searches.',
      params: { type: 'object', properties: { q: { type: 'string' } } },
      examples: [
        { description: 'Find cats', input: { q: 'cats' }, output: 'Two cats.\nBoth gray.' },
        { description: 'Find nothing', input: {}, output: 'Nothing.' },
      ],
      execute: () => ok(''),
    })
    const section = (template: string) =>
      defineSection({ key: 'a', title: 'A', template, tools: [search], summary: 's' })
    const examples =
      'Examples of `search`:\n- Find cats\n  Input: {"q":"cats"}\n  Output: Two cats.\n  Both gray.\n- Find nothing\n  Input: {}\n  Output: Nothing.'
    expect(bound(section('Body.')).render().text).toBe(`## 1 A\n\nBody.\n\n${examples}`)
    expect(bound(section('')).render().text).toBe(`## 1 A\n\n${examples}`)
    expect(bound(section('Body.')).render({ visibility: { a: 'summary' } }).text).not.toContain('Examples')
  })
})

describe('enabled and visibility', () => {
  it('R7 a disabled section and everything below it are left out', () => {
    const visibilitySelector = vi.fn(() => 'full' as const)
    const childEnabled = vi.fn(() => true)
    const p = prompt(
      defineSection({
        key: 'off',
        title: 'Off',
        template: 'Needs ${missing}',
        enabled: () => false,
        visibility: visibilitySelector,
        tools: [tool('hidden')],
        children: [
          defineSection({
            key: 'child',
            title: 'Child',
            template: '${alsoMissing}',
            enabled: childEnabled,
            tools: [tool('deep')],
          }),
        ],
      }),
      defineSection({ key: 'on', title: 'On', template: '' }),
    )
    const rendered = p.bind({}).render()
    expect(rendered.text).toBe('## 2 On')
    expect(rendered.tools).toEqual([])
    expect(visibilitySelector).not.toHaveBeenCalled()
    expect(childEnabled).not.toHaveBeenCalled()
  })

  it('R7 selectors get the params and the session', () => {
    const p = definePrompt({
      ns: 'test',
      key: 'p',
      sections: [
        defineSection({
          key: 'a',
          title: 'A',
          template: 'full ${detail}',
          summary: 'short',
          enabled: ({ detail }) => detail !== 'none',
          visibility: ({ detail }, { session }) => (session.get(flag) || detail === 'all' ? 'full' : 'summary'),
        }),
      ],
    })
    const session = createSession({ slices: [flag] })
    expect(p.bind({ detail: 'none' }).render({ session }).text).toBe('')
    expect(p.bind({ detail: 'some' }).render({ session }).text).toContain('short')
    expect(p.bind({ detail: 'all' }).render({ session }).text).toBe('## 1 A\n\nfull all')
    session.dispatch(flag.events.raised())
    expect(p.bind({ detail: 'some' }).render({ session }).text).toBe('## 1 A\n\nfull some')
  })

  it('R7 without a session, selectors see the initial state of each slice', () => {
    const section = defineSection({
      key: 'a',
      title: 'A',
      template: '',
      enabled: (_, { session }) => session.get(flag),
    })
    expect(bound(section).render().text).toBe('')
  })

  it.each([
    ['enabled', { enabled: () => boom() }, "Section 'top.a': its `enabled` threw: boom"],
    ['visibility', { visibility: () => boom() }, "Section 'top.a': its `visibility` threw: boom"],
    ['render', { template: undefined, render: () => boom() }, "Section 'top.a': its `render` threw: boom"],
    [
      'visibility',
      { visibility: () => 'ful' },
      "Section 'top.a': its `visibility` returned 'ful'. It must return 'full' or 'summary'.",
    ],
    [
      'enabled',
      { enabled: () => Promise.resolve(true) },
      "Section 'top.a': its `enabled` returned a promise. It must return true or false.",
    ],
    ['render', { template: undefined, render: () => 5 }, "Section 'top.a': its `render` returned 5."],
  ])('R7 a fault in `%s` becomes a render error with the path: %#', (_, fault, message) => {
    const section = defineSection({ key: 'a', title: 'A', template: 'x', ...fault } as never)
    const render = () => bound(defineSection({ key: 'top', title: 'Top', children: [section] })).render()
    expect(render).toThrow(message)
    expect(render).toThrow(expect.objectContaining({ code: 'prompt-render', path: 'top.a' }))
  })

  it.each([
    ['enabled', { enabled: async () => Promise.reject(new Error('late')) }],
    ['visibility', { visibility: async () => Promise.reject(new Error('late')) }],
    ['render', { template: undefined, render: async () => Promise.reject(new Error('late')) }],
    ['enabled', { enabled: () => lateThenable }],
  ])('R7 an async `%s` that rejects becomes a render error, not an unhandled rejection', async (what, fault) => {
    const unhandled = vi.fn<() => void>()
    process.on('unhandledRejection', unhandled)
    const section = defineSection({ key: 'a', title: 'A', template: 'x', summary: 's', ...fault } as never)
    const folded = defineSection({ key: 'f', title: 'F', summary: 's', visibility: 'summary', children: [section] })
    const top = bound(defineSection({ key: 'top', title: 'Top', children: [section] }), folded)
    const error = expect.objectContaining({
      code: 'prompt-render',
      path: 'top.a',
      message: expect.stringContaining(`its \`${what}\` returned a promise. It must return`) as string,
    })
    expect(() => top.render()).toThrow(error)
    expect(() => top.render({ disclosure: openSections({ showCost: true }) })).toThrow(error)
    await takeTurns(5)
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })

  it('R9 a heading that is async or not a string is rejected, naming the section', async () => {
    const sections = [defineSection({ key: 'a', title: 'A', template: '' })]
    const define = (heading: unknown) => () =>
      definePrompt({ ns: 'test', key: 'prompt', sections, heading: heading as () => string })
    expect(define(async () => Promise.reject(new Error('late')))).toThrow(
      "The `heading` of the prompt returned a promise for section 'a'. It must return a string.",
    )
    expect(define(() => 1)).toThrow("returned a number for section 'a'")
    await takeTurns(5)
  })

  it('R6 requesting a summary that does not exist is rejected, naming the path', () => {
    const section = defineSection({ key: 'a', title: 'A', template: 'x' })
    const error = expect.objectContaining({
      code: 'prompt-invalid',
      path: 'a',
      message: "Section 'a' cannot be folded, because it has no summary. Give it a `summary`.",
    })
    expect(() => bound(section).render({ visibility: { a: 'summary' } })).toThrow(error)
    const session = createSession({ slices: [visibility.seed({ a: 'summary' })] })
    expect(() => bound(section).render({ session })).toThrow(error)
    expect(() =>
      bound(defineSection({ key: 'a', title: 'A', template: '', visibility: () => 'summary' })).render(),
    ).toThrow(error)
    expect(() => bound(section).render({ visibility: { a: 'ful' as never } })).toThrow(
      "The visibility requested for section 'a' is 'ful'.",
    )
  })

  it('R13 the session takes precedence over the caller, the caller over the section', () => {
    const b = bound(defineSection({ key: 'a', title: 'A', template: 'full', summary: 'short', visibility: 'summary' }))
    const shown = (options: Parameters<typeof b.render>[0]) => b.render(options).nodes[0]!.visibility
    const session = (asked: 'full' | 'summary') => createSession({ slices: [visibility.seed({ a: asked })] })
    expect(shown({})).toBe('summary')
    expect(shown({ visibility: { a: 'full' } })).toBe('full')
    expect(shown({ visibility: { a: 'full' }, session: session('summary') })).toBe('summary')
    expect(shown({ visibility: { a: 'summary' }, session: session('full') })).toBe('full')
    expect(shown({ visibility: { a: undefined } })).toBe('summary')
  })

  it('R13 a section may be named like a property of Object.prototype', () => {
    const b = bound(
      defineSection({ key: 'constructor', title: 'C', template: 'full', summary: 's', visibility: 'summary' }),
    )
    const session = createSession()
    expect(b.render({ session }).summarized).toEqual(['constructor'])
    session.dispatch(visibility.events.set({ path: 'constructor', visibility: 'full' }))
    expect(b.render({ session }).summarized).toEqual([])
    session.dispatch(visibility.events.cleared({ path: 'constructor' }))
    expect(b.render({ session }).summarized).toEqual(['constructor'])
  })

  it('R13 an override for a path that does not exist is ignored and traced', () => {
    const b = bound(defineSection({ key: 'a', title: 'A', template: 'x' }))
    const session = createSession({ slices: [visibility.seed({ gone: 'full' })] })
    const rendered = b.render({ session, visibility: { nope: 'summary' } })
    expect(rendered.text).toBe('## 1 A\n\nx')
    expect(rendered.trace).toEqual([
      {
        type: 'visibility-ignored',
        path: 'gone',
        by: 'session',
        message: "The session set the visibility of section 'gone', which does not exist.",
      },
      {
        type: 'visibility-ignored',
        path: 'nope',
        by: 'render',
        message: "The caller of render() set the visibility of section 'nope', which does not exist.",
      },
    ])
  })

  it('a child opened by an override stays hidden until its folded parent is open', () => {
    const b = bound(
      defineSection({
        key: 'p',
        title: 'P',
        template: 'p',
        summary: 's',
        visibility: 'summary',
        children: [defineSection({ key: 'c', title: 'C', template: 'c' })],
      }),
    )
    expect(b.render({ visibility: { 'p.c': 'full' } }).text).not.toContain('## 1.1 C')
    expect(b.render({ visibility: { p: 'full', 'p.c': 'full' } }).text).toBe('## 1 P\n\np\n\n### 1.1 C\n\nc')
  })
})

describe('tools and the rendered prompt', () => {
  const sections = [
    defineSection({
      key: 'a',
      title: 'A',
      template: 'Body of A.',
      tools: [tool('a1'), tool('a2')],
      children: [defineSection({ key: 'b', title: 'B', template: 'b', tools: [tool('b1')] })],
    }),
    defineSection({ key: 'c', title: 'C', template: 'c', summary: 's', visibility: 'summary', tools: [tool('c1')] }),
    defineSection({ key: 'd', title: 'D', template: 'd', tools: [tool('d1')] }),
  ]

  it('R11 lists tools in document order, and the disclosure tool last and only while it can open something', () => {
    expect(names(bound(...sections).render())).toEqual(['a1', 'a2', 'b1', 'd1', 'read_section'])
    expect(names(bound(...sections).render({ visibility: { c: 'full' } }))).toEqual(['a1', 'a2', 'b1', 'c1', 'd1'])
    expect(names(bound(...sections).render({ disclosure: openSections() }))).toEqual([
      'a1',
      'a2',
      'b1',
      'd1',
      'open_sections',
    ])
  })

  it('R12 describes each node and is immutable', () => {
    const deadline = new Date()
    const rendered = bound(...sections).render({ deadline })
    expect(
      rendered.nodes.map(({ path, depth, number, visibility, text, tools }) => ({
        path,
        depth,
        number,
        visibility,
        text,
        tools: tools.map((t) => t.name),
      })),
    ).toEqual([
      { path: 'a', depth: 0, number: '1', visibility: 'full', text: '## 1 A\n\nBody of A.', tools: ['a1', 'a2'] },
      { path: 'a.b', depth: 1, number: '1.1', visibility: 'full', text: '### 1.1 B\n\nb', tools: ['b1'] },
      { path: 'c', depth: 0, number: '2', visibility: 'summary', text: `## 2 C\n\ns\n\n${SUFFIX('c')}`, tools: [] },
      { path: 'd', depth: 0, number: '3', visibility: 'full', text: '## 3 D\n\nd', tools: ['d1'] },
    ])
    expect(rendered.text).toBe(rendered.nodes.map((node) => node.text).join('\n\n'))
    expect(rendered.nodes.every((node) => node.tokens > 0)).toBe(true)
    expect(rendered.deadline).toBe(deadline)
    expect(rendered.output).toBeUndefined()
    expect(rendered.descriptor.sections.map(({ path }) => path)).toEqual(['a', 'a.b', 'c', 'd'])
    for (const value of [
      rendered,
      rendered.tools,
      rendered.nodes,
      rendered.nodes[0],
      rendered.summarized,
      rendered.tokens,
      rendered.trace,
      rendered.descriptor,
    ]) {
      expect(Object.isFrozen(value)).toBe(true)
    }
    expect(() => Object.assign(rendered, { text: '' })).toThrow(TypeError)
    expect(() => Object.assign(rendered.nodes[0]!, { text: '' })).toThrow(TypeError)
  })

  it('R12 does not change when the session does', () => {
    const session = createSession()
    const rendered = bound(...sections).render({ session })
    session.dispatch(visibility.events.set({ path: 'c', visibility: 'full' }))
    expect(rendered.summarized).toEqual(['c'])
    expect(rendered.text).toContain(SUFFIX('c'))
    expect(names(rendered)).toContain('read_section')
  })

  it('R14 reuses every other node after one opening', () => {
    const b = bound(...sections)
    const session = createSession()
    const before = b.render({ session })
    const nodesBefore = [...before.nodes]
    session.dispatch(visibility.events.set({ path: 'c', visibility: 'full' }))
    const after = b.render({ session })
    for (const index of [0, 1, 3]) expect(after.nodes[index]).toBe(nodesBefore[index])
    expect(after.nodes[2]).not.toBe(nodesBefore[2])
    expect(after.text).toBe(
      prompt(...sections)
        .bind()
        .render({ session }).text,
    )
  })

  it('R14 processes the definition once: a heading function runs when the prompt is defined, not when it is rendered', () => {
    const heading = vi.fn(() => '#')
    const p = definePrompt({ ns: 'test', key: 'p', sections, heading })
    expect(heading).toHaveBeenCalledTimes(4)
    p.bind().render()
    p.bind().render({ visibility: { c: 'full' } })
    expect(heading).toHaveBeenCalledTimes(4)
  })

  it('R14 runs selectors again in each render', () => {
    let on = true
    const seen: SessionReader[] = []
    const b = bound(
      defineSection({ key: 'a', title: 'A', template: '', enabled: (_, { session }) => (seen.push(session), on) }),
      defineSection({ key: 'b', title: 'B', template: 'x' }),
    )
    expect(b.render().text).toBe('## 1 A\n\n## 2 B\n\nx')
    on = false
    expect(b.render().text).toBe('## 2 B\n\nx')
    expect(seen).toHaveLength(2)
  })
})

function boom(): never {
  throw new Error('boom')
}

describe('one tool in several sections', () => {
  const look = tool('look')
  const folded = (key: string, ...children: AnySection[]) =>
    defineSection({ key, title: key, template: 'x', summary: 's', visibility: 'summary', tools: [look], children })
  const open = (key: string) => defineSection({ key, title: key, template: 'x', tools: [look, tool(`use_${key}`)] })

  it('R11 is listed once, at the first open section', () => {
    const rendered = bound(open('one'), open('two')).render()
    expect(names(rendered)).toEqual(['look', 'use_one', 'use_two'])
    expect(rendered.nodes.map((node) => names(node))).toEqual([
      ['look', 'use_one'],
      ['look', 'use_two'],
    ])
    expect(rendered.tokensIfAllOpen).toEqual(rendered.tokens)
  })

  it('R11 is listed as soon as one section is open, and until then names a section to open', () => {
    const prompt = bound(folded('one'), folded('two', open('in')))
    const session = createSession()
    const first = prompt.render({ session })
    expect(names(first)).toEqual(['read_section'])
    expect([...first.toolsInFolds]).toEqual([
      ['look', 'one'],
      ['use_in', 'two.in'],
    ])
    session.dispatch(visibility.events.set({ path: 'two', visibility: 'full' }))
    const second = prompt.render({ session })
    expect(names(second)).toEqual(['look', 'use_in', 'read_section'])
    expect([...second.toolsInFolds]).toEqual([])
    expect(second.findSection('look')).toBe('two')
  })

  it('R11 R16 has one descriptor, and accepts an override unless one of its sections does not', () => {
    const both = prompt(open('one'), open('two'))
    expect(both.descriptor.tools.map(({ name, path }) => `${path} ${name}`)).toEqual([
      'one look',
      'one use_one',
      'two use_two',
    ])
    const closed = defineSection({
      key: 'closed',
      title: 'Closed',
      template: '',
      tools: [look],
      acceptsOverrides: false,
    })
    const { tools } = prompt(open('one'), closed).descriptor
    expect(tools.map(({ acceptsOverrides }) => acceptsOverrides)).toEqual([false, true])
    const hash = both.descriptor.tools[0]!.hash
    const rendered = both.bind().render({ overrides: { tools: { look: { hash, description: 'Other words.' } } } })
    expect(rendered.tools.map(({ description }) => description)).toEqual([
      'Other words.',
      'Does use_one.',
      'Does use_two.',
    ])
  })

  it('R11 may be named twice in one section', () => {
    expect(names(bound(defineSection({ key: 'a', title: 'A', template: '', tools: [look, look] })).render())).toEqual([
      'look',
    ])
  })
})
