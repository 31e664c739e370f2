import { describe, expect, it } from 'vitest'
import { mapRequest } from './request-map.ts'

const DIMENSIONS = 384

function createUnit(at: number): Float32Array {
  const vector = new Float32Array(DIMENSIONS)
  vector[at] = 1
  return vector
}

describe('the map of requests', () => {
  it('R61 is linear, and changes every coordinate a little', () => {
    const [a, b] = [createUnit(0), createUnit(383)]
    const sum = a.map((value, at) => value + b[at]!)
    const [ofA, ofB] = [mapRequest(a), mapRequest(b)]
    mapRequest(sum).forEach((value, at) => expect(value).toBeCloseTo(ofA[at]! + ofB[at]!, 5))
    expect(ofA[0]).toBeGreaterThan(0.5)
    expect(ofA.every((value, at) => at === 0 || Math.abs(value) < 0.3)).toBe(true)
    expect(ofA.filter((value) => value !== 0).length).toBeGreaterThan(DIMENSIONS / 2)
  })

  it('R61 leaves its argument and vectors of other models as they are', () => {
    const given = createUnit(1)
    mapRequest(given)
    expect(given).toEqual(createUnit(1))
    const short = Float32Array.of(1, 2, 3)
    expect(mapRequest(short)).toBe(short)
  })
})
