import { describe, expect, it } from 'vitest'
import {
  createMemoryStore,
  definePrompt,
  defineSection,
  defineTool,
  ok,
  openSession,
  runAgent,
  type AgentEvent,
  type AgentOptions,
  type AnyTool,
  type Message,
} from '../entries/index.ts'
import { defineRun, startRun, createLocalEngine } from '../entries/durable.ts'
import { agentRun, type SessionStore } from '../entries/session.ts'
import { calls, callsAll, says, scriptedAdapter, type ScriptStep } from '../testing/scripted-adapter.ts'
import { findUnpaired, projectAgain, readWhole } from './refold-runs.fixtures.ts'

const getText = (n: number): string => `report ${n}: ${`order ${n * 31} was late. `.repeat(150)}`
const report = defineTool({
  name: 'get_report',
  description: 'Returns a report.',
  params: { type: 'object' },
  annotations: { readOnlyHint: true },
  execute: ({ n }) => ok(getText(Number(n))),
})

/** A tool that a person has to approve, with a record of its calls. */
function createPayment(paid: unknown[]): AnyTool {
  return defineTool({
    name: 'pay',
    description: 'Pays.',
    params: { type: 'object' },
    needsApproval: true,
    execute: ({ n }) => {
      paid.push(n)
      return ok(`Paid ${String(n)}. ${getText(Number(n))}`)
    },
  })
}

const createPrompt = (...tools: AnyTool[]) =>
  definePrompt({
    ns: 'test',
    key: 'waiting',
    sections: [defineSection({ key: 'task', title: 'Task', template: 'Read the reports.', tools: [report, ...tools] })],
  }).bind({})

const refold = { at: 3_000, frees: 1_000, keepTurns: 2 }
const reports = (from: number, count: number): ScriptStep[] =>
  Array.from({ length: count }, (_, i) => {
    // The same ids in every process, as a provider would make them.
    const call = { id: `report-${from + i}`, name: 'get_report', arguments: { n: from + i } }
    return { calls: [call] }
  })

/** Checks that nothing is lost: the reports that the conversation has, by handle, and what requests send. */
async function checkAll(messages: readonly Message[], requests: readonly { readonly messages: readonly Message[] }[]) {
  const results = messages.filter((message) => message.role === 'tool')
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []))
  for (const [at, { callId, name, text }] of results.entries()) {
    if (name !== 'get_report') continue
    const args = calls.find(({ id }) => id === callId)?.arguments as { readonly n: number } | undefined
    expect(text).toBe(getText(args?.n ?? 0))
    expect(await readWhole(messages, `r${at + 1}`)).toBe(text)
  }
  expect(requests.map((request) => findUnpaired(request.messages)).filter(Boolean)).toEqual([])
}

const isFolded = (message: Message): boolean => message.role === 'tool' && message.text.startsWith('[get_report succ')

describe('R67 R66 approvals that wait while results fold', () => {
  it.each([true, false])(
    'run once, and the results of their reply stay, with tools added in place: %s',
    async (addsTools) => {
      const paid: unknown[] = []
      const bound = createPrompt(createPayment(paid))
      const store = createMemoryStore()
      const events: AgentEvent[] = []
      const adapter = scriptedAdapter(
        [
          ...reports(1, 4),
          callsAll(['get_report', { n: 5 }], ['pay', { n: 6 }], ['get_report', { n: 7 }], ['get_report', { n: 8 }]),
          ...reports(9, 4),
          says('Done.'),
        ],
        { supportsDynamicTools: addsTools },
      )
      const start = async (options: Partial<AgentOptions>) =>
        runAgent(bound, {
          adapter,
          session: await openSession({ store, id: 'one' }),
          refold,
          onEvent: (event) => void events.push(event),
          ...options,
        })
      const waiting = await start({ input: 'Go.' })
      expect(waiting).toMatchObject({ status: 'waiting', approvals: [{ tool: 'pay', arguments: { n: 6 } }] })
      expect(await start({})).toMatchObject({ status: 'waiting' })
      const answers = waiting.approvals.map((request) => ({ ...request, approved: true as const }))
      const before = events.length
      const ended = await start({ approvals: answers })
      expect(ended.status).toBe('completed')
      expect(paid).toEqual([6])
      const folds = events.slice(before).flatMap((event) => (event.type === 'results/folded' ? [event] : []))
      expect(folds.length).toBeGreaterThan(0)
      await checkAll(ended.messages, adapter.requests)
      // The request after the approval has the whole reply that it belongs to, and older results folded.
      const after = adapter.requests[5]?.messages ?? []
      expect(after.slice(-4).map((message) => (message.role === 'tool' ? message.name : message.role))).not.toContain(
        'user',
      )
      expect(
        after
          .filter(({ role }) => role === 'tool')
          .slice(-4)
          .some(isFolded),
      ).toBe(false)
      expect(after.some(isFolded)).toBe(true)
    },
  )

  it('keep waiting while the chat goes on in its own order', async () => {
    const paid: unknown[] = []
    const bound = createPrompt(createPayment(paid))
    const adapter = scriptedAdapter([...reports(1, 8), calls('pay', { n: 20 }), ...reports(21, 6), says('Done.')])
    const waiting = await runAgent(bound, { adapter, input: 'Go.', refold })
    const state = JSON.parse(JSON.stringify(waiting.state)) as typeof waiting.state
    expect(state.folded.length).toBeGreaterThan(0)
    // Somebody else's process has only the state.
    const approvals = waiting.approvals.map((request) => ({ ...request, approved: true as const }))
    const ended = await runAgent(bound, { adapter, state, approvals, refold })
    expect(ended.status).toBe('completed')
    expect(paid).toEqual([20])
    await checkAll(ended.messages, adapter.requests)
  })
})

