import { WITH_ENCODER, WITH_WORD_VECTORS, WORDS_ONLY, type ConfidenceModel } from './confidence-weights.ts'
import type { Searchable, SearchFit } from './contract.ts'
import type { EngineFound } from './engine.ts'
import type { Signal } from './join.ts'
import { computeCoverage } from './lexical/lexical.ts'
import type { Ranking } from './ranking.ts'

/** What indicates whether the best tool answers a query, each about 0 to 1. */
export interface ConfidenceFeatures {
  /** How much of the query's words the best tool has, by weight; or of a part's words, the best tool for that part. */
  readonly coverage: number
  /** How near in meaning the best tool is. */
  readonly nearness: number
  /** How near the nearest tool is. */
  readonly nearest: number
}

/** How likely the best tool answers a query, from 0 to 1, and what that means. */
export interface Confidence {
  readonly confidence: number
  readonly fit: SearchFit
  /** How much of the query the best tool's words cover, from 0 to 1. */
  readonly coverage: number
}

/** If words cover this much of a query, no other evidence is needed. */
const COMPLETE = 0.9

/** Computes how likely the best tool answers the query, and whether that is enough. */
export function computeConfidence<Tool extends Searchable>(
  found: EngineFound<Tool>,
  top: number | undefined,
): Confidence {
  if (top === undefined) return { confidence: 0, fit: 'none', coverage: 0 }
  const { named } = found.ranking.request
  const features = getFeatures(found, top)
  if (named.has(top)) return { confidence: 1, fit: 'good', coverage: features.coverage }
  const byWords = judgeFeatures(features, WORDS_ONLY)
  if (found.meaning === 'none') return byWords
  // Words that the vectors do not know, such as product names, can still be right.
  const isUnknown = (getDecidingSignal(found.ranking)?.cosineAt(top) ?? 0) === 0
  if (isUnknown || features.coverage >= COMPLETE) return byWords
  return judgeFeatures(features, found.meaning === 'encoder' ? WITH_ENCODER : WITH_WORD_VECTORS)
}

export function getFeatures<Tool extends Searchable>(
  { ranking, postings }: EngineFound<Tool>,
  top: number,
): ConfidenceFeatures {
  const { whole, parts, found } = ranking
  const signal = getDecidingSignal(ranking)
  let nearest = 0
  if (signal) for (const slot of found) nearest = Math.max(nearest, signal.cosineAt(slot))
  return {
    coverage: Math.max(computeCoverage(whole.query, top, postings), ...parts.map(({ coverage }) => coverage)),
    nearness: computeNearness(whole.signals, top),
    nearest,
  }
}

/** The mean of what all vectors say about a tool. */
function computeNearness(signals: readonly Signal[], slot: number): number {
  const sum = signals.reduce((sum, { cosineAt }) => sum + Math.max(0, cosineAt(slot)), 0)
  return signals.length === 0 ? 0 : sum / signals.length
}

/** An encoder says more about a request than word vectors do, so it decides alone. It comes last. */
function getDecidingSignal({ whole }: Ranking): Signal | undefined {
  return whole.signals.at(-1)
}

function judgeFeatures(features: ConfidenceFeatures, model: ConfidenceModel): Confidence {
  const { coverage, nearness, nearest } = features
  const evidence = model.bias + model.coverage * coverage + model.nearness * nearness + model.nearest * nearest
  const confidence = 1 / (1 + Math.exp(-evidence))
  return { confidence, fit: getFit(confidence, model), coverage }
}

function getFit(confidence: number, { fits, isNear }: ConfidenceModel): SearchFit {
  if (confidence >= fits) return 'good'
  return confidence >= isNear ? 'weak' : 'none'
}
