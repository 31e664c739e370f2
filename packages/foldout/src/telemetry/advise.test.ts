import { describe, expect, it } from 'vitest'
import { definePrompt, defineSection, openSections, type BoundPrompt } from '../entries/index.ts'
import { calls, callsAll, says, type ScriptStep } from '../testing/scripted-adapter.ts'
import { advise } from './advise.ts'
import { createRecorder } from './recorder.ts'
import type { RecordedRun, Recording } from './recording.ts'
import { runShop, shop as smallShop, words, type ShopRun } from './shop.fixtures.ts'

const format = (count: number): string => count.toLocaleString('en')

/** A shop with rules that are long enough for folding to pay off. */
const shop = (options: Parameters<typeof smallShop>[0] = {}) =>
  smallShop({ rulesText: 'rule '.repeat(1000), ...options })

const read = (...keys: string[]) => calls('read_section', { section_key: keys.join('.') })
const done = says('Done.')
const restarting = { scripted: { supportsDynamicTools: false } }

async function record(scripts: readonly (readonly ScriptStep[])[], options: ShopRun = {}): Promise<Recording> {
  const { bound = shop(), disclosure } = options
  const recorder = createRecorder({
    prompt: bound,
    input: 'Sell me a cake.',
    counter: words,
    ...(disclosure ? { disclosure } : {}),
  })
  for (const script of scripts) await runShop(script, { ...options, bound, onEvent: recorder.onEvent })
  return recorder.recording()
}

const getTotal = (runs: readonly RecordedRun[]): number =>
  runs
    .flatMap(({ requests }) => requests)
    .reduce((sum, each) => sum + each.systemTokens + each.toolTokens + each.conversationTokens + each.outputTokens, 0)

const adviceOn = (recording: Recording, type: string, bound: BoundPrompt<{}> = shop()) =>
  advise([recording], { prompt: bound }).filter((advice) => advice.type === type)

