import {
  definePrompt,
  defineSection,
  defineTool,
  estimatedTokens,
  ok,
  readSection,
  runAgent,
  type AgentEvent,
  type ProviderAdapter,
} from 'foldout'
import { chatAdapter } from 'foldout/adapter'
import {
  advise,
  createRecorder,
  measurePrompt,
  priceUsage,
  simulate,
  toSimulationSteps,
  tune,
  type AdvicePrice,
  type CacheOptions,
  type Recording,
} from 'foldout/telemetry'
import type { VisibilityOverrides } from 'foldout/session'
import { describe, expect, it } from 'vitest'
import { createAdviceSource } from '../packages/foldout-mcp/src/inspector/advice/source.ts'
import type { AdviceView } from '../packages/foldout-mcp/src/inspector/protocol/protocol.ts'
import { describePrompt } from '../packages/foldout-mcp/src/inspector/prompt/source.ts'
import { createRunStore } from '../packages/foldout-mcp/src/inspector/runs/store.ts'

const tool = (name: string) =>
  defineTool({ name, description: `Does ${name}. ${'It is careful. '.repeat(8)}`, execute: () => ok('Done.') })

/** A desk of which every run needs one section, and none needs the other. */
const desk = definePrompt({
  ns: 'agreement',
  key: 'desk',
  sections: [
    defineSection({
      key: 'role',
      title: 'Role',
      template: 'You answer customers of a shop. '.repeat(200),
      tools: [tool('look')],
    }),
    defineSection({
      key: 'refunds',
      title: 'Refunds',
      template: 'An order is refunded within thirty days. '.repeat(60),
      summary: 'How orders are refunded.',
      visibility: 'summary',
      tools: [tool('refund')],
    }),
    defineSection({
      key: 'moves',
      title: 'Moves',
      template: 'A delivery moves to another address. '.repeat(90),
      summary: 'How deliveries move.',
      tools: [tool('move')],
    }),
  ],
}).bind()

const INPUT = 'Refund order 17, please. '.repeat(4)
type Script = readonly (string | readonly [name: string, given: object])[]
const KNOWS: Script = ['look', 'refund', 'look']
const OPENS: Script = ['look', ['read_section', { section_key: 'refunds' }], 'refund', 'look']

/** A provider with a cache of whole blocks, which bills what it is sent; the first request begins cold or warm. */
function createProvider(script: Script, isWarm: boolean): ProviderAdapter {
  let turn = 0
  let before: readonly string[] = []
  const count = (blocks: readonly string[]): number =>
    blocks.reduce((sum, each) => sum + estimatedTokens.count(each), 0)
  const adapter = chatAdapter({
    name: 'provider',
    model: 'model-1',
    async complete({ system, tools, addedTools, messages }) {
      const define = ({ name, description, inputSchema }: (typeof tools)[number]): string =>
        JSON.stringify({ name, description, inputSchema })
      const start = [tools.map(define).join(''), system]
      const said = messages.flatMap((message) => {
        if (message.role === 'tools') return message.names.map((name) => define(addedTools.get(name)!))
        if (message.role === 'assistant')
          return [message.toolCalls.map(({ name, arguments: given }) => `${name}${JSON.stringify(given)}`).join('')]
        return [message.text]
      })
      const blocks = [...start, ...said]
      const known = before.length === 0 && isWarm ? start : before
      const differs = blocks.findIndex((block, i) => block !== known[i])
      const cachedInputTokens = count(blocks.slice(0, differs === -1 ? blocks.length : differs))
      before = blocks
      const step = script[turn++]
      const [name, given = {}] = typeof step === 'string' ? [step] : (step ?? [])
      const toolCalls = name === undefined ? [] : [{ id: `call-${turn}`, name, arguments: given }]
      const text = name === undefined ? 'The order is refunded. '.repeat(10) : ''
      const inputTokens = count(blocks)
      const outputTokens = count([text, ...toolCalls.flatMap((call) => [call.name, JSON.stringify(call.arguments)])])
      const usage = { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens: inputTokens - cachedInputTokens }
      return { message: { role: 'assistant', text, toolCalls }, usage }
    },
  })
  return { ...adapter, supportsDynamicTools: true }
}

const PRICES = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
const toPrice = (cacheStart: 'cold' | 'warm'): CacheOptions => ({
  cache: { minimum: 1_024, read: 0.1, write: 1.25, ttlMs: 300_000 },
  cacheStart,
  outputRate: PRICES.output / PRICES.input,
})

