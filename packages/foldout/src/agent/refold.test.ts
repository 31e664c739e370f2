import { describe, expect, it } from 'vitest'
import {
  LimitReachedError,
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  estimatedTokens,
  ok,
  runAgent,
  type AgentEvent,
  type AgentOptions,
  type Message,
} from '../entries/index.ts'
import { calls, callsAll, says, scriptedAdapter, type ScriptStep } from '../testing/scripted-adapter.ts'
import { findResult } from './loop/fold-tools.ts'

/** A text of lines with numbers, about this many characters long. */
function createText(seed: number, characters: number): string {
  const lines: string[] = []
  for (let i = 0, length = 0; length < characters; i++) {
    const line = `row ${i} of report ${seed}: total ${(seed * 7_919 + i * 104_729) % 10_007} euros`
    lines.push(line)
    length += line.length + 1
  }
  return lines.join('\n')
}

/** Sizes from 5 to 40 kB, the same in every run. */
const getSize = (turn: number): number => 5_000 + ((turn * 7_919) % 35_000)

const report = defineTool({
  name: 'get_report',
  description: 'Returns a report.',
  params: { type: 'object', properties: { n: { type: 'integer' }, characters: { type: 'integer' } } },
  execute: ({ n, characters }) => ok(createText(Number(n), Number(characters))),
})
const bound = definePrompt({
  ns: 'test',
  key: 'reports',
  sections: [defineSection({ key: 'task', title: 'Task', template: 'Read the reports.', tools: [report] })],
}).bind({})

const getReport = (n: number, characters = getSize(n)): ScriptStep => calls('get_report', { n, characters })
const countTurns = (count: number): ScriptStep[] => Array.from({ length: count }, (_, n) => getReport(n))
const countRequest = ({ messages }: { readonly messages: readonly Message[] }): number =>
  messages.reduce((sum, message) => sum + estimatedTokens.count(JSON.stringify(message)), 0)

async function run(script: readonly ScriptStep[], options: Partial<AgentOptions> = {}) {
  const events: AgentEvent[] = []
  const adapter = scriptedAdapter(script)
  const result = await runAgent(bound, { adapter, input: 'Go.', onEvent: (event) => events.push(event), ...options })
  const folds = events.filter((event) => event.type === 'results/folded')
  return { adapter, result, folds }
}

describe('old results are folded back', () => {
  it.each([
    { read: 0.1, write: 1.25, ttlMs: 300_000 },
    { read: 0.05, write: 2, ttlMs: 3_600_000 },
    { read: 0.025, write: 1.25, ttlMs: 300_000 },
  ])('a run of 60 turns with results of 5 to 40 kB stays small at $read, and nothing is lost', async (cache) => {
    const script = [...countTurns(60), says('Done.')]
    const { adapter, result, folds } = await run(script, { contextWindow: 200_000, refold: { cache } })
    expect(Math.max(...adapter.requests.map(countRequest))).toBeLessThan(120_000)
    expect(folds.length).toBeGreaterThan(0)
    expect(folds.length).toBeLessThan(8)
    for (let n = 0; n < 60; n++) expect(findResult(result.messages, `r${n + 1}`)?.text).toBe(createText(n, getSize(n)))
  })

  it('a fold says that the call succeeded, its size and how to read it', async () => {
    const { adapter } = await run([...countTurns(40), says('Done.')], { refold: { at: 30_000 } })
    const [, , first] = adapter.requests.at(-1)?.messages ?? []
    expect(first).toMatchObject({ role: 'tool', isError: false })
    expect(first?.role === 'tool' && first.text).toMatch(
      /^\[get_report succeeded\. [\d,]+ tokens, \d+ lines\. read_result\("r1"\) reads any part\.\]$/,
    )
  })

  it('what is sent before the first folded result does not change, nor do the last turns', async () => {
    const { adapter, folds } = await run([...countTurns(40), says('Done.')], { refold: { at: 30_000, keepTurns: 4 } })
    expect(folds.length).toBeGreaterThan(1)
    const { requests } = adapter
    const changed = requests.slice(1).flatMap(({ messages }, index) => {
      const before = requests[index]?.messages ?? []
      return before.find((message, at) => JSON.stringify(message) !== JSON.stringify(messages[at])) ?? []
    })
    expect(changed).toHaveLength(folds.filter(({ reason }) => reason !== 'large').length)
    expect(changed.every(({ role }) => role === 'tool')).toBe(true)
    const last = requests.flatMap(({ messages }) => messages.filter((message) => message.role === 'tool').slice(-4))
    expect(last.filter(({ text }) => text.startsWith('[get_report succeeded'))).toEqual([])
  })

  it('the model reads any part of a folded result', async () => {
    const { adapter, result } = await run(
      [...countTurns(40), calls('read_result', { result: 'r3', grep: 'row 17 of' }), says('Done.')],
      { refold: { at: 30_000 } },
    )
    const line = createText(2, getSize(2)).split('\n')[17]
    expect(result.messages.at(-2)).toMatchObject({ name: 'read_result', isError: false })
    expect(result.messages.at(-2)).toHaveProperty('text', expect.stringContaining(`18: ${line}`))
    expect(adapter.requests[0]?.tools).not.toContain('read_result')
    expect(adapter.requests.at(-1)?.tools.at(-1)).toBe('read_result')
  })

  it('another process sends the same bytes', async () => {
    const script = countTurns(30)
    const whole = await run([...script, says('Done.')], { refold: { at: 30_000 } })
    const first = scriptedAdapter(script.slice(0, 20))
    const stopped = await runAgent(bound, { adapter: first, input: 'Go.', refold: { at: 30_000 }, maxTurns: 20 })
    const second = scriptedAdapter([...script.slice(20), says('Done.')])
    await runAgent(bound, {
      adapter: second,
      refold: { at: 30_000 },
      state: JSON.parse(JSON.stringify(stopped.state)),
      maxTurns: 100,
    })
    const toBytes = (request: { readonly messages: readonly Message[] } | undefined): string =>
      JSON.stringify(request?.messages).replaceAll(/"(callId|id)":"[^"]*"/g, '')
    expect(toBytes(second.requests.at(-1))).toBe(toBytes(whole.adapter.requests.at(-1)))
  })

  it('a chat folds when the cache has expired between two inputs', async () => {
    const session = createSession()
    await run([...countTurns(12), says('Done.')], { session, refold: false })
    const cold = await run([says('Still done.')], {
      session,
      refold: { at: 100_000, keepTurns: 2, cache: { read: 0.1, write: 1.25, ttlMs: 0 } },
    })
    expect(cold.folds).toMatchObject([{ reason: 'cold' }])
    expect(cold.folds[0]?.cost).toBeLessThan(0)
  })

  it('errors, kept tools and small results stay, and false switches it off', async () => {
    const kept = await run([...countTurns(30), says('Done.')], { refold: { at: 30_000, keep: ['get_report'] } })
    expect(kept.folds).toEqual([])
    const off = await run([...countTurns(30), says('Done.')], { contextWindow: 300_000, refold: false })
    expect(off.folds).toEqual([])
    const small = await run([...Array.from({ length: 30 }, (_, n) => getReport(n, 100)), says('Done.')], {
      refold: { at: 500, minTokens: 300 },
    })
    expect(small.folds).toEqual([])
  })

  it('rejects options that are no numbers', async () => {
    const adapter = scriptedAdapter([says('Done.')])
    await expect(runAgent(bound, { adapter, refold: { at: NaN } })).rejects.toThrow('refold.at')
    await expect(runAgent(bound, { adapter, refold: { keepTurns: 0 } })).rejects.toThrow('refold.keepTurns')
  })
})