describe('advice', () => {
  // Two tools of the section are called, so offering one of them is not enough.
  const both = callsAll(['add', {}], ['clear', {}])
  const opening = [read('cart'), both, done]
  const without = [both, done]
  const forOneTool = [read('cart'), calls('add'), done]
  const idle = [calls('look'), done]

  it.each([
    ['without restarts', {}],
    ['with restarts', restarting],
  ])('R40 computes the exact saving of showing a section that most runs open, %s', async (_how, options) => {
    const before = await record([opening, opening, idle, opening], options)
    const after = await record([without, without, idle, without], { ...options, bound: shop({ cart: 'full' }) })
    const tokens = getTotal(before.runs) - getTotal(after.runs)
    const restarts = before.runs.flatMap((run) => run.restarts).length
    expect(tokens).toBeGreaterThan(0)
    const more = restarts > 0 ? `, 3 requests and 3 restarts` : ' and 3 requests'
    expect(adviceOn(before, 'show-section')).toEqual([
      {
        type: 'show-section',
        path: 'cart',
        tool: undefined,
        runs: 4,
        used: 3,
        saved: { tokens, requests: 3, restarts },
        message: `Show section 'cart' in full from the start: 3 of 4 runs opened it. Over these runs that would have saved ${format(tokens)} tokens${more}, counted without a prompt cache.`,
      },
    ])
  })

  it('R40 does not count a request as saved if it did more than open the section', async () => {
    const together = [callsAll(['look', {}], ['read_section', { section_key: 'cart' }]), both, done]
    const before = await record([together, together, together])
    const look = [callsAll(['look', {}]), both, done]
    const after = await record([look, look, look], { bound: shop({ cart: 'full' }) })
    const tokens = getTotal(before.runs) - getTotal(after.runs)
    expect(adviceOn(before, 'show-section')).toMatchObject([{ saved: { tokens, requests: 0, restarts: 0 } }])
  })

  it('R40 reports that fewer requests would have cost more tokens', async () => {
    const cartText = 'word '.repeat(600)
    const before = await record([opening, opening, opening, [...idle.slice(0, 1), ...idle]], {
      bound: shop({ cartText }),
    })
    const after = await record([without, without, without, [...idle.slice(0, 1), ...idle]], {
      bound: shop({ cart: 'full', cartText }),
    })
    const tokens = getTotal(before.runs) - getTotal(after.runs)
    expect(tokens).toBeLessThan(0)
    expect(adviceOn(before, 'show-section')).toMatchObject([
      {
        saved: { tokens, requests: 3, restarts: 0 },
        message: `Show section 'cart' in full from the start: 3 of 4 runs opened it. Over these runs that would have cost ${format(-tokens)} tokens more and saved 3 requests, counted without a prompt cache.`,
      },
    ])
  })

  it.each([
    ['alone', 'show-all', []],
    [
      'with a long one in it',
      'show-section',
      [
        defineSection({
          key: 'b',
          title: 'B',
          template: 'inner '.repeat(1000),
          summary: 's',
          visibility: 'summary',
        }),
      ],
    ],
  ])('R40 counts the opening tool as saved only if nothing is left to open: %s', async (_which, type, children) => {
    const only = (how: 'full' | 'summary') =>
      definePrompt({
        ns: 'shops',
        key: 'only',
        sections: [defineSection({ key: 'a', title: 'A', template: 'text', summary: 's', visibility: how, children })],
      }).bind() as BoundPrompt<{}>
    const before = await record(
      [
        [read('a'), done],
        [read('a'), done],
        [read('a'), done],
      ],
      { bound: only('summary') },
    )
    const after = await record([[done], [done], [done]], { bound: only('full') })
    const tokens = getTotal(before.runs) - getTotal(after.runs)
    expect(advise([before], { prompt: only('summary') })).toMatchObject([
      { type, saved: { tokens, requests: 3, restarts: 0 } },
    ])
  })

  it('R40 still counts openings inside a section if only the section itself is shown', async () => {
    const nested = [read('cart', 'coupons'), done]
    const recording = await record([nested, nested, nested], restarting)
    const [advice] = adviceOn(recording, 'show-section')
    expect(advice?.saved.restarts ?? 0).toBe(0)
  })

  it('R40 needs more than half of at least three runs', async () => {
    expect(adviceOn(await record([opening, opening]), 'show-section')).toEqual([])
    expect(adviceOn(await record([opening, opening, idle, idle]), 'show-section')).toEqual([])
    const three = await record([opening, opening, idle])
    expect(adviceOn(three, 'show-section')).toHaveLength(1)
    expect(advise([three], { prompt: shop(), minRuns: 4 })).toEqual([])
    const split = { version: 1, runs: three.runs.slice(0, 1) } as const
    const rest = { version: 1, runs: three.runs.slice(1) } as const
    expect(advise([split, rest], { prompt: shop() })).toEqual(advise([three], { prompt: shop() }))
  })

  it('R40 ignores runs of another prompt, and gives no advice that is already followed', async () => {
    const recording = await record([opening, opening, opening])
    expect(adviceOn(recording, 'show-section', shop({ cart: 'full' }))).toEqual([])
    expect(adviceOn(recording, 'offer-tool', shop({ cart: 'full' }))).toEqual([])
    const other = definePrompt({
      ns: 'shops',
      key: 'other',
      sections: [defineSection({ key: 'cart', title: 'Cart', template: 'x', summary: 'y', visibility: 'summary' })],
    }).bind() as BoundPrompt<{}>
    expect(advise([recording], { prompt: other })).toEqual([])
  })

  it('R40 computes the exact saving of folding a section that no run needed', async () => {
    const cartText = 'word '.repeat(100)
    const bound = shop({ cart: 'full', cartText })
    const unused = [[calls('look'), done], [done], [calls('look'), done]]
    const before = await record(unused, { bound })
    const after = await record(unused, { bound: shop({ cartText }) })
    const tokens = getTotal(before.runs) - getTotal(after.runs)
    expect(tokens).toBeGreaterThan(0)
    expect(adviceOn(before, 'fold-section', bound)).toEqual([
      {
        type: 'fold-section',
        path: 'cart',
        tool: undefined,
        runs: 3,
        used: 0,
        saved: { tokens, requests: 0, restarts: 0 },
        message: `Fold section 'cart' by default: none of its tools was called in 3 runs. Over these runs that would have saved ${format(tokens)} tokens, counted without a prompt cache.`,
      },
    ])
    const used = await record([...unused, [calls('add'), done]], { bound })
    expect(adviceOn(used, 'fold-section', bound)).toEqual([])
    const openedWithin = await record([...unused, [read('cart', 'coupons'), done]], { bound })
    expect(adviceOn(openedWithin, 'fold-section', bound)).toEqual([])
  })

  it('R40 advises once for a section and the sections inside it', async () => {
    const template = 'word '.repeat(200)
    const inner = defineSection({ key: 'inner', title: 'Inner', template, summary: 's' })
    const bound = definePrompt({
      ns: 'shops',
      key: 'nested',
      sections: [defineSection({ key: 'outer', title: 'Outer', template, summary: 's', children: [inner] })],
    }).bind() as BoundPrompt<{}>
    const recording = await record([[done], [done], [done]], { bound })
    expect(advise([recording], { prompt: bound }).map(({ path }) => path)).toEqual(['outer'])
  })

  it('R40 suggests a summary for a large section without one, and says what it cannot know', async () => {
    const long = 'word '.repeat(600)
    const bound = definePrompt({
      ns: 'shops',
      key: 'long',
      sections: [
        defineSection({ key: 'story', title: 'Story', template: long, summary: 'A story.' }),
        defineSection({ key: 'terms', title: 'Terms', template: long }),
        defineSection({ key: 'short', title: 'Short', template: 'short' }),
      ],
    }).bind() as BoundPrompt<{}>
    const before = await record([[done], [done], [done]], { bound })
    const [first, second, ...others] = advise([before], { prompt: bound })
    expect(others).toEqual([])
    const opener = before.runs[0]!.disclosureTools[0]!.tokens
    const summary = before.runs[0]!.sections[0]!.summaryTokens!
    const unknown = 'by default: it has no tools, and nothing in 3 runs shows whether its text was needed.'
    expect(first).toMatchObject({
      path: 'terms',
      saved: { tokens: 3 * (603 - opener) },
      message: `Fold section 'terms' ${unknown} Over these runs that would have saved ${format(3 * (603 - opener))} tokens, counted without a prompt cache. It has no summary yet: write one, whose cost is not counted here.`,
    })
    const saved = 3 * (603 - summary - opener)
    expect(second).toMatchObject({
      path: 'story',
      saved: { tokens: saved },
      message: `Fold section 'story' ${unknown} Over these runs that would have saved ${format(saved)} tokens, counted without a prompt cache.`,
    })
    expect(advise([before], { prompt: bound, largeTokens: 604 }).map(({ path }) => path)).toEqual(['story'])
  })

  it('R40 computes the saving of offering a tool if most runs open its section only for the tool', async () => {
    const before = await record([forOneTool, forOneTool, forOneTool, idle], restarting)
    const [advice] = adviceOn(before, 'offer-tool')
    const tool = before.runs[0]!.sections[1]!.tools[0]!.tokens
    // The same runs with the section folded and the tool offered in each of their 8 requests. Here the tool is not
    // offered, so its calls get a different answer.
    const withoutOpening = [calls('add'), done]
    const folded = await record([withoutOpening, withoutOpening, withoutOpening, idle])
    const answers = folded.runs
      .flatMap((run) => run.toolCalls)
      .filter(({ name }) => name === 'add')
      .reduce((sum, { resultTokens }) => sum + resultTokens - words.count('Added to it.'), 0)
    const tokens = getTotal(before.runs) - (getTotal(folded.runs) - answers + 8 * tool)
    expect(tokens).toBeGreaterThan(0)
    expect(advice).toMatchObject({
      type: 'offer-tool',
      path: 'cart',
      tool: 'add',
      runs: 4,
      used: 3,
      saved: { tokens, requests: 3, restarts: 3 },
    })
    expect(advice!.message).toBe(
      `Offer tool 'add' from the start, as a core tool in a section that is shown in full: 3 of 4 runs called it after opening 'cart'. If the section's text is not needed to call it, over these runs that would have saved ${format(advice!.saved.tokens)} tokens, 3 requests and 3 restarts, counted without a prompt cache.`,
    )
    expect(adviceOn(before, 'offer-tool')).toHaveLength(1)
  })

  it('R40 still counts an opening for a tool if other tools of the section were called too', async () => {
    expect(adviceOn(await record([opening, opening, opening], restarting), 'offer-tool')).toEqual([])
  })

  it('R40 advises either to show a section or to offer its tool, whichever saves more', async () => {
    const paths = (bound: BoundPrompt<{}>, recording: Recording) =>
      advise([recording], { prompt: bound }).map(({ type, path, tool }) => [type, path, tool])
    const long = shop({ cartText: 'word '.repeat(100) })
    const longRuns = await record([forOneTool, forOneTool, forOneTool], { ...restarting, bound: long })
    expect(paths(long, longRuns)).toEqual([['offer-tool', 'cart', 'add']])
    const short = shop({ cartText: 'Cart.' })
    const shortRuns = await record([opening, opening, opening], { ...restarting, bound: short })
    expect(paths(short, shortRuns)).toEqual([['show-section', 'cart', undefined]])
  })

  it.each([
    ['without restarts', {}],
    ['with restarts', restarting],
  ])('R40 says first that folding costs more than it saves, and by how much, %s', async (_how, options) => {
    const script = [read('cart'), read('rules'), read('cart', 'coupons'), both, done]
    const before = await record([script, script, idle], { ...options, bound: smallShop() })
    const everything = smallShop({ cart: 'full', others: 'full' })
    const after = await record([without, without, idle], { ...options, bound: everything })
    const tokens = getTotal(before.runs) - getTotal(after.runs)
    const restarts = before.runs.flatMap((run) => run.restarts).length
    expect(tokens).toBeGreaterThan(0)
    const share = Math.round((tokens / getTotal(after.runs)) * 100)
    const [first, ...others] = advise([before], { prompt: smallShop() })
    const more = restarts > 0 ? `, 6 requests and ${restarts} restarts` : ' and 6 requests'
    expect(first).toEqual({
      type: 'show-all',
      path: undefined,
      tool: undefined,
      runs: 3,
      used: 2,
      saved: { tokens, requests: 6, restarts },
      message: `Folding costs more than it saves in this prompt: 2 of 3 runs opened sections, and all of them together took ${share} % more tokens than with every section shown in full from the start. Showing every section from the start would have saved ${format(tokens)} tokens${more}, counted without a prompt cache.`,
    })
    // Showing one of them is part of it.
    expect(others).toEqual([])
  })

  it('R40 does not advise to show everything if folding pays off, nothing is folded, or there are too few runs', async () => {
    const script = [read('cart'), both, done]
    const paying = await record([script, idle, idle])
    expect(adviceOn(paying, 'show-all')).toEqual([])
    const two = await record([script, script], { bound: smallShop() })
    expect(advise([two], { prompt: smallShop() })).toEqual([])
    const flat = definePrompt({
      ns: 'shops',
      key: 'flat',
      sections: [defineSection({ key: 'a', title: 'A', template: 'Text.' })],
    }).bind() as BoundPrompt<{}>
    expect(advise([await record([[done], [done], [done]], { bound: flat })], { prompt: flat })).toEqual([])
  })

  it('R40 puts the biggest saving first, whatever the order of the runs', async () => {
    const fold = (key: string, template: string) =>
      defineSection({ key, title: key, template, summary: 's', visibility: 'summary' })
    const sections = [fold('a', 'short'), fold('b', 'not so short'), fold('c', 'long '.repeat(1000))]
    const bound = definePrompt({ ns: 'shops', key: 'three', sections }).bind() as BoundPrompt<{}>
    const some = [read('a'), read('b'), done]
    const recording = await record([some, [read('a'), done], some], { bound })
    const advice = advise([recording], { prompt: bound })
    expect(advice.map(({ path }) => path)).toEqual(['a', 'b'])
    const savings = advice.map(({ saved }) => saved.tokens)
    expect(savings).toEqual(savings.toSorted((a, b) => b - a))
    const turned = { version: 1, runs: recording.runs.toReversed() } as const
    expect(advise([turned], { prompt: bound })).toEqual(advice)
  })

  it('R40 works for a strategy that always restarts', async () => {
    const ask = [calls('open_sections', { section_keys: ['cart', 'rules'], reason: '' }), both, done]
    const recording = await record([ask, ask, ask], { disclosure: openSections() })
    const shown = adviceOn(recording, 'show-section')
    // Showing one of two sections that are opened together does not avoid a restart.
    expect(shown.filter(({ saved }) => saved.restarts + saved.requests > 0)).toEqual([])
    const alone = [calls('open_sections', { section_keys: ['cart'], reason: '' }), both, done]
    const single = await record([alone, alone, alone], { disclosure: openSections() })
    expect(adviceOn(single, 'show-section')).toMatchObject([{ saved: { restarts: 3, requests: 3 } }])
  })
})
