import { type TuneOptions, listCandidates, type TuneCandidate } from './candidates.ts'
import { checkNumbers } from '../../core/check-number.ts'
import { FoldoutError } from '../../core/errors.ts'
import { computeInterval } from '../../core/price/interval.ts'
import { bySearch } from '../../disclosure/ahead/by-search.ts'
import type { OpenAhead } from '../../disclosure/ahead/rule.ts'
import { readSection } from '../../disclosure/strategies/read-section.ts'
import type { VisibilityOverrides } from '../../session/visibility.ts'
import { simulate } from '../simulate/simulate.ts'
import type { SimulatedRun } from '../simulate/contract.ts'
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
  /** The cheapest way: `'as it is'`, `'all open'`, `'all folded'` or `'by need'`, with `' and ahead'` if sections are opened ahead. */
  readonly name: string
  /** The visibility to set, by path; empty if the prompt is best as it is. */
  readonly visibility: VisibilityOverrides
  /** Whether `bySearch()` should open sections ahead. */
  readonly ahead: boolean
  /** What a run costs with each way, in tokens at the price of input: input, output and all requests. */
  readonly costs: readonly { readonly name: string; readonly cost: number }[]
  /**
   * What a run saves on runs that the way was not computed from, in the same tokens, with the ends of the 95 % interval.
   */
  readonly saved: { readonly mean: number; readonly low: number; readonly high: number; readonly share: number }
  /** What the costs assume. */
  readonly assumptions: readonly string[]
}

/**
 * Computes the folding that costs least for the runs of a prompt, and checks it on runs it was not computed from: half
 * of the runs choose for the other half, and the other way round. The cheapest way is recommended only if it saves
 * there with certainty.
 *
 * @example
 * ```ts
 * const runs = recording.runs.map((run) => ({ prompt: bound, steps: toSimulationSteps(run) }))
 * const { name, visibility, saved } = await tune(runs, { cache: 'anthropic', cacheStart: { perHour: 40 }, minRuns: 0 })
 * ```
 */
export async function tune(given: readonly SimulatedRun[], options: TuneOptions = {}): Promise<Tuned> {
  const { minRuns = 10 } = options
  checkNumbers({ minRuns }, { code: 'simulation-invalid' })
  const [first] = given
  if (!first) throw new FoldoutError('simulation-invalid', 'There are no runs to learn from. Record some first.')
  const runs = given.map(withOpenings)
  const halves = [runs.filter((_, at) => at % 2 === 0), runs.filter((_, at) => at % 2 === 1)] as const
  const all = await priceAll(runs, listCandidates(runs, options), options)
  const crossed = [
    ...(await crossCheck(halves[0], halves[1], options)),
    ...(await crossCheck(halves[1], halves[0], options)),
  ]
  const saved = summarize(crossed)
  const best = findBest(all.priced)
  const isCertain = runs.length >= minRuns && saved.low > 0
  const chosen = isCertain ? best.candidate : NOTHING
  return {
    runs: runs.length,
    name: chosen.name,
    visibility: chosen.visibility,
    ahead: chosen.ahead,
    costs: all.priced.map(({ candidate, costs }) => ({ name: candidate.name, cost: Math.round(mean(costs)) })),
    saved: isCertain ? saved : NO_SAVING,
    assumptions: all.assumptions,
  }
}

const NOTHING: TuneCandidate = { name: 'as it is', visibility: {}, ahead: false }
const NO_SAVING = { mean: 0, low: 0, high: 0, share: 0 }

interface Priced {
  readonly candidate: TuneCandidate
  /** The cost of each run. */
  readonly costs: readonly number[]
}

interface Pricing {
  readonly priced: readonly Priced[]
  readonly assumptions: readonly string[]
}

async function priceAll(
  runs: readonly SimulatedRun[],
  candidates: readonly TuneCandidate[],
  options: TuneOptions,
): Promise<Pricing> {
  const { strategy = readSection(), minRuns: _, ...rest } = options
  const priced: Priced[] = []
  let assumptions: readonly string[] = []
  for (const candidate of candidates) {
    const costs: number[] = []
    const open: { readonly open?: OpenAhead } = candidate.ahead ? { open: bySearch() } : {}
    for (const run of runs) {
      const bill = await simulate(run, { ...rest, ...open, strategy, visibility: candidate.visibility })
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
  const { candidate } = findBest((await priceAll(learned, listCandidates(learned, options), options)).priced)
  const { priced } = await priceAll(checked, [NOTHING, candidate], options)
  const [before, after] = priced
  return checked.map((_, at) => ({ before: before?.costs[at] ?? 0, after: after?.costs[at] ?? 0 }))
}

function findBest(priced: readonly Priced[]): Priced {
  return priced.reduce((best, one) => (mean(one.costs) < mean(best.costs) ? one : best))
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
