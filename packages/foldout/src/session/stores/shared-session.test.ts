import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineSlice } from '../slice.ts'
import { createMemoryStore } from './memory-store.ts'
import { beginSharedSession, openSharedSession, type SharedSession } from './shared-session.ts'
import type { SessionStore } from './store.ts'

const words = defineSlice({
  name: 'words',
  initial: [] as readonly string[],
  reducers: { said: (state, word: string) => [...state, word] },
})
const slices = [words]
const getWords = ({ session }: SharedSession): readonly string[] => session.get(words)
const say = ({ session }: SharedSession, word: string): void => session.dispatch(words.events.said(word))

async function stage(store: SessionStore = createMemoryStore()): Promise<[SharedSession, SharedSession, SessionStore]> {
  const one = beginSharedSession({ store, id: 'one', slices })
  say(one, 'hello')
  await one.save()
  const other = await openSharedSession({ store, id: 'one', slices })
  if (!other) throw new Error('It was not saved.')
  return [one, other, store]
}

describe('R65 a session that several processes use', () => {
  it('R65 is visible to the others once it is saved, and not before it begins', async () => {
    const store = createMemoryStore()
    expect(await openSharedSession({ store, id: 'one', slices })).toBeUndefined()
    const [one, other] = await stage(store)
    say(one, 'again')
    expect(await other.sync()).toBe(false)
    await one.save()
    expect(await other.sync()).toBe(true)
    expect(getWords(other)).toEqual(['hello', 'again'])
    expect(await other.sync()).toBe(false)
  })

  it('R65 has one order when two processes write at once, for the writers too', async () => {
    const [one, other, store] = await stage()
    for (let round = 0; round < 20; round++) {
      say(one, `one ${round}`)
      say(other, `other ${round}`)
      await Promise.all([one.save(), other.save()])
    }
    await Promise.all([one.sync(), other.sync()])
    expect(getWords(one)).toEqual(getWords(other))
    expect(new Set(getWords(one)).size).toBe(41)
    const third = await openSharedSession({ store, id: 'one', slices })
    expect(third && getWords(third)).toEqual(getWords(one))
  })

  it('R65 keeps its journal short, even while others still have the long one', async () => {
    const [one, other, store] = await stage()
    for (let n = 0; n < 200; n++) {
      say(one, `${n}`)
      await one.save()
    }
    expect((await store.load('one'))?.events.length).toBeLessThan(64)
    say(other, 'late')
    await other.save()
    expect(getWords(other)).toEqual(['hello', ...Array.from({ length: 200 }, (_, n) => `${n}`), 'late'])
    say(one, 'x'.repeat(2_000_000))
    await one.save()
    expect((await store.load('one'))?.events).toEqual([])
  })

  it('R65 reports that another process has deleted it, and does not come back', async () => {
    const [one, other, store] = await stage()
    await store.delete('one')
    say(one, 'too late')
    await expect(one.save()).rejects.toMatchObject({ code: 'store-conflict' })
    expect(one.isGone).toBe(true)
    await other.sync()
    expect(other.isGone).toBe(true)
    expect(await store.load('one')).toBeUndefined()
  })

  it('R65 keeps events that could not be written, and writes them later', async () => {
    const store = createMemoryStore()
    let isAway = false
    const flaky: SessionStore = {
      ...store,
      append: (id, events) => (isAway ? Promise.reject(new Error('away')) : store.append(id, events)),
    }
    const [one, other] = await stage(flaky)
    isAway = true
    say(one, 'kept')
    await expect(one.save()).rejects.toThrow('away')
    isAway = false
    await one.save()
    await other.sync()
    expect(getWords(other)).toEqual(['hello', 'kept'])
  })

  it('R65 reads the store once for all callers that ask at the same time', async () => {
    const store = createMemoryStore()
    let loads = 0
    const [one] = await stage({ ...store, load: (id) => (loads++, store.load(id)) })
    loads = 0
    await Promise.all(Array.from({ length: 50 }, () => one.sync()))
    expect(loads).toBe(1)
  })

  it('R65 ends up the same everywhere, in whatever order processes write and sync', async () => {
    const step = fc.record({ who: fc.nat(2), what: fc.constantFrom('say', 'save', 'sync', 'say and save') })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const [one, other, store] = await stage()
        const third = await openSharedSession({ store, id: 'one', slices })
        const all = [one, other, third as SharedSession]
        let said = 0
        const jobs: Promise<unknown>[] = []
        for (const { who, what } of steps) {
          const copy = all[who] as SharedSession
          if (what.startsWith('say')) say(copy, `${said++}`)
          if (what.endsWith('save')) jobs.push(copy.save())
          if (what === 'sync') jobs.push(copy.sync())
        }
        await Promise.all(jobs)
        for (const copy of all) await copy.save()
        for (const copy of all) await copy.sync()
        const fresh = await openSharedSession({ store, id: 'one', slices })
        for (const copy of all) expect(getWords(copy)).toEqual(fresh && getWords(fresh))
        expect(new Set(getWords(one)).size).toBe(said + 1)
      }),
    )
  })
})
