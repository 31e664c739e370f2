import { createRandom, getCoinShare, getNormalShare } from './distributions.ts'
import { getMeanInterval, getTango, type Ends } from './intervals.ts'

/** The scores of one case in two arms, a number from 0 to 1 for each run. */
export interface PairedCase {
  readonly base: readonly number[]
  readonly other: readonly number[]
  /** Cases of one cluster are not independent. */
  readonly cluster: string
}

export interface PairedTerms {
  /** How much worse is still not worse. */
  readonly margin: number
  /** What decides: 1.645 for one look. */
  readonly z: number
}

export interface PairedResult {
  readonly difference: number
  readonly interval: Ends
  /** How p is computed. */
  readonly test: 'sign-flips' | 'mcnemar'
  readonly verdict: 'not-worse' | 'worse' | 'undecided'
  readonly clusters: number
  readonly better: number
  readonly worse: number
  readonly casesNeeded: number
}

/** Below this number of cases with one run each, the exact test of McNemar decides. */
const MIN_CASES_FOR_FLIPS = 30

/**
 * Compares two arms by the mean of the cases' differences. Runs are never pooled over cases, because the runs of one case
 * are alike, and repeats are never turned into a majority, because that loses half of what they show.
 */
export function comparePaired(cases: readonly PairedCase[], terms: PairedTerms): PairedResult {
  const differences = cases.map(({ base, other }) => getMean(other) - getMean(base))
  const better = differences.filter((one) => one > EPSILON).length
  const worse = differences.filter((one) => one < -EPSILON).length
  const sums = sumClusters(cases, differences)
  const difference = getMean(differences)
  const error = getClusterError(sums, cases.length)
  const share = getNormalShare(terms.z)
  const isOnce = sums.length === cases.length && cases.every(isBinaryOnce)
  const isExact = isOnce && cases.length < MIN_CASES_FOR_FLIPS
  const interval = isOnce
    ? getTango(better, worse, cases.length, terms.z)
    : widen(getMeanInterval(difference, error, sums.length - 1, share), { error, clusters: sums.length, share })
  const isSure = !isExact || getCoinShare(better, better + worse) <= 1 - share
  return {
    difference,
    interval,
    test: isExact ? 'mcnemar' : 'sign-flips',
    verdict: judge(interval, terms.margin, isSure),
    clusters: sums.length,
    better,
    worse,
    casesNeeded: estimateCases(error, cases.length, terms.margin),
  }
}

const EPSILON = 1e-9

/** How likely a difference like this is if the arms are the same, for both sides. */
export function findP(cases: readonly PairedCase[], result: PairedResult, seed: number): number {
  if (result.test === 'mcnemar') return getMcNemar(result.better, result.worse)
  const differences = cases.map(({ base, other }) => getMean(other) - getMean(base))
  return flipSigns(
    sumClusters(cases, differences).map(({ sum }) => sum),
    seed,
  )
}

/** The exact test of McNemar, for both sides: whether as many cases became better as worse. */
export function getMcNemar(better: number, worse: number): number {
  return Math.min(1, 2 * getCoinShare(Math.min(better, worse), better + worse))
}

function judge({ low, high }: Ends, margin: number, isSure: boolean): PairedResult['verdict'] {
  if (low > -margin) return 'not-worse'
  if (high < 0 && isSure) return 'worse'
  return 'undecided'
}

function isBinaryOnce({ base, other }: PairedCase): boolean {
  return [base, other].every((scores) => scores.length === 1 && (scores[0] === 0 || scores[0] === 1))
}

interface ClusterSum {
  readonly sum: number
  readonly cases: number
}

function sumClusters(cases: readonly PairedCase[], differences: readonly number[]): readonly ClusterSum[] {
  const clusters = new Map<string, { sum: number; cases: number }>()
  for (const [at, { cluster }] of cases.entries()) {
    const found = clusters.get(cluster) ?? { sum: 0, cases: 0 }
    found.sum += differences[at] ?? 0
    found.cases += 1
    clusters.set(cluster, found)
  }
  return [...clusters.values()]
}