interface Recorded {
  readonly recording: Recording
  /** What the provider has billed. */
  readonly usd: number
  readonly lines: readonly { readonly at: number; readonly event: AgentEvent }[]
}

async function record(start: 'cold' | 'warm', script: Script, shown: VisibilityOverrides = {}): Promise<Recorded> {
  const recorder = createRecorder({ prompt: desk, input: INPUT })
  const lines: { at: number; event: AgentEvent }[] = []
  let usd = 0
  for (let i = 0; i < 3; i++) {
    const adapter = createProvider(script, start === 'warm')
    const onEvent = (event: AgentEvent): void => {
      recorder.onEvent(event)
      lines.push({ at: lines.length, event })
    }
    const { usage } = await runAgent(desk, { adapter, input: INPUT, onEvent, visibility: shown })
    usd += priceUsage(usage, PRICES)
  }
  return { recording: recorder.recording(), usd, lines }
}

/** The dollars that tokens cost at the price of input. */
const toUsd = (tokens: number): number => (tokens * PRICES.input) / 1e6

async function simulateAll(
  { recording }: Recorded,
  price: CacheOptions,
  shown: VisibilityOverrides = {},
): Promise<number> {
  let cost = 0
  for (const run of recording.runs) {
    const steps = toSimulationSteps(run)
    const options = { strategy: readSection(), visibility: shown, ...price }
    cost += (await simulate({ prompt: desk, steps, input: INPUT }, options)).cost
  }
  return toUsd(cost)
}

/** What the inspector shows of advice. */
async function inspectAdvice({ lines }: Recorded, price: AdvicePrice): Promise<AdviceView> {
  const runs = createRunStore()
  runs.add(lines.map(({ at, event }) => ({ version: 1, run: 'run', at, event })))
  const { handlers } = createAdviceSource({
    runs,
    prompt: { bound: desk, telemetry: { advise, createRecorder } },
    price,
  })
  return (await handlers['advice/get']?.({})) as AdviceView
}

describe.each(['cold', 'warm'] as const)('R78 the figures of one recording, from a %s cache,', (start) => {
  const price = toPrice(start)

  it('are the same in the bill of the provider, in the simulation, in advice, in tuning and in the inspector', async () => {
    const before = await record(start, OPENS)
    expect((await simulateAll(before, price)) / before.usd).toBeCloseTo(1, 2)

    const shown = { refunds: 'full' } as const
    const after = await record(start, KNOWS, shown)
    expect((await simulateAll(before, price, shown)) / after.usd).toBeCloseTo(1, 2)

    const advicePrice = { ...price, usdPerMillion: PRICES.input }
    const advice = advise([before.recording], { prompt: desk, price: advicePrice })
    const show = advice.find(({ type }) => type === 'show-section' || type === 'show-all')
    const saved = before.usd - after.usd
    expect(toUsd(show?.saved.cost ?? 0) / saved).toBeCloseTo(1, 1)
    expect(show?.message).toContain(`a ${start} start; reads at 0.1, writes at 1.25`)
    expect(show?.message).toContain('($0.0')

    const runs = before.recording.runs.map((run) => ({ prompt: desk, steps: toSimulationSteps(run), input: INPUT }))
    const { costs } = await tune(runs, price)
    const [now, open] = ['as it is', 'all open'].map((name) => costs.find((way) => way.name === name)?.cost ?? 0)
    // Tuning rounds what a run costs.
    expect(Math.abs((show?.saved.cost ?? 0) / runs.length - (now! - open!))).toBeLessThan(1)

    const { items } = await inspectAdvice(before, advicePrice)
    expect(items.map(({ message }) => message)).toEqual(advice.map(({ message }) => message))
  })
})

it('R78 the linter saves what a render and a simulated request send less', async () => {
  const { findings } = describePrompt(
    {
      bound: desk,
      createStrategy: () => readSection(),
      measure: (disclosure) => measurePrompt(desk, { ...(disclosure && { disclosure }) }),
    },
    { visibility: {} },
  )
  const finding = findings.find(({ path }) => path === 'moves')
  const folded = { visibility: { moves: 'summary' } } as const
  expect(finding).toMatchObject({ kind: 'fold' })
  expect(Math.abs(desk.render().tokens.total - desk.render(folded).tokens.total - finding!.saves)).toBeLessThan(10)
  const run = { prompt: desk, steps: [{ answers: 1 }] }
  const [open, less] = await Promise.all(
    [{}, folded].map((shown) => simulate(run, { strategy: readSection(), ...shown })),
  )
  expect(Math.abs(open!.inputTokens - less!.inputTokens - finding!.saves)).toBeLessThan(10)
})
