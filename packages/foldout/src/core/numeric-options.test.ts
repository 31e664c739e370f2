import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  auto,
  createCatalog,
  createCatalogRecorder,
  formatSignature,
  learnCore,
  learnOutputs,
} from '../entries/catalog.ts'
import { createSandbox } from '../entries/code.ts'
import { createLocalEngine, defineRun, getRun } from '../entries/durable.ts'
import { markdownSections, skillSections } from '../entries/skills.ts'
import { defineLog } from '../entries/session.ts'
import { aiSdk } from '../entries/ai-sdk.ts'
import { chatAdapter, NO_USAGE, withRetries } from '../entries/adapter.ts'
import { anthropic } from '../entries/anthropic.ts'
import { claudeAgent } from '../entries/claude-agent.ts'
import {
  bySearch,
  createMemoryStore,
  definePrompt,
  defineSection,
  defineSlice,
  runAgent,
  type AgentOptions,
} from '../entries/index.ts'
import { openai } from '../entries/openai.ts'
import {
  connectToMcp,
  requestFromMcp,
  serveMcp,
  toolsFromMcp,
  type McpSession,
  type McpTransport,
} from '../entries/mcp.ts'
import { advise, compareDelegating, simulate, tune, type SimulationStep } from '../entries/telemetry.ts'
import { says, scriptedAdapter } from '../testing/scripted-adapter.ts'

const ODD = [NaN, Infinity, -1, 'x', '5', null, {}] as unknown as number[]
const prompt = definePrompt({ ns: 'docs', key: 'numbers', sections: [] })
const bound = prompt.bind()
const catalog = createCatalog([])
const complete = async () => ({ message: { role: 'assistant' as const, text: '', toolCalls: [] }, usage: NO_USAGE })
const run = (options: Partial<AgentOptions>) => runAgent(bound, { adapter: scriptedAdapter([says('Hi.')]), ...options })
const price = { input: 1, output: 1 }
const cache = { minimum: 1, read: 1, write: 1, ttlMs: 1 }
const use = { context: 1, section: 1, requests: 1, results: 1, later: 1 }
const about = { name: 'home', version: '1' }
const silentAdapter = scriptedAdapter([])
const retrying = { adapter: 'a', signal: new AbortController().signal, emit: () => undefined }
const engine = createLocalEngine()
const durable = defineRun({ name: 'a', engine, store: createMemoryStore(), prompt: bound, adapter: silentAdapter })

/** One use for each option of an interface. */
function list<Name extends string>(
  owner: string,
  names: readonly Name[],
  use: (options: { readonly [name in Name]: number }) => unknown,
): Readonly<Record<string, (odd: number) => unknown>> {
  const toUse = (name: Name) => (odd: number) => use({ [name]: odd } as { readonly [each in Name]: number })
  return Object.fromEntries(names.map((name) => [`${owner}.${name}`, toUse(name)]))
}

const simulateStep = (step: SimulationStep, options: object = {}): unknown =>
  simulate({ prompt: bound, steps: [step] }, { strategy: 'everything-in-full', ...options })
const silent: McpTransport = { start: async () => undefined, send: async () => undefined, close: async () => undefined }

