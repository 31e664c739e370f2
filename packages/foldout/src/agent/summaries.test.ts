import { describe, expect, it } from 'vitest'
import { chatAdapter, NO_USAGE, type Compaction, type CompactionRequest } from '../entries/adapter.ts'
import {
  LimitReachedError,
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  ok,
  runAgent,
  type AgentEvent,
  type AgentOptions,
  type Message,
  type ProviderAdapter,
} from '../entries/index.ts'
import { visibility } from '../entries/session.ts'
import type { BeforeRequest, RequestPreview } from '../entries/results.ts'
import { calls, says, scriptedAdapter, type ScriptStep } from '../testing/scripted-adapter.ts'
import { findUnpaired } from './refold-runs.fixtures.ts'
import { findResult } from './loop/fold-tools.ts'

const report = defineTool({
  name: 'get_report',
  description: 'Returns a report.',
  params: { type: 'object', properties: { n: { type: 'integer' } } },
  execute: ({ n }) => ok(`report ${String(n)}: ${'many orders, none of them late. '.repeat(120)}`),
})
const refund = defineTool({
  name: 'refund_order',
  description: 'Refunds an order.',
  params: { type: 'object' },
  execute: () => ok('Refunded.'),
})
const REFUNDS = 'Refund within 30 days, in full, to the same card.'
const bound = definePrompt({
  ns: 'test',
  key: 'shop',
  sections: [
    defineSection({ key: 'task', title: 'Task', template: 'Read the reports.', tools: [report] }),
    defineSection({
      key: 'refunds',
      title: 'Refunds',
      summary: 'How to refund.',
      visibility: 'summary',
      template: REFUNDS,
      tools: [refund],
    }),
    defineSection({
      key: 'guide',
      title: 'Guide',
      summary: 'How to write.',
      visibility: 'summary',
      template: `Write short sentences. ${'Be kind to people. '.repeat(300)}`,
    }),
  ],
}).bind({})

const open = (key: string): ScriptStep => calls('read_section', { section_key: key })
const reports = (count: number, from = 0): ScriptStep[] =>
  Array.from({ length: count }, (_, n) => calls('get_report', { n: from + n }))

interface Ran {
  readonly requests: readonly { readonly messages: readonly Message[]; readonly tools: readonly string[] }[]
  readonly result: Awaited<ReturnType<typeof runAgent>>
  readonly events: readonly AgentEvent[]
}

async function run(
  script: readonly ScriptStep[],
  options: Partial<AgentOptions> = {},
  adapterChanges: Partial<ProviderAdapter> = {},
): Promise<Ran> {
  const events: AgentEvent[] = []
  const scripted = scriptedAdapter(script)
  const adapter: ProviderAdapter = { ...scripted, ...adapterChanges }
  const result = await runAgent(bound, {
    input: 'Go.',
    maxTurns: 200,
    onEvent: (event) => events.push(event),
    ...options,
    adapter,
  })
  return { requests: scripted.requests, result, events }
}

const toText = (messages: readonly Message[] = []): string =>
  messages.map((message) => ('text' in message ? message.text : '')).join('\n')

