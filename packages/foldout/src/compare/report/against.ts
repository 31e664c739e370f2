import type { AgainstBase, CompareVerdict } from '../contract/report.ts'
import type { SavedHeader, SavedRun } from '../contract/saved.ts'
import { getNormalShare } from '../statistics/distributions.ts'
import { comparePaired, findP, type PairedCase } from '../statistics/paired.ts'
import { findMissed, type Needs } from './openings.ts'
import { getCluster, type KnownRuns } from './runs.ts'

const MIN_CLUSTERS = 10
const MAX_ERROR_SHARE = 0.05

/** What decides: the bound of the look, and how many repeats it covers. */
export interface Terms {
  readonly z: number
  readonly needs: Needs
}

/** Compares an arm with the base, over the cases that both have run. */
export function compareWithBase(header: SavedHeader, runs: KnownRuns, arm: string, { z, needs }: Terms): AgainstBase {
  const level = 2 * getNormalShare(z) - 1
  const shared = header.cases
    .map((one) => ({ ...one, base: runs.get(header.base, one.id), other: runs.get(arm, one.id) }))
    .filter(({ base, other }) => base.length > 0 && other.length > 0)
  if (shared.length === 0) return { ...NO_CASES, base: header.base, interval: { low: -1, high: 1, level } }
  const cases = shared.map((one): PairedCase => ({
    base: one.base.map(({ score }) => score),
    other: one.other.map(({ score }) => score),
    cluster: getCluster(one),
  }))
  const { interval, verdict, ...result } = comparePaired(cases, { margin: header.margin, z })
  const reasons = findReasons(shared, { base: header.base, arm, needs, clusters: result.clusters })
  return {
    ...result,
    base: header.base,
    interval: { low: Math.max(-1, interval.low), high: Math.min(1, interval.high), level },
    p: findP(cases, { interval, verdict, ...result }, header.seed),
    verdict: reasons.length > 0 ? 'no-signal' : verdict,
    reasons,
    cases: cases.length,
  }
}

const NO_CASES = {
  difference: 0,
  p: 1,
  test: 'sign-flips',
  verdict: 'no-signal',
  reasons: ['There is no case that both arms have run.'],
  cases: 0,
  clusters: 0,
  better: 0,
  worse: 0,
  casesNeeded: null,
} as const

interface SharedCase {
  readonly id: string
  readonly base: readonly SavedRun[]
  readonly other: readonly SavedRun[]
}

interface Compared {
  readonly base: string
  readonly arm: string
  readonly needs: Needs
  readonly clusters: number
}

/** Why nothing can be said from these runs, in sentences. */
function findReasons(cases: readonly SharedCase[], { base, arm, needs, clusters }: Compared): readonly string[] {
  const own = cases.flatMap(({ other }) => other)
  const others = cases.flatMap((one) => one.base)
  const all = [...own, ...others]
  const reasons: string[] = []
  if (clusters < MIN_CLUSTERS)
    reasons.push(
      `There are only ${clusters} independent cases that both arms have run. Compare at least ${MIN_CLUSTERS}.`,
    )
  if (all.length > 0 && all.every(({ score }) => score === 1))
    reasons.push('Every run of both arms passed, so these cases cannot show a difference. Add harder ones.')
  if (all.length > 0 && all.every(({ score }) => score === 0))
    reasons.push(
      'Every run of both arms failed, so these cases cannot show a difference. Look at the runs, and at the graders.',
    )
  for (const [name, runs] of [[base, others] as const, [arm, own] as const]) {
    const errors = runs.filter(({ error }) => error !== null)
    if (errors.length <= MAX_ERROR_SHARE * runs.length) continue
    const first = errors[0]?.error ?? ''
    reasons.push(`${errors.length} of ${runs.length} runs of '${name}' ended with an error. The first is: ${first}`)
  }
  if (cases.length > 0 && cases.every(isAlike))
    reasons.push(`'${arm}' and '${base}' began with the same bytes in every case, so any difference is noise.`)
  const needed = own.reduce((sum, run) => sum + findMissed(run, needs.get(run.case) ?? []).needed.length, 0)
  if (needed > 0 && own.every(({ opened, ahead }) => opened.length + ahead.length === 0))
    reasons.push(
      `'${arm}' never opened a section, although its runs needed ${needed}. Check that the model is offered the tool that opens them.`,
    )
  return reasons
}

/** Whether the runs of a case began alike in both arms. */
function isAlike({ base, other }: SharedCase): boolean {
  const [one] = base
  const [another] = other
  if (!one || !another || one.begins === '') return false
  return one.begins === another.begins && one.ahead.join(' ') === another.ahead.join(' ')
}

const ORDER: readonly CompareVerdict[] = ['worse', 'no-signal', 'undecided', 'not-worse']

export function getWorst(verdicts: readonly CompareVerdict[]): CompareVerdict {
  return ORDER.find((verdict) => verdicts.includes(verdict)) ?? 'no-signal'
}