/** The standard error of the mean difference, with whole clusters as units. */
function getClusterError(clusters: readonly ClusterSum[], cases: number): number {
  if (clusters.length < 2) return Infinity
  const mean = clusters.reduce((total, { sum }) => total + sum, 0) / cases
  const squares = clusters.reduce((total, { sum, cases: own }) => total + (sum - own * mean) ** 2, 0)
  return Math.sqrt((squares * clusters.length) / (clusters.length - 1)) / cases
}

/** If no case differs, the t interval is a point. What was never seen in n clusters may still happen to some of them. */
function widen(
  ends: Ends,
  { error, clusters, share }: { readonly error: number; readonly clusters: number; readonly share: number },
): Ends {
  if (error > EPSILON) return ends
  const unseen = 1 - (1 - share) ** (1 / clusters)
  return { low: ends.low - unseen, high: ends.high + unseen }
}

function estimateCases(error: number, cases: number, margin: number): number {
  if (!Number.isFinite(error)) return countCasesWithoutDifference(margin)
  const variance = error * error * cases
  if (variance > EPSILON) return countCasesNeeded(variance, margin)
  return countCasesWithoutDifference(margin)
}

const MAX_EXACT = 14
const SAMPLES = 10_000

/** The share of all ways to flip the signs of the clusters that give a difference as large as the one seen. */
export function flipSigns(sums: readonly number[], seed: number): number {
  const moved = sums.filter((sum) => Math.abs(sum) > EPSILON)
  const seen = Math.abs(moved.reduce((total, sum) => total + sum, 0)) - EPSILON
  if (moved.length === 0) return 1
  if (moved.length <= MAX_EXACT) return countFlips(moved, seen) / 2 ** moved.length
  const random = createRandom(seed)
  let reached = 1
  for (let sample = 0; sample < SAMPLES; sample++) {
    let total = 0
    for (const sum of moved) total += random() < 0.5 ? sum : -sum
    if (Math.abs(total) >= seen) reached++
  }
  return reached / (SAMPLES + 1)
}

function countFlips(sums: readonly number[], seen: number): number {
  let totals = [0]
  for (const sum of sums) totals = totals.flatMap((total) => [total + sum, total - sum])
  return totals.filter((total) => Math.abs(total) >= seen).length
}

export function getMean(numbers: readonly number[]): number {
  if (numbers.length === 0) return 0
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length
}

/** (1.6449 + 0.8416)²: one-sided 5 % false alarms, and 80 % power. */
const FACTOR = 6.1826

/** How much runs of one kind of task vary. */
export interface Spread {
  /** The variance between runs of one case, such as p (1 − p). */
  readonly within: number
  /** The variance of the true differences between cases. */
  readonly between: number
}

/** Tasks of which about every second run fails, and stable ones, in published experiments. */
export const HARD_TASKS: Spread = { within: 0.147, between: 0.01 }
export const STABLE_TASKS: Spread = { within: 0.05, between: 0.005 }

/** The variance of a case's difference between two arms with `repeats` runs each. */
export function getDifferenceVariance({ within, between }: Spread, repeats: number): number {
  return between + (2 * within) / repeats
}

/** How many cases show a drop of this size in four of five comparisons. */
export function countCasesNeeded(variance: number, drop: number): number {
  return Math.ceil((FACTOR * variance) / (drop * drop) - 1e-9)
}

/** The smallest drop that so many cases show in four of five comparisons. */
export function findSmallestDrop(variance: number, cases: number): number {
  return Math.sqrt((FACTOR * variance) / cases)
}

/** How many cases without any difference exclude a drop of this size, with 5 % error. */
export function countCasesWithoutDifference(drop: number): number {
  return Math.ceil(Math.log(0.05) / Math.log1p(-Math.min(drop, 0.999)))
}
