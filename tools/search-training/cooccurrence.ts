import { matrix, transposed, type Matrix } from './matrix.ts'
import { orthonormalize } from './principal.ts'
import { createRandom } from '../../packages/foldout/src/compare/statistics/distributions.ts'

/** How far apart two words may be. */
const REACH = 10
const PASSES = 3
/** Extra directions, so that the last ones that are kept are exact too. */
const EXTRA = 16

/** Words as rows in the strongest directions of their co-occurrence: positive pointwise mutual information, SVD. */
export function cooccurrenceVectors(
  texts: readonly Int32Array[],
  size: number,
  dimensions: number,
  seed: number,
): Float32Array {
  const information = mutualInformation(texts, size)
  const random = createRandom(seed)
  const width = dimensions + EXTRA
  let basis = matrix(
    width,
    size,
    Float32Array.from({ length: width * size }, () => random() + random() + random() - 1.5),
  )
  orthonormalize(basis)
  for (let pass = 0; pass < PASSES; pass++) {
    basis = transposed(multiply(information, transposed(basis)))
    orthonormalize(basis)
  }
  // The matrix is symmetric, so it only scales each of its directions by its strength.
  const image = multiply(information, transposed(basis)).values
  const strengths = new Float64Array(width)
  for (let i = 0; i < image.length; i++) strengths[i % width]! += image[i]! ** 2
  const vectors = new Float32Array(size * dimensions)
  for (let row = 0; row < size; row++) {
    for (let d = 0; d < dimensions; d++) vectors[row * dimensions + d] = image[row * width + d]! / strengths[d]! ** 0.25
  }
  return vectors
}

interface Sparse {
  readonly starts: Int32Array
  readonly columns: Int32Array
  readonly values: Float32Array
}

function mutualInformation(texts: readonly Int32Array[], size: number): Sparse {
  const rows = Array.from({ length: size }, () => new Map<number, number>())
  const sums = new Float64Array(size)
  for (const text of texts) {
    for (let i = 0; i < text.length; i++) {
      for (let j = i + 1; j < Math.min(text.length, i + REACH); j++) {
        const [a, b] = [text[i]!, text[j]!]
        if (a === b) continue
        const near = 1 / Math.sqrt(j - i)
        rows[a]!.set(b, (rows[a]!.get(b) ?? 0) + near)
        rows[b]!.set(a, (rows[b]!.get(a) ?? 0) + near)
        sums[a]! += near
        sums[b]! += near
      }
    }
  }
  // Frequencies are smoothed, so that rare words do not stand out by chance.
  const smooth = sums.map((sum) => sum ** 0.75)
  const total = smooth.reduce((all, value) => all + value, 0)
  const starts = new Int32Array(size + 1)
  const columns: number[] = []
  const values: number[] = []
  for (const [a, row] of rows.entries()) {
    for (const [b, count] of row) {
      const expected = Math.max((sums[a]! * smooth[b]!) / total, (sums[b]! * smooth[a]!) / total)
      if (count <= expected) continue
      columns.push(b)
      values.push(Math.log(count / expected))
    }
    starts[a + 1] = columns.length
  }
  return { starts, columns: Int32Array.from(columns), values: Float32Array.from(values) }
}

function multiply({ starts, columns, values }: Sparse, { rows, columns: width, values: factor }: Matrix): Matrix {
  const product = matrix(rows, width)
  for (let row = 0; row < rows; row++) {
    const to = row * width
    for (let at = starts[row]!; at < starts[row + 1]!; at++) {
      const from = columns[at]! * width
      const value = values[at]!
      for (let c = 0; c < width; c++) product.values[to + c]! += value * factor[from + c]!
    }
  }
  return product
}
