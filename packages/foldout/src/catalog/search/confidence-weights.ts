/** Weights of a logistic model, by feature. `npm run bench:search -- --calibrate` computes them. */
export interface ConfidenceModel {
  readonly bias: number
  readonly coverage: number
  readonly nearness: number
  readonly nearest: number
  /** The least confidence with which a tool fits. Below it, tools are only guesses. */
  readonly fits: number
  /** The least confidence with which a tool is near enough for a guess. Below it, nothing fits. */
  readonly isNear: number
}

export const WITH_WORD_VECTORS: ConfidenceModel = {
  coverage: 1.575,
  nearness: 6.469,
  nearest: 8.469,
  bias: -6.599,
  fits: 0.14,
  isNear: 0.004,
}

export const WITH_ENCODER: ConfidenceModel = {
  coverage: 0.825,
  nearness: 9.113,
  nearest: 11.681,
  bias: -7.739,
  fits: 0.12,
  isNear: 0.01,
}

export const WORDS_ONLY: ConfidenceModel = {
  coverage: 5.294,
  nearness: 0,
  nearest: 0,
  bias: -1.95,
  fits: 0.168,
  isNear: 0.128,
}
