import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../entries/index.ts'
import { decideFold, type FoldQuestion } from '../entries/results.ts'
import { checkConversations, PROPERTIES } from './refold-properties.fixtures.ts'

describe('generated long conversations, with kills, resumes and user turns', () => {
  it.each(Object.entries(PROPERTIES))('%s', async (name, property) => {
    expect.hasAssertions()
    const numRuns = name.startsWith('R68') ? 15 : 30
    await checkConversations([property], { stores: [undefined, createMemoryStore()], numRuns })
  })

  it('R69 a fold is never followed by another one without news', () => {
    const results = fc.array(
      fc.record({ tokens: fc.nat(20_000), age: fc.nat(40), isReadBack: fc.boolean(), isSpent: fc.boolean() }),
      { maxLength: 40 },
    )
    const numbers = fc.record({
      start: fc.nat(50_000),
      at: fc.integer({ min: 1_000, max: 120_000 }),
      turns: fc.nat(60),
    })
    fc.assert(
      fc.property(
        results,
        numbers,
        fc.boolean(),
        fc.option(fc.integer({ min: 5_000, max: 200_000 }), { nil: undefined }),
        fc.record({ leastTurns: fc.integer({ min: 1, max: 10 }), cacheRead: fc.constantFrom(0.025, 0.1, 0.5) }),
        (list, { start, at, turns }, isCold, window, more) => {
          const ask = (sizes: readonly number[]): FoldQuestion => {
            let before = start
            const all = list.map((one, i) => {
              const tokens = sizes[i] ?? 0
              const result = { ...one, callId: `c${i}`, tokens, stubTokens: 30, before }
              before += tokens
              return result
            })
            return {
              context: before,
              window,
              at,
              turns,
              isCold,
              keepTurns: 10,
              minTokens: 300,
              cacheWrite: 1.25,
              results: all,
              ...more,
            }
          }
          const first = decideFold(ask(list.map(({ tokens }) => tokens)))
          const folded = new Set(first?.callIds)
          const again = decideFold(ask(list.map(({ tokens }, i) => (folded.has(`c${i}`) ? 30 : tokens))))
          expect(again?.callIds.filter((id) => folded.has(id)) ?? []).toEqual([])
          expect(first !== undefined && again !== undefined && window === undefined).toBe(false)
        },
      ),
    )
  })
})
