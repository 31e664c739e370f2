import assert from 'node:assert/strict'
import { gptTokenizer } from 'foldout/gpt-tokenizer'
import {
  contextFiles,
  openOrRead,
  openSections,
  readSection,
  type DisclosureStrategy,
  type TokenCounter,
} from 'foldout'
import {
  simulate,
  type SimulatedAdapter,
  type SimulatedRun,
  type Simulation,
  type SimulationOptions,
} from 'foldout/telemetry'
import { assistant, assistantRuns } from './assistant.ts'
import { handbook, handbookRuns } from './handbook.ts'
import { CATALOG_AGENT, catalogRuns } from './catalog-cost.ts'
import { computeChatCosts } from './chat/chat.ts'
import { computeDelegated } from './ways/delegated.ts'
import { computeNative } from './ways/native.ts'
import { computeThrough } from './ways/through.ts'
import { goal, progress, type Bench, type Goal, type Row } from './report.ts'

interface Agent {
  readonly name: string
  readonly prompt: SimulatedRun['prompt']
  readonly runs: readonly SimulatedRun[]
}

const AGENTS: readonly Agent[] = [
  { name: 'assistant, 14 sections', prompt: assistant, runs: assistantRuns },
  { name: 'handbook, 200 sections', prompt: handbook, runs: handbookRuns },
]
const STRATEGIES: readonly DisclosureStrategy[] = [readSection(), openSections(), openOrRead(), contextFiles()]
const ADAPTERS: readonly SimulatedAdapter[] = ['dynamic', 'dynamic-plain', 'restart']
const EVERYTHING = 'everything-in-full'

interface BillingCase {
  readonly label: string
  /** The share of the full prompt's cost that the default strategy should save; for `warm` it is a share of the bound. */
  readonly goal: number
  readonly options: Pick<SimulationOptions, 'cache' | 'cacheStart'>
}

/** The kinds of billing, each with its columns. */
const BILLINGS = {
  uncached: { label: 'uncached', goal: 0.6, options: { cache: 'none' } },
  anthropic: { label: 'cached (Anthropic-like)', goal: 0.6, options: { cache: 'anthropic' } },
  openai: { label: 'cached (OpenAI-like)', goal: 0.6, options: { cache: 'openai' } },
  // A long prompt that other runs keep in the cache costs a tenth, so arithmetic limits what is left to save.
  warm: {
    label: 'cached by an earlier run',
    goal: 0.9,
    options: { cache: 'anthropic', cacheStart: 'warm' },
  },
} as const satisfies Readonly<Record<string, BillingCase>>
type BillingName = keyof typeof BILLINGS
const BILLING_NAMES = Object.keys(BILLINGS) as BillingName[]

