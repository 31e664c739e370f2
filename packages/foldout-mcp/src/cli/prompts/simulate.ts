import { toSimulationSteps, type CacheOptions, type SimulationStep } from 'foldout/telemetry'
import * as v from 'valibot'
import { UsageError } from '../../gateway/config/config.ts'
import { readTextFile } from '../../gateway/config/text-file.ts'
import { dropUndefined } from 'foldout-shared/values'
import { formatCount, formatNumber, formatUsd } from 'foldout-shared/numbers'
import { atLeast, int, list, parse, strictObject, string, union } from '../../shared/shapes.ts'
import { STRATEGIES, type StrategyName } from '../../inspector/protocol/protocol.ts'
import { EXIT } from '../support/exit-codes.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { createProgress } from '../support/progress.ts'
import { chooseLayout, createStyler, formatBar, formatSentences, formatTable, toLine } from '../support/text.ts'
import { createStrategy, loadPrompt, type LoadedPrompt, type ValueOptions } from '../support/prompt-module.ts'
import { readPrice, toUsd, type Price, type PriceOptions } from '../support/prices.ts'
import { readRuns } from './runs.ts'
import { checkPaths, measureSections } from './sections.ts'

export interface SimulateOptions extends ValueOptions, PriceOptions {
  readonly open?: readonly string[]
  readonly steps?: string
  readonly recording?: string
  readonly strategy?: StrategyName
  readonly json?: boolean
}

/** The cost of all runs together with one strategy. */
interface SimulatedCost {
  readonly strategy: StrategyName | 'everything-in-full'
  readonly requests: number
  readonly restarts: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** The cost of the input if no run finds its beginning in the cache. */
  readonly billedTokens: number
  /** The cost of the input if every run does. */
  readonly warmTokens: number
  /** The cost of the input at the given number of conversations per hour. */
  readonly perHourTokens: number | undefined
  /** What input and output cost together in dollars; undefined without prices. */
  readonly usd: Costs | undefined
  /** Why the strategy cannot be simulated. If set, the figures are 0. */
  readonly problem: string | undefined
  readonly assumptions: readonly string[]
}

/** A cost with a cold and a warm cache, and at the given number of conversations per hour. */
interface Costs {
  readonly cold: number
  readonly warm: number
  readonly perHour?: number
}

/** `foldout simulate <module>`: compares what runs cost with each strategy. Returns the exit code. */
export async function simulatePrompt(
  module: string,
  options: SimulateOptions,
  surroundings: Surroundings,
): Promise<number> {
  const { stdout } = surroundings
  const loaded = await loadPrompt(module, options)
  const runs = await findRuns(options, loaded)
  const price = await readPrice(options)
  const names = options.strategy === undefined ? STRATEGIES : [options.strategy]
  const costs: SimulatedCost[] = []
  const work = async (): Promise<void> => {
    for (const name of [...names, 'everything-in-full'] as const)
      costs.push(await simulateRuns(name, { loaded, runs, price, perHour: options.perHour }))
  }
  await createProgress(surroundings, {}).during(
    () => `Simulated ${costs.length} of ${names.length + 1} strategies`,
    work,
  )
  const { ns, key } = loaded.bound.prompt
  const assumptions = [
    ...describeSteps(options),
    ...(costs.find((cost) => cost.problem === undefined)?.assumptions ?? []),
  ]
  const result: Result = {
    prompt: `${ns}/${key}`,
    runs: runs.length,
    cache: price.name,
    perHour: options.perHour,
    assumptions,
    strategies: costs,
  }
  stdout.write(options.json ? `${JSON.stringify(result, null, 2)}\n` : formatCosts(result, surroundings))
  if (costs.some(({ problem }) => problem === undefined)) return EXIT.done
  return EXIT.failed
}

/** Says what the model is assumed to do if nobody has said so. */
function describeSteps({ open, steps, recording }: SimulateOptions): readonly string[] {
  if (open !== undefined || steps !== undefined || recording !== undefined) return []
  return [
    'The model opens every folded section in one reply, and then answers. Use --open, --recording or --steps to say what it does.',
  ]
}

