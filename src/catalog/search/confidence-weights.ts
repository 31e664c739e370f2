/** Weights of a logistic model, by the names of features. Made by `npm run bench:search -- --calibrate`. */
export interface ConfidenceModel {
  readonly bias: number
  readonly coverage: number
  readonly nearness: number
  readonly nearest: number
  readonly lead: number
  readonly size: number
  /** At least this sure that the best tool answers the query: below, nothing fits. */
  readonly fits: number
}

export const WITH_WORD_VECTORS: ConfidenceModel = {
  coverage: 0.6,
  nearness: 1.334,
  nearest: 4.733,
  lead: 2.432,
  size: -1.706,
  bias: -3.243,
  fits: 0.21,
}

export const WORDS_ONLY: ConfidenceModel = {
  coverage: 2.271,
  nearness: 0,
  nearest: 0,
  lead: 3.053,
  size: -0.834,
  bias: -1.278,
  fits: 0.243,
}