/** Uses each numeric option. `Options.name` is the interface with the option; other names are figures. */
const USES: Readonly<Record<string, (odd: number) => unknown>> = {
  'TokenBudget.tokens of a prompt': (tokens) => definePrompt({ ns: 'a', key: 'b', sections: [], budget: { tokens } }),
  'TokenBudget.tokens of a render': (tokens) => bound.render({ budget: { tokens } }),
  'TokenBudget.tokens of a run': (tokens) => run({ budget: { tokens } }),
  ...list(
    'AgentOptions',
    ['maxTurns', 'maxExpansions', 'maxRepairs', 'perHour', 'maxParallelCalls', 'maxCallsPerReply'],
    run,
  ),
  ...list('AgentOptions', ['toolTimeoutMs', 'contextWindow', 'approvalTtlMs'], run),
  ...list('RunLimits', ['inputTokens', 'outputTokens', 'totalTokens'], (limits) => run({ limits })),
  'RunLimits.cost': (usd) => run({ limits: { cost: { usd, rates: price } } }),
  ...list('UsageRates', ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'], (rates) =>
    run({ limits: { cost: { usd: 1, rates: { ...price, ...rates } } } }),
  ),
  ...list(
    'RefoldOptions',
    ['at', 'frees', 'keepTurns', 'minTokens', 'largeTokens', 'horizon', 'closeAfter'],
    (refold) => run({ refold }),
  ),
  ...list('LeaseOptions', ['ms'], (lease) => run({ lease })),
  ...list('DelegateModel', ['maxTurns'], (limit) =>
    run({ delegates: { helper: { adapter: silentAdapter, ...limit } } }),
  ),
  ...list('BySearchOptions', ['max', 'budget'], (options) => run({ open: bySearch(options) })),
  ...list('ProviderAdapter', ['contextWindow'], (options) => run({ adapter: { ...silentAdapter, ...options } })),
  ...list('ChatModel', ['contextWindow'], (options) => chatAdapter({ name: 'a', model: 'a', complete, ...options })),
  ...list('PromptCache', ['minimum', 'read', 'write', 'ttlMs', 'step'], (promptCache) =>
    chatAdapter({ name: 'a', model: 'a', complete, promptCache }),
  ),
  ...list('RetryOptions', ['retries'], (options) => withRetries(complete, { ...retrying, ...options })),
  ...list('AnthropicOptions', ['maxTokens', 'maxRetries', 'contextWindow'], (options) =>
    anthropic({ model: 'claude-x', ...options }),
  ),
  ...list('OpenAIOptions', ['maxRetries', 'contextWindow'], (options) => openai({ model: 'gpt-x', ...options })),
  ...list('AiSdkOptions', ['maxRetries', 'contextWindow'], (options) => aiSdk({ model: 'openai/gpt-x', ...options })),
  ...list('ClaudeAgentOptions', ['maxRetries', 'relistTimeoutMs'], claudeAgent),
  ...list('RunStartOptions', ['priority', 'delaySeconds'], (options) => engine.start({ kind: 'a', id: 'b' }, options)),
  ...list('RunPage', ['offset', 'limit'], (options) => engine.list('a', options)),
  ...list('RunEventsOptions', ['after'], (options) => getRun(durable, 'one').events(options)),
  ...list('AutoOptions', ['maxTools', 'maxTokens', 'need'], auto),
  ...list('SandboxOptions', ['concurrentPrograms'], createSandbox),
  ...list('SignatureOptions', ['maxTokens', 'maxValues'], (options) =>
    formatSignature({ name: 'a', inputSchema: {}, outputSchema: undefined }, options),
  ),
  ...list('LearnCoreOptions', ['minClients', 'minUses', 'max', 'requestsPerClient', 'roundTripTokens'], (options) =>
    learnCore(createCatalogRecorder(catalog).recording(), options),
  ),
  ...list('LearnOutputsOptions', ['minResults', 'minConfidence'], (options) => learnOutputs([], options)),
  ...list('RecordCatalogOptions', ['maxClients'], (options) => createCatalogRecorder(catalog, options)),
  ...list('FoldPrice', ['perHour', 'requests'], (foldPrice) => bound.render({ price: foldPrice })),
  ...list('DelegateTerms', ['rate', 'answer', 'question'], (terms) => compareDelegating(use, terms)),
  'SectionUse.context': (context) => compareDelegating({ ...use, context }),
  ...list('ConnectToMcpOptions', ['timeoutMs'], (options) =>
    connectToMcp(silent, { name: 'a', version: '1', ...options }),
  ),
  ...list('McpRequestOptions', ['timeoutMs', 'maxMs'], (options) =>
    requestFromMcp({} as McpSession, 'ping', {}, options),
  ),
  ...list('ServeMcpOptions', ['pageSize', 'maxBodyBytes', 'maxResultBytes', 'foldResults'], (options) =>
    serveMcp(catalog, { ...about, ...options }),
  ),
  ...list('HttpSessionOptions', ['max', 'perPeer', 'idleMs', 'keepMs'], (sessions) =>
    serveMcp(catalog, { ...about, sessions }),
  ),
  ...list('StdioOptions', ['maxConcurrent'], (options) => serveMcp(catalog, about).stdio(options)),
  ...list('HttpOptions', ['port'], (options) => serveMcp(catalog, about).http(options)),
  ...list('ToolsFromMcpOptions', ['timeoutMs', 'maxCallMs', 'maxTools', 'maxErrorCharacters'], (options) =>
    toolsFromMcp({} as McpSession, options),
  ),
  ...list('MarkdownSectionsOptions', ['level', 'budget'], (options) => markdownSections('# A', options)),
  ...list('SkillSectionsOptions', ['budget'], (options) => skillSections([], options)),
  ...list('SliceOptions', ['version'], (options) => defineSlice({ name: 'a', initial: 0, reducers: {}, ...options })),
  ...list('LogOptions', ['version'], (options) => defineLog({ name: 'a', of: [], ...options })),
  ...list('SessionPage', ['limit'], (page) => createMemoryStore().list(page)),
  ...list('AdviseOptions', ['minRuns', 'largeTokens'], (options) => advise([], { prompt: bound, ...options })),
  ...list('AdvicePrice', ['usdPerMillion'], (options) => advise([], { prompt: bound, price: options })),
  ...list('TuneOptions', ['minRuns'], (options) => tune([], options)),
  ...list('SimulationOptions', ['contextWindow'], (options) => simulateStep({ answers: 1 }, options)),
  ...list('CacheOptions', ['share', 'outputRate'], (options) => simulateStep({ answers: 1 }, { cache, ...options })),
  'the cache of a simulation': (read) => simulateStep({ answers: 1 }, { cache: { ...cache, read } }),
  'the answer of a simulated step': (answers) => simulateStep({ answers }),
  'the result of a simulated call': (resultTokens) =>
    simulateStep({ calls: [{ name: 'look', argumentsTokens: 1, resultTokens }] }),
  'the time of a simulated person': (afterMs) => simulateStep({ says: 1, hears: 'Yes.', afterMs }),
}

