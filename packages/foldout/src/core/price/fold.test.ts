import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseFolds, type Foldable, type FoldTerms } from './fold.ts'
import { USUAL_CACHE } from './prompt-cache.ts'

const terms: FoldTerms = { cache: USUAL_CACHE, perHour: 40, requests: 10, base: 2_000, tool: 110 }
const chosen = (items: readonly Foldable[], more: Partial<FoldTerms> = {}): readonly number[] => [
  ...chooseFolds(items, { ...terms, ...more }).folded,
]

describe('chooseFolds()', () => {
  it('R86 folds what few conversations need, and keeps open what most need', () => {
    const rare = { need: 0.05, full: 1_000, folded: 40 }
    const usual = { need: 0.9, full: 1_000, folded: 40 }
    expect(chosen([usual, rare])).toEqual([1])
    expect(chosen([usual, usual])).toEqual([])
  })

  it('R86 folds more where reading from the cache costs more, and where the cache is cold', () => {
    const item = { need: 0.45, full: 3_000, folded: 40 }
    expect(chosen([item])).toEqual([0])
    expect(chosen([item], { cache: { ...USUAL_CACHE, read: 0.025 } })).toEqual([])
    expect(chosen([item], { cache: { ...USUAL_CACHE, read: 0.025 }, perHour: 0 })).toEqual([0])
  })

  it("R86 keeps what is needed most open until the cache's minimum is reached", () => {
    const items = [0.05, 0.3, 0.15, 0.1].map((need): Foldable => ({ need, full: 1_200, folded: 40 }))
    const small = { base: 100, requests: 12, cache: { ...USUAL_CACHE, minimum: 4_096 } }
    const { folded, cost, costInFull } = chooseFolds(items, { ...terms, ...small })
    const open = items.flatMap((_, at) => (folded.has(at) ? [] : [at]))
    expect(open).toContain(1)
    expect(cost).toBeLessThanOrEqual(costInFull)
    expect(chooseFolds(items, { ...terms, ...small, base: 5_000 }).folded.size).toBe(4)
  })

  it('R86 knows that a conversation without any tool begins with an opening, which soon fills the cache', () => {
    const desk = (need: number): Foldable => ({ need, full: 4_200, folded: 35, hasTools: true })
    const desks = [desk(0.66), desk(0.29), desk(0.06)]
    const cold = { cache: { ...USUAL_CACHE, minimum: 4_096 }, perHour: 0, base: 20 }
    expect(chosen(desks, { ...cold, hasTools: false })).toEqual([2, 1, 0])
    expect(chosen(desks, { ...cold, hasTools: true })).toEqual([2, 1])
  })

  it('R86 leaves a prompt open that short conversations would never fill up to the minimum', () => {
    const api: Foldable = { need: 0.2, full: 1_700, folded: 36, hasTools: true }
    const cache = { ...USUAL_CACHE, minimum: 4_096 }
    const apis = Array.from({ length: 8 }, () => api)
    const { folded } = chooseFolds(apis, { ...terms, cache, base: 20, hasTools: false, perHour: 1e9 })
    expect((8 - folded.size) * 1_700).toBeGreaterThan(3_500)
  })

  it('R86 is never dearer than with everything open, or with everything folded', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    const item = fc.record({
      need: share,
      full: fc.integer({ min: 10, max: 20_000 }),
      folded: fc.integer({ min: 1, max: 200 }),
    })
    const cache = fc.record({
      minimum: fc.constantFrom(0, 64, 1_024, 2_048, 4_096),
      read: fc.constantFrom(0.02, 0.05, 0.1, 0.25, 0.5),
      write: fc.constantFrom(1, 1.25, 2),
      ttlMs: fc.constantFrom(300_000, 3_600_000),
    })
    fc.assert(
      fc.property(
        fc.array(item, { maxLength: 12 }),
        fc.record({
          cache,
          perHour: fc.constantFrom(0, 1, 10, 40, 1_000),
          requests: fc.integer({ min: 1, max: 40 }),
          base: fc.integer({ min: 0, max: 8_000 }),
          tool: fc.constant(110),
        }),
        (items, some) => {
          const { cost, costInFull } = chooseFolds(items, some)
          const { need, full, folded } = items.reduce(
            (sum, one) => ({ need: sum.need, full: sum.full + one.full, folded: sum.folded + one.folded }),
            { need: 1, full: 0, folded: 0 },
          )
          expect(cost).toBeLessThanOrEqual(costInFull + 1e-6)
          expect(Number.isFinite(cost + need + full + folded)).toBe(true)
        },
      ),
    )
  })

  it('R86 knows from which size on finding tools is cheaper than listing them', () => {
    const from = (read: number): number => {
      const cache = { ...USUAL_CACHE, read }
      const isFolded = (full: number): boolean =>
        chosen([{ need: 1, full, folded: 350, opened: 3_700 }], { cache, perHour: 1e9, base: 1_024, tool: 0 }).length >
        0
      for (let tokens = 4_000; tokens < 40_000; tokens += 100) if (isFolded(tokens)) return tokens
      return Infinity
    }
    expect(from(0.1)).toBeGreaterThan(6_500)
    expect(from(0.1)).toBeLessThan(8_500)
    expect(from(0.05)).toBeGreaterThan(10_500)
    expect(from(0.05)).toBeLessThan(13_500)
  })
})
