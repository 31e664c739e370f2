import { WITH_WORD_VECTORS, WORDS_ONLY, type ConfidenceModel } from './confidence-weights.ts'
import type { Searchable } from './contract.ts'
import type { Found } from './engine.ts'
import { coverageOf } from './lexical.ts'
import { countsIn } from './postings.ts'

/** What tells whether the best tool answers a query, each from 0 to 1 or nearly so. */
export interface ConfidenceFeatures {
  /** How much of the query's words the best tool has, by weight, or the best for a part of it has of that. */
  readonly coverage: number
  /** How near in meaning the best tool is. */
  readonly nearness: number
  /** How near the nearest tool is. */
  readonly nearest: number
  /** How far the best tool is ahead of the fifth; of little weight among few tools, where the fifth is any. */
  readonly lead: number
  /** The logarithm of the number of tools, 1 for ten thousand: among many, something always looks near. */
  readonly size: number
}

export interface Confidence {
  readonly confidence: number
  readonly fits: boolean
}

const AHEAD_OF = 5
/** The vectors of a user's model are near each other in a way of their own: what counts is how far one stands out. */
const OUTSTANDING = { from: 1, to: 5 }

/** How sure it is that the best tool answers the query, and whether that is enough. */
export function confidenceOf<Tool extends Searchable>(found: Found<Tool>): Confidence {
  const features = featuresOf(found)
  if (!features) return { confidence: 0, fits: false }
  if (found.ranking.request.named.size > 0) return { confidence: 1, fits: true }
  if (found.meaning === 'bundled') return judged(features, WITH_WORD_VECTORS)
  const byWords = judged(features, WORDS_ONLY)
  const outstanding = found.meaning === 'none' ? 0 : outstandingOf(found.ranking.request.cosines)
  const confidence = 1 - (1 - byWords.confidence) * (1 - outstanding)
  return { confidence, fits: confidence >= WORDS_ONLY.fits }
}

/** Nothing if no tool has anything to do with the query. */
export function featuresOf<Tool extends Searchable>({
  ranking,
  postings,
  best,
}: Found<Tool>): ConfidenceFeatures | undefined {
  const {
    scores,
    whole: { query },
    request: { cosines },
  } = ranking
  const leaders = best(AHEAD_OF)
  const [top] = leaders
  if (top === undefined) return undefined
  const counts = countsIn(top, postings)
  let covered = 0
  for (const { id, weight } of query.terms.values()) if (counts.has(id)) covered += weight
  let nearest = 0
  for (const slot of cosines ? ranking.found : []) nearest = Math.max(nearest, cosines![slot]!)
  const fifth = leaders[AHEAD_OF - 1]
  return {
    coverage: Math.max(
      query.mass === 0 ? 0 : covered / query.mass,
      ...ranking.parts.map((part) => coverageOf(part.query, part.words, postings)),
    ),
    nearness: cosines ? Math.max(0, cosines[top]!) : 0,
    nearest,
    lead: fifth === undefined ? 0 : (1 - scores[fifth]! / scores[top]!) * (1 - Math.sqrt(AHEAD_OF / postings.size)),
    size: Math.log10(postings.size) / 4,
  }
}

function judged(features: ConfidenceFeatures, model: ConfidenceModel): Confidence {
  const { coverage, nearness, nearest, lead, size } = features
  const evidence =
    model.bias +
    model.coverage * coverage +
    model.nearness * nearness +
    model.nearest * nearest +
    model.lead * lead +
    model.size * size
  const confidence = 1 / (1 + Math.exp(-evidence))
  return { confidence, fits: confidence >= model.fits }
}

/** How many standard deviations the nearest tool is nearer than the average, from 0 to 1. */
function outstandingOf(cosines: Float32Array | undefined): number {
  const known = Array.from(cosines ?? []).filter((cosine) => cosine !== 0)
  if (known.length < 2) return known.length
  const mean = known.reduce((sum, cosine) => sum + cosine, 0) / known.length
  const variance = known.reduce((sum, cosine) => sum + (cosine - mean) ** 2, 0) / known.length
  const deviations = (known.reduce((a, b) => Math.max(a, b)) - mean) / Math.sqrt(variance) || 0
  return Math.min(1, Math.max(0, (deviations - OUTSTANDING.from) / (OUTSTANDING.to - OUTSTANDING.from)))
}
