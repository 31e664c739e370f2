import { toSimulationSteps, type SimulationOptions, type SimulationStep } from 'foldout/telemetry'
import * as v from 'valibot'
import { UsageError } from '../../gateway/config/config.ts'
import { readTextFile } from '../../gateway/config/text-file.ts'
import { dropUndefined } from '../../gateway/fields.ts'
import { atLeast, int, list, parse, strictObject, string, union } from '../../gateway/shapes.ts'
import { STRATEGIES, type StrategyName } from '../../inspector/protocol.ts'
import { EXIT } from '../support/exit-codes.ts'
import type { Surroundings } from '../support/session.ts'
import { createProgress } from '../support/progress.ts'
import {
  chooseLayout,
  createStyler,
  formatBar,
  formatCount,
  formatNumber,
  formatSentences,
  formatTable,
  toLine,
} from '../support/text.ts'
import { createStrategy, loadPrompt, type LoadedPrompt, type ValueOptions } from './prompt-module.ts'
import { readRuns } from './runs.ts'
import { checkPaths, measureSections } from './sections.ts'

export interface SimulateOptions extends ValueOptions {
  readonly open?: readonly string[]
  readonly steps?: string
  readonly recording?: string
  readonly strategy?: StrategyName
  readonly cache?: 'none' | 'anthropic' | 'openai'
  readonly json?: boolean
}

/** The cost of all runs together with one strategy. */
interface SimulatedCost {
  readonly strategy: StrategyName | 'everything-in-full'
  readonly requests: number
  readonly restarts: number
  readonly inputTokens: number
  readonly billedTokens: number
  /** Why the strategy cannot be simulated. If set, the figures are 0. */
  readonly problem: string | undefined
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
  const names = options.strategy === undefined ? STRATEGIES : [options.strategy]
  const costs: SimulatedCost[] = []
  const work = async (): Promise<void> => {
    for (const name of [...names, 'everything-in-full'] as const)
      costs.push(await simulateRuns(name, { loaded, runs, cache: options.cache }))
  }
  await createProgress(surroundings, {}).during(
    () => `Simulated ${costs.length} of ${names.length + 1} strategies`,
    work,
  )
  const { ns, key } = loaded.bound.prompt
  const result = { prompt: `${ns}/${key}`, runs: runs.length, cache: options.cache ?? 'none', strategies: costs }
  stdout.write(options.json ? `${JSON.stringify(result, null, 2)}\n` : formatCosts(result, surroundings))
  return costs.some(({ problem }) => problem === undefined) ? EXIT.done : EXIT.failed
}

interface Runs {
  readonly loaded: LoadedPrompt
  readonly runs: readonly (readonly SimulationStep[])[]
  readonly cache: SimulationOptions['cache']
}

async function simulateRuns(
  strategy: StrategyName | 'everything-in-full',
  { loaded, runs, cache }: Runs,
): Promise<SimulatedCost> {
  const { bound, library, telemetry } = loaded
  const sum = { strategy, requests: 0, restarts: 0, inputTokens: 0, billedTokens: 0, problem: undefined }
  try {
    for (const steps of runs) {
      const chosen = strategy === 'everything-in-full' ? strategy : createStrategy(strategy, library)
      const cost = await telemetry.simulate({ prompt: bound, steps }, { strategy: chosen, ...dropUndefined({ cache }) })
      sum.requests += cost.requests.length
      sum.restarts += cost.restarts
      sum.inputTokens += cost.inputTokens
      sum.billedTokens += cost.billedTokens
    }
    return sum
  } catch (error) {
    const none = { requests: 0, restarts: 0, inputTokens: 0, billedTokens: 0 }
    return { strategy, ...none, problem: (error as Error).message }
  }
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
const call = strictObject({ name: string, argumentsTokens: tokens, resultTokens: tokens })
const stepsSchema = list(
  union(
    [strictObject({ opens: list(string) }), strictObject({ calls: list(call) }), strictObject({ answers: tokens })],
    'an object with "opens", "calls" or "answers"',
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
  readonly strategies: readonly SimulatedCost[]
}

function formatCosts({ prompt, runs, cache, strategies }: Result, { stdout, env }: Surroundings): string {
  const style = createStyler(stdout, env)
  const largest = Math.max(1, ...strategies.map(({ billedTokens }) => billedTokens))
  const computed = strategies.filter(({ problem }) => problem === undefined)
  const rows = computed.map(({ strategy, requests, restarts, inputTokens, billedTokens }) => {
    const figures = [requests, restarts, inputTokens, Math.round(billedTokens)].map((figure, i) =>
      formatNumber(figure).padStart(HEAD[i + 1]?.length ?? 0),
    )
    return [strategy, ...figures, formatBar(billedTokens / largest, 12)]
  })
  const title = style('bold', `${toLine(prompt)}: ${runs} ${runs === 1 ? 'run' : 'runs'}, prompt cache: ${cache}`)
  const problems = strategies.flatMap(({ strategy, problem }) =>
    problem === undefined ? [] : [`${strategy} cannot be simulated: ${problem}`],
  )
  const table = chooseLayout(stdout.columns ?? Infinity, [
    () => formatTable([HEAD, ...rows]),
    () => formatTable([HEAD, ...rows].map((row) => row.slice(0, -1))),
    () => computed.flatMap((cost) => describeCost(cost)),
  ])
  return `${[title, ...table].join('\n')}\n${problems.map((problem) => formatSentences([problem], stdout)).join('')}`
}

/** A cost in lines, for a terminal that is too narrow for a table. */
function describeCost({ strategy, requests, restarts, inputTokens, billedTokens }: SimulatedCost): readonly string[] {
  return [
    strategy,
    `  ${formatCount(requests, 'request')}, ${formatCount(restarts, 'restart')}`,
    `  ${formatCount(inputTokens, 'input token')}, ${formatNumber(Math.round(billedTokens))} billed`,
  ]
}

const HEAD = ['strategy', 'requests', 'restarts', 'input tokens', '  billed', '']
