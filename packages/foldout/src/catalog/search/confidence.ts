import { WITH_WORD_VECTORS, WORDS_ONLY, type ConfidenceModel } from './confidence-weights.ts'
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
/** How near vectors are to each other depends on the user's model, so what counts is how far one stands out, in deviations. */
const OUTSTANDING = { from: 1, to: 5 }

/** Computes how likely the best tool answers the query, and whether that is enough. */
export function computeConfidence<Tool extends Searchable>(
  found: EngineFound<Tool>,
  top: number | undefined,
): Confidence {
  if (top === undefined) return { confidence: 0, fit: 'none', coverage: 0 }
  const { named, signals } = found.ranking.request
  const [signal] = signals
  const features = getFeatures(found, top)
  if (named.has(top)) return { confidence: 1, fit: 'good', coverage: features.coverage }
  const byWords = judgeFeatures(features, WORDS_ONLY)
  if (found.meaning === 'word-vectors') {
    // Words that the vectors do not know, such as product names, can still be right.
    const isByWords = !signal || signal.cosineAt(top) === 0 || features.coverage >= COMPLETE
    return isByWords ? byWords : judgeFeatures(features, WITH_WORD_VECTORS)
  }
  const outstanding = signal ? getOutstanding(found.ranking, signal) : 0
  const confidence = 1 - (1 - byWords.confidence) * (1 - outstanding)
  return { confidence, fit: getFit(confidence, WORDS_ONLY), coverage: features.coverage }
}

export function getFeatures<Tool extends Searchable>(
  { ranking, postings }: EngineFound<Tool>,
  top: number,
): ConfidenceFeatures {
  const { whole, parts, found } = ranking
  const [signal] = whole.signals
  let nearest = 0
  if (signal) for (const slot of found) nearest = Math.max(nearest, signal.cosineAt(slot))
  return {
    coverage: Math.max(computeCoverage(whole.query, top, postings), ...parts.map(({ coverage }) => coverage)),
    nearness: Math.max(0, signal?.cosineAt(top) ?? 0),
    nearest,
  }
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

/** How far the nearest tool stands out from the average, in standard deviations, scaled to 0 to 1. */
function getOutstanding({ found }: Ranking, { cosineAt }: Signal): number {
  const known = Array.from(found, cosineAt).filter((cosine) => cosine !== 0)
  if (known.length < 2) return known.length
  const mean = known.reduce((sum, cosine) => sum + cosine, 0) / known.length
  const variance = known.reduce((sum, cosine) => sum + (cosine - mean) ** 2, 0) / known.length
  const deviations = (known.reduce((a, b) => Math.max(a, b)) - mean) / Math.sqrt(variance) || 0
  return Math.min(1, Math.max(0, (deviations - OUTSTANDING.from) / (OUTSTANDING.to - OUTSTANDING.from)))
}
