/** Finds the linear map that comes nearest to the examples, drawn to zero by a penalty (ridge regression). */
export interface LeastSquares {
  /** Adds an example: what the map should make of a vector, and how much that counts. */
  add(from: Float64Array, to: Float64Array, weight: number): void
  /** The rows of the map: what each coordinate adds to the result. */
  solve(): readonly Float64Array[]
}

export function createLeastSquares(dimensions: number, penalty: number): LeastSquares {
  // Each row is an equation: the products of coordinates on the left, the sums of results on the right.
  const equations = Array.from({ length: dimensions }, (_, row) => {
    const equation = new Float64Array(2 * dimensions)
    equation[row] = penalty
    return equation
  })
  return {
    add(from, to, weight) {
      for (const [row, equation] of equations.entries()) {
        const factor = weight * from[row]!
        for (let column = 0; column < dimensions; column++) {
          equation[column]! += factor * from[column]!
          equation[dimensions + column]! += factor * to[column]!
        }
      }
    },
    solve() {
      const rows = equations.map((equation) => equation.slice())
      // The matrix is symmetric and positive, so that no pivot is zero.
      for (const [at, pivot] of rows.entries()) {
        for (const row of rows) {
          const factor = row[at]! / pivot[at]!
          if (row === pivot || factor === 0) continue
          for (let column = at; column < row.length; column++) row[column]! -= factor * pivot[column]!
        }
      }
      return rows.map((row, at) => row.slice(dimensions).map((value) => value / row[at]!))
    },
  }
}
