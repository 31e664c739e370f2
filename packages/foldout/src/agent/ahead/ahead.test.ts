import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  bySearch,
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  ok,
  openOrRead,
  openSections,
  readSection,
  runAgent,
  type AgentEvent,
  type AgentOptions,
  type AnyTool,
} from '../../entries/index.ts'
import { createHost } from '../../entries/disclosure.ts'
import type { OpenAhead } from '../../disclosure/ahead/rule.ts'
import { calls, says, scriptedAdapter, type ScriptStep, type ScriptedOptions } from '../../testing/scripted-adapter.ts'

const words = (what: string, count: number): string =>
  Array.from({ length: count }, (_, i) => `${what} rule ${i + 1} holds.`).join(' ')
const tool = (name: string, description: string): AnyTool =>
  defineTool({ name, description, params: z.object({ order: z.string() }), execute: () => ok('Done.') })
const refundOrder = tool('refund_order', 'Pays an order back.')
const trackParcel = tool('track_parcel', 'Finds out where a parcel is.')

const sections = [
  defineSection({ key: 'role', title: 'Role', template: words('Role', 300) }),
  defineSection({
    key: 'refunds',
    title: 'Refunds',
    template: `Money goes back to the card it came from. ${words('Refund', 60)}`,
    summary: 'How to pay money back.',
    visibility: 'summary',
    tools: [refundOrder],
    children: [
      defineSection({
        key: 'vouchers',
        title: 'Vouchers',
        template: `A voucher is never paid out. ${words('Voucher', 30)}`,
        summary: 'Vouchers and gift cards.',
        visibility: 'summary',
      }),
    ],
  }),
  defineSection({
    key: 'shipping',
    title: 'Shipping',
    template: `A parcel takes three days to be delivered. ${words('Shipping', 60)}`,
    summary: 'Parcels and delivery.',
    visibility: 'summary',
    tools: [trackParcel],
  }),
  defineSection({
    key: 'history',
    title: 'History',
    template: `Two sisters founded the shop. ${words('History', 60)}`,
    summary: 'Where the shop comes from.',
    visibility: 'summary',
  }),
] as const
const desk = definePrompt({ ns: 'shop', key: 'desk', sections }).bind()
const NOBODY = 0
const BUSY = 1e9

interface Ran {
  readonly adapter: ReturnType<typeof scriptedAdapter>
  readonly events: readonly AgentEvent[]
}

async function run(
  open: OpenAhead | undefined,
  options: Partial<AgentOptions> & {
    readonly script?: readonly ScriptStep[]
    readonly scripted?: ScriptedOptions
  } = {},
): Promise<Ran & Awaited<ReturnType<typeof runAgent>>> {
  const { script = [says('Done.')], scripted, ...rest } = options
  const adapter = scriptedAdapter(script, scripted)
  const events: AgentEvent[] = []
  const result = await runAgent(desk, {
    adapter,
    input: 'Where is my parcel?',
    ...(open === undefined ? {} : { open }),
    onEvent: (event) => events.push(event),
    ...rest,
  })
  return { ...result, adapter, events }
}

const getOpened = ({ events }: Ran) => events.flatMap((event) => (event.type === 'sections/opened' ? [event] : []))

