import { WITH_ENCODER, WITH_WORD_VECTORS, WORDS_ONLY, type ConfidenceModel } from './confidence-weights.ts'
import type { Searchable, SearchFit } from './contract.ts'
import type { EngineFound } from './engine.ts'
import type { Signal } from './join.ts'
import { computeCoverage } from './lexical/lexical.ts'
import { getDecidingSignal } from './ranking.ts'

/** What indicates whether the best tool answers a query, each about 0 to 1, except for the size. */
export interface ConfidenceFeatures {
  /** How much of the query's words the best tool has, by weight; or of a part's words, the best tool for that part. */
  readonly coverage: number
  /** The same where words that mean nearly the same count too. */
  readonly likeness: number
  /** What share of the query's words some tool has. */
  readonly known: number
  /** How near in meaning the best tool is. */
  readonly nearness: number
  /** How near the nearest tool is. */
  readonly nearest: number
  /** The natural logarithm of the number of tools: among many, some are near by chance. */
  readonly size: number
}

/** How likely the best tool answers a query, from 0 to 1, and what that means. */
export interface Confidence {
  readonly confidence: number
  readonly fit: SearchFit
}

export const FEATURES = [
  'coverage',
  'likeness',
  'known',
  'nearness',
  'nearest',
  'size',
] as const satisfies (keyof ConfidenceFeatures)[]

/** If words cover this much of a query, no other evidence is needed. */
const COMPLETE = 0.9

/** Computes how likely the best tool answers the query, and whether that is enough. */
export function computeConfidence<Tool extends Searchable>(
  found: EngineFound<Tool>,
  top: number | undefined,
): Confidence {
  if (top === undefined) return { confidence: 0, fit: 'none' }
  if (found.ranking.request.named.has(top)) return { confidence: 1, fit: 'good' }
  const features = getFeatures(found, top)
  if (isJudgedByWords(found, top, features)) return judgeFeatures(features, WORDS_ONLY)
  return judgeFeatures(features, found.meaning === 'encoder' ? WITH_ENCODER : WITH_WORD_VECTORS)
}

/** Whether words alone decide. Words that the vectors do not know, such as product names, can still be right. */
export function isJudgedByWords<Tool extends Searchable>(
  { meaning, ranking }: EngineFound<Tool>,
  top: number,
  { coverage }: ConfidenceFeatures,
): boolean {
  const isUnknown = (getDecidingSignal(ranking.whole)?.cosineAt(top) ?? 0) === 0
  return meaning === 'none' || isUnknown || coverage >= COMPLETE
}

export function getFeatures<Tool extends Searchable>(
  { ranking, postings }: EngineFound<Tool>,
  top: number,
): ConfidenceFeatures {
  const { whole, parts, nearest } = ranking
  const { words } = whole.query
  return {
    coverage: Math.max(computeCoverage(whole.query, top, postings), ...parts.map(({ coverage }) => coverage)),
    likeness: ranking.looks.get(top)?.likeness ?? 0,
    known: words.length === 0 ? 0 : words.filter(({ ids }) => ids.length > 0).length / words.length,
    nearness: computeNearness(whole.signals, top),
    nearest,
    size: Math.log(postings.size),
  }
}

/** The mean of what all vectors say about a tool. */
function computeNearness(signals: readonly Signal[], slot: number): number {
  const sum = signals.reduce((sum, { cosineAt }) => sum + Math.max(0, cosineAt(slot)), 0)
  return signals.length === 0 ? 0 : sum / signals.length
}

function judgeFeatures(features: ConfidenceFeatures, model: ConfidenceModel): Confidence {
  const evidence = FEATURES.reduce((sum, name) => sum + model[name] * features[name], model.bias)
  const confidence = 1 / (1 + Math.exp(-evidence))
  return { confidence, fit: getFit(confidence, model) }
}

function getFit(confidence: number, { fits, isNear }: ConfidenceModel): SearchFit {
  if (confidence >= fits) return 'good'
  return confidence >= isNear ? 'weak' : 'none'
}
