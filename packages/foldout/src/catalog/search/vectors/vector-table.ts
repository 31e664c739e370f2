import type { SearchField } from '../contract.ts'

/**
 * What holds for all words of a table.
 *
 * @example
 * ```ts
 * const { dimensions, weights }: VectorsHead = wordVectors
 * ```
 */
export interface VectorsHead {
  readonly dimensions: number
  /** The range of the logarithm of a weight, divided into 63 steps. */
  readonly weights: readonly [number, number]
  /** How much a word counts in each field of a tool. */
  readonly fields: Readonly<Record<SearchField, number>>
}

/**
 * Some words of a table. Each character of `rows` is one number from 0 to 63.
 *
 * @example
 * ```ts
 * const parts: VectorsPart[] = await Promise.all(wordVectors.parts.map((load) => load()))
 * ```
 */
export interface VectorsPart {
  /** Stems, separated by spaces, in the order of the rows. */
  readonly words: string
  /** For each word: its weight in requests, its weight in tools, and its coordinates. */
  readonly rows: string
}

/**
 * The word vectors of the package, in parts so that loading them never keeps a process busy for long.
 *
 * @example
 * ```ts
 * const { size, dimensions }: WordVectorTable = wordVectors
 * ```
 */
export interface WordVectorTable extends VectorsHead {
  /** How many words there are. */
  readonly size: number
  readonly parts: readonly (() => Promise<VectorsPart>)[]
}

/** A whole table of word vectors in one piece. */
export interface PackedVectors extends VectorsHead, VectorsPart {}