describe('opening ahead', () => {
  it('R84 shows a section in the system text of the first request, with its tools, and adds no request', async () => {
    const done = await run(['refunds'], { perHour: NOBODY })
    const [request] = done.adapter.requests
    expect(done.adapter.requests).toHaveLength(1)
    expect(request?.system).toBe(desk.render({ visibility: { refunds: 'full' } }).text)
    expect(request?.tools).toEqual(['refund_order', 'read_section'])
    expect(getOpened(done)).toMatchObject([
      { rule: 'paths', keys: ['refunds'], paths: ['refunds'], tools: ['refund_order'], place: 'system', variants: 1 },
    ])
  })

  it('R84 shows it behind the message if the rest is warm and the variants are not, word for word', async () => {
    const done = await run(() => ['shipping'], { perHour: 12 })
    const [request] = done.adapter.requests
    expect(getOpened(done)).toMatchObject([{ place: 'message', keys: ['shipping'], variants: 5 }])
    expect(request?.system).toBe(desk.render().text)
    expect(request?.tools).toEqual(['read_section', 'track_parcel'])
    expect(request?.messages).toEqual([
      { role: 'user', text: 'Where is my parcel?' },
      {
        role: 'user',
        text: `These sections of your instructions are open now:\n\n# Shipping\n\nA parcel takes three days to be delivered. ${words('Shipping', 60)}\n\nCallable now: track_parcel.`,
      },
      { role: 'tools', names: ['track_parcel'] },
    ])
  })

  it('R79 opens by search if overrides say so, unless the run has its own rule', async () => {
    const overrides = { ahead: { max: 1 } }
    const done = await run(undefined, { overrides })
    expect(getOpened(done)).toMatchObject([{ rule: 'bySearch', keys: ['shipping'] }])
    expect(getOpened(await run([], { overrides }))).toMatchObject([{ keys: [] }])
    expect(getOpened(await run(['refunds'], { overrides }))).toMatchObject([{ keys: ['refunds'] }])
    // `null` as in overrides that were made by hand.
    for (const none of [{}, { ahead: null as never }])
      expect(getOpened(await run(undefined, { overrides: none }))).toEqual([])
    const host = createHost(desk, { overrides })
    const { events } = await host.at([]).openAhead(['Where is my parcel?'])
    expect(host.at(events).tools.map(({ name }) => name)).toContain('track_parcel')
    await expect(run(undefined, { overrides: { ahead: { max: -1 } } })).rejects.toMatchObject({ code: 'run-options' })
  })

  it('R84 opens around a nested section, and a tool of it can be called at once', async () => {
    const script = [calls('refund_order', { order: '17' }), says('Paid.')]
    const done = await run(['refunds.vouchers'], { script, perHour: NOBODY })
    expect(getOpened(done)).toMatchObject([{ keys: ['refunds.vouchers'], paths: ['refunds', 'refunds.vouchers'] }])
    expect(done.messages).toContainEqual(expect.objectContaining({ role: 'tool', text: 'Done.', isError: false }))
  })

  it('R84 asks the rule for each message of a chat, opens more behind it, and nothing twice', async () => {
    const session = createSession()
    const rule = (input: string): readonly string[] =>
      input.includes('money') ? ['refunds', 'shipping'] : ['shipping']
    const first = await run(rule, { session, perHour: BUSY })
    const second = await run(rule, { session, input: 'I want my money back.', perHour: BUSY })
    const third = await run(rule, { session, input: 'My money, please.', perHour: BUSY })
    expect(getOpened(first)).toMatchObject([{ keys: ['shipping'], place: 'system' }])
    expect(getOpened(second)).toMatchObject([{ keys: ['refunds'], place: 'message' }])
    expect(getOpened(third)).toMatchObject([{ keys: [], tools: [] }])
    const [before] = first.adapter.requests
    const [after] = second.adapter.requests
    expect(after?.system).toBe(before?.system)
    expect(after?.messages.slice(0, before?.messages.length)).toEqual(before?.messages)
    const texts = third.messages.map((message) => ('text' in message ? message.text : '')).join('\n')
    expect(texts.split('Money goes back to the card').length - 1).toBe(1)
    expect(third.messages.at(-2)).toEqual({ role: 'user', text: 'My money, please.' })
  })

  it('R84 uses the system text if tools cannot be added, also later in a chat', async () => {
    const session = createSession()
    const scripted = { supportsDynamicTools: false }
    const first = await run(() => [], { session, scripted })
    const second = await run(() => ['refunds'], { session, scripted })
    expect(first.adapter.requests[0]?.tools).toEqual(['read_section'])
    expect(second.adapter.requests[0]?.tools).toEqual(['refund_order', 'read_section'])
    expect(second.adapter.requests[0]?.system).toContain('Money goes back to the card')
  })

  it('R84 goes on without a rule that throws, lies or never answers a cancelled run', async () => {
    const problems = async (open: OpenAhead): Promise<readonly string[]> =>
      (await run(open)).events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))
    expect(await problems(() => Promise.reject(new Error('No model.')))).toEqual([
      'The rule that opens sections ahead failed: No model.',
    ])
    expect(await problems((() => 'refunds') as never)).toEqual([
      'The rule that opens sections ahead did not return a list of paths.',
    ])
    expect(await problems(['refund', '__proto__'])).toEqual([
      "There is no section 'refund' to open ahead.",
      "There is no section '__proto__' to open ahead.",
    ])
    const cancel = new AbortController()
    const stuck = run(
      () => {
        cancel.abort()
        return new Promise(() => undefined)
      },
      { signal: cancel.signal },
    )
    await expect(stuck).rejects.toMatchObject({ code: 'run-aborted' })
    await expect(run(17 as never)).rejects.toThrow(/open is 17\. Pass 'all', a list of paths, or a rule/)
  })

  it('R84 leaves a run without input alone', async () => {
    const asked: string[] = []
    const script = [calls('nothing'), says('Done.')]
    const stopped = await run(undefined, { script, stopWhen: () => true })
    const rule = (input: string): readonly string[] => {
      asked.push(input)
      return []
    }
    await runAgent(desk, { adapter: scriptedAdapter([says('Done.')]), state: stopped.state, open: rule })
    expect(asked).toEqual([])
  })
})

