import type { SignalKind } from '../join.ts'

/** Weights of a logistic model, by feature. `npm run bench:search -- --calibrate --encoder` computes them. */
export interface ConfidenceModel extends ConfidenceFeatures {
  readonly bias: number
  /** The least confidence with which a tool fits. Below it, tools are only guesses. */
  readonly fits: number
}

/** A tool is near enough for a guess if its cosine is at least this, by kind of vectors. One in a thousand answerable requests is below. */
export const NEAR: Readonly<Record<SignalKind, number>> = { 'word-vectors': 0.1, encoder: 0.1 }

export const WITH_WORD_VECTORS: ConfidenceModel = {
  coverage: 3.124,
  likeness: 1.995,
  known: 0,
  nearness: 5.897,
  nearest: 9.583,
  size: -0.584,
  bias: -5.272,
  fits: 0.133,
}

export const WITH_ENCODER: ConfidenceModel = {
  coverage: -0.75,
  likeness: 0,
  known: 0,
  nearness: 12.841,
  nearest: 8.758,
  size: 0,
  bias: -8.18,
  fits: 0.183,
}

export const WORDS_ONLY: ConfidenceModel = {
  coverage: 2.19,
  likeness: 0,
  known: 4.822,
  nearness: 0,
  nearest: 0,
  size: 0,
  bias: -3.32,
  fits: 0.131,
}

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
