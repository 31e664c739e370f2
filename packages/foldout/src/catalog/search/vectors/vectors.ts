import type { VectorsHead, PackedVectors } from './vector-table.ts'
import type { SearchField } from '../contract.ts'
import { pause } from '../slices.ts'
import { getStem } from '../text/words.ts'
import { dot } from './dot-kernel.ts'

/** What words mean, learned from descriptions of tools and requests for them. */
export interface WordVectors {
  readonly dimensions: number
  /** Whether a term is in the table. */
  has(term: string): boolean
  /** Compares single words. */
  readonly comparison: WordComparison
  /** Computes what a request's terms mean together, as a vector of length 1; `undefined` if none of them is known. */
  computeVector(terms: readonly string[]): Float32Array | undefined
  /**
   * Computes what a tool's terms mean together, by field. Its dot product with a request's vector is their cosine. It
   * is written to `into` if given, otherwise to a new array.
   */
  computeToolVector(
    fields: Partial<Record<SearchField, readonly string[]>>,
    into?: Float32Array,
  ): Float32Array | undefined
}

/** Compares words of the table, which are known by their rows. */
export interface WordComparison {
  /** The row of a term; `undefined` if it is not in the table. */
  find(term: string): number | undefined
  /** How near two words are in meaning: 1 for the same, 0 for unrelated ones. */
  compare(a: number, b: number): number
}

/** How many words are read before other work may run. */
const WORDS_AT_ONCE = 250

let loading: Promise<WordVectors> | undefined

/** Loads the table that comes with the package, in parts, and once for the whole process. */
export function loadWordVectors(): Promise<WordVectors> {
  loading ??= loadParts()
  return loading
}

async function loadParts(): Promise<WordVectors> {
  // In the published package this is 'foldout/word-vectors', which a bundler can be told to leave out.
  const { wordVectors } = await import('./packed-vectors.ts')
  const { parts, size, ...head } = wordVectors
  const table = createVectorTable(head, size)
  for (const load of parts) {
    const { words, rows } = await load()
    const list = words.split(' ')
    const width = rows.length / list.length
    for (let from = 0; from < list.length; from += WORDS_AT_ONCE) {
      await pause()
      const some = list.slice(from, from + WORDS_AT_ONCE)
      table.add(some, rows.slice(from * width, (from + some.length) * width))
    }
  }
  return table
}

/** Further terms of a field add little and take time. */
export const MOST_TERMS = 64

/** How much each term of a field counts, by how many there are, so that a long description does not drown out a short name. */
export function computeLengthWeight(terms: number): number {
  return 1 / Math.sqrt(Math.min(terms, MOST_TERMS))
}

/** The digits of base 64, which store a table in a source file at one character per number. */
export const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
/** The digit for a coordinate of 0. */
export const ZERO = 32
const HEAD = 2
const COMPOUND = /^[a-z]{6,24}$/
const SHORTEST_PART = 3

export function unpackVectors({ words, rows, ...head }: PackedVectors): WordVectors {
  const table = createVectorTable(head, words.split(' ').length)
  table.add(words.split(' '), rows)
  return table
}

/** A table that is filled part by part. */
interface VectorTable extends WordVectors {
  add(words: readonly string[], rows: string): void
}

