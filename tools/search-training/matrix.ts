/** Rows one after another. */
export interface Matrix {
  readonly rows: number
  readonly columns: number
  readonly values: Float32Array
}

export function matrix(rows: number, columns: number, values: Float32Array = new Float32Array(rows * columns)): Matrix {
  return { rows, columns, values }
}

export function transposed({ rows, columns, values }: Matrix): Matrix {
  const turned = new Float32Array(values.length)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) turned[column * rows + row] = values[row * columns + column]!
  }
  return matrix(columns, rows, turned)
}

/** The dot product of each row of one with each row of the other. In tiles, because a single running sum would wait for every addition. */
export function dots(left: Matrix, right: Matrix): Matrix {
  const { rows, columns: width, values: a } = left
  const { rows: columns, values: b } = right
  const product = new Float32Array(rows * columns)
  const tiledRows = rows - (rows % 4)
  const tiledColumns = columns - (columns % 2)
  for (let i = 0; i < tiledRows; i += 4) {
    const p0 = i * width
    const p1 = p0 + width
    const p2 = p1 + width
    const p3 = p2 + width
    for (let j = 0; j < tiledColumns; j += 2) {
      const q0 = j * width
      const q1 = q0 + width
      let s00 = 0
      let s01 = 0
      let s10 = 0
      let s11 = 0
      let s20 = 0
      let s21 = 0
      let s30 = 0
      let s31 = 0
      for (let k = 0; k < width; k++) {
        const y0 = b[q0 + k]!
        const y1 = b[q1 + k]!
        let x = a[p0 + k]!
        s00 += x * y0
        s01 += x * y1
        x = a[p1 + k]!
        s10 += x * y0
        s11 += x * y1
        x = a[p2 + k]!
        s20 += x * y0
        s21 += x * y1
        x = a[p3 + k]!
        s30 += x * y0
        s31 += x * y1
      }
      const at = i * columns + j
      product[at] = s00
      product[at + 1] = s01
      product[at + columns] = s10
      product[at + columns + 1] = s11
      product[at + 2 * columns] = s20
      product[at + 2 * columns + 1] = s21
      product[at + 3 * columns] = s30
      product[at + 3 * columns + 1] = s31
    }
  }
  for (let i = 0; i < rows; i++) {
    for (let j = i < tiledRows ? tiledColumns : 0; j < columns; j++) {
      let sum = 0
      for (let k = 0; k < width; k++) sum += a[i * width + k]! * b[j * width + k]!
      product[i * columns + j] = sum
    }
  }
  return matrix(rows, columns, product)
}
