import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { getEditDistance } from './edit-distance.ts'
import { namedSome, nearest, shortened } from './text.ts'

describe('R46 the nearest words', () => {
  it('R46 are those with the fewest letters to change, whatever their case, ties in the order given', () => {
    expect(nearest('Guide', ['gide', 'other', 'GUIDES', 'guild'])).toEqual(['gide', 'GUIDES', 'guild'])
    expect(nearest('x', [])).toEqual([])
    expect(nearest('x', ['a', 'b'], 1)).toEqual(['a'])
  })

  it('R46 are those that comparing with every word finds', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'C', '_'), maxLength: 8 })
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 30 }), fc.integer({ min: 0, max: 5 }), (asked, known, limit) => {
        const all = known.map((each) => ({ each, away: getEditDistance(asked.toLowerCase(), each.toLowerCase()) }))
        const sorted = all.sort((a, b) => a.away - b.away).map(({ each }) => each)
        expect(nearest(asked, known, limit)).toEqual(sorted.slice(0, limit))
      }),
    )
  })

  it('R46 of an endless word are found at once', () => {
    const known = Array.from({ length: 1_000 }, (_, at) => `tool_${at}`)
    expect(nearest('x'.repeat(1_000_000), known)).toHaveLength(3)
  })
})

describe('R45 words for messages', () => {
  it('R45 are some of many', () => {
    expect(namedSome(['a', 'b', 'c'], 3)).toBe('a, b, c')
    expect(namedSome(['a', 'b', 'c', 'd'], 2)).toBe('a, b and 2 more')
  })

  it('R45 are cut where they are long', () => {
    expect(shortened('x'.repeat(80))).toBe('x'.repeat(80))
    expect(shortened('x'.repeat(81))).toBe(`${'x'.repeat(80)}…`)
    expect(shortened('abcdef', 3)).toBe('abc…')
  })
})
