import {
  NEAR,
  WITH_ENCODER,
  WITH_WORD_VECTORS,
  WORDS_ONLY,
  type ConfidenceModel,
  type ConfidenceFeatures,
} from './confidence-weights.ts'
import type { Searchable, SearchFit } from '../contract.ts'
import type { EngineFound } from './engine.ts'
import type { Signal } from '../join.ts'
import { computeCoverage } from '../lexical/lexical.ts'
import { getDecidingSignal, type RankedText, type Ranking } from './ranking.ts'
import { isEnd } from '../text/actions.ts'
import type { ParsedQuery } from '../lexical/query.ts'

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

/**
 * Computes how likely the best tool answers the query, and whether that is enough. A doubted tool is still offered as a guess, unless
 * vectors that know the query say that no tool is near it.
 */
export function computeConfidence<Tool extends Searchable>(
  found: EngineFound<Tool>,
  top: number | undefined,
): Confidence {
  if (top === undefined) return { confidence: 0, fit: 'none' }
  if (found.ranking.request.named.has(top)) return { confidence: 1, fit: 'good' }
  const features = getFeatures(found, top)
  const byVectors = found.meaning === 'encoder' ? WITH_ENCODER : WITH_WORD_VECTORS
  const model = isJudgedByWords(found, top, features) ? WORDS_ONLY : byVectors
  const { confidence, fits } = judgeFeatures(features, model)
  if (fits) return { confidence, fit: isEndMissing(found.ranking) ? 'weak' : 'good' }
  return { confidence, fit: isAnythingNear(found, features) ? 'weak' : 'none' }
}

/** How much of what a request is about a tool must have that deletes or stops it. */
const SAME_OBJECT = 0.2

/**
 * Whether a request only wants something deleted or stopped, and no tool does that with anything like it. Tools for the same thing
 * and tools that delete something else are near, and none of them is right.
 */
function isEndMissing({ actions, looks, parts, actionsAt }: Ranking): boolean {
  if (parts.length > 0 || !isEnd(actions.asked)) return false
  for (const [slot, { objects, hasAction }] of looks) {
    if (objects >= SAME_OBJECT && (hasAction || (actionsAt(slot) & actions.asked) !== 0)) return false
  }
  return true
}

/** The same for the best tool of one part of a request. Parts are compared by words and word vectors. */
export function computePartConfidence<Tool extends Searchable>(
  { meaning, postings }: EngineFound<Tool>,
  { query, signals }: RankedText,
  top: number,
  likeness: number,
): Confidence {
  const signal = signals.find(({ kind }) => kind === 'word-vectors')
  const nearness = Math.max(0, signal?.cosineAt(top) ?? 0)
  const features: ConfidenceFeatures = {
    coverage: computeCoverage(query, top, postings),
    likeness,
    known: getKnownShare(query),
    nearness,
    nearest: nearness,
    size: Math.log(postings.size),
  }
  const isByWords = meaning === 'none' || nearness === 0 || features.coverage >= COMPLETE
  const { confidence, fits } = judgeFeatures(features, isByWords ? WORDS_ONLY : WITH_WORD_VECTORS)
  return { confidence, fit: fits ? 'good' : 'weak' }
}

/** Words that vectors do not know can still be right, so only vectors that are compared can say that nothing is near. */
function isAnythingNear<Tool extends Searchable>(
  { meaning, ranking }: EngineFound<Tool>,
  { nearest }: ConfidenceFeatures,
): boolean {
  const signal = getDecidingSignal(ranking.whole)
  return meaning === 'none' || !signal || nearest >= NEAR[signal.kind]
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
  return {
    coverage: Math.max(computeCoverage(whole.query, top, postings), ...parts.map(({ coverage }) => coverage)),
    likeness: ranking.looks.get(top)?.likeness ?? 0,
    known: getKnownShare(whole.query),
    nearness: computeNearness(whole.signals, top),
    nearest,
    size: Math.log(postings.size),
  }
}

function getKnownShare({ words }: ParsedQuery): number {
  if (words.length === 0) return 0
  return words.filter(({ ids }) => ids.length > 0).length / words.length
}

/** The mean of what all vectors say about a tool. */
function computeNearness(signals: readonly Signal[], slot: number): number {
  const sum = signals.reduce((sum, { cosineAt }) => sum + Math.max(0, cosineAt(slot)), 0)
  if (signals.length === 0) return 0
  return sum / signals.length
}

function judgeFeatures(
  features: ConfidenceFeatures,
  model: ConfidenceModel,
): { readonly confidence: number; readonly fits: boolean } {
  const evidence = FEATURES.reduce((sum, name) => sum + model[name] * features[name], model.bias)
  const confidence = 1 / (1 + Math.exp(-evidence))
  return { confidence, fits: confidence >= model.fits }
}