describe('R67 R63 durable runs fold', () => {
  function stage(script: readonly ScriptStep[], tools: readonly AnyTool[] = []) {
    const store = createMemoryStore()
    const adapter = scriptedAdapter(script)
    const define = (on: SessionStore) =>
      defineRun({
        name: 'desk',
        engine: createLocalEngine(),
        store: on,
        prompt: createPrompt(...tools),
        adapter,
        refold,
      })
    return { store, adapter, define }
  }

  it('with an approval that waits, and tell those who follow', async () => {
    const paid: unknown[] = []
    const { store, adapter, define } = stage(
      [...reports(1, 8), calls('pay', { n: 20 }), ...reports(21, 8), says('Done.')],
      [createPayment(paid)],
    )
    const run = define(store)
    const handle = await startRun(run, { id: 'one', input: 'Go.' })
    const events: string[] = []
    for await (const { type } of handle.events()) events.push(type)
    expect(events.filter((type) => type === 'results/folded').length).toBeGreaterThan(0)
    for (const request of await handle.approvals()) await handle.signal('approval', { ...request, approved: true })
    const result = await handle.result()
    expect(result).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(paid).toEqual([20])
    await checkAll(result.messages, adapter.requests)
    expect(adapter.requests.at(-1)?.messages).toEqual(projectAgain(result.state).slice(0, -1))
  })
})

describe('R67 a process that is killed between any two writes', () => {
  const script = [...reports(1, 8), says('Done.')]

  it('another one sends the same bytes from what was written', async () => {
    const bound = createPrompt()
    const whole = createMemoryStore()
    const adapter = scriptedAdapter(script)
    const session = await openSession({ store: whole, id: 'one' })
    const { messages, state } = await runAgent(bound, { adapter, session, input: 'Go.', refold })
    expect(state.folded.length).toBeGreaterThan(3)
    const written = await whole.load('one')
    const last = written?.events.at(-1)?.sequence ?? 0
    expect(last).toBeGreaterThan(30)
    for (let cut = 1; cut < last; cut++) {
      const store = createMemoryStore()
      const events = written?.events.filter(({ sequence }) => sequence <= cut) ?? []
      await store.append('one', events)
      const replies = events.filter(
        ({ event: { type, payload } }) =>
          type === 'run/said' && (payload as { message: Message }).message.role === 'assistant',
      ).length
      const left = scriptedAdapter(script.slice(replies))
      const restored = await openSession({ store, id: 'one' })
      if (!restored.has(agentRun) || restored.get(agentRun).status === 'new') continue
      const ended = await runAgent(bound, { adapter: left, session: restored, refold })
      expect(ended.status).toBe('completed')
      expect(ended.messages).toEqual(messages)
      expect(left.requests.map((request) => request.messages)).toEqual(
        adapter.requests.slice(replies).map((request) => request.messages),
      )
    }
  })
})