export const costBench: Bench = {
  name: 'cost',
  question: 'How many input tokens does opening sections as needed save?',
  columns: [
    { key: 'agent', label: 'agent' },
    { key: 'strategy', label: 'strategy' },
    { key: 'adapter', label: 'adapter' },
    { key: 'requests', label: 'requests' },
    { key: 'uncached', label: 'uncached' },
    { key: 'uncachedSaving', label: 'saved' },
    { key: 'anthropic', label: 'cached' },
    { key: 'anthropicSaving', label: 'saved' },
    { key: 'openai', label: 'OpenAI-like' },
    { key: 'openaiSaving', label: 'saved' },
    { key: 'warm', label: 'cached before' },
    { key: 'warmSaving', label: 'saved' },
    { key: 'warmBound', label: 'at most' },
    { key: 'billed', label: 'with its cache' },
    { key: 'billedSaving', label: 'saved' },
    { key: 'hit', label: 'prefix hit' },
    { key: 'kept', label: 'of what was sent' },
    { key: 'lossUncached', label: 'loss from, uncached' },
    { key: 'lossCached', label: 'loss from, cached' },
    { key: 'lossWarm', label: 'loss from, cached before' },
  ],
  async run() {
    const counter = await gptTokenizer()
    const rows: Row[] = []
    const goals: Goal[] = []
    for (const agent of AGENTS) {
      progress(`${agent.name} ...`)
      const costs = await computeCosts(agent, counter)
      rows.push(...costs.rows)
      for (const [billing, saving] of costs.savings) {
        const { label, goal: least } = BILLINGS[billing]
        const name = `${agent.name}: saved by readSection, ${label}`
        if (billing === 'warm') goals.push(...getBoundGoals(name, saving, costs.warmBound))
        else goals.push(goal(name, saving, '>=', least))
      }
      const most = Math.max(...agent.runs.map((run) => openedBy(run).length / getFolded(agent).length))
      for (const manner of ['one a turn', 'all at once'] as const) {
        progress(`${agent.name}, break-even, ${manner} ...`)
        const uncached = await lossFrom(agent, manner, { ...BILLINGS.uncached.options, counter })
        const cached = await lossFrom(agent, manner, { ...BILLINGS.anthropic.options, counter })
        const warm = await lossFrom(agent, manner, { ...BILLINGS.warm.options, counter })
        rows.push({
          agent: agent.name,
          strategy: `readSection, opening ${manner}`,
          adapter: 'dynamic',
          lossUncached: shareOrNever(uncached),
          lossCached: shareOrNever(cached),
          lossWarm: shareOrNever(warm),
        })
        const share = `share of folded sections opened ${manner} that makes it a loss`
        // The runs above must be on the right side of it.
        goals.push(goal(`${agent.name}: ${share}, uncached`, uncached, '>=', Number(most.toFixed(3))))
        goals.push(goal(`${agent.name}: ${share}, cached`, cached, '>=', Number(most.toFixed(3))))
      }
    }
    const catalog = await costsOfCatalog(counter)
    const chat = await computeChatCosts(counter)
    progress('delegated sections ...')
    const delegated = await computeDelegated(counter)
    progress('tools through one constant tool ...')
    const through = await computeThrough(counter)
    progress('native() and hybrid() ...')
    const ways = [catalog, chat, delegated, through, await computeNative(counter)]
    return {
      rows: [...rows, ...ways.flatMap((way) => way.rows)],
      goals: [...goals, ...ways.flatMap((way) => way.goals)],
    }
  },
}

/** The share that a large catalog should save, with any billing. */
const CATALOG_GOAL = 0.95

/** The same tasks with every tool listed, and with tools found by search. */
async function costsOfCatalog(
  counter: TokenCounter,
): Promise<{ readonly rows: readonly Row[]; readonly goals: readonly Goal[] }> {
  progress(`${CATALOG_AGENT} ...`)
  const { listed, searched, found } = await catalogRuns(counter)
  const options = { strategy: EVERYTHING, adapter: ADAPTERS[0]!, counter } as const
  const full = await computeCost({ ...listed, name: CATALOG_AGENT }, options)
  const cost = await computeCost({ ...searched, name: CATALOG_AGENT }, options)
  const agent = { ...searched, name: CATALOG_AGENT }
  // The minimum: the same conversations without a tool list.
  const bound = 1 - full.messages / full.billed.warm
  return {
    rows: [
      toRow(agent, { strategy: 'all()', adapter: null }, full, full),
      { ...toRow(agent, { strategy: 'hybrid()', adapter: null }, cost, full), warmBound: percent(bound) },
    ],
    goals: [
      goal(`${CATALOG_AGENT}: tasks whose tool was found`, found, '>=', 0.9),
      ...BILLING_NAMES.flatMap((billing) => {
        const name = `${CATALOG_AGENT}: saved by hybrid, ${BILLINGS[billing].label}`
        const saving = 1 - cost.billed[billing] / full.billed[billing]
        return billing === 'warm' ? getBoundGoals(name, saving, bound) : [goal(name, saving, '>=', CATALOG_GOAL)]
      }),
    ],
  }
}

/** A goal where arithmetic limits the saving: never a loss, and most of what is possible. */
function getBoundGoals(name: string, saving: number, bound: number): readonly Goal[] {
  return [
    goal(name, saving, '>=', 0),
    goal(`${name}, as a share of the most possible (${percent(bound)})`, saving / bound, '>=', BILLINGS.warm.goal),
  ]
}

