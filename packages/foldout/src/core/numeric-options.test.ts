import { describe, expect, it } from 'vitest'
import { auto, createCatalog, learnCore, createCatalogRecorder } from '../entries/catalog.ts'
import { chatAdapter, NO_USAGE } from '../entries/adapter.ts'
import { anthropic } from '../entries/anthropic.ts'
import { claudeAgent } from '../entries/claude-agent.ts'
import { definePrompt, defineSection, runAgent, type AgentOptions } from '../entries/index.ts'
import { openai } from '../entries/openai.ts'
import { connectToMcp, type McpTransport } from '../entries/mcp.ts'
import { advise, simulate } from '../entries/telemetry.ts'
import { says, scriptedAdapter } from '../testing/scripted-adapter.ts'

const ODD = [NaN, Infinity, -1, 'x', '5', null, {}] as unknown as number[]
const prompt = definePrompt({ ns: 'docs', key: 'numbers', sections: [] })
const bound = prompt.bind()
const catalog = createCatalog([])
const complete = async () => ({ message: { role: 'assistant' as const, text: '', toolCalls: [] }, usage: NO_USAGE })
const run = (options: Partial<AgentOptions>) => runAgent(bound, { adapter: scriptedAdapter([says('Hi.')]), ...options })
const price = { input: 1, output: 1 }
const silent: McpTransport = { start: async () => undefined, send: async () => undefined, close: async () => undefined }

describe.each(ODD)('R77 the number %s is refused with a sentence', (odd) => {
  it.each<[string, () => unknown]>([
    ['the budget of a prompt', () => definePrompt({ ns: 'a', key: 'b', sections: [], budget: { tokens: odd } })],
    ['the budget of a render', () => bound.render({ budget: { tokens: odd } })],
    ['the budget of a run', () => run({ budget: { tokens: odd } })],
    ['a limit of turns', () => run({ maxTurns: odd })],
    ['a limit of tokens', () => run({ limits: { totalTokens: odd } })],
    ['a limit of money', () => run({ limits: { cost: { usd: odd, rates: price } } })],
    ['the rates of such a limit', () => run({ limits: { cost: { usd: 1, rates: { input: 1, output: odd } } } })],
    ['how many uses a core needs', () => learnCore(createCatalogRecorder(catalog).recording(), { minUses: odd })],
    ['how many clients are recorded', () => createCatalogRecorder(catalog, { maxClients: odd })],
    ['how many tools are listed', () => auto({ maxTools: odd })],
    ['a context window', () => chatAdapter({ name: 'a', model: 'a', contextWindow: odd, complete })],
    ['the output of Claude', () => anthropic({ model: 'claude-x', maxTokens: odd })],
    ['the retries of OpenAI', () => openai({ model: 'gpt-x', maxRetries: odd })],
    [
      'a rate of the cache',
      () =>
        simulate(
          { prompt: bound, steps: [] },
          { strategy: 'everything-in-full', cache: { minimum: 1, read: odd, write: 1, ttlMs: 1 } },
        ),
    ],
    [
      'the tokens of a simulated answer',
      () => simulate({ prompt: bound, steps: [{ answers: odd }] }, { strategy: 'everything-in-full' }),
    ],
    [
      'the tokens of a simulated result',
      () => {
        const call = { name: 'look', argumentsTokens: 1, resultTokens: odd }
        return simulate({ prompt: bound, steps: [{ calls: [call] }] }, { strategy: 'everything-in-full' })
      },
    ],
    [
      'the time that a simulated person takes',
      () =>
        simulate(
          { prompt: bound, steps: [{ says: 1, hears: 'Yes.', afterMs: odd }] },
          { strategy: 'everything-in-full' },
        ),
    ],
    ['the retries of the Claude Agent SDK', () => claudeAgent({ maxRetries: odd })],
    ['the time for an MCP server', () => connectToMcp(silent, { name: 'a', version: '1', timeoutMs: odd })],
    ['the runs that advice needs', () => advise([], { prompt: bound, minRuns: odd })],
  ])('%s', async (_name, use) => {
    const refused = await Promise.resolve()
      .then(use)
      .then(
        () => undefined,
        (error: unknown) => error,
      )
    expect(refused).toMatchObject({ code: expect.any(String), message: expect.stringMatching(/ is .*\. Pass a/s) })
  })
})

it.each([NaN, Infinity, 'x', null, {}] as unknown as number[])('R41 the priority %s is refused', (priority) => {
  expect(() => defineSection({ key: 'a', title: 'A', template: 'A.', priority })).toThrow(
    expect.objectContaining({ code: 'prompt-invalid', message: expect.stringMatching(/its priority is .*\. Pass a/) }),
  )
})

describe('a limit in money', () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 }
  const script = [says('One.'), says('Two.')]

  it('R77 ends a run as a limit in tokens does, with a state that continues', async () => {
    const adapter = scriptedAdapter(script, { usage })
    const limits = { cost: { usd: 2, rates: { input: 3, output: 15 } } }
    const first = await runAgent(bound, { adapter, input: 'Go.', limits })
    const more = { ...first.state, status: 'running', answer: null } as const
    const ended = runAgent(bound, { adapter, state: more, limits })
    await expect(ended).rejects.toMatchObject({
      code: 'limit-reached',
      kind: 'cost',
      message: 'The run has cost $3 of the $2 it may cost.',
    })
  })

  it('R77 counts what the provider reports, if that is more', async () => {
    const adapter = scriptedAdapter(script, { usage: { ...usage, costUsd: 9 } })
    const limits = { cost: { usd: 5, rates: { input: 0, output: 0 } } }
    const first = await runAgent(bound, { adapter, input: 'Go.', limits })
    const more = { ...first.state, status: 'running', answer: null } as const
    await expect(runAgent(bound, { adapter, state: more, limits })).rejects.toMatchObject({
      message: 'The run has cost $9 of the $5 it may cost.',
    })
  })
})
