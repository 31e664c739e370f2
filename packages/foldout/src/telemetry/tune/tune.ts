import { checkNumbers } from '../../core/check-number.ts'
import { FoldoutError } from '../../core/errors.ts'
import { computeInterval, pairHalves } from '../../core/price/interval.ts'
import { readSection } from '../../disclosure/strategies/read-section.ts'
import type { PromptOverrides } from '../../prompt/overrides/overrides.ts'
import { getRegistry } from '../../prompt/prompt.ts'
import type { VisibilityOverrides } from '../../session/visibility.ts'
import { simulate } from '../simulate/simulate.ts'
import type { SimulatedRun } from '../simulate/contract.ts'
import { addCores, listCandidates, toOverrides, UNCHANGED, type TuneCandidate, type TuneOptions } from './candidates.ts'
import { withCore, withoutCore } from './core-tools.ts'
import { withOpenings } from './needs.ts'

/**
 * The cheapest folding for recorded use.
 *
 * @example
 * ```ts
 * const format = ({ name, saved }: Tuned): string => `${name}: ${saved.low} to ${saved.high} tokens a run`
 * ```
 */
export interface Tuned {
  /** The number of runs that it was computed from. */
  readonly runs: number
  /**
   * The cheapest way: `'as it is'`, `'all open'`, `'all folded'` or `'by need'`, with `' and ahead'` if sections are
   * opened ahead, and with the number of core tools if there are any.
   */
  readonly name: string
  /** The visibility to set, by path; empty if the prompt is best as it is. */
  readonly visibility: VisibilityOverrides
  /** Whether `bySearch()` should open sections ahead. */
  readonly ahead: boolean
  /** The tools of catalogs to list from the start, by qualified name. */
  readonly core: readonly string[]
  /** All of it as overrides, for `runAgent` and override stores. */
  readonly overrides: PromptOverrides
  /** What a run costs with each way, in tokens at the price of input: input, output and all requests. */
  readonly costs: readonly { readonly name: string; readonly cost: number }[]
  /**
   * What a run saves on runs that the way was not computed from, in the same tokens, with the ends of the 95 % interval.
   */
  readonly saved: { readonly mean: number; readonly low: number; readonly high: number; readonly share: number }
  /** Whether it certainly saves something: the interval is above zero. */
  readonly isCertain: boolean
  /** What the costs assume. */
  readonly assumptions: readonly string[]
}

/**
 * Computes the folding that costs least for the runs of a prompt, and checks it on runs it was not computed from: half
 * of the runs choose for the other half, and the other way round. The cheapest way is recommended only if it saves at
 * least 1 % there.
 *
 * @example
 * ```ts
 * const runs = recording.runs.map((run) => ({ prompt: bound, steps: toSimulationSteps(run) }))
 * const { name, overrides, saved } = await tune(runs, { cache: 'anthropic', cacheStart: { perHour: 40 }, minRuns: 0 })
 * ```
 */
export async function tune(given: readonly SimulatedRun[], options: TuneOptions = {}): Promise<Tuned> {
  const { minRuns = 10 } = options
  checkNumbers({ minRuns }, { code: 'simulation-invalid' })
  const [first] = given
  if (!first) throw new FoldoutError('simulation-invalid', 'There are no runs to learn from. Record some first.')
  const registry = getRegistry(first.prompt.prompt)
  const runs = given.map((run) => withoutCore(withOpenings(run), registry))
  const { best, priced, assumptions } = await chooseWay(runs, options)
  const crossed: Checked[] = []
  for (const [learned, checked] of pairHalves(runs)) crossed.push(...(await crossCheck(learned, checked, options)))
  const saved = summarize(crossed)
  const pays = runs.length >= minRuns && saved.share >= LEAST_SHARE
  const chosen = pays ? best : UNCHANGED
  return {
    ...chosen,
    runs: runs.length,
    overrides: toOverrides(chosen, first.prompt),
    costs: priced.map(({ candidate, costs }) => ({ name: candidate.name, cost: Math.round(mean(costs)) })),
    saved: pays ? saved : NO_SAVING,
    isCertain: pays && saved.low > 0,
    assumptions,
  }
}

/** A smaller share of the cost is not worth a change. */
const LEAST_SHARE = 0.01

const NO_SAVING = { mean: 0, low: 0, high: 0, share: 0 }

interface Priced {
  readonly candidate: TuneCandidate
  /** The cost of each run. */
  readonly costs: readonly number[]
}

interface Choice {
  readonly best: TuneCandidate
  readonly priced: readonly Priced[]
  readonly assumptions: readonly string[]
}

/** Finds the cheapest way: first what is folded and opened ahead, then which tools of catalogs are listed. */
async function chooseWay(runs: readonly SimulatedRun[], options: TuneOptions): Promise<Choice> {
  const ways = await priceAll(runs, listCandidates(runs, options), options)
  const cores = await priceAll(runs, addCores(findBest(ways.priced), runs, options), options)
  const priced = [...ways.priced, ...cores.priced]
  return { best: findBest(priced), priced, assumptions: ways.assumptions }
}

async function priceAll(
  runs: readonly SimulatedRun[],
  candidates: readonly TuneCandidate[],
  options: TuneOptions,
): Promise<Omit<Choice, 'best'>> {
  const { strategy = readSection(), minRuns: _, ...rest } = options
  const priced: Priced[] = []
  let assumptions: readonly string[] = []
  for (const candidate of candidates) {
    const costs: number[] = []
    // Prompts read the same overrides once.
    const known = new Map<SimulatedRun['prompt'], PromptOverrides>()
    for (const run of runs) {
      const overrides = known.get(run.prompt) ?? toOverrides(candidate, run.prompt)
      known.set(run.prompt, overrides)
      const made = withCore(run, candidate.core, getRegistry(run.prompt.prompt))
      const bill = await simulate(made, { ...rest, strategy, overrides })
      costs.push(bill.cost)
      assumptions = bill.assumptions
    }
    priced.push({ candidate, costs })
  }
  return { priced, assumptions }
}

interface Checked {
  readonly before: number
  readonly after: number
}

/** Chooses from some runs, and prices the choice on others. */
async function crossCheck(
  learned: readonly SimulatedRun[],
  checked: readonly SimulatedRun[],
  options: TuneOptions,
): Promise<readonly Checked[]> {
  if (learned.length === 0 || checked.length === 0) return []
  const { best } = await chooseWay(learned, options)
  const { priced } = await priceAll(checked, [UNCHANGED, best], options)
  const [before, after] = priced
  return checked.map((_, at) => ({ before: before?.costs[at] ?? 0, after: after?.costs[at] ?? 0 }))
}

function findBest(priced: readonly Priced[]): TuneCandidate {
  return priced.reduce((best, one) => (mean(one.costs) < mean(best.costs) ? one : best)).candidate
}

function mean(costs: readonly number[]): number {
  return costs.reduce((sum, cost) => sum + cost, 0) / Math.max(1, costs.length)
}

/** The normal interval of the mean difference between paired runs. */
function summarize(checked: readonly Checked[]): Tuned['saved'] {
  const differences = checked.map(({ before, after }) => before - after)
  const share = mean(differences) / Math.max(1, mean(checked.map(({ before }) => before)))
  return { ...computeInterval(differences), share }
}