interface Costs {
  readonly rows: readonly Row[]
  /** The default strategy's saving if tools can be appended. */
  readonly savings: ReadonlyMap<BillingName, number>
  /** The most that opening sections by calls can save if an earlier run has cached the prompt. */
  readonly warmBound: number
}

async function computeCosts(agent: Agent, counter: TokenCounter): Promise<Costs> {
  const full = await computeCost(agent, { strategy: EVERYTHING, counter })
  const rows: Row[] = [toRow(agent, { strategy: EVERYTHING, adapter: null }, full, full)]
  const savings = new Map<BillingName, number>()
  const first = await computeCost(agent, { strategy: STRATEGIES[0]!, adapter: ADAPTERS[0]!, counter })
  assertEnough(agent, first, full)
  const warmBound = 1 - (await computeLeastWarmCost(agent, counter)) / full.billed.warm
  for (const strategy of STRATEGIES) {
    for (const adapter of ADAPTERS) {
      const cost = await computeCost(agent, { strategy, adapter, counter })
      assert.deepEqual(cost.ends, first.ends, `${strategy.name} on ${adapter} ends with other texts or tools.`)
      const row = toRow(agent, { strategy: strategy.name, adapter }, cost, full)
      rows.push({ ...row, warmBound: percent(warmBound) })
    }
  }
  for (const billing of BILLING_NAMES) savings.set(billing, 1 - first.billed[billing] / full.billed[billing])
  assert(1 - first.billed.warm / full.billed.warm <= warmBound, `${agent.name} saves more than is possible.`)
  return { rows, savings, warmBound }
}

const READ_RATE = 0.1
const WRITE_RATE = 1.25

/**
 * The minimum cost of runs whose model opens the same sections by calls, if the folded prompt is in the cache. By
 * arithmetic, not simulation: the folded prompt is read instead of the full one; each opening takes one more request, which
 * reads the cached part; what the opening adds is written once and read from then on.
 */
async function computeLeastWarmCost(agent: Agent, counter: TokenCounter): Promise<number> {
  const folded = agent.prompt.render({ counter }).tokens.total
  let least = 0
  for (const run of agent.runs) {
    const full = await simulate(run, { strategy: EVERYTHING, counter, ...BILLINGS.warm.options })
    least += full.billedTokens
    for (const { tools, system } of full.requests) least -= READ_RATE * (tools + system - folded)
    let added = 0
    let at = 0
    for (const [step, opening] of run.steps.entries()) {
      if (!('opens' in opening)) {
        at += 1
        continue
      }
      const brought = countOpened(run, step, counter)
      least += READ_RATE * (folded + full.requests[at]!.messages + added)
      least += WRITE_RATE * brought + READ_RATE * brought * (full.requests.length - at - 1)
      added += brought
    }
  }
  return least
}

/**
 * The minimum tokens of an opening: a call that names the section, the section's text, the definitions of its tools,
 * and a line that names them, so that the model knows what it can call from then on.
 */
function countOpened({ prompt, steps }: SimulatedRun, step: number, counter: TokenCounter): number {
  const render = (end: number) => {
    const opened = steps.slice(0, end).flatMap((each) => ('opens' in each ? each.opens : []))
    return prompt.render({ counter, visibility: Object.fromEntries(opened.map((path) => [path, 'full'] as const)) })
  }
  const before = render(step)
  const after = render(step + 1)
  const keys = after.nodes
    .map(({ path }) => path)
    .filter((path) => before.view.state(path) === 'folded' && after.view.state(path) === 'full')
  const texts = keys.flatMap((key) => {
    const names = after.view.toolsIn(key).map(({ name }) => name)
    const line = names.length === 0 ? '' : `Tools: ${names.join(', ')}`
    return ['read_section', JSON.stringify({ section_key: key }), after.view.content(key), line]
  })
  return texts.reduce((sum, text) => sum + counter.count(text), 0) + after.tokens.tools - before.tokens.tools
}

