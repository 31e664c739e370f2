import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSequences } from './sequences.ts'

describe('sequences', () => {
  it('R45 return what was stored, whatever was added and removed in between', () => {
    const slot = fc.nat({ max: 20 })
    // Now and then longer than what shares an array.
    const length = fc.oneof(fc.nat({ max: 9 }), fc.nat({ max: 40_000 }))
    fc.assert(
      fc.property(fc.array(fc.tuple(slot, fc.option(length)), { maxLength: 60 }), (changes) => {
        const sequences = createSequences()
        const expected = new Map<number, string>()
        for (const [at, added] of changes) {
          sequences.remove(at)
          expected.delete(at)
          if (added === null) continue
          const ids = Array.from({ length: added }, (_, id) => at + id)
          sequences.set(at, ids)
          expected.set(at, ids.join())
        }
        for (let at = 0; at <= 20; at++) expect(sequences.get(at).join() === (expected.get(at) ?? '')).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  it('R45 take no more memory than twice what they hold, and one array', () => {
    const sequences = createSequences()
    const ids = Array.from({ length: 100 }, (_, id) => id)
    for (let slot = 0; slot < 2_000; slot++) sequences.set(slot, ids)
    // Every tenth stays, so that every array still has one in use.
    for (let slot = 0; slot < 2_000; slot++) if (slot % 10 > 0) sequences.remove(slot)
    const arrays = new Set(Array.from({ length: 2_000 }, (_, slot) => sequences.get(slot).buffer))
    const bytes = [...arrays].reduce((sum, { byteLength }) => sum + byteLength, 0)
    expect(bytes).toBeLessThanOrEqual(4 * (2 * 200 * 100 + 3 * 2 ** 15))
    expect([...sequences.get(1_990)]).toEqual(ids)
  })
})
