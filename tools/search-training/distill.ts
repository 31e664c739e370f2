import { dots, matrix, type Matrix } from './matrix.ts'
import { principalDirections } from './principal.ts'
import { createRandom } from '../../packages/foldout/src/compare/statistics/distributions.ts'

/** A text with the teacher's vector: its words in the vocabulary, each once, and how much each counts. */
export interface Lesson {
  readonly words: Int32Array
  readonly counts: Float32Array
}

const EPOCHS = 12
const RATE = { vector: 0.1, weight: 0.02 } as const

/** What a student has learned: a vector for each word, and the logarithm of its weight. */
export interface Student {
  readonly vectors: Matrix
  readonly emphasis: Float32Array
}

/**
 * Learns word vectors whose weighted sums point in the direction of the teacher's sentence vectors (Adagrad on the cosine), starting from
 * given ones. The sums are compared along the strongest directions of the teacher's vectors.
 */
export function distill(
  lessons: readonly Lesson[],
  targets: Matrix,
  start: Student,
  seed: number,
  tell: (message: string) => void,
): Student {
  const { columns: dimensions, rows: size } = start.vectors
  const vectors = start.vectors.values.slice()
  const emphasis = start.emphasis.slice()
  const vectorSquares = new Float32Array(size)
  const weightSquares = new Float32Array(size)
  const random = createRandom(seed)
  const order = Int32Array.from(lessons.keys())
  const sum = new Float64Array(dimensions)
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    shuffle(order, random)
    const left = 1 - epoch / EPOCHS
    let cosines = 0
    for (const at of order) {
      const { words, counts } = lessons[at]!
      sum.fill(0)
      for (let k = 0; k < words.length; k++) {
        const weight = counts[k]! * Math.exp(emphasis[words[k]!]!)
        const row = words[k]! * dimensions
        for (let d = 0; d < dimensions; d++) sum[d]! += weight * vectors[row + d]!
      }
      let square = 1e-12
      for (let d = 0; d < dimensions; d++) square += sum[d]! ** 2
      const length = Math.sqrt(square)
      const target = at * dimensions
      let cosine = 0
      for (let d = 0; d < dimensions; d++) cosine += (sum[d]! / length) * targets.values[target + d]!
      cosines += cosine
      // The gradient of the cosine with respect to the sum.
      for (let d = 0; d < dimensions; d++) sum[d] = (targets.values[target + d]! - (cosine * sum[d]!) / length) / length
      for (let k = 0; k < words.length; k++) {
        const word = words[k]!
        const weight = counts[k]! * Math.exp(emphasis[word]!)
        const row = word * dimensions
        let along = 0
        let gradient = 0
        for (let d = 0; d < dimensions; d++) {
          along += sum[d]! * vectors[row + d]!
          gradient += (weight * sum[d]!) ** 2
        }
        vectorSquares[word]! += gradient / dimensions
        const rate = (left * RATE.vector * weight) / (Math.sqrt(vectorSquares[word]!) + 1e-6)
        for (let d = 0; d < dimensions; d++) vectors[row + d]! += rate * sum[d]!
        weightSquares[word]! += (weight * along) ** 2
        emphasis[word]! += (left * RATE.weight * weight * along) / (Math.sqrt(weightSquares[word]!) + 1e-6)
      }
    }
    tell(`lesson ${epoch + 1}: cosine ${(cosines / lessons.length).toFixed(4)}`)
  }
  return { vectors: matrix(size, dimensions, vectors), emphasis }
}

/** Reduces the teacher's rows to fewer dimensions: their strongest directions, each row of length 1. */
export function reduce(rows: Matrix, directions: Matrix): Matrix {
  const reduced = dots(rows, directions)
  for (let from = 0; from < reduced.values.length; from += directions.rows) {
    const row = reduced.values.subarray(from, from + directions.rows)
    const length = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0)) || 1
    for (let d = 0; d < row.length; d++) row[d]! /= length
  }
  return reduced
}

export function getDirections(rows: Matrix, dimensions: number): Matrix {
  return principalDirections(rows, dimensions, new Float32Array(rows.rows).fill(1))
}

function shuffle(order: Int32Array, random: () => number): void {
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const kept = order[i]!
    order[i] = order[j]!
    order[j] = kept
  }
}
