import { describe, expect, it } from 'vitest'
import { formatBytes, formatCount, formatNumber, formatRounded, formatUsd } from './numbers.ts'

describe('a number', () => {
  it.each([0, 7, -7, 999, 1000, -1000, 12_345, -999_999, 1_234_567, 9_007_199_254_740_991, 0.5, 1234.5678, 1e21, NaN])(
    '%d is written as the formatter of Node.js writes it',
    (number) => expect(formatNumber(number)).toBe(number.toLocaleString('en')),
  )

  it('that was measured has no fraction', () => {
    expect([1234.5, -0.4, 99.5].map(formatRounded)).toEqual(['1,235', '0', '100'])
  })

  it('of things has their name, in the singular for one', () => {
    expect(formatCount(1, 'tool')).toBe('1 tool')
    expect(formatCount(2_000, 'tool')).toBe('2,000 tools')
    expect(formatCount(2, 'reply', 'replies')).toBe('2 replies')
  })

  it('of dollars has two digits that count', () => {
    expect([0, 0.00123, 0.099, -0.05, 0.1, 12.5].map(formatUsd)).toEqual([
      '$0.00',
      '$0.0012',
      '$0.099',
      '$-0.050',
      '$0.10',
      '$12.50',
    ])
  })

  it('of bytes is a size', () => {
    expect([0, 999, 1_500, 12_000_000].map(formatBytes)).toEqual(['0 B', '999 B', '1.5 kB', '12.0 MB'])
  })
})
