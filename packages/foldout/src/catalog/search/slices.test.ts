import { afterEach, describe, expect, it, vi } from 'vitest'
import { createTaker } from './backlog.ts'
import type { Searchable } from './contract.ts'
import { MAX_LONG_FIELD_CHARACTERS, MAX_SHORT_FIELD_CHARACTERS, MAX_SLICE_CHARACTERS } from './limits.ts'
import { createSearchIndex } from './engine/search-index.ts'
import { PASSED_AT_ONCE } from './slices.ts'
import { toolNamed } from './tools.fixtures.ts'

/** A tool can have two long fields and four short ones. */
const LARGEST_TOOL = 2 * MAX_LONG_FIELD_CHARACTERS + 4 * MAX_SHORT_FIELD_CHARACTERS
const WORDS = ['lamp', 'flight', 'weather', 'room', 'user', 'invoice', 'delete', 'create', 'search', 'report']

function createTools(count: number, source = 's'): Searchable[] {
  return Array.from({ length: count }, (_, i) =>
    toolNamed(`${WORDS[i % 10]}_${WORDS[(i * 7 + 3) % 10]}_${i}`, {
      source,
      description: `${WORDS[(i * 3) % 10]} ${WORDS[(i + 4) % 10]} `.repeat(20),
    }),
  )
}

const told = (outcome: object): string => JSON.stringify(outcome)

describe('R45 indexing in slices', () => {
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  it('R45 does not wait for a clock that a test has stopped', async () => {
    vi.useFakeTimers()
    const index = createSearchIndex()
    for (const tool of createTools(1_000)) index.add(tool)
    expect((await index.search('lamp')).hits).toHaveLength(5)
  })

  it('R45 lets others run after a bounded number of characters', async () => {
    const slices: number[] = []
    const index = createSearchIndex({ onSlice: (characters) => slices.push(characters) })
    const tools = [...createTools(2_000), toolNamed('long', { description: 'lamp '.repeat(1_000_000) })]
    for (const tool of tools) index.add(tool)
    let turns = 0
    let isReady = false
    const count = (): void => {
      turns++
      if (!isReady) setImmediate(count)
    }
    setImmediate(count)
    await index.search('lamp in a room')
    isReady = true
    expect(Math.max(...slices)).toBeLessThan(MAX_SLICE_CHARACTERS + LARGEST_TOOL)
    const all = tools.reduce((sum, { description }) => sum + Math.min(description.length, MAX_LONG_FIELD_CHARACTERS), 0)
    expect(slices.reduce((sum, characters) => sum + characters, 0)).toBeGreaterThan(all - MAX_SLICE_CHARACTERS)
    expect(turns).toBeGreaterThanOrEqual(slices.length)
  })

  it('R45 removes in slices too', async () => {
    const slices: number[] = []
    const index = createSearchIndex({ embed: false, onSlice: (characters) => slices.push(characters) })
    const tools = createTools(2_000)
    for (const tool of tools) index.add(tool)
    await index.ready()
    slices.length = 0
    for (const { qualified } of tools) index.remove(qualified)
    expect(index.size).toBe(0)
    expect((await index.search('lamp')).hits).toEqual([])
    expect(slices.length).toBeGreaterThan(1)
  })

  it('R45 takes waiting tools in order, even those that arrive after the queue was empty', () => {
    const waiting = new Map([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ])
    const take = createTaker(waiting)
    expect(take()).toEqual(['a', 1])
    waiting.delete('b')
    waiting.set('d', 4)
    expect([take(), take(), take()]).toEqual([['c', 3], ['d', 4], undefined])
    waiting.set('a', 5)
    expect([take(), take()]).toEqual([['a', 5], undefined])
    expect(waiting.size).toBe(0)
  })

  it('R45 begins before the first search', async () => {
    const index = createSearchIndex({ embed: false, onSlice: () => slices++ })
    let slices = 0
    for (const tool of createTools(1_000)) index.add(tool)
    await expect.poll(() => slices).toBeGreaterThan(2)
  })

  it('R45 gives the same bytes whatever was added and removed while it worked', async () => {
    const kept = createTools(600, 'kept')
    const gone = createTools(600, 'gone')
    const index = createSearchIndex()
    const before = index.search('delete a lamp')
    for (const tool of [...gone, ...kept]) index.add(tool)
    const during = index.search('delete a lamp')
    for (const [at, { qualified }] of gone.entries()) {
      if (at % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
      expect(index.remove(qualified)).toBe(true)
      expect(index.remove(qualified)).toBe(false)
    }
    for (const tool of kept.slice(0, 100)) index.add(tool)
    await Promise.all([before, during])
    const fresh = createSearchIndex()
    for (const tool of kept) fresh.add(tool)
    expect(index.size).toBe(kept.length)
    expect(told(await index.search('delete a lamp'))).toBe(told(await fresh.search('delete a lamp')))
  })

  it('R45 ranks in slices, and starts over if tools come or go in between', async () => {
    const tools = createTools(3_000)
    const index = createSearchIndex({ embed: false })
    for (const tool of tools) index.add(tool)
    await index.ready()
    // From here on, every step takes longer than a slice.
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 1_000))
    let turns = 0
    let isDone = false
    const change = (): void => {
      if (isDone) return
      const tool = tools[turns++ % 100]
      if (tool && !index.remove(tool.qualified)) index.add(tool)
      setImmediate(change)
    }
    setImmediate(change)
    const { hits } = await index.search('delete a lamp')
    isDone = true
    vi.restoreAllMocks()
    expect(turns).toBeGreaterThan(3)
    expect(hits).toHaveLength(5)
  })

  it('R45 passes over a bounded number of tools in one step of a search', async () => {
    const countTurns = async (count: number): Promise<number> => {
      const index = createSearchIndex()
      for (const tool of createTools(count)) index.add(tool)
      await index.ready()
      // From here on, every step takes longer than a slice, so that there is a turn for each.
      let now = 0
      vi.spyOn(performance, 'now').mockImplementation(() => (now += 1_000))
      let turns = 0
      let isDone = false
      const watch = (): void => {
        turns++
        if (!isDone) setImmediate(watch)
      }
      setImmediate(watch)
      await index.search('lamp')
      isDone = true
      vi.restoreAllMocks()
      return turns
    }
    const few = await countTurns(500)
    const many = await countTurns(500 + 6 * PASSED_AT_ONCE)
    // The vectors, the score of every tool, the best for a closer look, and the best of those.
    expect(many - few).toBeGreaterThanOrEqual(6 * 4)
  })

  it('R45 answers many searches at once while it works, all with the same bytes', async () => {
    const index = createSearchIndex()
    for (const tool of createTools(1_000)) index.add(tool)
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => index.search('create an invoice')))
    expect(new Set(outcomes.map(told)).size).toBe(1)
  })
})
