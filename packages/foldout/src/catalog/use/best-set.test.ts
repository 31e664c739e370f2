import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findBestSet, computeWorth, type Choices } from './best-set.ts'

const getChoices = (size: number): fc.Arbitrary<Choices> =>
  fc.record({
    own: fc.array(fc.integer({ min: -60, max: 20 }), { minLength: size, maxLength: size }),
    together: fc.array(
      fc.record({
        members: fc.uniqueArray(fc.integer({ min: 0, max: size - 1 }), { minLength: 2, maxLength: 4 }),
        worth: fc.integer({ min: 0, max: 80 }),
      }),
      { maxLength: 14 },
    ),
  })
const choices = fc.integer({ min: 4, max: 9 }).chain(getChoices)

function bruteForce(given: Choices, max: number): number {
  let best = 0
  for (let bits = 0; bits < 2 ** given.own.length; bits++) {
    const chosen = new Set([...given.own.keys()].filter((at) => bits & (1 << at)))
    if (chosen.size <= max) best = Math.max(best, computeWorth(given, chosen))
  }
  return best
}

describe('R48 the best set', () => {
  it('R48 contains items that are only worth it together', () => {
    const given = { own: [-10, -10, -10, 3], together: [{ members: [0, 1, 2], worth: 40 }] }
    expect(findBestSet(given, 4)).toEqual({ chosen: [0, 1, 2, 3], worth: 13, isBest: true })
    expect(findBestSet(given, 3)).toEqual({ chosen: [0, 1, 2], worth: 10, isBest: true })
    expect(findBestSet(given, 2)).toEqual({ chosen: [3], worth: 3, isBest: true })
    expect(findBestSet(given, 0)).toEqual({ chosen: [], worth: 0, isBest: true })
  })

  it('R48 is found without looking at items that do not fit', () => {
    const given = { own: [8, 0, 0], together: [{ members: [1, 2], worth: 17 }] }
    expect(findBestSet(given, 1, 2)).toEqual({ chosen: [0], worth: 8, isBest: true })
  })

  it('R48 is the one that brute force finds', () => {
    fc.assert(
      fc.property(choices, fc.integer({ min: 0, max: 6 }), (given, max) => {
        const { chosen, worth, isBest } = findBestSet(given, max)
        expect(isBest).toBe(true)
        expect(chosen.length).toBeLessThanOrEqual(max)
        expect(computeWorth(given, new Set(chosen))).toBeCloseTo(worth, 6)
        expect(worth).toBeCloseTo(bruteForce(given, max), 6)
      }),
      { numRuns: 300 },
    )
  })

  it('R48 contains at least the items that pay off on their own if the search is cut short', () => {
    fc.assert(
      fc.property(choices, fc.integer({ min: 0, max: 6 }), fc.integer({ min: 1, max: 5 }), (given, max, looks) => {
        const { chosen, worth } = findBestSet(given, max, looks)
        expect(chosen.length).toBeLessThanOrEqual(max)
        expect(worth).toBeCloseTo(computeWorth(given, new Set(chosen)), 6)
        const single = given.own.filter((each) => each > 0).sort((a, b) => b - a)
        expect(worth).toBeGreaterThanOrEqual(single.slice(0, max).reduce((sum, each) => sum + each, 0))
      }),
    )
  })

  it('R48 is found among hundreds of items without brute force', () => {
    const own = Array.from({ length: 400 }, (_, at) => ((at * 37) % 101) - 60)
    const together = Array.from({ length: 600 }, (_, at) => ({
      members: [(at * 7) % 400, (at * 11 + 1) % 400].filter((one, index, all) => all.indexOf(one) === index),
      worth: (at * 13) % 50,
    }))
    const { chosen, worth } = findBestSet({ own, together }, 10)
    expect(chosen).toHaveLength(10)
    const single = own
      .toSorted((a, b) => b - a)
      .slice(0, 10)
      .reduce((sum, each) => sum + each, 0)
    expect(worth).toBeGreaterThanOrEqual(single)
  })
})
