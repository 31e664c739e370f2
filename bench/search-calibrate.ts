import type { ConfidenceFeatures } from '../packages/foldout/src/catalog/search/engine/confidence-weights.ts'
import type { Encoder } from '../packages/foldout/src/catalog/search/encoder.ts'
import type { DataSet } from './search-data.ts'
import { FEATURES } from './search-engines.ts'
import { collectCases, type Case, type CaseEmbed } from './search-honesty.ts'
import { progress } from './report.ts'

type Feature = keyof ConfidenceFeatures
const ROUNDS = 25
/** Keeps weights finite where a feature says nothing. */
const PENALTY = 1e-4
/** The share of answerable queries that may be doubted: on average over the sets, in the worst set, and in catalogs of one domain. */
interface Doubts {
  readonly mean: number
  readonly worst: number
  readonly domains: number
}

/** Stricter than the goals, because other sets will differ. */
const MOST_DOUBTED: Doubts = { mean: 0.012, worst: 0.04, domains: 0.0175 }
/** For 2 % of the answerable queries, no tool shares a word. */
const MOST_DOUBTED_BY_WORDS: Doubts = { mean: 0.02, worst: 0.05, domains: 0.04 }
/** The share of answerable queries whose nearest tool may be too far for a guess. */
const MOST_REFUSED = 0.001

interface Row extends Case {
  /** Its weight, so that all sets count alike, and answerable queries count as much as the others. */
  readonly share: number
}

type Weights = Readonly<Record<Feature | 'bias', number>>
type Model = Weights & { readonly fits: number }

/** What to fit: the features, and how many answerable queries may be doubted. */
interface Plan {
  readonly name: string
  readonly embed: CaseEmbed
  readonly features: readonly Feature[]
  readonly doubted: Doubts
}

const BY_WORDS: Plan = {
  name: 'WORDS_ONLY',
  embed: false,
  features: ['coverage', 'known'],
  doubted: MOST_DOUBTED_BY_WORDS,
}
const BY_WORD_VECTORS: Plan = {
  name: 'WITH_WORD_VECTORS',
  embed: 'word-vectors',
  features: ['coverage', 'likeness', 'nearness', 'nearest', 'size'],
  doubted: MOST_DOUBTED,
}
/** With an encoder, the size of the catalog and similar words add nothing, and fewer doubts are enough. */
const BY_ENCODER = {
  name: 'WITH_ENCODER',
  features: ['coverage', 'nearness', 'nearest'],
  doubted: { mean: 0.008, worst: 0.03, domains: 0.015 },
} as const

/** Fits the models of confidence again and prints them for `confidence-weights.ts`. The encoder's needs the encoder. */
export async function calibrate(sets: readonly DataSet[], encoder: Encoder | undefined): Promise<void> {
  const words = await calibrateOne(BY_WORDS, sets, undefined)
  await calibrateOne(BY_WORD_VECTORS, sets, words)
  if (encoder) await calibrateOne({ ...BY_WORD_VECTORS, ...BY_ENCODER, embed: encoder }, sets, words)
}

async function calibrateOne(plan: Plan, sets: readonly DataSet[], words: Model | undefined): Promise<Model> {
  progress(`${plan.name} ...`)
  const cases = await collectCases(sets, plan.embed)
  const model = fit(cases, plan, words)
  const fields = Object.entries(model).map(([field, value]) => `  ${field}: ${value},\n`)
  console.log(`export const ${plan.name}: ConfidenceModel = {\n${fields.join('')}}\n`)
  console.log(`NEAR: ${findNear(cases).toFixed(3)}`)
  for (const set of new Set(cases.map((one) => getSetName(one.set)))) {
    const left = fit(
      cases.filter((one) => getSetName(one.set) !== set),
      plan,
      words,
    )
    const getShare = (kind: Case['kind']): string => {
      const own = cases.filter((one) => getSetName(one.set) === set && one.kind === kind)
      return (own.filter((one) => judge(one, left, words) < left.fits).length / own.length).toFixed(3)
    }
    console.log(
      `without ${set}: doubts ${getShare('answerable')} of its answerable queries, ${getShare('foreign')} of foreign ones`,
    )
  }
  return model
}