describe('large results', () => {
  it('are counted from pieces, whatever the counter costs', async () => {
    let counted = 0
    const counter = { name: 'slow', exact: true, count: (text: string) => ((counted += text.length), text.length / 4) }
    const { folds } = await run([getReport(1, 4_000_000), says('Done.')], { contextWindow: 200_000, counter })
    expect(folds).toMatchObject([{ reason: 'large', callIds: ['call-1-1'] }])
    expect(folds[0]?.freed).toBeGreaterThan(900_000)
    expect(counted).toBeLessThan(200_000)
  })

  it('are folded as they arrive, whole in the conversation, and one call away', async () => {
    const characters = 400_000
    const { adapter, result, folds } = await run(
      [getReport(1, characters), calls('read_result', { result: 'r1', from: 3, count: 1 }), says('Done.')],
      { contextWindow: 100_000 },
    )
    expect(folds).toMatchObject([{ reason: 'large', cost: 0 }])
    const text = createText(1, characters)
    expect(findResult(result.messages, 'r1')?.text).toBe(text)
    const sent = adapter.requests[1]?.messages.at(2)
    expect(sent?.role === 'tool' && sent.text).toMatch(/^This result is folded: text with [\d,]+ lines/)
    expect(result.messages.at(-2)).toHaveProperty(
      'text',
      `${text.split('\n')[2]}\n(Lines 3 to 3 of ${text.split('\n').length.toLocaleString('en')}. Continue with from: 4.)`,
    )
  })

  it('an unknown handle and wrong arguments get a clear answer', async () => {
    const { result } = await run(
      [
        getReport(1, 400_000),
        callsAll(
          ['read_result', { result: 'r99' }],
          ['read_result', { result: '__proto__' }],
          ['read_result', { result: 'r1', path: '$.x' }],
          ['read_result', { result: 'r1', from: 'x' }],
        ),
        says('Done.'),
      ],
      { contextWindow: 100_000 },
    )
    const answers = result.messages.filter((message) => message.role === 'tool').slice(1)
    expect(answers.every(({ isError }) => isError)).toBe(true)
    expect(answers.map(({ text }) => text)).toEqual([
      "There is no result 'r99'. There is only r1.",
      "There is no result '__proto__'. There is only r1.",
      'This result is text, not JSON. Read it with grep, or by lines or characters.',
      expect.stringContaining('from must be a whole number'),
    ])
  })
})

describe('the window', () => {
  it('a request that cannot fit ends the run with the numbers, before it is sent', async () => {
    const adapter = scriptedAdapter([getReport(1, 400_000), says('Done.')])
    const failure = await runAgent(bound, { adapter, input: 'Go.', contextWindow: 50_000, refold: false }).catch(
      (error: unknown) => error,
    )
    expect(failure).toBeInstanceOf(LimitReachedError)
    expect(failure).toMatchObject({ kind: 'context-window', message: expect.stringMatching(/about \d+ tokens.*50000/) })
    expect(adapter.requests).toHaveLength(1)
  })
})
