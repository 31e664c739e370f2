import { PASSED_AT_ONCE, type Steps } from '../slices.ts'
import { createDotKernel, dot, STRIDE_UNIT } from './dot-kernel.ts'

/** Vectors of one length, by slot, with one byte per coordinate: small, and fast to compare with another vector. */
export interface VectorBlock {
  set(slot: number, vector: ArrayLike<number>): void
  remove(slot: number): void
  /** Whether a slot has a vector that can be compared. */
  has(slot: number): boolean
  /** The cosine of the angle between a vector and the one in a slot; 0 for an empty slot. */
  cosinesWith(vector: ArrayLike<number>): (slot: number) => number
  /** The same, computed for all slots beforehand. */
  allCosinesWith(vector: ArrayLike<number>): Steps<(slot: number) => number>
}

const LARGEST = 127
const FIRST_ROOM = 64

export function createVectorBlock(dimensions: number, getKernel = createDotKernel): VectorBlock {
  const stride = Math.ceil(dimensions / STRIDE_UNIT) * STRIDE_UNIT
  let room = 0
  let kernel = getKernel(0)
  // One over the length of each vector; 0 for an empty slot.
  let scales = new Float32Array(0)
  let vectors = new Int8Array(0)

  // The memory holds the vectors, then the one to compare them with, then the results.
  const makeRoom = (slots: number): void => {
    room = slots
    kernel = getKernel(room * stride + stride + room * 4)
    const larger = new Int8Array(kernel.memory)
    larger.set(vectors.subarray(0, scales.length * stride))
    vectors = larger
    const moreScales = new Float32Array(room)
    moreScales.set(scales)
    scales = moreScales
  }

  return {
    set(slot, vector) {
      if (slot >= room) makeRoom(Math.max(slot + 1, room * 2, FIRST_ROOM))
      scales[slot] = quantize(vector, vectors.subarray(slot * stride, (slot + 1) * stride))
    },
    remove(slot) {
      if (slot < room) scales[slot] = 0
    },
    has: (slot) => (scales[slot] ?? 0) !== 0,
    cosinesWith(vector) {
      const bytes = new Int8Array(stride)
      const scale = quantize(vector, bytes)
      return (slot) => {
        const slotScale = scales[slot] ?? 0
        if (slotScale === 0) return 0
        return Math.fround(dot(vectors, slot * stride, bytes) * slotScale * scale)
      }
    },
    *allCosinesWith(vector) {
      const bytes = new Int8Array(stride)
      const scale = quantize(vector, bytes)
      const cosines = new Float32Array(room)
      for (let from = 0; from < cosines.length; from += PASSED_AT_ONCE) {
        const to = Math.min(from + PASSED_AT_ONCE, cosines.length)
        // Between two steps others may use the memory too, or make more room.
        const end = room * stride
        vectors.set(bytes, end)
        kernel.dots(from * stride, to * stride, stride, end, end + stride)
        const sums = new Int32Array(kernel.memory, end + stride, to - from)
        for (let at = 0; at < sums.length; at++) {
          cosines[from + at] = (sums[at] ?? 0) * (scales[from + at] ?? 0) * scale
        }
        yield
      }
      return (slot) => cosines[slot] ?? 0
    },
  }
}

/** Converts a vector to bytes of the same direction. A vector that already is one keeps its bytes. */
export function toByteVector(vector: ArrayLike<number>): Int8Array {
  const bytes = new Int8Array(vector.length)
  quantize(vector, bytes)
  return bytes
}

/** Writes a vector as bytes, and returns one over the length of the result; 0 for a vector of length 0. */
function quantize(vector: ArrayLike<number>, bytes: Int8Array): number {
  let largest = 0
  for (let i = 0; i < vector.length; i++) largest = Math.max(largest, Math.abs(vector[i] ?? 0))
  bytes.fill(0)
  if (!(largest > 0) || largest === Infinity) return 0
  let squares = 0
  for (let i = 0; i < vector.length; i++) {
    const byte = Math.round(((vector[i] ?? 0) / largest) * LARGEST)
    bytes[i] = byte
    squares += byte * byte
  }
  return 1 / Math.sqrt(squares)
}
