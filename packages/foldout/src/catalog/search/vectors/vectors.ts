import { FoldoutError } from '../../../core/errors.ts'
import type { SearchField } from '../contract.ts'
import { getStem } from '../text/words.ts'

/** A table of word vectors as the package carries it. Each character of `rows` is one number from 0 to 63. */
export interface PackedVectors {
  readonly dimensions: number
  /** Stems, separated by spaces, in the order of the rows. */
  readonly words: string
  /** For each word how much it counts in requests, how much in tools, and then its coordinates. */
  readonly rows: string
  /** The logarithm of a weight goes from the first to the second in 63 steps. */
  readonly weights: readonly [number, number]
  /** How much a word counts by where in a tool it stands. */
  readonly fields: Readonly<Record<SearchField, number>>
}

/** What words mean, learned from how tools are described and asked for. */
export interface WordVectors {
  readonly dimensions: number
  /** What a request's terms mean together, as a vector of length 1; undefined if it knows none of them. */
  computeVector(terms: readonly string[]): Float32Array | undefined
  /** What a tool's terms mean together, by where they stand. The dot product with a request's vector is their cosine. */
  computeToolVector(fields: Partial<Record<SearchField, readonly string[]>>): Float32Array | undefined
}

let loading: Promise<WordVectors> | undefined

/** The table that comes with the package, loaded when it is first asked for. */
export function loadWordVectors(): Promise<WordVectors> {
  loading ??= importVectors().then(unpackVectors)
  return loading
}

async function importVectors(): Promise<PackedVectors> {
  try {
    return (await import('./packed-vectors.ts')).wordVectors
  } catch (error) {
    throw new FoldoutError(
      'search-vectors-missing',
      "The search needs the word vectors, and they could not be loaded. Let your bundle load 'foldout/word-vectors', or turn off the search by meaning in the options of the catalog.",
      { cause: error },
    )
  }
}

/** Beyond these, the terms of a field say little that is new, and take time. */
export const MOST_TERMS = 64

/** What each term of a tool's field counts, by how many there are: a short name is not to drown in a long description. */
export function lengthWeight(terms: number): number {
  return 1 / Math.sqrt(Math.min(terms, MOST_TERMS))
}

/** The digits of base 64, so that a table can stand in a source file at one character a number. */
export const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
/** The digit for a coordinate of 0. */
export const ZERO = 32
const HEAD = 2
const COMPOUND = /^[a-z]{6,24}$/
const SHORTEST_PART = 3

export function unpackVectors({ dimensions, words, rows, weights, fields }: PackedVectors): WordVectors {
  const toRow = new Map<string, number>()
  for (const word of words.split(' ')) toRow.set(word, toRow.size)
  const valueOf = new Int8Array(128)
  for (let value = 0; value < DIGITS.length; value++) valueOf[DIGITS.charCodeAt(value)] = value
  const computeWeight = Float64Array.from(DIGITS, (_, step) =>
    Math.exp(weights[0] + ((weights[1] - weights[0]) * step) / (DIGITS.length - 1)),
  )
  const fieldNames = Object.keys(fields) as SearchField[]
  const width = HEAD + dimensions
  const coordinates = new Int8Array(toRow.size * dimensions)
  const isDecoded = new Uint8Array(toRow.size)

  const decode = (row: number): void => {
    isDecoded[row] = 1
    const from = row * width + HEAD
    const to = row * dimensions
    for (let d = 0; d < dimensions; d++) coordinates[to + d] = valueOf[rows.charCodeAt(from + d)]! - ZERO
  }

  const sum = new Float64Array(dimensions)
  const counts = new Uint16Array(toRow.size)

  /** Adds words to the sum. One that comes n times counts as much as the root of n. */
  const add = (terms: readonly string[], count: number, head: 0 | 1, weight: number): boolean => {
    const found: number[] = []
    const note = (row: number): void => {
      if (counts[row]!++ === 0) found.push(row)
    }
    for (let i = 0; i < count; i++) {
      const row = toRow.get(terms[i]!)
      if (row === undefined) for (const part of compound(terms[i]!, toRow)) note(part)
      else note(row)
    }
    for (const row of found) {
      if (isDecoded[row] === 0) decode(row)
      const share = weight * Math.sqrt(counts[row]!) * computeWeight[valueOf[rows.charCodeAt(row * width + head)]!]!
      const from = row * dimensions
      for (let d = 0; d < dimensions; d++) sum[d]! += share * coordinates[from + d]!
      counts[row] = 0
    }
    return found.length > 0
  }

  return {
    dimensions,
    computeVector(terms) {
      sum.fill(0)
      return add(terms, terms.length, 0, 1) ? normalised(sum) : undefined
    },
    computeToolVector(tool) {
      sum.fill(0)
      let isKnown = false
      for (const field of fieldNames) {
        const terms = tool[field]
        if (terms === undefined) continue
        const count = Math.min(terms.length, MOST_TERMS)
        if (add(terms, count, 1, fields[field] * lengthWeight(count))) isKnown = true
      }
      return isKnown ? normalised(sum) : undefined
    },
  }
}

/**
 * The rows of the two words that a term is made of: `webapp`, `autoexport`. From the middle outwards, since even halves are
 * seldom words by chance.
 */
function compound(term: string, toRow: ReadonlyMap<string, number>): readonly number[] {
  if (!COMPOUND.test(term)) return []
  const middle = term.length >> 1
  for (let away = 0; middle - away >= SHORTEST_PART; away++) {
    for (const cut of [middle - away, middle + away]) {
      const first = toRow.get(getStem(term.slice(0, cut)))
      const second = first === undefined ? undefined : toRow.get(term.slice(cut))
      if (second !== undefined && term.length - cut >= SHORTEST_PART) return [first!, second]
    }
  }
  return []
}

function normalised(vector: Float64Array): Float32Array | undefined {
  let square = 0
  for (let d = 0; d < vector.length; d++) square += vector[d]! * vector[d]!
  if (square === 0) return undefined
  const scale = 1 / Math.sqrt(square)
  const unit = new Float32Array(vector.length)
  for (let d = 0; d < unit.length; d++) unit[d] = vector[d]! * scale
  return unit
}
