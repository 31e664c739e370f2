import { checkNumbers } from '../../core/check-number.ts'
import { FoldoutError } from '../../core/errors.ts'
import { computeInterval, pairHalves } from '../../core/price/interval.ts'
import { readSection } from '../../disclosure/strategies/read-section.ts'
import type { PromptOverrides } from '../../prompt/overrides/overrides.ts'
import { getRegistry } from '../../prompt/prompt.ts'
import type { VisibilityOverrides } from '../../session/visibility.ts'
import type { Bill } from '../simulate/cache.ts'
import { simulate } from '../simulate/simulate.ts'
import type { SimulatedRun } from '../simulate/contract.ts'
import {
  addCores,
  isPlain,
  listCandidates,
  toOverrides,
  UNCHANGED,
  type TuneCandidate,
  type TuneOptions,
} from './candidates.ts'
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
 * of the runs choose for the other half, and the other way round. What depends on the runs has to be better there, with
 * certainty, than the cheapest of the prompt as it is, all open and all folded; otherwise that is recommended. It saves
 * at least 1 %.
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
  const price = createPricer(options)
  const { best, plain, priced, assumptions } = await chooseWay(runs, price, options)
  const checked: Checked[] = []
  for (const [learned, others] of pairHalves(runs)) {
    if (learned.length === 0 || others.length === 0) continue
    const choice = await chooseWay(learned, price, options)
    checked.push(
      ...(await compareWays(others, { before: UNCHANGED, plain, ownPlain: choice.plain, best: choice.best }, price)),
    )
  }
  const isLearned = best !== plain && summarize([...checked, imagineBad(checked)], 'plain', 'best').low > 0
  const saved = summarize(checked, 'before', isLearned ? 'best' : 'ownPlain')
  const pays = runs.length >= minRuns && saved.share >= LEAST_SHARE
  const better = isLearned ? best : plain
  const chosen = pays ? better : UNCHANGED
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
  readonly assumptions: readonly string[]
}

type Pricer = (runs: readonly SimulatedRun[], candidate: TuneCandidate) => Promise<Priced>

/** Prices ways to fold. Each run is simulated once for a way: the halves have the same runs as the whole. */
function createPricer(options: TuneOptions): Pricer {
  const { strategy = readSection(), simulate: simulateRun = simulate, minRuns: _, ...rest } = options
  const known = new Map<SimulatedRun, Map<string, Promise<Bill>>>()
  return async (runs, candidate) => {
    const costs: number[] = []
    let assumptions: readonly string[] = []
    // Prompts read the same overrides once.
    const written = new Map<SimulatedRun['prompt'], { readonly overrides: PromptOverrides; readonly key: string }>()
    const write = ({ prompt }: SimulatedRun) => {
      const overrides = toOverrides(candidate, prompt)
      const made = { overrides, key: JSON.stringify(overrides) }
      written.set(prompt, made)
      return made
    }
    for (const run of runs) {
      const { overrides, key } = written.get(run.prompt) ?? write(run)
      const bills = known.get(run) ?? new Map<string, Promise<Bill>>()
      known.set(run, bills)
      const made = withCore(run, candidate.core, getRegistry(run.prompt.prompt))
      const bill = bills.get(key) ?? simulateRun(made, { ...rest, strategy, overrides })
      bills.set(key, bill)
      const { cost, assumptions: assumed } = await bill
      costs.push(cost)
      assumptions = assumed
    }
    return { candidate, costs, assumptions }
  }
}

interface Choice {
  /** The cheapest way. */
  readonly best: TuneCandidate
  /** The cheapest way that nothing has to be learned for. */
  readonly plain: TuneCandidate
  readonly priced: readonly Priced[]
  readonly assumptions: readonly string[]
}

/** Finds the cheapest way: first what is folded and opened ahead, then which tools of catalogs are listed. */
async function chooseWay(runs: readonly SimulatedRun[], price: Pricer, options: TuneOptions): Promise<Choice> {
  const priced: Priced[] = []
  for (const way of listCandidates(runs, options)) priced.push(await price(runs, way))
  const plain = findCheapest(priced.filter(({ candidate }) => isPlain(candidate)))
  for (const way of addCores(findCheapest(priced), runs, options)) priced.push(await price(runs, way))
  return { best: findCheapest(priced), plain, priced, assumptions: priced[0]?.assumptions ?? [] }
}

interface Ways<Way> {
  readonly before: Way
  /** The cheapest plain way for all runs. */
  readonly plain: Way
  /** What the other half of the runs would choose. */
  readonly ownPlain: Way
  readonly best: Way
}

/** What one run costs. */
type Checked = Ways<number>

async function compareWays(
  runs: readonly SimulatedRun[],
  ways: Ways<TuneCandidate>,
  price: Pricer,
): Promise<readonly Checked[]> {
  const costs = async (way: TuneCandidate): Promise<readonly number[]> => (await price(runs, way)).costs
  const before = await costs(ways.before)
  const plain = await costs(ways.plain)
  const ownPlain = await costs(ways.ownPlain)
  const best = await costs(ways.best)
  return runs.map((_, at) => ({
    before: before[at] ?? 0,
    plain: plain[at] ?? 0,
    ownPlain: ownPlain[at] ?? 0,
    best: best[at] ?? 0,
  }))
}

/**
 * One more run, which costs half as much again in the way that was learned: what a run needs now and then may be missing in
 * few of them. It outweighs a small saving in few runs, but not a large one.
 */
function imagineBad(checked: readonly Checked[]): Checked {
  const plain = mean(checked.map((run) => run.plain))
  return { before: plain, plain, ownPlain: plain, best: 1.5 * plain }
}

function findCheapest(priced: readonly Priced[]): TuneCandidate {
  return priced.reduce((best, one) => (mean(one.costs) < mean(best.costs) ? one : best)).candidate
}

function mean(costs: readonly number[]): number {
  return costs.reduce((sum, cost) => sum + cost, 0) / Math.max(1, costs.length)
}

/** What one choice saves over another: the normal interval of the mean difference between paired runs. */
function summarize(checked: readonly Checked[], from: keyof Checked, to: keyof Checked): Tuned['saved'] {
  const differences = checked.map((run) => run[from] - run[to])
  const share = mean(differences) / Math.max(1, mean(checked.map((run) => run[from])))
  return { ...computeInterval(differences), share }
}
