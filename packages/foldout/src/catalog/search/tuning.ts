/** Every number that ranking depends on. Chosen on the development sets; docs/decisions/search.md tells what each gains. */
export interface Tuning {
  /** How fast further occurrences of a word stop to count. */
  readonly saturation: number
  /** What a word counts in each field, in the order of `FIELDS`. */
  readonly fieldWeights: readonly number[]
  /** How much a field's length counts against it, from 0 to 1. */
  readonly lengthPenalties: readonly number[]
  /** What two words of the query count that stand side by side in the tool too, beside their own weight. */
  readonly adjacency: number
  /** What it counts if the query has all words of the tool's name. */
  readonly nameCoverage: number
  /** What it counts if the tool does what the request, or a part of it, first asks to do. */
  readonly action: number
  /** What a word counts that was only found in another spelling. */
  readonly spelling: number
  /** What the best part of a request counts beside the whole of it. */
  readonly part: number
  /** What nearness of meaning counts if the words of some tool cover all of the request. */
  readonly meaningIfSure: number
  /** What it counts if they cover nothing of it. */
  readonly meaningIfUnsure: number
  /** How many of the best tools by words are looked at more closely. */
  readonly candidates: number
}

export const TUNING: Tuning = {
  saturation: 1.2,
  fieldWeights: [3, 1, 1, 1.5, 1.5, 0.5],
  lengthPenalties: [0.5, 0.6, 0.6, 0.6, 0.6, 0.5],
  adjacency: 0.5,
  nameCoverage: 0.1,
  action: 0.15,
  spelling: 0.6,
  part: 0.5,
  meaningIfSure: 0.5,
  meaningIfUnsure: 1.6,
  candidates: 60,
}
