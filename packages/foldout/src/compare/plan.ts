import type { CompareOptions, ComparePrices } from './contract/options.ts'
import type { SavedRequest, SavedRun } from './contract/saved.ts'
import { getRunId } from './file/digests.ts'
import { createHeader, identifyArm } from './prepare.ts'
import { billRun } from './report/money.ts'
import { createRunCheck } from './report/runs.ts'
import {
  countCasesNeeded,
  findSmallestDrop,
  getDifferenceVariance,
  getMean,
  HARD_TASKS,
  STABLE_TASKS,
} from './statistics/paired.ts'
import { readTerms, type Terms } from './terms.ts'

/**
 * What a comparison will take, before it is paid.
 *
 * @example
 * ```ts
 * const format = ({ runs, usd }: ComparePlan): string => `${runs} runs for about ${usd?.toFixed(2) ?? '?'} dollars`
 * ```
 */
export interface ComparePlan {
  /** The runs that are left to make, if no early look decides. */
  readonly runs: number
  /** The runs that the saved file has already. */
  readonly kept: number
  /** Dollars for the runs that are left; `null` without prices. */
  readonly usd: number | null
  readonly arms: Readonly<Record<string, PlannedArm>>
  /** The independent cases: those of one conversation count as one. */
  readonly clusters: number
  /** The smallest drop that four of five such comparisons find, as a share, and the cases that find one of the margin. */
  readonly drops: { readonly hard: PlannedDrop; readonly stable: PlannedDrop }
  /** What the figures assume, in sentences. */
  readonly assumptions: readonly string[]
}

/**
 * What an arm will take.
 *
 * @example
 * ```ts
 * const isMeasured = ({ from }: PlannedArm): boolean => from > 0
 * ```
 */
export interface PlannedArm {
  readonly runs: number
  /** The tokens of the tools and the system text of the first request. */
  readonly startTokens: number
  readonly usd: number | null
  /** How many saved runs the dollars are computed from; 0 if they are estimated. */
  readonly from: number
}

/**
 * What can be seen with these cases and repeats.
 *
 * @example
 * ```ts
 * const format = ({ smallest }: PlannedDrop): string => `${(100 * smallest).toFixed(1)} points`
 * ```
 */
export interface PlannedDrop {
  readonly smallest: number
  readonly casesNeeded: number
}

const REQUESTS = 8
const OUTPUT_TOKENS = 120
const NEW_TOKENS = 250

/**
 * Says what a comparison will take, and what it can show, without a request.
 *
 * @example
 * ```ts
 * const arms = { full: { prompt: bound, open: 'all' }, folded: { prompt: bound } } as const
 * const plan = await planComparison({ cases: 'cases.jsonl', arms, adapter: () => adapter, repeat: 5 })
 * plan.runs // => 10
 * ```
 *
 * @throws FoldoutError with the code `compare-invalid` or `compare-file`.
 */
export async function planComparison<World = unknown>(options: CompareOptions<World>): Promise<ComparePlan> {
  const terms = await readTerms(options)
  const header = await createHeader(options, terms)
  const saved = await readSaved(options.save)
  const runs = saved.filter(createRunCheck(header))
  const known = new Set(runs.map(({ run }) => run))
  const arms: [string, PlannedArm][] = []
  let kept = 0
  for (const [name, armDigest] of Object.entries(header.arms)) {
    const ids = header.cases.flatMap(({ id, digest }) =>
      Array.from({ length: terms.repeat }, (_, repeat) =>
        getRunId({ arm: name, armDigest, case: id, caseDigest: digest, repeat }),
      ),
    )
    const left = ids.filter((id) => !known.has(id)).length
    kept += ids.length - left
    const { startTokens } = await identifyArm(options, terms, name)
    const own = runs.filter(({ arm }) => arm === name)
    const usd = estimateCost(own, startTokens, terms.prices)
    arms.push([name, { runs: left, startTokens, usd: usd && usd * left, from: own.length }])
  }
  const planned = arms.map(([, arm]) => arm)
  const clusters = new Set(terms.cases.map(({ id, conversation }) => conversation ?? `case ${id}`)).size
  return {
    runs: planned.reduce((sum, arm) => sum + arm.runs, 0),
    kept,
    usd: terms.prices && planned.reduce((sum, { usd }) => sum + (usd ?? 0), 0),
    arms: Object.fromEntries(arms),
    clusters,
    drops: { hard: planDrop(HARD_TASKS, terms, clusters), stable: planDrop(STABLE_TASKS, terms, clusters) },
    assumptions: describeAssumptions(terms, planned),
  }
}

async function readSaved(path: string | undefined): Promise<readonly SavedRun[]> {
  if (path === undefined) return []
  const { readSavedFile } = await import('./file/saved-file.ts')
  return (await readSavedFile(path)).runs
}

/** The mean cost of a run: an experiment is always warm. */
function estimateCost(runs: readonly SavedRun[], startTokens: number, prices: ComparePrices | null): number | null {
  if (prices === null) return null
  if (runs.length > 0) return getMean(runs.map(({ requests }) => billRun(requests, prices, true)))
  const requests = Array.from({ length: REQUESTS }, (_, i): SavedRequest => {
    const input = startTokens + i * NEW_TOKENS
    const same = i === 0 ? 0 : input - NEW_TOKENS
    const sizes = { input, start: startTokens, tools: 0, added: 0, same, sameTokens: same }
    return { ...sizes, output: OUTPUT_TOKENS, afterMs: 0 }
  })
  return billRun(requests, prices, true)
}

function planDrop(
  tasks: typeof HARD_TASKS,
  { repeat, margin }: Pick<Terms<never>, 'repeat' | 'margin'>,
  clusters: number,
): PlannedDrop {
  const variance = getDifferenceVariance(tasks, repeat)
  return { smallest: findSmallestDrop(variance, clusters), casesNeeded: countCasesNeeded(variance, margin) }
}

function describeAssumptions(
  { prices, cases }: Pick<Terms<never>, 'prices' | 'cases'>,
  arms: readonly PlannedArm[],
): readonly string[] {
  const isEstimated = prices !== null && arms.some(({ from }) => from === 0)
  const isMeasured = prices !== null && arms.some(({ from }) => from > 0)
  const sentences = [
    'Hard tasks are those of which every second run fails; stable ones have the same result in most repeats.',
    'A drop is found in four of five comparisons, with one false alarm in twenty.',
  ]
  if (isMeasured) sentences.push('Dollars of arms with saved runs are those of these runs with a warm cache.')
  if (isEstimated)
    sentences.push(
      `Dollars of arms without saved runs are a guess: ${REQUESTS} requests a run with ${NEW_TOKENS} new and ${OUTPUT_TOKENS} written tokens each, and a warm cache. Run a few cases first, and plan again.`,
    )
  if (prices !== null && cases.some(({ user }) => user !== undefined))
    sentences.push('What a simulated user costs is not included.')
  return sentences
}