describe('R70 sections close', () => {
  it("a closed section's text leaves with the next fold, and its tools with it", async () => {
    const session = createSession()
    const script = [open('guide'), open('refunds'), ...reports(20), says('Done.')]
    let count = 0
    const { requests, events } = await run(script, {
      session,
      refold: { at: 12_000, keepTurns: 3 },
      onEvent: (event) => {
        if (event.type !== 'tool/invoked' || ++count !== 6) return
        session.dispatch(visibility.events.cleared({ path: 'guide' }))
        session.dispatch(visibility.events.cleared({ path: 'refunds' }))
      },
    })
    expect(events).toEqual([])
    const last = requests.at(-1)
    expect(toText(last?.messages)).not.toContain('Be kind to people')
    expect(toText(last?.messages)).not.toContain(REFUNDS)
    expect(toText(last?.messages)).toContain(
      '[read_section succeeded. The section was closed since; open it again if you need it.]',
    )
    expect(last?.tools).not.toContain('refund_order')
    expect(findUnpaired(last?.messages ?? [])).toBeUndefined()
  })

  it('its tools leave at once if the provider removes tools, and nothing that was sent changes', async () => {
    const session = createSession()
    const script = [
      open('refunds'),
      ...reports(2),
      calls('refund_order'),
      open('refunds'),
      calls('refund_order'),
      says('Done.'),
    ]
    let invoked = 0
    const { requests, result } = await run(
      script,
      {
        session,
        refold: { at: 1_000_000 },
        onEvent: (event) => {
          if (event.type === 'tool/invoked' && ++invoked === 2)
            session.dispatch(visibility.events.cleared({ path: 'refunds' }))
        },
      },
      { removesTools: true },
    )
    const removals = requests.at(-1)?.messages.filter((message) => message.role === 'tools')
    expect(removals).toEqual([
      { role: 'tools', names: ['refund_order'] },
      { role: 'tools', names: [], removed: ['refund_order'] },
      { role: 'tools', names: ['refund_order'] },
    ])
    for (const { messages } of requests) expect(requests.at(-1)?.messages.slice(0, messages.length)).toEqual(messages)
    const refunds = result.messages.filter((message) => message.role === 'tool' && message.name === 'refund_order')
    expect(refunds.map((message) => ('isError' in message ? message.isError : undefined))).toEqual([true, false])
    expect(refunds[0]).toHaveProperty('text', expect.stringContaining('read_section'))
  })

  it('a section that the model no longer uses closes, if that is wanted', async () => {
    const script = [
      open('refunds'),
      open('guide'),
      ...reports(12),
      calls('refund_order'),
      ...reports(12, 12),
      says('Done.'),
    ]
    const { requests, events } = await run(script, { refold: { at: 12_000, keepTurns: 3, closeAfter: 5 } })
    const folds = events.filter((event) => event.type === 'results/folded')
    expect(folds.flatMap(({ sections = [] }) => sections)).toEqual(expect.arrayContaining(['guide']))
    expect(toText(requests.at(-1)?.messages)).not.toContain('Be kind to people')
  })

  it('a section that is read again while open answers in one line where it is', async () => {
    const session = createSession()
    session.dispatch(visibility.events.set({ path: 'guide', visibility: 'full' }))
    const { result } = await run([open('refunds'), open('refunds'), open('guide'), says('Done.')], { session })
    const texts = result.messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []))
    expect(texts[0]).toContain(REFUNDS)
    expect(texts.slice(1)).toEqual([
      'Section is already expanded. Its text is above, where it was opened.',
      'Section is already expanded. Its text is in the system prompt.',
    ])
  })

  it('a section that was closed, folded and opened again by the application is shown again', async () => {
    const session = createSession()
    await run([open('refunds'), ...reports(3), says('Done.')], { session, refold: { at: 8_000 } })
    session.dispatch(visibility.events.cleared({ path: 'refunds' }))
    await run([...reports(14), says('Done.')], { session, refold: { at: 8_000, keepTurns: 2 } })
    session.dispatch(visibility.events.set({ path: 'refunds', visibility: 'full' }))
    const { requests } = await run([says('Done.')], { session, refold: { at: 8_000 } })
    expect(toText(requests[0]?.messages)).toContain(REFUNDS)
    expect(requests[0]?.tools).toContain('refund_order')
  })
})

