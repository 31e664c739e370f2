import type { Usage } from '../../adapters/contract.ts'
import type { ComparePrices } from './options.ts'

/**
 * A number with the ends of an interval around it.
 *
 * @example
 * ```ts
 * const format = ({ low, high }: Interval): string => `${low.toFixed(2)} to ${high.toFixed(2)}`
 * ```
 */
export interface Interval {
  readonly low: number
  readonly high: number
  /** The share of such intervals that contain the truth, such as 0.9. Each end alone errs half as often. */
  readonly level: number
}

/**
 * What a comparison with the base has shown. `'no-signal'`: nothing can be said from these runs, and `reasons` says why.
 *
 * @example
 * ```ts
 * const isFine = (verdict: CompareVerdict): boolean => verdict === 'not-worse'
 * ```
 */
export type CompareVerdict = 'not-worse' | 'worse' | 'undecided' | 'no-signal'

/**
 * An arm beside the base: the difference of success, over the cases that both have run.
 *
 * @example
 * ```ts
 * const describe = ({ difference, verdict }: AgainstBase): string => `${(100 * difference).toFixed(1)} points: ${verdict}`
 * ```
 */
export interface AgainstBase {
  readonly base: string
  /** The mean difference of the cases: above 0, this arm is better. */
  readonly difference: number
  /** Its ends are what the verdict looks at. */
  readonly interval: Interval
  /** How likely a difference like this is if the arms are the same. */
  readonly p: number
  readonly test: 'sign-flips' | 'mcnemar'
  readonly verdict: CompareVerdict
  /** Why there is no verdict, in sentences. */
  readonly reasons: readonly string[]
  /** The cases that both arms have run, and how many of them are independent. */
  readonly cases: number
  readonly clusters: number
  readonly better: number
  readonly worse: number
  /** How many cases would decide it with the repeats of now, if the arms are the same; `null` if that is unknown. */
  readonly casesNeeded: number | null
}

/**
 * A section that a run needed and did not open.
 *
 * @example
 * ```ts
 * const inFailures = (missed: readonly MissedOpening[]): number => missed.filter(({ failed }) => failed).length
 * ```
 */
export interface MissedOpening {
  readonly case: string
  readonly repeat: number
  readonly path: string
  /** Whether the run failed. */
  readonly failed: boolean
}

/**
 * What an arm has opened, compared with what its cases need.
 *
 * @example
 * ```ts
 * const isComplete = ({ recall }: ArmOpenings): boolean => recall === 1
 * ```
 */
export interface ArmOpenings {
  /** How often a section that was folded was needed, over all runs of cases whose needs are known. */
  readonly needed: number
  /** How many sections were opened in those runs, by the model or ahead of it. */
  readonly opened: number
  /** The share of needed sections that were opened; `null` if none was needed. */
  readonly recall: number | null
  /** The share of opened sections that were needed; `null` if none was opened. */
  readonly precision: number | null
  /** At most 1,000; `missedInAll` counts them all. */
  readonly missed: readonly MissedOpening[]
  readonly missedInAll: number
  readonly missedInFailures: number
  /** Sections by how often they were missed, most often first, with what the failed ones among these runs cost. */
  readonly sections: readonly MissedSection[]
  /** The runs of cases of which nobody knows what they need. */
  readonly unknown: number
}

/**
 * A section that was missed.
 *
 * @example
 * ```ts
 * const worst = ({ sections: [first] }: ArmOpenings): MissedSection | undefined => first
 * ```
 */
export interface MissedSection {
  readonly path: string
  readonly needed: number
  readonly missed: number
  readonly missedInFailures: number
  /** The dollars that runs cost which missed it and failed, at the prices of the report and with a warm cache; `null` without prices. */
  readonly wastedUsd: number | null
}

/**
 * What an arm costs. The runs are billed again, with a cold and with a warm cache, because an experiment itself is
 * always warm.
 *
 * @example
 * ```ts
 * const ratio = (arm: ArmMoney, base: ArmMoney): number => arm.usd.warm / base.usd.warm - 1
 * ```
 */