function createVectorTable({ dimensions, weights, fields }: VectorsHead, size: number): VectorTable {
  const toRow = new Map<string, number>()
  const values = createDigitValues()
  const steps = Float64Array.from(DIGITS, (_, step) =>
    Math.exp(weights[0] + ((weights[1] - weights[0]) * step) / (DIGITS.length - 1)),
  )
  const fieldNames = Object.keys(fields) as SearchField[]
  const coordinates = new Int8Array(size * dimensions)
  const rowWeights = new Float64Array(size * HEAD)
  const sum = new Float64Array(dimensions)
  const counts = new Uint16Array(size)

  /** Adds words to the sum. A word that occurs n times counts as much as the square root of n. */
  const addTerms = (terms: readonly string[], count: number, head: 0 | 1, weight: number): boolean => {
    const found: number[] = []
    const note = (row: number): void => {
      const before = counts[row] ?? 0
      if (before === 0) found.push(row)
      counts[row] = before + 1
    }
    for (const term of terms.length > count ? terms.slice(0, count) : terms) {
      const row = toRow.get(term)
      if (row === undefined) for (const part of findCompound(term, toRow)) note(part)
      else note(row)
    }
    for (const row of found) {
      const share = weight * Math.sqrt(counts[row] ?? 0) * (rowWeights[row * HEAD + head] ?? 0)
      const from = row * dimensions
      for (let d = 0; d < dimensions; d++) sum[d]! += share * coordinates[from + d]!
      counts[row] = 0
    }
    return found.length > 0
  }

  return {
    dimensions,
    has: (term) => toRow.has(term),
    comparison: createComparison(toRow, coordinates, dimensions),
    add(words, rows) {
      let at = 0
      for (const word of words) {
        const row = toRow.size
        toRow.set(word, row)
        for (let head = 0; head < HEAD; head++)
          rowWeights[row * HEAD + head] = steps[values[rows.charCodeAt(at++)] ?? 0] ?? 0
        const from = row * dimensions
        for (let d = 0; d < dimensions; d++) coordinates[from + d] = (values[rows.charCodeAt(at++)] ?? 0) - ZERO
      }
    },
    computeVector(terms) {
      sum.fill(0)
      if (addTerms(terms, terms.length, 0, 1)) return toUnitVector(sum, new Float32Array(dimensions))
      return undefined
    },
    computeToolVector(tool, into = new Float32Array(dimensions)) {
      sum.fill(0)
      let isKnown = false
      for (const field of fieldNames) {
        const terms = tool[field]
        if (terms === undefined) continue
        const count = Math.min(terms.length, MOST_TERMS)
        if (addTerms(terms, count, 1, fields[field] * computeLengthWeight(count))) isKnown = true
      }
      if (isKnown) return toUnitVector(sum, into)
      return undefined
    },
  }
}

/** Compares rows without their weights. The length of a row is computed when it is first needed. */
function createComparison(
  toRow: ReadonlyMap<string, number>,
  coordinates: Int8Array,
  dimensions: number,
): WordComparison {
  const lengths = new Float64Array(coordinates.length / dimensions)
  const getVector = (row: number): Int8Array => coordinates.subarray(row * dimensions, (row + 1) * dimensions)
  const getLength = (row: number): number => {
    const known = lengths[row] ?? 0
    if (known > 0) return known
    return (lengths[row] = Math.sqrt(dot(coordinates, row * dimensions, getVector(row))) || 1)
  }
  let last = -1
  let vector = getVector(0)
  return {
    find: (term) => toRow.get(term),
    compare(a, b) {
      // The same word is compared with many others.
      if (a !== last) vector = getVector((last = a))
      return Math.max(0, dot(coordinates, b * dimensions, vector) / (getLength(a) * getLength(b)))
    },
  }
}

function createDigitValues(): Int8Array {
  const values = new Int8Array(128)
  for (let value = 0; value < DIGITS.length; value++) values[DIGITS.charCodeAt(value)] = value
  return values
}

/**
 * Finds the rows of the two words that a term is made of: `webapp`, `autoexport`. It tries cuts from the middle outwards, because
 * two halves of about the same length are rarely words by chance.
 */
function findCompound(term: string, toRow: ReadonlyMap<string, number>): readonly number[] {
  if (!COMPOUND.test(term)) return []
  const middle = term.length >> 1
  for (let away = 0; middle - away >= SHORTEST_PART; away++) {
    for (const cut of [middle - away, middle + away]) {
      const first = toRow.get(getStem(term.slice(0, cut)))
      const second = first === undefined ? undefined : toRow.get(term.slice(cut))
      if (first !== undefined && second !== undefined && term.length - cut >= SHORTEST_PART) return [first, second]
    }
  }
  return []
}

/** Writes the vector of length 1 in the same direction to `unit`, and returns it; `undefined` for a vector of length 0. */
function toUnitVector(vector: Float64Array, unit: Float32Array): Float32Array | undefined {
  let square = 0
  for (let d = 0; d < vector.length; d++) square += (vector[d] ?? 0) * (vector[d] ?? 0)
  if (square === 0) return undefined
  const scale = 1 / Math.sqrt(square)
  for (let d = 0; d < vector.length; d++) unit[d] = (vector[d] ?? 0) * scale
  return unit
}