/** The cosine that the nearest tools of all but a few answerable queries reach. Queries that the vectors do not know do not count. */
function findNear(cases: readonly Case[]): number {
  const known = cases.filter(({ kind, features }) => kind === 'answerable' && (features?.nearest ?? 0) > 0)
  const nearest = known.map(({ features }) => features?.nearest ?? 0).toSorted((a, b) => a - b)
  return nearest[Math.floor(MOST_REFUSED * nearest.length)] ?? 0
}

/** `sgd` of `sgd: travel`. */
function getSetName(set: string): string {
  return set.replace(/: .*/, '')
}

function toRows(cases: readonly Case[]): readonly Row[] {
  const counts = new Map<string, number>()
  const key = ({ set, kind }: Case): string => `${set} ${kind}`
  for (const one of cases) counts.set(key(one), (counts.get(key(one)) ?? 0) + 1)
  const groups = { answerable: 0, foreign: 0 }
  for (const group of counts.keys()) groups[group.endsWith('answerable') ? 'answerable' : 'foreign']++
  return cases.map((one) => ({ ...one, share: 1 / counts.get(key(one))! / groups[one.kind] / 2 }))
}

/** Logistic regression by Newton's method, and the thresholds that go with it. */
function fit(cases: readonly Case[], { features, doubted }: Plan, words: Model | undefined): Model {
  const rows = toRows(cases.filter((one) => one.features && (!words || !one.isJudgedByWords)))
  const names = [...features, 'bias'] as const
  const weights: Record<keyof Weights, number> = {
    coverage: 0,
    likeness: 0,
    known: 0,
    nearness: 0,
    nearest: 0,
    size: 0,
    bias: 0,
  }
  for (let round = 0; round < ROUNDS; round++) {
    const slope = names.map((name) => PENALTY * weights[name])
    const curve = names.map((_, i) => names.map((_, j) => (i === j ? PENALTY : 0)))
    for (const { features: given, kind, share } of rows) {
      const confidence = computeConfidence(weights, given!)
      const values = [...features.map((name) => given![name]), 1]
      values.forEach((a, i) => {
        slope[i]! += share * (confidence - (kind === 'answerable' ? 1 : 0)) * a
        values.forEach((b, j) => (curve[i]![j]! += share * confidence * (1 - confidence) * a * b))
      })
    }
    const step = solve(curve, slope)
    names.forEach((name, i) => (weights[name] -= step[i]!))
  }
  for (const name of names) weights[name] = Number(weights[name].toFixed(3))
  return { ...weights, fits: findThreshold(cases, weights, words, doubted) }
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
  const evidence = FEATURES.reduce((sum, name) => sum + weights[name] * features[name], weights.bias)
  return 1 / (1 + Math.exp(-evidence))
}

/** The confidence of a search as implemented: a named tool fits, nothing fits if no word is shared, and words decide some cases. */
function judge(one: Case, weights: Weights, words: Model | undefined): number {
  if (!one.features) return 0
  if (one.isNamed) return 1
  if (!words || !one.isJudgedByWords) return computeConfidence(weights, one.features)
  return computeConfidence(words, one.features) < words.fits ? 0 : 1
}

/** The highest confidence with no more answerable queries below it than allowed. */
function findThreshold(cases: readonly Case[], weights: Weights, words: Model | undefined, most: Doubts): number {
  const answerable = cases
    .filter(({ kind }) => kind === 'answerable')
    .map((one) => ({ set: one.set, confidence: judge(one, weights, words) }))
  const sets = [...new Set(answerable.map(({ set }) => set))].filter((set) => !set.includes(': '))
  const getShare = (isOne: (set: string) => boolean, threshold: number): number => {
    const some = answerable.filter(({ set }) => isOne(set))
    return some.length === 0 ? 0 : some.filter(({ confidence }) => confidence < threshold).length / some.length
  }
  let found = 0
  for (let threshold = 0.001; threshold < 1; threshold += 0.001) {
    const shares = sets.map((name) => getShare((set) => set === name, threshold))
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length
    const ofDomains = getShare((set) => set.includes(': '), threshold)
    if (mean > most.mean || Math.max(...shares) > most.worst || ofDomains > most.domains) break
    found = Number(threshold.toFixed(3))
  }
  return found
}
