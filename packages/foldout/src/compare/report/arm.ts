import { addUsage, NO_USAGE } from '../../adapters/contract.ts'
import type { AgainstBase, ArmReport, Interval } from '../contract/report.ts'
import type { SavedHeader, SavedRun } from '../contract/saved.ts'
import { getNormalShare } from '../statistics/distributions.ts'
import { getWilson } from '../statistics/intervals.ts'
import { comparePaired, getMean, type PairedCase } from '../statistics/paired.ts'
import { billRun, describeMoney } from './money.ts'
import { describeOpenings, type Needs } from './openings.ts'
import { getCluster, type KnownRuns } from './runs.ts'

interface ArmParts {
  readonly arm: string
  readonly needs: Needs
  readonly against: AgainstBase | undefined
}

const Z = 1.645

/** Describes the runs of one arm. */
export function describeArm(header: SavedHeader, known: KnownRuns, { arm, needs, against }: ArmParts): ArmReport {
  const { prices } = header
  const runs = known.ofArm(arm)
  const cases = header.cases
    .map((one): PairedCase => ({
      base: [0],
      other: known.get(arm, one.id).map(({ score }) => score),
      cluster: getCluster(one),
    }))
    .filter(({ other }) => other.length > 0)
  const mean = (get: (run: SavedRun) => number): number => getMean(runs.map(get))
  const tokens = (field: 'input' | 'output'): number =>
    mean(({ requests }) => requests.reduce((sum, request) => sum + request[field], 0))
  const times = runs.map(({ ms }) => ms / 1_000).sort((one, other) => one - other)
  const getCost = prices ? (run: SavedRun): number => billRun(run.requests, prices, true) : undefined
  return {
    runs: runs.length,
    errors: runs.filter(({ error }) => error !== null).length,
    success: getMean(cases.map(({ other }) => getMean(other))),
    interval: getInterval(cases),
    passAll: getMean(cases.map(({ other }) => Number(other.every((score) => score === 1)))),
    grades: describeGrades(runs),
    ...(against && { against }),
    openings: describeOpenings(runs, needs, getCost),
    callsNotOffered: runs.reduce((sum, run) => sum + run.callsNotOffered, 0),
    requests: mean(({ requests }) => requests.length),
    inputTokens: tokens('input'),
    outputTokens: tokens('output'),
    seconds: { p50: getQuantile(times, 0.5), p90: getQuantile(times, 0.9) },
    money: describeMoney(header, runs),
    reported: runs.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE),
  }
}

/** Wilson's interval if each case has one run that passed or failed, otherwise the t interval of the cases. */
function getInterval(cases: readonly PairedCase[]): Interval {
  const level = 2 * getNormalShare(Z) - 1
  if (cases.length === 0) return { low: 0, high: 1, level }
  const isBinary = cases.every(({ other }) => other.length === 1 && (other[0] === 0 || other[0] === 1))
  if (isBinary && new Set(cases.map(({ cluster }) => cluster)).size === cases.length) {
    const passed = cases.filter(({ other }) => other[0] === 1).length
    return { ...getWilson(passed, cases.length, Z), level }
  }
  const { low, high } = comparePaired(cases, { margin: 1, z: Z }).interval
  return { low: Math.max(0, low), high: Math.min(1, high), level }
}

function describeGrades(runs: readonly SavedRun[]): Readonly<Record<string, number>> {
  const byName = new Map<string, number[]>()
  for (const { grades } of runs)
    for (const [name, grade] of Object.entries(grades)) byName.set(name, [...(byName.get(name) ?? []), grade])
  return Object.fromEntries([...byName].map(([name, grades]) => [name, getMean(grades)]))
}

function getQuantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}
