import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  ok,
  readSection,
  type AnySection,
  type TokenCounter,
} from '../../entries/index.ts'
import { visibility } from '../../entries/session.ts'
import { getBound, shapes } from '../../testing/sections.fixtures.ts'

/** One token per word, so figures can be checked by hand. */
const words: TokenCounter = { name: 'words', exact: true, count: (text) => text.split(/\s+/).filter(Boolean).length }
const sentence = (n: number) => Array.from({ length: n }, (_, i) => `w${i}`).join(' ')
const section = (key: string, size: number, options: { priority?: number; children?: AnySection[] } = {}) =>
  defineSection({
    key,
    title: key.toUpperCase(),
    template: sentence(size),
    summary: `About ${key}.`,
    ...options,
  })
const bound = (...sections: AnySection[]) => definePrompt({ ns: 'test', key: 'p', sections, counter: words }).bind()

describe('R41 tokens', () => {
  it('R12 R41 every node and the prompt know their cost, and name the counter', () => {
    const look = defineTool({ name: 'look', description: 'Looks around.', execute: () => ok('') })
    const rendered = bound(
      defineSection({ key: 'a', title: 'A', template: 'one two three', tools: [look] }),
      defineSection({
        key: 'b',
        title: 'B',
        template: sentence(100),
        summary: 'short',
        visibility: 'summary',
        tools: [{ ...look, name: 'peek' }],
      }),
    ).render()
    expect(rendered.nodes[0]!.tokens).toBe(6)
    const tools = rendered.tools.reduce(
      (sum, { name, description, inputSchema }) =>
        sum + words.count(JSON.stringify({ name, description, inputSchema })),
      0,
    )
    expect(rendered.tokens).toEqual({
      text: words.count(rendered.text),
      tools,
      total: words.count(rendered.text) + tools,
      exact: true,
      counter: 'words',
    })
    expect(rendered.tokensIfAllOpen).toMatchObject({ text: 6 + 103, exact: true })
    expect(definePrompt({ ns: 'test', key: 'p', sections: [] }).bind().render().tokens).toEqual({
      text: 0,
      tools: 0,
      total: 0,
      exact: false,
      counter: 'tokenx',
    })
  })

  it('R41 tokensIfAllOpen leaves out disabled sections and the disclosure tools', () => {
    const rendered = bound(
      section('a', 10),
      defineSection({ key: 'off', title: 'Off', template: sentence(500), enabled: () => false }),
    ).render({
      visibility: { a: 'summary' },
    })
    expect(rendered.tokensIfAllOpen).toMatchObject({ text: 13, tools: 0 })
  })

  it('R41 counts each text once', () => {
    let counted = 0
    const counter: TokenCounter = { name: 'n', exact: false, count: () => ++counted }
    const rendered = definePrompt({ ns: 'test', key: 'p', sections: [section('a', 3)], counter })
      .bind()
      .render()
    void rendered.tokens
    const after = counted
    void rendered.tokens
    expect(counted).toBe(after)
  })

  it('R41 a suffix can show the cost of opening', () => {
    const child = defineSection({ key: 'c', title: 'C', template: 'x y z' })
    const b = bound(
      defineSection({
        key: 'a',
        title: 'A',
        template: 'one two',
        summary: 's',
        visibility: 'summary',
        children: [child],
      }),
    )
    const text = b.render({ disclosure: readSection({ showCost: true }) }).text
    // `## 1 A one two` and `### 1.1 C x y z`
    expect(text.split('\n').at(-1)).toBe('[Opening it costs 11 tokens.]')
    const estimated = definePrompt({
      ns: 'test',
      key: 'p',
      sections: [section('a', 300)],
      disclosure: readSection({ showCost: true }),
    })
    expect(estimated.bind().render({ visibility: { a: 'summary' } }).text).toMatch(
      /\n\[Opening it costs about \d+ tokens\.\]$/,
    )
  })
})

describe('R41 a budget', () => {
  it('R41 folds the least important sections first, and records which and why', () => {
    const b = bound(section('keep', 100, { priority: 2 }), section('some', 100, { priority: 1 }), section('least', 100))
    expect(b.render({ budget: { tokens: 400 } }).summarized).toEqual([])
    const rendered = b.render({ budget: { tokens: 300 } })
    expect(rendered.summarized).toEqual(['least'])
    expect(rendered.tokens.total).toBeLessThanOrEqual(300)
    expect(rendered.trace).toEqual([
      {
        type: 'budget-folded',
        path: 'least',
        priority: 0,
        saved: 84,
        message: "Section 'least' (priority 0) was folded to fit 300 tokens; that saves 84.",
      },
    ])
    expect(b.render({ budget: { tokens: 200 } }).summarized).toEqual(['some', 'least'])
  })

  it('R41 among equal priorities, folds the section that saves most first, then the later one', () => {
    expect(
      bound(section('a', 100), section('b', 120), section('c', 100)).render({ budget: { tokens: 300 } }).summarized,
    ).toEqual(['b'])
    expect(bound(section('a', 100), section('b', 100)).render({ budget: { tokens: 190 } }).summarized).toEqual(['b'])
  })

  it('R41 never folds sections requested in full, their parents, or sections without a summary', () => {
    const inner = section('inner', 100)
    const b = bound(
      section('outer', 100, { children: [inner] }),
      defineSection({ key: 'bare', title: 'Bare', template: sentence(100) }),
      section('other', 100),
    )
    const session = createSession({ slices: [visibility.seed({ 'outer.inner': 'full' })] })
    const rendered = b.render({ session, budget: { tokens: 50 } })
    expect(rendered.summarized).toEqual(['other'])
    expect(rendered.trace.at(-1)).toEqual({
      type: 'budget-exceeded',
      budget: 50,
      tokens: rendered.tokens.total,
      message: `The prompt needs ${rendered.tokens.total} tokens and its budget is 50. Nothing more can be folded: the remaining sections were requested in full or have no summary.`,
    })
    expect(b.render({ visibility: { other: 'full' }, budget: { tokens: 50 } }).summarized).toEqual(['outer'])
  })

  it('R41 keeps a section open that was opened under a budget', async () => {
    const b = definePrompt({
      ns: 'test',
      key: 'p',
      sections: [section('a', 100), section('b', 100)],
      counter: words,
      budget: { tokens: 190 },
    }).bind()
    const session = createSession()
    expect(b.render({ session }).summarized).toEqual(['b'])
    session.dispatch(visibility.events.set({ path: 'b', visibility: 'full' }))
    expect(b.render({ session }).summarized).toEqual(['a'])
  })

  it('R41 is met whenever possible, the same way each time', () => {
    fc.assert(
      fc.property(shapes, fc.integer({ min: 0, max: 400 }), (sections, tokens) => {
        const rendered = getBound(sections).render({ budget: { tokens } })
        const isExceeded = rendered.trace.some(({ type }) => type === 'budget-exceeded')
        expect(rendered.tokens.total <= tokens).toBe(!isExceeded)
        expect(getBound(sections).render({ budget: { tokens } }).text).toBe(rendered.text)
      }),
    )
  })
})
