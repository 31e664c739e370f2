import { describe, expect, it } from 'vitest'
import { decideFold, type FoldPlan, type FoldQuestion } from '../entries/results.ts'

const TOKENS = 6_000

/** A conversation with a result of the same size in each of its turns. */
function ask(turns: number, more: Partial<FoldQuestion> = {}): FoldPlan | undefined {
  const results = Array.from({ length: turns }, (_, n) => ({
    callId: `c${n}`,
    tokens: TOKENS,
    stubTokens: 30,
    age: turns - n,
    before: 1_000 + n * TOKENS,
  }))
  const context = 1_000 + turns * TOKENS
  const prices = { cacheRead: 0.1, cacheWrite: 1.25 }
  return decideFold({
    context,
    at: 120_000,
    keepTurns: 10,
    minTokens: 300,
    turns,
    isCold: false,
    ...prices,
    results,
    ...more,
  })
}

const CHEAP = { cacheRead: 0.005 }

describe('R69 which results fold', () => {
  it('none below the size from which they do, unless the cache has expired', () => {
    expect(ask(19)).toBeUndefined()
    expect(ask(19, { isCold: true })).toMatchObject({ reason: 'cold', callIds: { length: 10 } })
  })

  it('those older than the turns that stay, if that pays', () => {
    expect(ask(20)).toMatchObject({ reason: 'price', callIds: { length: 11 } })
  })

  it('younger ones too if only that pays, as far as the caller allows', () => {
    expect(ask(20, { ...CHEAP, leastTurns: 1 })).toMatchObject({ reason: 'price', callIds: { length: 19 } })
    expect(ask(20, { ...CHEAP, leastTurns: 5 })).toMatchObject({ reason: 'size', callIds: { length: 16 } })
    expect(ask(20, CHEAP)).toMatchObject({ reason: 'size', callIds: { length: 11 } })
  })

  it('younger ones too if the old ones free too little', () => {
    const more = { frees: 90_000, cacheRead: 0.5 }
    expect(ask(20, { ...more, leastTurns: 1 })?.callIds).toHaveLength(16)
    expect(ask(20, more)).toBeUndefined()
  })

  it('none if the request stays above that size, and it does not pay', () => {
    expect(ask(20, { ...CHEAP, context: 300_000, leastTurns: 1 })).toBeUndefined()
    expect(ask(20, { cacheRead: 0.9, context: 300_000, leastTurns: 1 })?.callIds).toHaveLength(11)
  })

  it('only when cold or full if the model binds its reasoning to them', () => {
    expect(ask(20, { bindsReasoning: true })).toBeUndefined()
    expect(ask(20, { bindsReasoning: true, isCold: true })?.reason).toBe('cold')
    expect(ask(20, { bindsReasoning: true, window: 130_000 })?.reason).toBe('window')
  })

  it('never what was read back lately, even if the window is full', () => {
    const results = [{ callId: 'c', tokens: 90_000, stubTokens: 30, age: 9, before: 0, isReadBack: true }]
    expect(ask(20, { window: 121_000, results })).toBeUndefined()
  })
})
