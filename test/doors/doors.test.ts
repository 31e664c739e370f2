import { describe, expect, it } from 'vitest'
import { fuzz } from './fuzz.ts'
import { MAX_GROWTH, measureGrowth } from './growth.ts'
import { DOORS } from './registry.ts'
import { getShapes } from './shapes.ts'

describe('doors for foreign input', () => {
  for (const door of DOORS) {
    const test = door.skip === undefined ? it : it.skip
    test(`${door.name}: work grows at most n log n`, async () => {
      const slow: string[] = []
      for (const shape of getShapes(door.takes)) {
        if (door.without?.includes(shape[0])) continue
        const { small, large, growth, isBounded } = await measureGrowth(door, shape)
        const found = `${shape[0]}: ${small.toFixed(1)} ms became ${large.toFixed(1)} for 16 times the input (${growth.toFixed(0)} times; at most ${MAX_GROWTH})`
        if (!isBounded) slow.push(found)
      }
      expect(slow).toEqual([])
    }, 120_000)
  }

  it('names are different, and a skipped door says why', () => {
    expect(new Set(DOORS.map(({ name }) => name)).size).toBe(DOORS.length)
    for (const { skip } of DOORS) expect(skip).not.toBe('')
  })

  it('random input is accepted or refused, and nothing else happens', async () => {
    expect(await fuzz({ cases: 3_000, seed: 20_261_116 })).toBeUndefined()
  }, 60_000)
})