interface Runs {
  readonly loaded: LoadedPrompt
  readonly runs: readonly (readonly SimulationStep[])[]
  readonly price: Price
  readonly perHour: number | undefined
}

const NO_COST = { requests: 0, restarts: 0, inputTokens: 0, outputTokens: 0, billedTokens: 0, warmTokens: 0 }

async function simulateRuns(
  strategy: StrategyName | 'everything-in-full',
  { loaded, runs, price, perHour }: Runs,
): Promise<SimulatedCost> {
  const { bound, library, telemetry } = loaded
  const sum = { strategy, ...NO_COST, perHourTokens: 0, problem: undefined }
  const terms: CacheOptions = { cache: price.cache, ...dropUndefined({ outputRate: price.outputRate }) }
  const costs = { cold: 0, warm: 0, ...(perHour !== undefined && { perHour: 0 }) }
  let assumptions: readonly string[] = []
  try {
    for (const steps of runs) {
      const chosen = strategy === 'everything-in-full' ? strategy : createStrategy(strategy, library)
      const cost = await telemetry.simulate({ prompt: bound, steps }, { strategy: chosen, ...terms })
      const warm = cost.bill({ ...terms, cacheStart: 'warm' })
      const busy = perHour === undefined ? cost : cost.bill({ ...terms, cacheStart: { perHour } })
      sum.requests += cost.requests.length
      sum.restarts += cost.restarts
      sum.inputTokens += cost.inputTokens
      sum.outputTokens += cost.outputTokens
      sum.billedTokens += cost.billedTokens
      sum.warmTokens += warm.billedTokens
      sum.perHourTokens += busy.billedTokens
      costs.cold += cost.cost
      costs.warm += warm.cost
      if (costs.perHour !== undefined) costs.perHour += busy.cost
      // What the table shows anyway is left out.
      const stated = price.usdPerMillion === undefined ? busy.assumptions.slice(0, -1) : busy.assumptions
      assumptions = stated.filter((each) => !each.startsWith('No run finds'))
    }
    const isBusy = perHour !== undefined
    return { ...sum, usd: priceCosts(costs, price), assumptions, perHourTokens: isBusy ? sum.perHourTokens : undefined }
  } catch (error) {
    const problem = (error as Error).message
    return { strategy, ...NO_COST, assumptions, perHourTokens: undefined, usd: undefined, problem }
  }
}

function priceCosts(costs: Costs, price: Price): Costs | undefined {
  if (price.usdPerMillion === undefined) return undefined
  return Object.fromEntries(Object.entries(costs).map(([name, cost]) => [name, toUsd(cost, price)])) as unknown as Costs
}

/** The assumed length of an unknown answer, in tokens. It does not change which strategy is cheapest. */
const ANSWER_TOKENS = 100

async function findRuns(options: SimulateOptions, { bound }: LoadedPrompt): Promise<Runs['runs']> {
  const { open, steps, recording } = options
  if ([open, steps, recording].filter((given) => given !== undefined).length > 1)
    throw new UsageError('Use exactly one of --open, --steps and --recording to say what the model does.')
  if (steps !== undefined) {
    const given = await readSteps(steps)
    const opened = given.flatMap((step) => ('opens' in step ? step.opens : []))
    checkPaths(opened, measureSections(bound), `${steps} opens an unknown`)
    return [given]
  }
  if (recording === undefined) {
    const opens = open ?? bound.render().summarized
    checkPaths(opens, measureSections(bound))
    return [[...(opens.length === 0 ? [] : [{ opens }]), { answers: ANSWER_TOKENS }]]
  }
  const { ns, key } = bound.prompt
  const runs = (await readRuns(recording)).flatMap((each) => each.runs)
  const own = runs.filter(({ prompt }) => prompt.ns === ns && prompt.key === key)
  if (own.length === 0) throw new UsageError(`${recording} has no run of the prompt ${ns}/${key}.`)
  return own.map(toSimulationSteps)
}

