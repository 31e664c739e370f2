import type { ConfidenceFeatures } from '../packages/foldout/src/catalog/search/confidence.ts'
import type { DataSet } from './search-data.ts'
import { collectCases, type Case } from './search-honesty.ts'
import { progress } from './report.ts'

const FEATURES = ['coverage', 'nearness', 'nearest'] as const satisfies (keyof ConfidenceFeatures)[]
const ROUNDS = 25
/** Keeps weights finite where a feature says nothing. */
const PENALTY = 1e-4
/** What share of answerable queries may be doubted: in the mean of the sets, and in the worst. Less than the goals, because other sets will differ. */
const MOST_DOUBTED = { mean: 0.012, worst: 0.03 }
/** What share may be answered with nothing at all. */
const MOST_REFUSED = { mean: 0.0005, worst: 0.003 }

interface Row {
  readonly set: string
  readonly isAnswerable: boolean
  readonly features: ConfidenceFeatures
  /** How much it counts, so that all sets count alike, and in all the answerable queries as much as the others. */
  readonly share: number
}

type Weights = Readonly<Record<(typeof FEATURES)[number] | 'bias', number>>

/** Fits the models of confidence again and prints them for `confidence-weights.ts`. */
export async function calibrate(sets: readonly DataSet[]): Promise<void> {
  for (const [name, embed] of [
    ['WITH_WORD_VECTORS', 'word-vectors'],
    ['WORDS_ONLY', false],
  ] as const) {
    progress(`${name} ...`)
    const rows = toRows(await collectCases(sets, embed))
    const model = fit(rows)
    const fields = Object.entries(model).map(([field, value]) => `  ${field}: ${value},\n`)
    console.log(`export const ${name}: ConfidenceModel = {\n${fields.join('')}}\n`)
    for (const set of new Set(rows.map((row) => getSetName(row.set)))) {
      const { fits, ...weights } = fit(rows.filter((row) => getSetName(row.set) !== set))
      const doubted = (isAnswerable: boolean) => {
        const left = rows.filter((row) => getSetName(row.set) === set && row.isAnswerable === isAnswerable)
        return left.filter(({ features }) => computeConfidence(weights, features) < fits).length / left.length
      }
      console.log(
        `without ${set}: doubts ${doubted(true).toFixed(3)} of its answerable queries, ${doubted(false).toFixed(3)} of foreign ones`,
      )
    }
  }
}

/** `sgd` of `sgd: travel`. */
function getSetName(set: string): string {
  return set.replace(/: .*/, '')
}

export function toRows(cases: readonly Case[]): readonly Row[] {
  const counts = new Map<string, number>()
  const rows = cases.flatMap(({ set, kind, features }) =>
    features ? [{ set, isAnswerable: kind === 'answerable', features }] : [],
  )
  const key = ({ set, isAnswerable }: { set: string; isAnswerable: boolean }) => `${set} ${isAnswerable}`
  for (const row of rows) counts.set(key(row), (counts.get(key(row)) ?? 0) + 1)
  const groups = { true: 0, false: 0 }
  for (const group of counts.keys()) groups[group.endsWith('true') ? 'true' : 'false']++
  return rows.map((row) => ({ ...row, share: 1 / counts.get(key(row))! / groups[`${row.isAnswerable}`] / 2 }))
}

/** Logistic regression by Newton's method. */
export function fit(rows: readonly Row[]): Weights & { readonly fits: number; readonly isNear: number } {
  const names = [...FEATURES, 'bias'] as const
  const weights: Record<keyof Weights, number> = { coverage: 0, nearness: 0, nearest: 0, bias: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const slope = names.map((name) => PENALTY * weights[name])
    const curve = names.map((_, i) => names.map((_, j) => (i === j ? PENALTY : 0)))
    for (const { features, isAnswerable, share } of rows) {
      const confidence = computeConfidence(weights, features)
      const values = [...FEATURES.map((name) => features[name]), 1]
      values.forEach((a, i) => {
        slope[i]! += share * (confidence - (isAnswerable ? 1 : 0)) * a
        values.forEach((b, j) => (curve[i]![j]! += share * confidence * (1 - confidence) * a * b))
      })
    }
    const step = solve(curve, slope)
    names.forEach((name, i) => (weights[name] -= step[i]!))
  }
  for (const name of names) weights[name] = Number(weights[name].toFixed(3))
  return {
    ...weights,
    fits: findThreshold(rows, weights, MOST_DOUBTED),
    isNear: findThreshold(rows, weights, MOST_REFUSED),
  }
}

/** Solves a few linear equations by elimination. */
function solve(matrix: readonly (readonly number[])[], values: readonly number[]): readonly number[] {
  const rows = matrix.map((row, i) => [...row, values[i]!])
  rows.forEach((pivot, at) => {
    for (const row of rows) {
      if (row === pivot) continue
      const factor = row[at]! / pivot[at]!
      pivot.forEach((value, column) => (row[column]! -= factor * value))
    }
  })
  return rows.map((row, at) => row.at(-1)! / row[at]!)
}

function computeConfidence(weights: Weights, features: ConfidenceFeatures): number {
  return 1 / (1 + Math.exp(-FEATURES.reduce((sum, name) => sum + weights[name] * features[name], weights.bias)))
}

/** The highest confidence below which no more answerable queries lie than allowed. */
function findThreshold(
  rows: readonly Row[],
  weights: Weights,
  most: { readonly mean: number; readonly worst: number },
): number {
  const sets = [...new Set(rows.map(({ set }) => getSetName(set)))].map((set) =>
    rows
      .filter((row) => row.isAnswerable && getSetName(row.set) === set)
      .map(({ features }) => computeConfidence(weights, features)),
  )
  for (let threshold = 0.999; threshold > 0; threshold -= 0.001) {
    const shares = sets.map((set) => set.filter((confidence) => confidence < threshold).length / set.length)
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length
    if (mean <= most.mean && Math.max(...shares) <= most.worst) return Number(threshold.toFixed(3))
  }
  return 0
}
