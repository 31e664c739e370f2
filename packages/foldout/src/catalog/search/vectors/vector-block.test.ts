import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDotKernel, createPlainKernel } from './dot-kernel.ts'
import { runSteps } from '../slices.ts'
import { createVectorBlock } from './vector-block.ts'

const DIMENSIONS = 19
const vector = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: DIMENSIONS, maxLength: DIMENSIONS })

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, i) => sum + x * b[i]!, 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)) || 0
}

describe('vector block', () => {
  it('R45 gives cosines, to a hundredth', () => {
    fc.assert(
      fc.property(fc.array(vector, { maxLength: 150 }), vector, (vectors, query) => {
        const block = createVectorBlock(DIMENSIONS)
        vectors.forEach((one, slot) => block.set(slot, one))
        const cosineAt = runSteps(block.allCosinesWith(query))
        vectors.forEach((one, slot) => expect(Math.abs(cosineAt(slot) - cosine(one, query))).toBeLessThan(0.02))
        expect(cosineAt(100_000)).toBe(0)
      }),
      { numRuns: 30 },
    )
  })

  it('R49 gives the same numbers one by one, at once, and where nothing can be compiled', () => {
    // Otherwise both would be the same loop.
    expect([createDotKernel(64), createPlainKernel(64)].map(({ memory }) => memory.byteLength)).toEqual([65_536, 64])
    fc.assert(
      fc.property(fc.array(vector, { minLength: 1, maxLength: 150 }), vector, (vectors, query) => {
        const compiled = createVectorBlock(DIMENSIONS)
        const plain = createVectorBlock(DIMENSIONS, createPlainKernel)
        vectors.forEach((one, slot) => {
          compiled.set(slot, one)
          plain.set(slot, one)
        })
        const all = vectors.map((_, slot) => runSteps(compiled.allCosinesWith(query))(slot))
        expect(vectors.map((_, slot) => runSteps(plain.allCosinesWith(query))(slot))).toEqual(all)
        expect(vectors.map((_, slot) => compiled.cosinesWith(query)(slot))).toEqual(all)
      }),
      { numRuns: 30 },
    )
  })

  it('R45 knows nothing of a slot that was emptied, never filled or filled with nothing', () => {
    const block = createVectorBlock(3)
    expect(runSteps(block.allCosinesWith([1, 2, 3]))(0)).toBe(0)
    block.set(0, [1, 2, 3])
    block.set(2, [0, 0, 0])
    block.set(200, [1, 2, 3])
    block.remove(0)
    block.remove(999)
    expect([0, 1, 2, 200].map(runSteps(block.allCosinesWith([1, 2, 3])))).toEqual([0, 0, 0, expect.closeTo(1, 3)])
    expect([0, 1, 2, 200].map(block.cosinesWith([1, 2, 3]))).toEqual([0, 0, 0, expect.closeTo(1, 3)])
  })
})