describe('bySearch()', () => {
  const find = async (input: string, options?: Parameters<typeof bySearch>[0]) =>
    getOpened(await run(bySearch(options), { input, perHour: NOBODY }))[0]?.keys

  it.each([
    ['I want my money back', ['refunds']],
    ['Where is my parcel? It should have been delivered yesterday.', ['shipping']],
    ['Who founded this shop?', ['history']],
    ['Can I pay with a voucher?', ['refunds.vouchers']],
    ['', []],
    ['???', []],
    ['\u0000\uD800', []],
  ])('R84 opens what fits: %j', async (input, keys) => {
    expect(await find(input)).toEqual(keys)
  })

  it('R84 opens several, within a budget', async () => {
    const input = 'Refund my parcel: the delivery is late, and I want the money back.'
    expect(await find(input, { max: 1 })).toHaveLength(1)
    expect(await find(input, { max: 1, budget: 100 })).toEqual([])
    const [both] = getOpened(await run(bySearch({ max: 3, budget: 20_000, minFit: 'weak' }), { input }))
    expect(both?.tokens).toBeLessThanOrEqual(20_000)
  })

  it('R84 refuses options that would be no limit', () => {
    expect(() => bySearch({ budget: Number.NaN })).toThrow(/budget is NaN/)
    expect(() => bySearch({ minFit: 'best' as never })).toThrow(/minFit is 'best'/)
  })

  it('R84 costs at most its budget, whatever the input', async () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 400 }),
      fc.constantFrom(
        'refund '.repeat(600_000),
        `${'('.repeat(100_000)}refund`,
        'Wo ist mein Paket?',
        'お金を返してください',
        'أريد استرداد نقودي',
        '__proto__ constructor refunds.vouchers role',
      ),
    )
    await fc.assert(
      fc.asyncProperty(hostile, fc.integer({ min: 0, max: 600 }), async (input, budget) => {
        const [opened] = getOpened(await run(bySearch({ max: 2, budget, minFit: 'weak' }), { input }))
        expect(opened?.tokens).toBeLessThanOrEqual(budget)
        expect(opened?.keys.length).toBeLessThanOrEqual(2)
      }),
      { numRuns: 40 },
    )
  })
})