interface Cost {
  readonly requests: number
  readonly billed: Readonly<Record<BillingName, number>>
  /** Tokens of the conversations alone, in all requests. */
  readonly messages: number
  /** What the model can read and call at the end of each run. */
  readonly ends: readonly Pick<Simulation, 'sections' | 'tools'>[]
}

async function computeCost(agent: Agent, options: SimulationOptions): Promise<Cost> {
  const billed: Record<BillingName, number> = { uncached: 0, anthropic: 0, openai: 0, warm: 0 }
  const ends: Pick<Simulation, 'sections' | 'tools'>[] = []
  let requests = 0
  let messages = 0
  for (const run of agent.runs) {
    for (const billing of BILLING_NAMES) {
      const simulation = await simulate(run, { ...options, ...BILLINGS[billing].options })
      billed[billing] += simulation.billedTokens
      if (billing !== 'uncached') continue
      requests += simulation.requests.length
      messages += simulation.requests.reduce((sum, request) => sum + request.messages, 0)
      ends.push({ sections: simulation.sections, tools: simulation.tools })
    }
  }
  return { requests, billed, messages, ends }
}

/** Checks that each run ends with everything it opened, and with nothing that is not in the full prompt. */
function assertEnough(agent: Agent, cost: Cost, full: Cost): void {
  for (const [i, run] of agent.runs.entries()) {
    const end = cost.ends[i]!
    for (const path of openedBy(run)) assert(end.sections.includes(path), `Run ${i + 1} does not show ${path}.`)
    for (const path of end.sections) assert(full.ends[i]!.sections.includes(path), `${path} is not in the full prompt.`)
    for (const name of end.tools) assert(full.ends[i]!.tools.includes(name), `${name} is not in the full prompt.`)
  }
}

function toRow(agent: Agent, names: Row, cost: Cost, full: Cost): Row {
  const figures = BILLING_NAMES.map((billing): Row => ({
    [billing]: Math.round(cost.billed[billing]),
    [`${billing}Saving`]: cost === full ? null : percent(1 - cost.billed[billing] / full.billed[billing]),
  }))
  return Object.assign({ agent: agent.name, ...names, requests: cost.requests }, ...figures) as Row
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
const shareOrNever = (share: number): string => (share > 1 ? 'never' : percent(share))

function openedBy(run: SimulatedRun): readonly string[] {
  return run.steps.flatMap((step) => ('opens' in step ? step.opens : []))
}

/** The sections that can be opened, in an order that mixes long and short, near and far. */
function getFolded({ prompt }: Agent): readonly string[] {
  const { summarized } = prompt.render()
  const step = 7
  return Array.from({ length: step }, (_, start) => summarized.filter((_path, i) => i % step === start)).flat()
}

/**
 * The share of folded sections from which opening them costs more than everything in full, in a run of
 * four calls and an answer; above 1 if even all of them do not.
 */
async function lossFrom(
  agent: Agent,
  manner: 'one a turn' | 'all at once',
  options: Omit<SimulationOptions, 'strategy'>,
): Promise<number> {
  const folded = getFolded(agent)
  const work = Array.from({ length: 4 }, () => ({
    calls: [{ name: 'read_file', argumentsTokens: 20, resultTokens: 200 }],
  }))
  const billed = async (strategy: SimulationOptions['strategy'], count: number): Promise<number> => {
    const keys = folded.slice(0, count)
    const openings = manner === 'all at once' ? [{ opens: keys }] : keys.map((key) => ({ opens: [key] }))
    const run = { prompt: agent.prompt, input: 'Look into it.', steps: [...openings, ...work, { answers: 100 }] }
    return (await simulate(run, { ...options, strategy })).billedTokens
  }
  const full = await billed(EVERYTHING, 0)
  // Every further section adds cost, so a binary search finds the first that is too many.
  let below = 0
  let above = folded.length + 1
  while (above - below > 1) {
    const middle = (below + above) >> 1
    if ((await billed(readSection(), middle)) >= full) above = middle
    else below = middle
  }
  return above / folded.length
}
