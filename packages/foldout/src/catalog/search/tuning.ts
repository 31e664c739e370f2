/** How much nearness of meaning counts, compared with words. */
export interface MeaningWeights {
  /** If the words of a tool cover the whole request. */
  readonly meaningIfSure: number
  /** If they cover none of it. */
  readonly meaningIfUnsure: number
}

/** How much an encoder counts, compared with words. */
export interface EncoderWeights extends MeaningWeights {
  /** The share of nearness that word vectors have beside it. */
  readonly wordVectors: number
  /** The share of its nearness that the nearest part of a request has, if the request has parts. */
  readonly part: number
  /** How much it adds there if the tool performs the first action that a request of one part asks for. */
  readonly action: number
}

/** All numbers that ranking depends on. They were chosen on the development sets; see docs/decisions/search.md. */
export interface Tuning extends MeaningWeights {
  /** How quickly further occurrences of a word stop counting. */
  readonly saturation: number
  /** How much a word counts in each field, in the order of `FIELDS`. */
  readonly fieldWeights: readonly number[]
  /** How much a field's length counts against it, from 0 to 1. */
  readonly lengthPenalties: readonly number[]
  /** How much two adjacent words of the query add if they are also adjacent in the tool. */
  readonly adjacency: number
  /** How much it adds if the query has all words of the tool's name. */
  readonly nameCoverage: number
  /** How much it adds if the tool performs the first action that the request asks for. */
  readonly action: number
  /** The same for a request of several parts. These ask for several actions, so that a tool has one of them says less. */
  readonly actionOfParts: number
  /** What share of its score a tool loses if it deletes or stops something and the request mentions other actions only. */
  readonly unaskedEnd: number
  /** What share of its score such a tool loses if it is about something else than the request. */
  readonly otherObject: number
  /** How much it adds if the tool has every word of the query, or a word that means the same. */
  readonly likeness: number
  /** How much it adds if every word of the query is in the tool's name. */
  readonly nameWords: number
  /** How much it adds if the query names the tool's source. */
  readonly sourceCoverage: number
  /** How much a word counts that was found only in another spelling, or in parts. */
  readonly spelling: number
  /** How much a word counts that is probably a value for a tool: a part of a path, a number, a day. */
  readonly argument: number
  /** How much it counts what a value is: `#general` a channel, `ABC-123` an issue. */
  readonly kind: number
  /** How much the best part of a request counts, compared with the whole. */
  readonly part: number
  /** How much nearness counts where an encoder took part. */
  readonly encoder: EncoderWeights
  /** Nearness counts in full among tools whose number has this natural logarithm: more among fewer, less among more. */
  readonly meaningBySize: number
  /** How many of the best tools by words are examined closely. */
  readonly candidates: number
  /** How many of the best tools are compared with the query word by word. */
  readonly finalists: number
}

export const TUNING: Tuning = {
  saturation: 1.2,
  fieldWeights: [3, 1, 1, 1.5, 1.5, 0.5],
  lengthPenalties: [0.5, 0.6, 0.6, 0.6, 0.6, 0.5],
  adjacency: 0.5,
  nameCoverage: 0.1,
  action: 0.25,
  actionOfParts: 0.1,
  unaskedEnd: 0.15,
  otherObject: 0.3,
  likeness: 1,
  nameWords: 0.125,
  sourceCoverage: 0.1,
  spelling: 0.6,
  argument: 0.4,
  kind: 0.5,
  part: 0.5,
  meaningIfSure: 0.625,
  meaningIfUnsure: 2,
  encoder: { wordVectors: 0.2, part: 0.6, action: 0.4, meaningIfSure: 4, meaningIfUnsure: 8 },
  meaningBySize: 6,
  candidates: 60,
  finalists: 20,
}