describe('what opening ahead keeps', () => {
  const paths = ['refunds', 'refunds.vouchers', 'shipping', 'history'] as const
  const bodies = {
    refunds: 'Money goes back to the card',
    'refunds.vouchers': 'A voucher is never paid out',
    shipping: 'A parcel takes three days',
    history: 'Two sisters founded the shop',
  }

  it('R31 R84 shows the same texts and tools as openings by the model, each text once', async () => {
    const strategies = [readSection(), openSections(), openOrRead()] as const
    await fc.assert(
      fc.asyncProperty(
        fc.subarray([...paths]),
        fc.subarray([...paths]),
        fc.constantFrom(...strategies),
        fc.boolean(),
        fc.constantFrom(NOBODY, 12, BUSY),
        async (ahead, later, disclosure, supportsDynamicTools, perHour) => {
          const opened = new Set<string>(ahead.flatMap((key) => [key.split('.')[0] ?? key, key]))
          const script: ScriptStep[] = []
          for (const key of later) {
            if (opened.has(key)) continue
            const isRead = key === 'history' || (key === 'refunds.vouchers' && opened.has('refunds'))
            const reads = disclosure.name === 'readSection' || (disclosure.name === 'openOrRead' && isRead)
            if (reads) script.push(calls('read_section', { section_key: key }))
            else script.push(calls('open_sections', { section_keys: [key], reason: '' }))
            for (const path of [key.split('.')[0] ?? key, key]) opened.add(path)
          }
          const scripted = { supportsDynamicTools }
          const shown = await run(() => ahead, { script: [...script, says('Done.')], disclosure, perHour, scripted })
          const last = shown.adapter.requests.at(-1)
          const text = [last?.system, ...(last?.messages ?? []).map((each) => ('text' in each ? each.text : ''))].join(
            '\n',
          )
          const isAppended = supportsDynamicTools && disclosure.name === 'readSection'
          for (const path of paths) {
            const times = text.split(bodies[path]).length - 1
            // A restart shows in the system text what earlier results also have.
            expect(Math.min(times, isAppended ? Infinity : 1)).toBe(opened.has(path) ? 1 : 0)
          }
          expect(last?.tools.includes('refund_order')).toBe(opened.has('refunds'))
          expect(last?.tools.includes('track_parcel')).toBe(opened.has('shipping'))
        },
      ),
      { numRuns: 100 },
    )
  })

  it('R84 keeps the beginning of 50 conversations byte for byte: all of it, or all with the same choice', async () => {
    const inputs = Array.from(
      { length: 50 },
      (_, i) => `${['Pay my money back', 'Where is my parcel', 'Who founded the shop'][i % 3]} ${i}?`,
    )
    for (const perHour of [0.5, 12, BUSY]) {
      const starts = new Map<string, Set<string>>()
      const systems = new Set<string>()
      const shared = new Set<string>()
      for (const input of inputs) {
        const done = await run(bySearch(), { input, perHour })
        const [opened] = getOpened(done)
        const start = JSON.stringify([done.adapter.requests[0]?.system, done.state.start?.tools])
        systems.add(start)
        const choice = `${opened?.place} ${opened?.keys.join()}`
        starts.set(choice, (starts.get(choice) ?? new Set()).add(start))
        if (opened?.place === 'message') shared.add(done.adapter.requests[0]?.system ?? '')
      }
      shared.delete(desk.render().text)
      expect(shared.size).toBe(0)
      for (const alike of starts.values()) expect(alike.size).toBe(1)
      expect(systems.size).toBeLessThanOrEqual(perHour === 12 ? 1 : 3)
    }
  })

  it('R84 chooses the same for equal inputs', async () => {
    const ask = async () => getOpened(await run(bySearch({ max: 2 }), { input: 'My parcel is lost, refund it.' }))
    const [first] = await ask()
    for (let i = 0; i < 5; i++) expect((await ask())[0]).toEqual(first)
  })
})