const tokens = v.pipe(int, atLeast(0))
const talk = v.strictObject({ says: tokens, hears: v.union([tokens, string]), afterMs: v.exactOptional(tokens) })
const call = strictObject({ name: string, argumentsTokens: tokens, resultTokens: tokens })
const stepsSchema = list(
  union(
    [
      strictObject({ opens: list(string) }),
      strictObject({ calls: list(call) }),
      strictObject({ needs: list(strictObject({ call: v.pipe(int, atLeast(1)), tokens })) }),
      talk,
      strictObject({ answers: tokens }),
    ],
    'an object with "opens", "calls", "needs", "says" or "answers"',
  ),
)

async function readSteps(file: string): Promise<readonly SimulationStep[]> {
  const text = await readTextFile(file)
  try {
    return parse(stepsSchema, JSON.parse(text))
  } catch (error) {
    throw new UsageError(
      `${file} is not a list of steps, such as [{"opens": ["refunds"]}, {"answers": 80}]: ${(error as Error).message}`,
    )
  }
}

interface Result {
  readonly prompt: string
  readonly runs: number
  readonly cache: string
  readonly perHour: number | undefined
  readonly assumptions: readonly string[]
  readonly strategies: readonly SimulatedCost[]
}

function formatCosts(
  { prompt, runs, cache, perHour, assumptions, strategies }: Result,
  { stdout, env }: Surroundings,
): string {
  const style = createStyler(stdout, env)
  const computed = strategies.filter(({ problem }) => problem === undefined)
  const getBilled = ({ warmTokens, perHourTokens, usd }: SimulatedCost): number =>
    usd?.perHour ?? usd?.warm ?? perHourTokens ?? warmTokens
  const largest = Math.max(...computed.map(getBilled)) || 1
  const hasUsd = computed.some(({ usd }) => usd !== undefined)
  const head = [
    'strategy',
    'requests',
    'restarts',
    'input',
    'output',
    hasUsd ? 'dollars cold' : 'billed cold',
    'warm',
    ...(perHour === undefined ? [] : [`${perHour} an hour`]),
  ]
  const rows = computed.map((cost) => {
    const { strategy, requests, restarts, inputTokens, outputTokens } = cost
    const counts = [requests, restarts, inputTokens, outputTokens].map(formatNumber)
    const figures = [...counts, ...formatBilled(cost)].map((figure, i) => figure.padStart(head[i + 1]?.length ?? 0))
    return [strategy, ...figures, formatBar(getBilled(cost) / largest, 12)]
  })
  const title = style('bold', `${toLine(prompt)}: ${formatCount(runs, 'run')}`)
  const about = `prompt cache: ${toLine(cache)}`
  const problems = strategies.flatMap(({ strategy, problem }) =>
    problem === undefined ? [] : [`${strategy} cannot be simulated: ${problem}`],
  )
  const table = chooseLayout(stdout.columns ?? Infinity, [
    () => formatTable([[...head, ''], ...rows]),
    () => formatTable([head, ...rows.map((row) => row.slice(0, -1))]),
    () => computed.flatMap((cost) => describeCost(cost)),
  ])
  const below = [...problems, ...assumptions].map((each) => formatSentences([each], stdout)).join('')
  return `${[title, about, ...table].join('\n')}\n${below}`
}

/** What a cost is billed cold, warm and at the traffic: in dollars if there are prices, otherwise in tokens of input. */
function formatBilled({ billedTokens, warmTokens, perHourTokens, usd }: SimulatedCost): readonly string[] {
  if (usd) return Object.values(usd).map(formatUsd)
  return [billedTokens, warmTokens, perHourTokens]
    .filter((tokens) => tokens !== undefined)
    .map((tokens) => formatNumber(Math.round(tokens)))
}

/** A cost in lines, for a terminal that is too narrow for a table. */
function describeCost(cost: SimulatedCost): readonly string[] {
  const { strategy, requests, restarts, inputTokens, outputTokens } = cost
  const [cold = '', warm = '', atTraffic] = formatBilled(cost)
  const busy = atTraffic === undefined ? '' : `, ${atTraffic} at this traffic`
  return [
    strategy,
    `  ${formatCount(requests, 'request')}, ${formatCount(restarts, 'restart')}`,
    `  ${formatCount(inputTokens, 'input token')}, ${formatCount(outputTokens, 'output token')}`,
    `  billed: ${cold} cold, ${warm} warm${busy}`,
  ]
}
