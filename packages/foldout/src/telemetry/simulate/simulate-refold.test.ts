import { describe, expect, it } from 'vitest'
import { chatAdapter, NO_USAGE } from '../../entries/adapter.ts'
import {
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  estimatedTokens,
  ok,
  readSection,
  runAgent,
  type Message,
} from '../../entries/index.ts'
import { createRecorder } from '../recorder.ts'
import { toSimulationSteps } from '../simulation-steps.ts'
import { calls, says, scriptedAdapter } from '../../testing/scripted-adapter.ts'
import { toolTokens } from '../../tools/definition.ts'
import { simulate } from './simulate.ts'
import type { SimulatedRun, SimulationOptions, SimulationStep } from './contract.ts'
import { createStandIns } from './kept-conversation.ts'

const make = createStandIns(estimatedTokens)
let answered = 0
/** Returns what a simulation puts in place of a report. */
const report = defineTool({
  name: 'get_report',
  description: 'Returns a report.',
  params: { type: 'object' },
  execute: () => ok(make.text(`result of simulated-${++answered}`, REPORT)),
})
const REPORT = 2_000
const prompt = definePrompt({
  ns: 'test',
  key: 'reports',
  sections: [
    defineSection({ key: 'task', title: 'Task', template: 'Read the reports. '.repeat(30), tools: [report] }),
    defineSection({ key: 'rules', title: 'Rules', template: 'Be kind.', summary: 'Rules.', visibility: 'summary' }),
  ],
}).bind({})

const look: SimulationStep = { calls: [{ name: 'get_report', argumentsTokens: 1, resultTokens: REPORT }] }
const looks = (count: number): readonly SimulationStep[] => Array.from({ length: count }, () => look)
const run = (...steps: readonly SimulationStep[]): SimulatedRun => ({ prompt, input: 'Go.', steps })
const refold = { at: 20_000, keepTurns: 3, frees: 2_000 }
const cache = { minimum: 0, read: 0.1, write: 1.25, ttlMs: 300_000 }
const options: SimulationOptions = { strategy: readSection(), refold, cache }

const countAll = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => {
    if (message.role === 'tools') return sum
    const own = sum + estimatedTokens.count(message.text)
    if (message.role !== 'assistant') return own
    return message.toolCalls.reduce(
      (all, { name, arguments: args }) =>
        all + estimatedTokens.count(name) + estimatedTokens.count(JSON.stringify(args)),
      own,
    )
  }, 0)

