import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { getEditDistance } from 'foldout-shared/edit-distance'
import { nameSome, nearest, shorten, cutText, cutWithCount } from './text.ts'

describe('R46 the nearest words', () => {
  it('R46 are those with the fewest letters to change, ignoring case, with ties in the given order', () => {
    expect(nearest('Guide', ['gide', 'other', 'GUIDES', 'guild'])).toEqual(['gide', 'GUIDES', 'guild'])
    expect(nearest('Guide', ['gide', 'other', 'GUIDES', 'guild'], 1)).toEqual(['gide'])
    expect(nearest('x', [])).toEqual([])
  })

  it.each([
    ['refund', ['search_tools', 'refund_order', 'ship_order'], ['refund_order']],
    ['order_refund', ['refund_order', 'order_status'], ['refund_order']],
    ['examples', ['context.examples', 'context'], ['context.examples']],
    ['get_weather_in_town', ['get_weather', 'get_town_hall'], ['get_weather']],
  ])('R46 include words that share parts with %s', (asked, known, near) => {
    expect(nearest(asked, known)).toEqual(near)
  })

  it.each([
    ['x', ['a', 'b']],
    ['launch_rocket', ['send_letter', 'mow_lawn', 'water_garden']],
    ['get_unicorn', ['get_weather', 'get_time', 'set_light']],
    ['qwxzzy', ['a', 'qq', 'tools']],
    ['zz', ['fizz_buzz_zz']],
    ['', ['a', 'ab', 'abc']],
  ])('R46 do not exist for %s, which is far from everything', (asked, known) => {
    expect(nearest(asked, known)).toEqual([])
  })

  it('R46 match a comparison with every word', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'C', '_'), maxLength: 8 })
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 30 }), (asked, known) => {
        const all = known
          .map((each) => ({ each, away: getEditDistance(asked.toLowerCase(), each.toLowerCase()) }))
          .filter(({ each, away }) => away <= Math.floor(0.4 * Math.max(asked.length, each.length)))
        const sorted = all.sort((a, b) => a.away - b.away).map(({ each }) => each)
        expect(nearest(asked, known, 100).slice(0, sorted.length)).toEqual(sorted)
      }),
    )
  })

  it('R46 are found quickly for a very long word', () => {
    const known = Array.from({ length: 1_000 }, (_, at) => `tool_${at}`)
    expect(nearest('x'.repeat(1_000_000), known)).toEqual([])
    expect(nearest('_'.repeat(1_000_000), [...known, '_'.repeat(150)])).toEqual(['_'.repeat(150)])
  })
})

describe('R45 word lists in messages', () => {
  it('R45 name the first few of many', () => {
    expect(nameSome(['a', 'b', 'c'], 3)).toBe('a, b, c')
    expect(nameSome(['a', 'b', 'c', 'd'], 2)).toBe('a, b and 2 more')
  })

  it('R45 are cut if they are too long', () => {
    expect(shorten('x'.repeat(80))).toBe('x'.repeat(80))
    expect(shorten('x'.repeat(81))).toBe(`${'x'.repeat(80)}…`)
    expect(shorten('abcdef', 3)).toBe('abc…')
  })
})

describe('cutting text', () => {
  it('never leaves half of a character', () => {
    expect(cutText('ab😀', 3)).toBe('ab')
    expect(cutText('ab😀', 4)).toBe('ab😀')
    expect(shorten('ab😀cd', 3)).toBe('ab…')
    expect(cutWithCount('ab😀cd', 3)).toBe('ab… (4 more characters)')
  })
})
