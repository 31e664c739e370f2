import { describe, expect, it } from 'vitest'
import {
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  ok,
  runAgent,
  type AgentEvent,
  type AgentOptions,
  type Message,
} from '../entries/index.ts'
import { visibility } from '../entries/session.ts'
import type { BeforeRequest } from '../entries/results.ts'
import { calls, says, scriptedAdapter, type ScriptStep } from '../testing/scripted-adapter.ts'

const report = defineTool({
  name: 'get_report',
  description: 'Returns a report.',
  params: { type: 'object' },
  execute: ({ n }) => ok(`report ${String(n)}: ${'many orders, none of them late. '.repeat(120)}`),
})
const CHILD = 'Never twice for the same order.'
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
      template: 'Refund within 30 days.',
      children: [defineSection({ key: 'twice', title: 'Twice', template: CHILD })],
    }),
  ],
}).bind({})

const open = calls('read_section', { section_key: 'refunds' })
const reports = (count: number): ScriptStep[] => Array.from({ length: count }, (_, n) => calls('get_report', { n }))

async function run(script: readonly ScriptStep[], options: Partial<AgentOptions>) {
  const events: AgentEvent[] = []
  const session = createSession()
  const adapter = scriptedAdapter(script)
  const input = 'Go.'
  const result = await runAgent(bound, { adapter, session, input, onEvent: (event) => events.push(event), ...options })
  return { result, session, events, requests: adapter.requests }
}

const listResults = (messages: readonly Message[]): string[] =>
  messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : []))

describe('R69 what a hook asks for keeps the guarantees of a fold', () => {
  it.each<[string, unknown]>([
    ['a text', 'call-1-1'],
    ['a list', ['call-1-1']],
    ['results that are a text', { results: 'call-1-1' }],
    ['results that are no texts', { results: [1, null] }],
    ['sections that are a text', { sections: 'refunds' }],
    ['a summary that is no text', { summary: 5 }],
  ])('refuses %s, and says so', async (_name, fold) => {
    const running = run([open, ...reports(3), says('Done.')], { beforeRequest: () => fold as never })
    await expect(running).rejects.toThrow('beforeRequest() returned')
  })

  it('unknown results and sections, and those that cannot close, are left out', async () => {
    const sections = ['none', '__proto__', '', 'task', 'refunds.twice']
    const beforeRequest: BeforeRequest = () => ({ results: ['none', '__proto__'], sections })
    const { result, session, events } = await run([open, ...reports(3), says('Done.')], { beforeRequest })
    expect(result.status).toBe('completed')
    expect(session.get(visibility)).toEqual({ refunds: 'full' })
    expect(events.filter(({ type }) => type === 'results/folded')).toEqual([])
  })

  it('what was just read back stays', async () => {
    const beforeRequest: BeforeRequest = ({ messages }) => ({ results: listResults(messages) })
    const script = [...reports(3), calls('read_result', { result: 'r1', count: 1 }), ...reports(2), says('Done.')]
    const { requests } = await run(script, { beforeRequest })
    const read = requests.at(-1)?.messages.find((message) => message.role === 'tool' && message.name === 'read_result')
    expect(read).toHaveProperty('text', expect.stringContaining('many orders'))
  })

  it('a summary that is longer than what it replaces is left out', async () => {
    const beforeRequest: BeforeRequest = () => ({ summary: 'long '.repeat(100_000) })
    const { result, events } = await run([...reports(3), says('Done.')], { beforeRequest, contextWindow: 20_000 })
    expect(result.state.summary).toBeNull()
    expect(events.filter(({ type }) => type === 'warning')).not.toEqual([])
  })

  it.each([0, 2])('ends with its run if it never answers before request %d', async (before) => {
    const controller = new AbortController()
    const beforeRequest: BeforeRequest = ({ messages }) => {
      if (listResults(messages).length < before) return undefined
      controller.abort(new Error('enough'))
      return new Promise(() => undefined)
    }
    const running = run([...reports(3), says('Done.')], { beforeRequest, signal: controller.signal })
    await expect(running).rejects.toMatchObject({ code: 'run-aborted', state: { messages: expect.anything() } })
  })
})

describe('R70 sections that the model does not use', () => {
  it('close with the sections in them that have no summary', async () => {
    const refold = { at: 2_000, frees: 100, keepTurns: 1, closeAfter: 2 }
    const { result, session, requests } = await run([open, ...reports(8), says('Done.')], { refold })
    expect(result.status).toBe('completed')
    expect(session.get(visibility)).toEqual({ refunds: 'summary' })
    expect(JSON.stringify(requests[1]?.messages)).toContain(CHILD)
    expect(JSON.stringify(requests.at(-1)?.messages)).not.toContain(CHILD)
  })
})
