import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { getEditDistance } from './edit-distance.ts'

/** The textbook definition, without shortcuts. */
function getPlainDistance(a: string, b: string): number {
  let row = Array.from({ length: a.length + 1 }, (_, x) => x)
  for (let y = 1; y <= b.length; y++) {
    const next = [y]
    for (let x = 1; x <= a.length; x++) {
      const replaced = row[x - 1]! + (a[x - 1] === b[y - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[x]! + 1, next[x - 1]! + 1))
    }
    row = next
  }
  return row[a.length]!
}

describe('edit distance', () => {
  it.each([
    ['', '', 0],
    ['', 'abc', 3],
    ['kitten', 'sitting', 3],
    ['flaw', 'lawn', 2],
    ['get_weather', 'get_wether', 1],
    ['ab', 'ba', 2],
  ])('of %j and %j is %i', (a, b, distance) => {
    expect(getEditDistance(a, b)).toBe(distance)
    expect(getEditDistance(b, a)).toBe(distance)
  })

  const word = fc.oneof(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 }), fc.string())

  it('matches its definition, or exceeds the limit', () => {
    fc.assert(
      fc.property(word, word, fc.integer({ min: 0, max: 14 }), (a, b, most) => {
        const distance = getPlainDistance(a, b)
        expect(getEditDistance(a, b)).toBe(distance)
        expect(getEditDistance(a, b, most)).toBe(distance <= most ? distance : Infinity)
      }),
      { numRuns: 2_000 },
    )
  })
})