describe('R71 what shortens a conversation keeps what is open', () => {
  const summarize = ({ messages }: { readonly messages: readonly Message[] }): string =>
    `There were ${messages.length}.`
  const script = [open('refunds'), ...reports(30), calls('refund_order'), says('Done.')]
  const small = { contextWindow: 12_000 }

  it("the user's summary", async () => {
    const options = { ...small, refold: { at: 11_900, summarize, minTokens: 100_000, largeTokens: 100_000 } }
    const { requests, result, events } = await run(script, options)
    const fold = events.find((event) => event.type === 'results/folded')
    expect(fold).toMatchObject({ reason: 'summary', callIds: [] })
    expect(requests.flatMap(({ messages }) => findUnpaired(messages) ?? [])).toEqual([])
    const last = requests.at(-1)
    expect(toText(last?.messages)).toContain(REFUNDS)
    expect(last?.tools).toEqual(expect.arrayContaining(['refund_order', 'read_result']))
    expect(result.messages.findLast(({ role }) => role === 'tool')).toMatchObject({
      name: 'refund_order',
      isError: false,
    })
    expect(findResult(result.messages, 'r2')?.text).toContain('report 0:')
  })

  it("the run's own model, on the messages that its provider has in its cache", async () => {
    const seen: (readonly Message[])[] = []
    let turn = 0
    const adapter = chatAdapter({
      name: 'own',
      model: 'own',
      async complete({ messages }) {
        seen.push([...messages])
        const last = messages.at(-1)
        const isSummary = last?.role === 'user' && last.text.startsWith('Summarize this conversation')
        if (isSummary)
          return {
            message: { role: 'assistant', text: 'SUMMARY', toolCalls: [] },
            usage: { ...NO_USAGE, outputTokens: 7 },
          }
        turn++
        if (turn > 25) return { message: { role: 'assistant', text: 'Done.', toolCalls: [] }, usage: NO_USAGE }
        const call =
          turn === 1
            ? { name: 'read_section', arguments: { section_key: 'refunds' } }
            : { name: 'get_report', arguments: { n: turn } }
        return {
          message: { role: 'assistant', text: '', toolCalls: [{ id: `call-${turn}`, ...call }] },
          usage: NO_USAGE,
        }
      },
    })
    const result = await runAgent(bound, {
      adapter,
      input: 'Go.',
      ...small,
      refold: { at: 11_900, summarize: 'model', minTokens: 100_000, largeTokens: 100_000 },
    })
    const at = seen.findIndex((messages) => toText(messages.slice(-1)).startsWith('Summarize this'))
    expect(at).toBeGreaterThan(0)
    expect(seen[at - 1]?.slice(0, (seen[at]?.length ?? 0) - 1)).toEqual(seen[at]?.slice(0, -1))
    expect(toText(seen.at(-1))).toContain('SUMMARY')
    expect(toText(seen.at(-1))).toContain(REFUNDS)
    expect(result.messages.some((message) => 'text' in message && message.text === 'SUMMARY')).toBe(false)
    expect(result.usage.outputTokens).toBeGreaterThanOrEqual(7)
  })

  it("the provider's compaction", async () => {
    const asked: CompactionRequest[] = []
    const compact = async (request: CompactionRequest): Promise<Compaction> => {
      asked.push(request)
      const native = { adapter: 'scripted', content: 'signed' }
      return { messages: [{ role: 'assistant', text: '', toolCalls: [], native }], usage: NO_USAGE, hasTools: true }
    }
    const options = { ...small, refold: { at: 11_900, minTokens: 100_000, largeTokens: 100_000 } }
    const { requests } = await run(script, options, { compact })
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.flatMap(({ messages }) => findUnpaired(messages) ?? [])).toEqual([])
    expect(requests.at(-1)?.messages[0]).toMatchObject({ role: 'assistant', native: { content: 'signed' } })
    expect(toText(requests.at(-1)?.messages)).toContain(REFUNDS)
  })

  it('a summary that fails or is empty leaves the conversation as it is', async () => {
    for (const failing of [() => '', () => Promise.reject(new Error('no model')), () => null as unknown as string]) {
      const options = { ...small, refold: { at: 11_900, summarize: failing, minTokens: 100_000, largeTokens: 100_000 } }
      const failure = await run(script, options).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(LimitReachedError)
    }
  })

  it('another process sends the same bytes after a summary, and can read every result', async () => {
    const session = createSession()
    const options = { ...small, refold: { at: 11_900, summarize, minTokens: 100_000, largeTokens: 100_000 } }
    await run(script, { ...options, session })
    const restored = createSession({ snapshot: JSON.parse(JSON.stringify(session.snapshot())) })
    const step = [calls('read_result', { result: 'r2', count: 1, max_tokens: 5 }), says('Done.')]
    const [one, other] = [await run(step, { ...options, session }), await run(step, { ...options, session: restored })]
    expect(JSON.stringify(one.requests)).toBe(JSON.stringify(other.requests))
    expect(one.result.messages.findLast(({ role }) => role === 'tool')).toHaveProperty(
      'text',
      expect.stringContaining('report 0'),
    )
  })
})

describe('R69 a hook decides before each request', () => {
  it('gets what would be sent, and folds results, closes sections and summarizes', async () => {
    const previews: RequestPreview[] = []
    const beforeRequest: BeforeRequest = (preview) => {
      previews.push(preview)
      if (previews.length === 6) return { results: ['call-2-1', 'none'], sections: ['refunds'] }
      return previews.length === 9 ? { summary: 'Six reports were read.' } : undefined
    }
    const { requests, events } = await run([open('refunds'), ...reports(10), says('Done.')], {
      beforeRequest,
      contextWindow: 50_000,
    })
    expect(previews).toHaveLength(12)
    expect(previews[0]).toMatchObject({ messages: [{ role: 'user', text: 'Go.' }], window: 50_000 })
    const folds = events.filter((event) => event.type === 'results/folded')
    expect(folds).toMatchObject([
      { reason: 'asked', callIds: expect.arrayContaining(['call-2-1']) },
      { reason: 'asked' },
    ])
    expect(toText(requests[5]?.messages)).toMatch(/\[get_report succeeded\./)
    expect(toText(requests[5]?.messages)).not.toContain(REFUNDS)
    expect(toText(requests.at(-1)?.messages)).toContain('Six reports were read.')
    expect(requests.flatMap(({ messages }) => findUnpaired(messages) ?? [])).toEqual([])
  })

  it('is refused if it is no function, and what it throws ends the run', async () => {
    await expect(run([says('Done.')], { beforeRequest: 'x' as never })).rejects.toThrow('beforeRequest')
    const beforeRequest = (): never => {
      throw new Error('no')
    }
    await expect(run([says('Done.')], { beforeRequest })).rejects.toThrow('no')
  })
})
