import { WITH_WORD_VECTORS, WORDS_ONLY, type ConfidenceModel } from './confidence-weights.ts'
import type { Searchable } from './contract.ts'
import type { EngineFound } from './engine.ts'
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

export interface Confidence {
  readonly confidence: number
  readonly fits: boolean
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
  if (top === undefined) return { confidence: 0, fits: false }
  const { named, cosineAt } = found.ranking.request
  const features = getFeatures(found, top)
  if (named.has(top)) return { confidence: 1, fits: true }
  const byWords = judgeFeatures(features, WORDS_ONLY)
  if (found.meaning === 'word-vectors') {
    // Words that the vectors do not know, such as product names, can still be right.
    const isByWords = !cosineAt || cosineAt(top) === 0 || features.coverage >= COMPLETE
    return isByWords ? byWords : judgeFeatures(features, WITH_WORD_VECTORS)
  }
  const outstanding = found.meaning === 'none' ? 0 : getOutstanding(found.ranking)
  const confidence = 1 - (1 - byWords.confidence) * (1 - outstanding)
  return { confidence, fits: confidence >= WORDS_ONLY.fits }
}

export function getFeatures<Tool extends Searchable>(
  { ranking, postings }: EngineFound<Tool>,
  top: number,
): ConfidenceFeatures {
  const { whole, parts, nearest } = ranking
  return {
    coverage: Math.max(computeCoverage(whole.query, top, postings), ...parts.map(({ coverage }) => coverage)),
    nearness: Math.max(0, whole.cosineAt?.(top) ?? 0),
    nearest,
  }
}

function judgeFeatures(features: ConfidenceFeatures, model: ConfidenceModel): Confidence {
  const { coverage, nearness, nearest } = features
  const evidence = model.bias + model.coverage * coverage + model.nearness * nearness + model.nearest * nearest
  const confidence = 1 / (1 + Math.exp(-evidence))
  return { confidence, fits: confidence >= model.fits }
}

/** How far the nearest tool stands out from the average, in standard deviations, scaled to 0 to 1. */
function getOutstanding({ found, request: { cosineAt = () => 0 } }: Ranking): number {
  const known = Array.from(found, cosineAt).filter((cosine) => cosine !== 0)
  if (known.length < 2) return known.length
  const mean = known.reduce((sum, cosine) => sum + cosine, 0) / known.length
  const variance = known.reduce((sum, cosine) => sum + (cosine - mean) ** 2, 0) / known.length
  const deviations = (known.reduce((a, b) => Math.max(a, b)) - mean) / Math.sqrt(variance) || 0
  return Math.min(1, Math.max(0, (deviations - OUTSTANDING.from) / (OUTSTANDING.to - OUTSTANDING.from)))
}
