import { dots, matrix, transposed, type Matrix } from './matrix.ts'
import { createRandom } from '../../packages/foldout/src/compare/statistics/distributions.ts'

const PASSES = 40

/** The strongest directions of some rows, one after another, each of length 1. */
export function principalDirections(rows: Matrix, count: number, weights: ArrayLike<number>): Matrix {
  const width = rows.columns
  const weighted = matrix(
    rows.rows,
    width,
    rows.values.map((value, i) => value * weights[Math.floor(i / width)]!),
  )
  const covariance = dots(transposed(weighted), transposed(rows))
  const random = createRandom(1)
  let directions = matrix(
    count,
    width,
    Float32Array.from({ length: count * width }, () => random() - 0.5),
  )
  for (let pass = 0; pass < PASSES; pass++) {
    directions = dots(directions, covariance)
    orthonormalize(directions)
  }
  return directions
}

/** Gram–Schmidt over rows, twice for exactness. */
export function orthonormalize({ rows, columns, values }: Matrix): void {
  for (let row = 0; row < rows; row++) {
    const vector = values.subarray(row * columns, (row + 1) * columns)
    for (let turn = 0; turn < 2; turn++) {
      for (let earlier = 0; earlier < row; earlier++) {
        const from = earlier * columns
        let along = 0
        for (let c = 0; c < columns; c++) along += vector[c]! * values[from + c]!
        for (let c = 0; c < columns; c++) vector[c]! -= along * values[from + c]!
      }
      const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1
      for (let c = 0; c < columns; c++) vector[c]! /= length
    }
  }
}
