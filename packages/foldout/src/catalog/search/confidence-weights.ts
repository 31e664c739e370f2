/** Weights of a logistic model, by feature. `npm run bench:search -- --calibrate` computes them. */
export interface ConfidenceModel {
  readonly bias: number
  readonly coverage: number
  readonly nearness: number
  readonly nearest: number
  /** The least confidence. Below it, nothing fits. */
  readonly fits: number
}

export const WITH_WORD_VECTORS: ConfidenceModel = {
  coverage: 1.275,
  nearness: 2.617,
  nearest: 2.037,
  bias: -3.292,
  fits: 0.151,
}

export const WORDS_ONLY: ConfidenceModel = {
  coverage: 2.614,
  nearness: 0,
  nearest: 0,
  bias: -1.45,
  fits: 0.24,
}
