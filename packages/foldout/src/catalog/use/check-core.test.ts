import { describe, expect, it } from 'vitest'
import { checkCore, learnCore, type CatalogRecording } from '../../entries/catalog.ts'

type Client = CatalogRecording['clients'][number]

/** A client that searches for a tool and uses it three times. */
const uses = (name: string): Client => ({
  id: name,
  lists: [],
  searches: [{ at: 0, hits: [name], tokens: 300 }],
  definitions: [],
  uses: [1, 2, 3].map((at) => ({ at, name, through: 'use_tool' as const, ok: true, wrappingTokens: 12 })),
})
const record = (...names: readonly string[]): CatalogRecording => ({
  version: 1,
  tools: [...new Set(names)].map((name) => ({ name, tokens: 80 })),
  clients: names.map(uses),
})

describe('R79 checkCore()', () => {
  it('R79 says what a core saves clients that it was not learned from', () => {
    const recording = record(...Array<string>(12).fill('mail'))
    const { mean, low, high, isCertain, clients } = checkCore(recording)
    expect({ clients, isCertain }).toEqual({ clients: 12, isCertain: true })
    expect(mean).toBe(Math.round(learnCore(recording).saved.tokens / 12))
    expect([low, high]).toEqual([mean, mean])
  })

  it('R79 finds that a core of what only some clients use does not help the others', () => {
    const names = Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? 'mail' : 'chat'))
    const recording = record(...names)
    expect(learnCore(recording).saved.tokens).toBeGreaterThan(0)
    const { mean, isCertain } = checkCore(recording)
    expect(mean).toBeLessThan(0)
    expect(isCertain).toBe(false)
  })

  it('R79 is not certain without clients, or with one', () => {
    expect(checkCore(record())).toEqual({ mean: 0, low: 0, high: 0, clients: 0, isCertain: false })
    expect(checkCore(record('mail')).isCertain).toBe(false)
  })
})
