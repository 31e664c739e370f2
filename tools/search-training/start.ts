import { cooccurrenceVectors } from './cooccurrence.ts'
import { GLOVE_DIMENSIONS, type GeneralWord } from './glove.ts'
import { dots, matrix, type Matrix } from './matrix.ts'
import { principalDirections } from './principal.ts'
import { createRandom } from '../../packages/foldout/src/compare/statistics/distributions.ts'
import type { Vocabulary } from './vocabulary.ts'

const COOCCURRENCE_DIMENSIONS = 64
const COOCCURRENCE_WEIGHT = 0.6
/** The weight of GloVe next to a student of a sentence encoder. */
const GENERAL_WEIGHT = 0.5
const FEWEST_OCCURRENCES = 3
/** The initial length of a word that neither source knows. */
const UNKNOWN_LENGTH = 0.2

export interface Sources {
  readonly general: ReadonlyMap<string, GeneralWord> | undefined
  /** The vectors of a student of a sentence encoder. */
  readonly student: Matrix | undefined
  /** Texts in which to count co-occurrence. */
  readonly texts: readonly (readonly string[])[] | undefined
}

/** The initial vector of each word: its meaning in general English and its co-occurrence in tools, in this many dimensions. */
export function startVectors(vocabulary: Vocabulary, sources: Sources, dimensions: number, seed: number): Float32Array {
  const blocks: { readonly vectors: Matrix; readonly weight: number }[] = []
  const { general, student, texts } = sources
  if (student !== undefined) {
    centre(student, () => true)
    blocks.push({ vectors: student, weight: 1 })
  }
  if (general !== undefined)
    blocks.push({ vectors: generalVectors(vocabulary, general), weight: student === undefined ? 1 : GENERAL_WEIGHT })
  if (texts !== undefined) blocks.push({ vectors: toolVectors(vocabulary, texts, seed), weight: COOCCURRENCE_WEIGHT })
  const joined = join(vocabulary.words.length, blocks)
  const frequencies = vocabulary.counts.map((count) => Math.sqrt(count + 1))
  const start =
    joined.columns > dimensions
      ? dots(joined, principalDirections(joined, dimensions, frequencies)).values
      : widened(joined, dimensions)
  const random = createRandom(seed)
  for (let from = 0; from < start.length; from += dimensions) {
    const row = start.subarray(from, from + dimensions)
    if (Math.hypot(...row) > 1e-3) normalise(row)
    else
      for (let d = 0; d < dimensions; d++)
        row[d] = ((random() - 0.5) * UNKNOWN_LENGTH * Math.sqrt(12)) / Math.sqrt(dimensions)
  }
  return start
}

function generalVectors(vocabulary: Vocabulary, general: ReadonlyMap<string, GeneralWord>): Matrix {
  const vectors = matrix(vocabulary.words.length, GLOVE_DIMENSIONS)
  for (const [id, word] of vocabulary.words.entries()) {
    const known = general.get(word)
    if (known !== undefined) vectors.values.set(known.vector, id * GLOVE_DIMENSIONS)
  }
  centre(vectors, (id) => general.has(vocabulary.words[id]!))
  return vectors
}

function toolVectors(vocabulary: Vocabulary, texts: readonly (readonly string[])[], seed: number): Matrix {
  const ids = texts.map((text) =>
    Int32Array.from(text.map((term) => vocabulary.getId.get(term) ?? -1).filter((id) => id >= 0)),
  )
  const values = cooccurrenceVectors(ids, vocabulary.words.length, COOCCURRENCE_DIMENSIONS, seed)
  const vectors = matrix(vocabulary.words.length, COOCCURRENCE_DIMENSIONS, values)
  centre(vectors, (id) => vocabulary.counts[id]! >= FEWEST_OCCURRENCES)
  return vectors
}

/** Centers the known rows around their mean, each with length 1; the others are zero. */
function centre({ rows, columns, values }: Matrix, isKnown: (row: number) => boolean): void {
  const mean = new Float64Array(columns)
  let known = 0
  for (let row = 0; row < rows; row++) {
    if (!isKnown(row)) continue
    known++
    for (let c = 0; c < columns; c++) mean[c]! += values[row * columns + c]!
  }
  for (let row = 0; row < rows; row++) {
    const vector = values.subarray(row * columns, (row + 1) * columns)
    if (isKnown(row)) {
      for (let c = 0; c < columns; c++) vector[c]! -= mean[c]! / known
      normalise(vector)
    } else {
      vector.fill(0)
    }
  }
}

function join(rows: number, blocks: readonly { readonly vectors: Matrix; readonly weight: number }[]): Matrix {
  const columns = blocks.reduce((sum, { vectors }) => sum + vectors.columns, 0)
  const joined = matrix(rows, columns)
  let offset = 0
  for (const { vectors, weight } of blocks) {
    for (let row = 0; row < rows; row++) {
      for (let c = 0; c < vectors.columns; c++) {
        joined.values[row * columns + offset + c] = weight * vectors.values[row * vectors.columns + c]!
      }
    }
    offset += vectors.columns
  }
  for (let from = 0; from < joined.values.length; from += columns)
    normalise(joined.values.subarray(from, from + columns))
  return joined
}

function widened({ rows, columns, values }: Matrix, dimensions: number): Float32Array {
  const wide = new Float32Array(rows * dimensions)
  for (let row = 0; row < rows; row++) wide.set(values.subarray(row * columns, (row + 1) * columns), row * dimensions)
  return wide
}

function normalise(vector: Float32Array): void {
  let square = 0
  for (const value of vector) square += value * value
  const scale = 1 / (Math.sqrt(square) || 1)
  for (let i = 0; i < vector.length; i++) vector[i]! *= scale
}