describe.each(ODD)('R77 the number %s is refused with a sentence', (odd) => {
  it.each(Object.entries(USES))('%s', async (_name, use) => {
    const refused = await Promise.resolve(odd)
      .then(use)
      .then(
        () => undefined,
        (error: unknown) => error,
      )
    expect(refused).toMatchObject({
      code: expect.any(String),
      message: expect.stringMatching(/ is .*\. Pass a| cannot have | of .* requests has | must be a whole number /s),
    })
  })
})

/** Options that are checked elsewhere, or read leniently because models pass them. */
const OTHERS = new Set(['SearchOptions.limit', 'CompareOptions', 'ArmRunOptions', 'ComparePrices', 'ComparisonFormat'])

it('R77 every public numeric option is among them', () => {
  const entries = join(import.meta.dirname, '../entries')
  const exported = readdirSync(entries)
    .map((file) => readFileSync(join(entries, file), 'utf8'))
    .join()
  const files = readdirSync(join(import.meta.dirname, '..'), { recursive: true, encoding: 'utf8' })
  const missing = files
    .filter((file) => /^(?!.*(?:test|fixtures)).*\.ts$/.test(file))
    .flatMap((file) => listNumericOptions(readFileSync(join(import.meta.dirname, '..', file), 'utf8')))
    .filter(([owner]) => new RegExp(`\\b${owner}\\b`).test(exported))
    .map(([owner, name]) => `${owner}.${name}`)
    .filter((option) => !(option in USES) && !OTHERS.has(option) && !OTHERS.has(option.split('.')[0] ?? ''))
  expect(missing).toEqual([])
})

function listNumericOptions(source: string): readonly (readonly [owner: string, name: string])[] {
  const interfaces = source.matchAll(
    /^export interface (\w+(?:Options|Limits|Price|Rates|Terms|Page|Model|Adapter))\b[^{]*\{(.*?)^\}/gms,
  )
  return [...interfaces].flatMap(([, owner = '', body = '']) =>
    [...body.matchAll(/^  readonly (\w+)\?: number\b/gm)].map(([, name = '']) => [owner, name] as const),
  )
}

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
