import type { ConfidenceFeatures } from '../packages/foldout/src/catalog/search/confidence.ts'
import type { DataSet } from './search-data.ts'
import { nothingFitsCases, type Case, type Kind } from './search-nothing-fits.ts'
import { progress } from './report.ts'

const FEATURES = ['coverage', 'nearness', 'nearest'] as const satisfies (keyof ConfidenceFeatures)[]
const ROUNDS = 6_000
const RATE = 0.5
/** What share of answerable queries may be answered with "nothing fits", in the mean of the sets. */
const MOST_REFUSED = 0.01

interface Row {
  readonly set: string
  readonly kind: Kind
  readonly features: ConfidenceFeatures
}

type Model = Readonly<Record<(typeof FEATURES)[number] | 'bias' | 'fits', number>>

/** Fits the models of confidence again and prints them for `confidence-weights.ts`. */
export async function calibrate(sets: readonly DataSet[]): Promise<void> {
  for (const [name, embed] of [
    ['WITH_WORD_VECTORS', 'word-vectors'],
    ['WORDS_ONLY', false],
  ] as const) {
    progress(`${name} ...`)
    const model = fitted(await nothingFitsCases(sets, embed))
    const fields = Object.entries(model).map(([field, value]) => `  ${field}: ${value},\n`)
    console.log(`export const ${name}: ConfidenceModel = {\n${fields.join('')}}\n`)
  }
}

/** Logistic regression by gradient descent. Sets count alike, and in each the answerable queries as much as the others. */
function fitted(cases: readonly Case[]): Model {
  const rows: readonly Row[] = cases.flatMap(({ set, kind, features }) => (features ? [{ set, kind, features }] : []))
  const counts = new Map<string, number>()
  for (const { set, kind } of rows) counts.set(set + kind, (counts.get(set + kind) ?? 0) + 1)
  const kinds = (set: string) => new Set(rows.filter((row) => row.set === set).map(({ kind }) => kind)).size - 1
  const shares = rows.map(
    ({ set, kind }) => (kind === 'answerable' ? kinds(set) : 1) / counts.get(set + kind)! / kinds(set),
  )
  const whole = shares.reduce((sum, share) => sum + share, 0)
  const weights = Object.fromEntries([...FEATURES, 'bias'].map((name) => [name, 0]))
  const evidence = (features: ConfidenceFeatures) =>
    FEATURES.reduce((sum, name) => sum + weights[name]! * features[name], weights['bias']!)
  for (let round = 0; round < ROUNDS; round++) {
    const slope = Object.fromEntries([...FEATURES, 'bias'].map((name) => [name, 0]))
    rows.forEach(({ features, kind }, i) => {
      const error = ((1 / (1 + Math.exp(-evidence(features))) - (kind === 'answerable' ? 1 : 0)) * shares[i]!) / whole
      for (const name of FEATURES) slope[name]! += error * features[name]
      slope['bias']! += error
    })
    for (const name of Object.keys(slope)) weights[name]! -= RATE * slope[name]!
  }
  for (const name of Object.keys(weights)) weights[name] = Number(weights[name]!.toFixed(3))
  const confident = (features: ConfidenceFeatures) => 1 / (1 + Math.exp(-evidence(features)))
  return { ...weights, fits: Math.floor(thresholdFor(rows, confident) * 1000) / 1000 } as Model
}

/** The highest confidence below which no more than the share allowed of answerable queries is. */
function thresholdFor(rows: readonly Row[], confident: (features: ConfidenceFeatures) => number): number {
  const answerable = rows.filter(({ kind }) => kind === 'answerable')
  const sizes = new Map<string, number>()
  for (const { set } of answerable) sizes.set(set, (sizes.get(set) ?? 0) + 1)
  const all = answerable
    .map(({ set, features }) => ({ confidence: confident(features), share: 1 / sizes.get(set)! / sizes.size }))
    .sort((a, b) => a.confidence - b.confidence)
  let refused = 0
  for (const { confidence, share } of all) {
    refused += share
    if (refused > MOST_REFUSED) return confidence
  }
  return 0
}
