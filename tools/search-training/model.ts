import { matrix, type Matrix } from './matrix.ts'

/** A text as the model sees it: words of the vocabulary, how much each counts, and its field. */
export interface Text {
  readonly words: Int32Array
  readonly counts: Float32Array
  readonly fields: Uint8Array
}

export const FIELDS = ['query', 'name', 'source', 'description', 'tags', 'category', 'parameters'] as const
export const QUERY = FIELDS.indexOf('query')
/** The initial weights of fields. */
const FIELD_WEIGHTS = {
  query: 1,
  name: 1,
  source: 0.5,
  description: 1.3,
  tags: 0.5,
  category: 0.3,
  parameters: 0.3,
} as const

export interface Model {
  readonly size: number
  readonly dimensions: number
  /** The initial vectors of words, from general language and from tool descriptions. Not learned. */
  readonly start: Float32Array
  /** Learned for all words together, so that words without examples move along with the others. */
  readonly map: Float32Array
  /** Learned for each word. */
  readonly shift: Float32Array
  /** Logarithm of each word's weight: in queries, then in tools. */
  readonly emphasis: Float32Array
  readonly fieldEmphasis: Float32Array
}

export function createModel(start: Float32Array, dimensions: number, emphasis: Float32Array): Model {
  const size = start.length / dimensions
  const map = new Float32Array(dimensions * dimensions)
  for (let d = 0; d < dimensions; d++) map[d * dimensions + d] = 1
  const both = new Float32Array(2 * size)
  both.set(emphasis)
  both.set(emphasis, size)
  const fieldEmphasis = Float32Array.from(FIELDS, (field) => Math.log(FIELD_WEIGHTS[field]))
  return { size, dimensions, start, map, shift: new Float32Array(start.length), emphasis: both, fieldEmphasis }
}

/** The index in `emphasis` of the weight of a text's word. */
export function emphasisAt(model: Model, text: Text, k: number): number {
  return text.fields[k] === QUERY ? text.words[k]! : model.size + text.words[k]!
}

export function computeWeight(model: Model, text: Text, k: number): number {
  return text.counts[k]! * Math.exp(model.emphasis[emphasisAt(model, text, k)]! + model.fieldEmphasis[text.fields[k]!]!)
}

/** The vectors of single words as they are used: mapped and shifted. */
export function getWordVectors({ size, dimensions, start, map, shift }: Model): Matrix {
  const vectors = shift.slice()
  for (let word = 0; word < size; word++) {
    const row = word * dimensions
    for (let d = 0; d < dimensions; d++) {
      let sum = 0
      for (let e = 0; e < dimensions; e++) sum += map[d * dimensions + e]! * start[row + e]!
      vectors[row + d]! += sum
    }
  }
  return matrix(size, dimensions, vectors)
}