export interface ArmMoney {
  /** Dollars a run, by the state of the cache at its beginning. */
  readonly usd: CostByCache
  /** Dollars for each run that passed; `null` if none did. */
  readonly usdPerSuccess: CostByCache | null
  /** The dollars of `usd` that are output, whatever is cached. */
  readonly outputUsd: number
  /** How many of the runs that cost this begin alike: traffic is multiplied by it. Below 1 if sections are opened ahead. */
  readonly share: number
}

/**
 * A cost by the state of the cache. At a number of conversations an hour, it is `warmth * warm + (1 - warmth) * cold`,
 * where `warmth = 1 - Math.exp(-perHour * share * ttl / 3600)`.
 *
 * @example
 * ```ts
 * const atTraffic = ({ cold, warm }: CostByCache, warmth: number): number => warmth * warm + (1 - warmth) * cold
 * ```
 */
export interface CostByCache {
  readonly cold: number
  readonly warm: number
  /** At the traffic of the report; `null` if it has none. */
  readonly atTraffic: number | null
}

/**
 * One row of a comparison.
 *
 * @example
 * ```ts
 * const getErrorShare = ({ errors, runs }: ArmReport): number => errors / Math.max(1, runs)
 * ```
 */
export interface ArmReport {
  readonly runs: number
  /** Runs that ended with an error. They count as failed. */
  readonly errors: number
  /** The mean score of the cases. */
  readonly success: number
  readonly interval: Interval
  /** The share of cases that passed in each of their repeats. */
  readonly passAll: number
  /** The mean of each grade. */
  readonly grades: Readonly<Record<string, number>>
  /** Missing for the base. */
  readonly against?: AgainstBase
  readonly openings: ArmOpenings
  /** How many calls of tools that were not offered its runs made. */
  readonly callsNotOffered: number
  /** Means of a run. */
  readonly requests: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly seconds: { readonly p50: number; readonly p90: number }
  /** `null` without prices. */
  readonly money: ArmMoney | null
  /** What the provider has reported for all runs. */
  readonly reported: Usage
}

/**
 * A case in one arm.
 *
 * @example
 * ```ts
 * const hasPassed = ({ scores }: CompareCell): boolean => scores.every((score) => score === 1)
 * ```
 */
export interface CompareCell {
  /** The score of each run, by repeat. An error is 0. */
  readonly scores: readonly number[]
  readonly errors: number
  /** Whether one of these runs did not open a section that it needed. */
  readonly hasMissed: boolean
  /** The runs in the saved file, by repeat. */
  readonly runs: readonly string[]
}

/**
 * A case in every arm.
 *
 * @example
 * ```ts
 * const isWorse = ({ arms }: CaseReport): boolean => (arms['folded']?.scores[0] ?? 0) < (arms['full']?.scores[0] ?? 0)
 * ```
 */
export interface CaseReport {
  readonly id: string
  /** What the user said first, shortened. */
  readonly input: string
  readonly conversation?: string
  /** What a run of this case needs, as far as it is known. */
  readonly needs: readonly string[]
  readonly arms: Readonly<Record<string, CompareCell>>
}

/**
 * The result of a comparison. Plain JSON.
 *
 * @example
 * ```ts
 * const listArms = ({ arms }: CompareReport): string[] => Object.keys(arms)
 * ```
 */
export interface CompareReport {
  readonly version: 1
  readonly base: string
  /** The worst of the arms' verdicts. */
  readonly verdict: CompareVerdict
  readonly margin: number
  /** How often each arm has run each case, and how often it was to. */
  readonly repeats: { readonly done: number; readonly planned: number }
  /** Why it ended before all runs were made, if it did. */
  readonly stopped: 'decided' | 'budget' | 'aborted' | null
  readonly arms: Readonly<Record<string, ArmReport>>
  readonly cases: readonly CaseReport[]
  readonly prices: ComparePrices | null
  readonly perHour: number | null
  /** What the runs of this report have cost, and what a simulated user has, as far as it is known. */
  readonly spentUsd: number
  /** What the figures assume, in sentences. */
  readonly assumptions: readonly string[]
  /** What to know about this report, in sentences: runs that were left out, intervals that are not exact. */
  readonly notes: readonly string[]
}
