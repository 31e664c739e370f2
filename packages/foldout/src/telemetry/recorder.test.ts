import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import {
  FoldoutError,
  createSession,
  definePrompt,
  defineSection,
  openSections,
  runAgent,
  type AgentEvent,
} from '../entries/index.ts'
import { visibility } from '../entries/session.ts'
import { countedAdapter as scriptedAdapter } from '../testing/counted.fixtures.ts'
import { calls, callsAll, says, type ScriptStep } from '../testing/scripted-adapter.ts'
import { toolTokens } from '../tools/definition.ts'
import { createCounters } from './counters.ts'
import { createRecorder } from './recorder.ts'
import { type RecorderOptions } from './run-draft.ts'
import { readRecording, type RecordedRun, type Recording } from './recording.ts'
import { runShop, shop, words, type ShopRun } from './shop.fixtures.ts'

// Two runs are compared, and a run's state says when the model replied.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 0 }))
afterEach(() => void vi.useRealTimers())

const read = (key: string) => calls('read_section', { section_key: key })
const input = 'Sell me a cake.'
const open = (reason: string, ...keys: string[]) => calls('open_sections', { section_keys: keys, reason })

async function recorded(script: readonly ScriptStep[], options: ShopRun = {}): Promise<RecordedRun> {
  const { bound = shop(), disclosure } = options
  const recorder = createRecorder({ prompt: bound, input, counter: words, ...(disclosure ? { disclosure } : {}) })
  await runShop(script, { ...options, bound, onEvent: recorder.onEvent })
  const { runs } = recorder.recording()
  expect(runs).toHaveLength(1)
  return runs[0]!
}

/** The cost of the shop's tools, computed without the recorder. */
const price = (() => {
  const bound = shop()
  const everything = bound.render({ visibility: { cart: 'full' } as never })
  const prices = new Map(everything.tools.map((tool) => [tool.name, toolTokens(tool, words)]))
  return (...names: string[]) => names.reduce((sum, name) => sum + prices.get(name)!, 0)
})()

