/** Vectors of one length, by slot, each component in a byte: small, and quick to compare with one. */
export interface VectorBlock {
  set(slot: number, vector: ArrayLike<number>): void
  remove(slot: number): void
  /** The cosine of the angle between a vector and that of a slot; 0 where a slot has none. */
  cosinesWith(vector: ArrayLike<number>): (slot: number) => number
  /** The same for all slots at once. */
  allCosinesWith(vector: ArrayLike<number>): (slot: number) => number
}

const LARGEST = 127

export function createVectorBlock(dimensions: number): VectorBlock {
  // A multiple of four, so that the loop that counts can take four at a time.
  const stride = Math.ceil(dimensions / 4) * 4
  let block = new Int8Array(stride * 64)
  // One over the length of each vector; 0 for none.
  let scales = new Float32Array(64)

  const makeRoom = (slot: number): void => {
    if (slot < scales.length) return
    const room = Math.max(slot + 1, scales.length * 2)
    const larger = new Int8Array(room * stride)
    larger.set(block)
    block = larger
    const moreScales = new Float32Array(room)
    moreScales.set(scales)
    scales = moreScales
  }

  const cosinesWith = (vector: ArrayLike<number>) => {
    const bytes = new Int8Array(stride)
    const scale = quantize(vector, bytes)
    return (slot: number) => {
      const slotScale = slot < scales.length ? scales[slot]! : 0
      return slotScale === 0 ? 0 : dot(block, slot * stride, bytes) * slotScale * scale
    }
  }

  return {
    set(slot, vector) {
      makeRoom(slot)
      scales[slot] = quantize(vector, block.subarray(slot * stride, (slot + 1) * stride))
    },
    remove(slot) {
      if (slot < scales.length) scales[slot] = 0
    },
    cosinesWith,
    allCosinesWith(vector) {
      const cosineAt = cosinesWith(vector)
      const cosines = new Float32Array(scales.length)
      for (let slot = 0; slot < cosines.length; slot++) cosines[slot] = cosineAt(slot)
      return (slot) => (slot < cosines.length ? cosines[slot]! : 0)
    },
  }
}
/** Writes a vector in bytes and gives one over the length of what was written; 0 for a vector without length. */
function quantize(vector: ArrayLike<number>, bytes: Int8Array): number {
  let largest = 0
  for (let i = 0; i < vector.length; i++) largest = Math.max(largest, Math.abs(vector[i]!))
  bytes.fill(0)
  if (!(largest > 0) || largest === Infinity) return 0
  let squares = 0
  for (let i = 0; i < vector.length; i++) {
    const byte = Math.round((vector[i]! / largest) * LARGEST)
    bytes[i] = byte
    squares += byte * byte
  }
  return 1 / Math.sqrt(squares)
}

/** In whole numbers of 32 bits, which the largest sum of such products does not leave. */
function dot(block: Int8Array, start: number, query: Int8Array): number {
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  for (let i = 0; i < query.length; i += 4) {
    const at = start + i
    a = (a + Math.imul(block[at]!, query[i]!)) | 0
    b = (b + Math.imul(block[at + 1]!, query[i + 1]!)) | 0
    c = (c + Math.imul(block[at + 2]!, query[i + 2]!)) | 0
    d = (d + Math.imul(block[at + 3]!, query[i + 3]!)) | 0
  }
  return a + b + c + d
}
