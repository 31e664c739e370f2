import { describe, expect, it } from 'vitest'
import { createWordCache } from './word-cache.ts'

const LIMITS = { entries: 8, characters: 1_000, keyLength: 20 }

describe('a cache of words', () => {
  it('keeps what was used last', () => {
    const cache = createWordCache<string>(LIMITS)
    cache.set('often', 'o')
    for (let i = 0; i < 100; i++) {
      cache.set(`word${i}`, 'w')
      expect(cache.get('often')).toBe('o')
    }
    expect(cache.get('word0')).toBeUndefined()
    expect(cache.get('word99')).toBe('w')
  })

  it('never holds more entries than it may', () => {
    const cache = createWordCache<string>(LIMITS)
    for (let i = 0; i < 100; i++) {
      cache.set(`word${i}`, 'w')
      expect(cache.size).toBeLessThanOrEqual(LIMITS.entries)
    }
  })

  it('never holds more characters than it may', () => {
    const cache = createWordCache<readonly string[]>({ ...LIMITS, entries: 1_000 })
    for (let i = 0; i < 100; i++)
      cache.set(
        `word${i}`,
        Array.from({ length: 10 }, () => 'x'.repeat(10)),
      )
    expect(cache.size).toBeLessThanOrEqual(LIMITS.characters / 100)
  })

  it('returns values that it does not keep', () => {
    const cache = createWordCache<string>(LIMITS)
    expect(cache.set('x'.repeat(21), 'value')).toBe('value')
    expect(cache.size).toBe(0)
  })
})
