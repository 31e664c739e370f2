/** Weights of a logistic model, by the names of features. Made by `npm run bench:search -- --calibrate`. */
export interface ConfidenceModel {
  readonly bias: number
  readonly coverage: number
  readonly nearness: number
  readonly nearest: number
  /** At least this sure that the best tool answers the query: below, nothing fits. */
  readonly fits: number
}

export const WITH_WORD_VECTORS: ConfidenceModel = {
  coverage: 1.281,
  nearness: 1.794,
  nearest: 2.827,
  bias: -3.266,
  fits: 0.194,
}

export const WORDS_ONLY: ConfidenceModel = {
  coverage: 2.726,
  nearness: 0,
  nearest: 0,
  bias: -1.446,
  fits: 0.254,
}