describe('R78 simulate() takes refold', () => {
  it('R67 a simulated conversation folds when and as a real one does', async () => {
    answered = 0
    const sent: number[] = []
    const adapter = chatAdapter({
      name: 'real',
      model: 'real',
      complete: async ({ messages }) => {
        const n = sent.push(countAll(messages))
        const toolCalls = n > 24 ? [] : [{ id: `simulated-${n}`, name: 'get_report', arguments: {} }]
        return { message: { role: 'assistant', text: '', toolCalls }, usage: NO_USAGE }
      },
    })
    const folds: string[] = []
    await runAgent(prompt, {
      adapter,
      session: createSession(),
      input: 'Go.',
      refold: { ...refold, cache },
      onEvent: (event) => void (event.type === 'results/folded' && folds.push(event.callIds.join(' '))),
    })
    const simulated = await simulate(run(...looks(24), { answers: 1 }), options)
    expect(simulated.folds.map(({ callIds }) => callIds.join(' '))).toEqual(folds)
    expect(folds.length).toBeGreaterThan(1)
    const tools = simulated.requests.map(({ messages }, at) => messages - (sent[at] ?? 0))
    // What is appended to the conversation besides messages is the tool that reads results.
    const added = new Set(tools)
    expect(added.size).toBe(2)
    expect(added.has(0)).toBe(true)
  })

  it('costs the same as without, while nothing folds', async () => {
    const steps = [look, { opens: ['rules'] }, { says: 40, hears: 20 }, look, { answers: 50 }]
    const plain = await simulate(run(...steps), { strategy: readSection(), cache })
    const kept = await simulate(run(...steps), { ...options, refold: {}, contextWindow: 200_000 })
    expect(kept.requests).toEqual(plain.requests)
    expect(kept.cost).toBe(plain.cost)
    expect([kept.folds, kept.readBacks, kept.sections]).toEqual([[], 0, plain.sections])
    expect(kept.assumptions).toContain('Old results are folded back, in a model with a window of 200000 tokens.')
  })

  it('a long conversation is billed less, and no request is larger than the limit allows', async () => {
    const steps = [...looks(40), { answers: 50 }]
    const plain = await simulate(run(...steps), { strategy: readSection(), cache })
    const folded = await simulate(run(...steps), options)
    expect(folded.billedTokens).toBeLessThan(plain.billedTokens * 0.7)
    expect(Math.max(...folded.requests.map(({ inputTokens }) => inputTokens))).toBeLessThan(30_000)
    const off = await simulate(run(...steps), { ...options, refold: false })
    expect(off.billedTokens).toBe(plain.billedTokens)
  })

  it('what is needed again costs nothing while it is there, and a call of read_result when it is folded', async () => {
    const young = await simulate(run(...looks(2), { needs: [{ call: 1, tokens: 30 }] }, { answers: 5 }), options)
    expect([young.readBacks, young.requests.length]).toEqual([0, 3])
    const old = await simulate(run(...looks(24), { needs: [{ call: 1, tokens: 30 }] }, { answers: 5 }), options)
    expect([old.readBacks, old.requests.length]).toEqual([1, 26])
    await expect(simulate(run(look, { needs: [{ call: 2, tokens: 3 }] }), options)).rejects.toThrow(
      'There was no call 2 before it.',
    )
  })

  it('a person who lets the cache die brings a fold that saves at once', async () => {
    const waits = { says: 10, hears: 10, afterMs: 600_000 }
    const { folds } = await simulate(run(...looks(7), waits, look, { answers: 5 }), options)
    expect(folds.map(({ reason }) => reason)).toEqual(['cold'])
    expect(folds[0]?.cost).toBeLessThan(0)
    const quick = await simulate(run(...looks(7), { ...waits, afterMs: 0 }, look, { answers: 5 }), options)
    expect(quick.folds).toEqual([])
  })

  it('large results fold as they arrive, and a summary is written by the simulated model', async () => {
    const large = { calls: [{ name: 'get_report', argumentsTokens: 1, resultTokens: 9_000 }] }
    const arrived = await simulate(run(large, look, { answers: 5 }), options)
    expect(arrived.folds.map(({ reason }) => reason)).toEqual(['large'])
    const summarize = { keepTurns: 10, keep: ['get_report'], summarize: 'model' } as const
    const summarized = await simulate(run(...looks(20), { answers: 5 }), {
      ...options,
      refold: summarize,
      contextWindow: 24_000,
    })
    expect(summarized.folds.map(({ reason }) => reason)).toContain('summary')
    expect(Math.max(...summarized.requests.map(({ inputTokens }) => inputTokens))).toBeLessThan(24_000)
  })

  it('a recorded run that has folded and read back can be simulated with other options', async () => {
    answered = 0
    const script = [
      ...Array.from({ length: 24 }, () => calls('get_report')),
      calls('read_result', { result: 'r1', count: 2 }),
      says('Done.'),
    ]
    const recorder = createRecorder({ prompt, input: 'Go.' })
    await runAgent(prompt, {
      adapter: scriptedAdapter(script),
      session: createSession(),
      input: 'Go.',
      refold: { ...refold, cache },
      onEvent: recorder.onEvent,
    })
    const [recorded] = recorder.recording().runs
    const steps = recorded ? toSimulationSteps(recorded) : []
    expect(steps.filter((step) => 'needs' in step)).toEqual([{ needs: [{ call: 1, tokens: expect.any(Number) }] }])
    const again = await simulate(run(...steps), options)
    expect([again.readBacks, again.requests.length]).toEqual([1, 26])
    const kept = await simulate(run(...steps), { ...options, refold: { at: 200_000 } })
    expect([kept.readBacks, kept.requests.length]).toEqual([0, 25])
  })
})

describe('stand-ins', () => {
  it.each([0, 1, 2, 7, 100, 5_000])('have %i tokens', (tokens) => {
    expect(Math.abs(estimatedTokens.count(make.text('a', tokens)) - tokens)).toBeLessThanOrEqual(1)
    const counted = estimatedTokens.count(JSON.stringify(make.arguments('a', tokens)))
    expect(Math.abs(counted - Math.max(tokens, estimatedTokens.count('{}')))).toBeLessThanOrEqual(8)
    expect(toolTokens(report, estimatedTokens)).toBeGreaterThan(0)
  })
})