describe('a recording', () => {
  it('R40 contains the cost of each section open and folded, including nested sections', async () => {
    const { sections, disclosureTools, prompt, counter } = await recorded([says('Done.')])
    expect({ prompt, counter }).toEqual({
      prompt: { ns: 'shops', key: 'shop' },
      counter: { name: 'words', exact: true },
    })
    const { nodes } = shop().render({ counter: words, visibility: { history: 'summary' } as never })
    const summaryTokens = (path: string) => nodes.find((node) => node.path === path)!.tokens
    const tool = (name: string) => ({ name, tokens: price(name) })
    expect(sections).toEqual([
      { path: 'intro', visibility: 'full', fullTokens: 7, summaryTokens: null, tools: [tool('look'), tool('spoil')] },
      {
        path: 'cart',
        visibility: 'summary',
        fullTokens: 13,
        summaryTokens: summaryTokens('cart'),
        tools: [tool('add'), tool('clear')],
      },
      { path: 'cart.coupons', visibility: 'summary', fullTokens: 9, summaryTokens: 3 + 2 + 1 + 13, tools: [] },
      { path: 'rules', visibility: 'summary', fullTokens: 7, summaryTokens: summaryTokens('rules'), tools: [] },
      { path: 'history', visibility: 'full', fullTokens: 19, summaryTokens: summaryTokens('history'), tools: [] },
    ])
    expect(disclosureTools).toEqual([tool('read_section')])
  })

  it('R77 has the price of the run at the given rates, and counts the input that the run reports', async () => {
    const rates = { input: 3, output: 15 }
    const recorder = createRecorder({ prompt: shop(), counter: words, rates })
    await runShop([says('Done.')], { onEvent: recorder.onEvent })
    const [run] = readRecording(recorder.recording()).runs
    expect(run?.usd).toBeCloseTo((10 * 3 + 5 * 15) / 1e6, 12)
    expect(run?.requests[0]?.conversationTokens).toBe(words.count(input))
    const wrong = { prompt: shop(), rates: { input: 3 } as typeof rates }
    expect(() => createRecorder(wrong)).toThrow('rates.output is missing')
  })

  it('R40 contains the cost of the system text, tools, conversation and reply of each request, and of additions', async () => {
    const run = await recorded([read('cart'), calls('add'), says('It is done now.')])
    const { text } = shop().render({ counter: words })
    const initial = price('look', 'spoil', 'read_section')
    const later = initial + price('add', 'clear')
    // `# Cart`, its body, the coupons' summary, and 'Callable now: add, clear.'
    const content = 2 + 10 + 18 + 4
    const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, cacheWriteTokens: 0 }
    const common = { render: 0, systemTokens: words.count(text), outputTokens: 5, usage, retries: 0 }
    expect(run.requests).toEqual([
      {
        ...common,
        messages: 1,
        tools: ['look', 'spoil', 'read_section'],
        toolTokens: initial,
        conversationTokens: 4,
        addedTokens: 4,
      },
      {
        ...common,
        messages: 4,
        tools: ['look', 'spoil', 'read_section', 'add', 'clear'],
        toolTokens: later,
        conversationTokens: 4 + 2 + content,
        addedTokens: 2 + content,
      },
      {
        ...common,
        messages: 6,
        tools: ['look', 'spoil', 'read_section', 'add', 'clear'],
        toolTokens: later,
        conversationTokens: 4 + 2 + content + 2 + 3,
        addedTokens: 5,
      },
    ])
    expect(run.openings).toEqual([
      { callId: 'call-1-1', keys: ['cart'], request: 0, answeredBy: 'dynamic', tokens: 2 + content },
    ])
    expect(run.toolCalls).toEqual([
      {
        callId: 'call-1-1',
        name: 'read_section',
        ok: true,
        isDisclosure: true,
        request: 0,
        argumentsTokens: 1,
        resultTokens: content,
      },
      {
        callId: 'call-2-1',
        name: 'add',
        ok: true,
        isDisclosure: false,
        request: 1,
        argumentsTokens: 1,
        resultTokens: 3,
      },
    ])
    expect(run).toMatchObject({
      status: 'completed',
      errorType: null,
      restarts: [],
      usage: { inputTokens: 30, outputTokens: 15 },
    })
  })

  it('R40 contains each render with its sections, and each restart with the sections it opened', async () => {
    const script = [callsAll(['look', {}], ['open_sections', { section_keys: ['cart'], reason: 'x' }]), says('Done.')]
    const run = await recorded(script, { disclosure: openSections() })
    expect(run.renders.map(({ sections }) => sections.map(({ path, visibility }) => `${path} ${visibility}`))).toEqual([
      ['intro full', 'cart summary', 'rules summary', 'history full'],
      ['intro full', 'cart full', 'cart.coupons summary', 'rules summary', 'history full'],
    ])
    const again = shop().render({ counter: words, disclosure: openSections(), visibility: { cart: 'full' } as never })
    expect(run.renders[1]).toMatchObject({ tokens: again.tokens, tokensIfAllOpen: again.tokensIfAllOpen })
    expect(run.renders[1]!.sections.map(({ tokens }) => tokens)).toEqual(again.nodes.map(({ tokens }) => tokens))
    expect(run.renders[1]!.tools.map(({ name }) => name)).toEqual(['look', 'spoil', 'add', 'clear', 'open_sections'])
    expect(run.requests.map(({ render }) => render)).toEqual([0, 1])
    expect(run.restarts).toEqual([{ keys: ['cart'], request: 0 }])
    // The name, the arguments, and 'Opened: cart. Its text is now in the system prompt, and its tools are in your tool list. Callable now: add, clear.'
    expect(run.openings).toEqual([
      { callId: 'call-1-2', keys: ['cart'], request: 0, answeredBy: 'restart', tokens: 1 + 1 + 22 },
    ])
  })

  it("R40 leaves the section's text out of the conversation when an adapter without dynamic tools restarts", async () => {
    const run = await recorded([read('cart'), says('Done.')], { scripted: { supportsDynamicTools: false } })
    expect(run.openings).toMatchObject([{ answeredBy: 'restart', tokens: 24 }])
    expect(run.requests.map(({ conversationTokens }) => conversationTokens)).toEqual([4, 28])
  })

  it('R40 contains how each run ended: stopped, failed, abandoned, or still running', async () => {
    const bound = shop()
    const recorder = createRecorder({ prompt: bound })
    const { onEvent } = recorder
    await runShop([calls('look'), says('Done.')], { bound, onEvent, maxTurns: 1 })
    await runShop([{ throws: new FoldoutError('adapter-refused', 'No: secret.') }], { bound, onEvent }).catch(
      () => undefined,
    )
    // This run never reports its end.
    const deaf = (event: AgentEvent): void => (event.type === 'run/failed' ? undefined : onEvent(event))
    await runShop([{ throws: new TypeError('Bad.') }], { bound, onEvent: deaf }).catch(() => undefined)
    const during: number[] = []
    await runShop([says('Done.')], {
      bound,
      onEvent(event: AgentEvent) {
        onEvent(event)
        during.push(recorder.recording().runs.length)
      },
    })
    const { runs } = recorder.recording()
    expect(runs.map(({ status, errorType }) => [status, errorType])).toEqual([
      ['stopped', null],
      ['failed', 'adapter-refused'],
      ['unfinished', null],
      ['completed', null],
    ])
    expect(new Set(during)).toEqual(new Set([4]))
    expect(runs[1]!.requests).toMatchObject([{ usage: null, outputTokens: 0 }])
    expect(JSON.stringify(runs)).not.toContain('secret')
  })

  it('R40 R66 contains the outcome of an approval, and ends a run that waits', async () => {
    const bound = shop()
    const session = createSession()
    const recorder = createRecorder({ prompt: bound })
    const counters = createCounters()
    const onEvent = (event: AgentEvent): void => {
      recorder.onEvent(event)
      counters.onEvent(event)
    }
    const adapter = scriptedAdapter([callsAll(['look', {}], ['spoil', {}]), says('Done.')])
    const options = { adapter, session, onEvent, needsApproval: () => true }
    const { approvals } = await runAgent(bound, { ...options, input: 'Sell me a cake.' })
    await runAgent(bound, { ...options, approvals: approvals.map((request, i) => ({ ...request, approved: i === 1 })) })
    const { runs } = readRecording(JSON.parse(JSON.stringify(recorder.recording())))
    expect(runs.map(({ status }) => status)).toEqual(['waiting', 'completed'])
    expect(
      runs.map(({ toolCalls }) => toolCalls.map(({ name, approval, ok: isOk }) => [name, approval, isOk])),
    ).toEqual([
      [
        ['look', 'waiting', null],
        ['spoil', 'waiting', null],
      ],
      [
        ['look', 'denied', false],
        ['spoil', 'approved', false],
      ],
    ])
    expect(counters.read()).toMatchObject({ 'foldout.tools.calls': 2, 'foldout.tools.failures': 2 })
  })

  it('R40 counts an answer that the model had to fix as part of the same run', async () => {
    const bound = definePrompt({
      ns: 'shops',
      key: 'judge',
      sections: [defineSection({ key: 'task', title: 'Task', template: 'Judge.' })],
      output: z.object({ verdict: z.string() }),
    }).bind()
    const recorder = createRecorder({ prompt: bound, counter: words })
    let refusal = ''
    await runAgent(bound, {
      adapter: scriptedAdapter([says('I say yes.'), says('{"verdict":"yes"}')]),
      onEvent(event) {
        recorder.onEvent(event)
        if (event.type === 'output/refused') refusal = event.message
      },
    })
    const { runs } = recorder.recording()
    expect(runs).toHaveLength(1)
    expect(runs[0]).toMatchObject({ status: 'completed', restarts: [] })
    expect(runs[0]!.requests.map(({ addedTokens }) => addedTokens)).toEqual([0, 3 + words.count(refusal)])
  })

  it('R40 does not change after it was returned, while the run continues', async () => {
    const bound = shop()
    const recorder = createRecorder({ prompt: bound })
    const given: [Recording, string][] = []
    await runShop([read('cart'), calls('add'), says('Done.')], {
      bound,
      onEvent(event) {
        recorder.onEvent(event)
        given.push([recorder.recording(), JSON.stringify(recorder.recording())])
      },
    })
    for (const [recording, then] of given) expect(JSON.stringify(recording)).toBe(then)
  })

  it('R40 distinguishes sections folded by default from sections folded by a budget', async () => {
    const bound = definePrompt({
      ns: 'shops',
      key: 'tight',
      sections: [defineSection({ key: 'a', title: 'A', template: 'word '.repeat(400), summary: 'Words.' })],
      budget: { tokens: 300 },
    }).bind()
    const recorder = createRecorder({ prompt: bound, counter: words })
    await runAgent(bound, { adapter: scriptedAdapter([says('Done.')]), counter: words, onEvent: recorder.onEvent })
    const [run] = recorder.recording().runs
    expect(run!.sections).toMatchObject([{ path: 'a', visibility: 'full', fullTokens: 403 }])
    expect(run!.renders[0]!.sections).toMatchObject([{ path: 'a', visibility: 'summary' }])
  })

  it('R40 distinguishes sections open by default from sections opened earlier in the session', async () => {
    const bound = shop()
    const session = createSession({ slices: [visibility.seed({ cart: 'full' })] })
    const recorder = createRecorder({ prompt: bound, session, counter: words })
    await runShop([says('Done.')], { bound, session, onEvent: recorder.onEvent })
    const [run] = recorder.recording().runs
    expect(run!.sections.find(({ path }) => path === 'cart')!.visibility).toBe('summary')
    expect(run!.renders[0]!.sections.find(({ path }) => path === 'cart')!.visibility).toBe('full')
    expect(run!.openings).toEqual([])
  })

  it('R40 contains no text of the prompt or the conversation', async () => {
    const run = JSON.stringify(
      await recorded([open('a secret', 'cart'), says('An answer.')], { disclosure: openSections() }),
    )
    for (const content of ['secret', 'An answer', 'kind', 'keep a shop', 'Sell']) expect(run).not.toContain(content)
  })

  it('R40 never changes the run, even if the recorder throws', async () => {
    const scripts: readonly (readonly ScriptStep[])[] = [
      [read('cart'), calls('add'), read('rules'), says('Done.')],
      [callsAll(['look', {}], ['read_section', { section_key: 'cart' }], ['spoil', {}]), says('Done.')],
      [read('cart.coupons'), read('nowhere'), says('Done.')],
    ]
    const broken: RecorderOptions['prompt'] = {
      prompt: shop().prompt,
      render: () => {
        throw new Error('broken render')
      },
    }
    for (const script of scripts)
      for (const supportsDynamicTools of [true, false]) {
        const scripted = { supportsDynamicTools }
        const plain = await runShop(script, { scripted })
        const bound = shop()
        const { onEvent } = createRecorder({ prompt: bound, counter: words, disclosure: openSections() })
        expect(await runShop(script, { scripted, bound, onEvent })).toEqual(plain)
        const breaking = createRecorder({ prompt: broken })
        expect(await runShop(script, { scripted, bound: shop(), onEvent: breaking.onEvent })).toEqual(plain)
      }
  })

  it('R40 survives JSON unchanged; anything else is rejected with the location of the fault', async () => {
    const run = await recorded([read('cart'), says('Done.')])
    const recording = { version: 1, runs: [run] } as const
    const json = (): { runs: Record<string, unknown[]>[] } => JSON.parse(JSON.stringify(recording))
    expect(readRecording(json())).toEqual(recording)
    const refused = (value: unknown) => {
      try {
        return readRecording(value) && 'read'
      } catch (error) {
        return (error as FoldoutError).code === 'recording-invalid' && (error as FoldoutError).message
      }
    }
    expect(refused({ ...json(), version: 2 })).toMatch(
      /^This is not a recording of version 1: version must be 1\..*with this version of Foldout\.$/,
    )
    expect(refused('x')).toContain('This is not a recording of version 1: it is not an object. ')
    const wrong = json()
    delete (wrong.runs[0]!['requests']![1] as Record<string, unknown>)['toolTokens']
    expect(refused(wrong)).toContain(': runs[0].requests[1].toolTokens is required. Record')
    const lost = json()
    ;(lost.runs[0]!['requests']![0] as Record<string, unknown>)['render'] = 7
    expect(refused(lost)).toContain('runs[0].requests[0].render: there is no such render.')
    const astray = json()
    ;(astray.runs[0]!['openings']![0] as Record<string, unknown>)['request'] = 7
    expect(refused(astray)).toContain('runs[0].openings[0].request: there is no such request.')
  })
})

describe('recordings of openings ahead', () => {
  it('R84 say what was opened, where, at what cost, and whether it was used', async () => {
    const [used] = (await recorded([calls('add'), says('Sold.')], { open: ['cart'], perHour: 0 })).ahead ?? []
    expect(used).toMatchObject({ rule: 'paths', keys: ['cart'], tools: ['add', 'clear'], place: 'system', request: 0 })
    expect(used).toMatchObject({ isUsed: true, tokens: expect.any(Number) })
    const unused = await recorded([says('No.')], { open: ['cart', 'rules'], perHour: 0 })
    expect(unused.ahead).toMatchObject([{ keys: ['cart', 'rules'], isUsed: false }])
    expect((await recorded([says('No.')], { open: ['rules'], perHour: 0 })).ahead).toMatchObject([{ isUsed: null }])
    expect((await recorded([says('No.')])).ahead).toBeUndefined()
    const json = JSON.parse(JSON.stringify({ version: 1, runs: [unused] })) as Recording
    expect(readRecording(json)).toEqual(json)
  })
})
