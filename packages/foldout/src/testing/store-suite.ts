import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSession } from '../session/session.ts'
import type { SessionLease, SessionStore, StoredEvent } from '../session/stores/store.ts'
import { openSession } from '../session/stores/open-session.ts'
import { cleared, describeOpenSession, slices } from './open-session-suite.ts'

const stored = (sequence: number, payload: unknown = sequence): StoredEvent => ({
  sequence,
  event: { type: 'test/happened', payload },
  scope: 'all',
})

/**
 * Tests the required behavior of every session store, on vitest. `create` returns an empty store each time. Errors are
 * recognized by their codes: `store-conflict`, `event-lossy` and `session-invalid`.
 *
 * @example
 * ```ts
 * sessionStoreSuite('createMyStore', async () => createMyStore())
 * ```
 */
export function sessionStoreSuite(name: string, create: () => Promise<SessionStore>): void {
  describe(`${name} keeps sessions`, () => {
    let store: SessionStore
    const sequences = async (id = 'one'): Promise<readonly number[] | undefined> =>
      (await store.load(id))?.events.map((event) => event.sequence)

    beforeEach(async () => {
      store = await create()
    })
    afterEach(() => store.close())

    describe('as a journal', () => {
      it('R25 does not know a session that was never written', async () => {
        expect(await store.load('one')).toBeUndefined()
        expect(await store.list()).toEqual([])
        await store.delete('one')
        await store.append('one', [])
        expect(await store.load('one')).toBeUndefined()
        expect(await store.list()).toEqual([])
      })

      it('R25 returns events unchanged and in order', async () => {
        const logged: StoredEvent = { sequence: 3, event: { type: 'a/b', payload: { deep: [1, null] } }, scope: 'logs' }
        await store.append('one', [stored(1), stored(2)])
        await store.append('one', [logged])
        expect(await store.load('one')).toEqual({ sequence: 0, events: [stored(1), stored(2), logged] })
      })

      it('R25 orders by number, not as text', async () => {
        const events = Array.from({ length: 120 }, (_, i) => stored(i + 1))
        await store.append('one', events)
        expect((await store.load('one'))?.events).toEqual(events)
      })

      it('R25 keeps an event without a payload', async () => {
        await store.append('one', [{ sequence: 1, event: cleared(), scope: 'all' }])
        expect((await store.load('one'))?.events[0]?.event).toEqual({ type: 'notes/cleared' })
      })

      it('R25 stores JSON without loss, including odd texts and names', async () => {
        const oddities = [
          '',
          'a\0b',
          '\ud800',
          '😀',
          '\u2028',
          '__proto__',
          'constructor',
          '"\\',
          "'; DROP TABLE events; --",
        ]
        const payloads = [null, false, 0, 1e21, 5e-324, 2 ** 53 - 1, [], {}, [[[]]], ...oddities]
        const events = [...oddities.map((key) => ({ [key]: [key] })), ...payloads].map((payload, i) =>
          stored(i + 1, payload),
        )
        const typed = oddities.map((type, i) => ({ ...stored(events.length + 1 + i), event: { type, payload: null } }))
        await store.append('one', [...events, ...typed])
        // Compared as text, because `toEqual` mishandles the name `constructor`.
        expect(JSON.stringify((await store.load('one'))?.events)).toBe(JSON.stringify([...events, ...typed]))
      })

      it('R25 is not affected by later changes to values that were passed in or returned', async () => {
        const payload = { list: [1] }
        await store.append('one', [stored(1, payload)])
        payload.list.push(2)
        const loaded = (await store.load('one'))?.events[0]?.event.payload as { list: number[] }
        loaded.list.push(3)
        expect((await store.load('one'))?.events[0]?.event.payload).toEqual({ list: [1] })
      })

      it("R25 rejects a second writer and keeps the first writer's events", async () => {
        await store.append('one', [stored(1, 'first'), stored(2, 'first')])
        await expect(store.append('one', [stored(2, 'second')])).rejects.toMatchObject({ code: 'store-conflict' })
        expect((await store.load('one'))?.events).toEqual([stored(1, 'first'), stored(2, 'first')])
      })

      it.each([
        { case: 'a gap before', events: [stored(3)] },
        { case: 'a gap inside', events: [stored(2), stored(4)] },
        { case: 'a number twice', events: [stored(2), stored(2)] },
      ])('R25 rejects events with $case and writes none of them', async ({ events }) => {
        await store.append('one', [stored(1)])
        await expect(store.append('one', events)).rejects.toMatchObject({ code: 'store-conflict' })
        expect(await sequences()).toEqual([1])
      })

      it('R25 does not create a session for rejected events', async () => {
        await expect(store.append('one', [stored(2)])).rejects.toMatchObject({ code: 'store-conflict' })
        await expect(store.save('one', createSession().snapshot(), 1)).rejects.toMatchObject({ code: 'store-conflict' })
        expect(await store.list()).toEqual([])
        expect(await store.load('one')).toBeUndefined()
      })

      it('R25 rejects values that JSON would lose, and writes nothing of the batch', async () => {
        await store.append('one', [stored(1)])
        await expect(store.append('one', [stored(2), stored(3, { when: new Date(0) })])).rejects.toMatchObject({
          code: 'event-lossy',
        })
        expect(await sequences()).toEqual([1])
      })
    })

    describe('with snapshots', () => {
      const snapshot = createSession({ slices }).snapshot()

      it('R25 replaces events up to a number and keeps the later ones', async () => {
        await store.append('one', [stored(1), stored(2), stored(3)])
        await store.save('one', snapshot, 2)
        expect(await store.load('one')).toEqual({ snapshot, sequence: 2, events: [stored(3)] })
      })

      it('R25 continues counting after a snapshot of everything', async () => {
        await store.append('one', [stored(1), stored(2)])
        await store.save('one', snapshot, 2)
        await expect(store.append('one', [stored(1)])).rejects.toMatchObject({ code: 'store-conflict' })
        await store.append('one', [stored(3)])
        expect(await store.load('one')).toEqual({ snapshot, sequence: 2, events: [stored(3)] })
      })

      it('R25 starts a session with an empty snapshot', async () => {
        await store.save('one', snapshot, 0)
        expect(await store.load('one')).toEqual({ snapshot, sequence: 0, events: [] })
        expect(await store.list()).toEqual(['one'])
      })

      it('R25 rejects a snapshot that is older than the stored one, or that includes unknown events', async () => {
        await store.append('one', [stored(1), stored(2), stored(3)])
        await store.save('one', snapshot, 2)
        await expect(store.save('one', snapshot, 1)).rejects.toMatchObject({ code: 'store-conflict' })
        await expect(store.save('one', snapshot, 4)).rejects.toMatchObject({ code: 'store-conflict' })
        expect(await store.load('one')).toEqual({ snapshot, sequence: 2, events: [stored(3)] })
      })
    })

    describe('with several sessions', () => {
      it('R25 keeps sessions separate and lists them in order', async () => {
        const ids = ['b', 'a', 'a/b', "it's", '%', '__proto__', 'Zoë', '😀', 'a b', '10', '9']
        for (const id of ids) await store.append(id, [stored(1, id)])
        expect(await store.list()).toEqual([...ids].sort())
        for (const id of ids) expect((await store.load(id))?.events).toEqual([stored(1, id)])
      })

      it('R25 lists sessions page by page, in the order of code points', async () => {
        const ids = ['a', 'ab', 'b', '\u{e000}', '\u{ff5e}', '😀', '😀a']
        for (const id of ids.toReversed()) await store.append(id, [stored(1, id)])
        const pages: string[][] = []
        for (let after: string | undefined; ; after = pages.at(-1)?.at(-1)) {
          const page = await store.list({ after, limit: 3 })
          if (page.length === 0) break
          pages.push([...page])
        }
        expect(pages).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)])
        expect(await store.list()).toEqual(ids)
        expect(await store.list({ after: 'aa' })).toEqual(ids.slice(1))
        expect(await store.list({ limit: 2 })).toEqual(['a', 'ab'])
      })

      it('R25 says where sessions end, page by page, if it can', async () => {
        if (!store.listEnds) return
        expect(await store.listEnds()).toEqual([])
        for (const id of ['a', 'b', 'c', 'd']) await store.append(id, [stored(1), stored(2), stored(3)])
        await store.save('b', { version: 1, slices: {} }, 2)
        await store.save('c', { version: 1, slices: {} }, 3)
        await store.append('a', [stored(4)])
        await store.save('e', { version: 1, slices: {} }, 0)
        const ends = [{ id: 'a', last: 4 }, ...['b', 'c', 'd'].map((id) => ({ id, last: 3 })), { id: 'e', last: 0 }]
        expect(await store.listEnds()).toEqual(ends)
        expect(await store.listEnds({ after: 'a', limit: 2 })).toEqual(ends.slice(1, 3))
      })

      it('R25 deletes one session and no other', async () => {
        await store.append('one', [stored(1), stored(2)])
        await store.append('two', [stored(1)])
        await store.delete('one')
        expect(await store.load('one')).toBeUndefined()
        expect(await store.list()).toEqual(['two'])
        await store.append('one', [stored(1, 'again')])
        expect((await store.load('one'))?.events).toEqual([stored(1, 'again')])
      })

      it.each(['', 'a\0b', '\ud800', 'a\nb'])('R25 rejects the id %j', async (id) => {
        await expect(store.append(id, [stored(1)])).rejects.toMatchObject({ code: 'session-invalid' })
        await expect(openSession({ store, id })).rejects.toMatchObject({ code: 'session-invalid' })
        expect(await store.list()).toEqual([])
      })
    })

    describe('with leases', () => {
      const lease = (owner: string, beat = 1): SessionLease => ({ owner, beat, ms: 1000 })

      it('R39 gives a lease to the first who asks, and says who holds it', async () => {
        expect(await store.swapLease('one', undefined, lease('a'))).toEqual(lease('a'))
        expect(await store.swapLease('one', undefined, lease('b'))).toEqual(lease('a'))
        expect(await store.swapLease('two', undefined, lease('b'))).toEqual(lease('b'))
        expect(await store.list()).toEqual([])
        expect(await store.load('one')).toBeUndefined()
      })

      it('R39 renews and releases a lease only for who knows its owner and beat', async () => {
        await store.swapLease('one', undefined, lease('a'))
        expect(await store.swapLease('one', lease('a'), lease('a', 2))).toEqual(lease('a', 2))
        expect(await store.swapLease('one', lease('a'), lease('b'))).toEqual(lease('a', 2))
        expect(await store.swapLease('one', lease('b', 2), undefined)).toEqual(lease('a', 2))
        expect(await store.swapLease('one', lease('a'), undefined)).toEqual(lease('a', 2))
        expect(await store.swapLease('one', lease('a', 2), undefined)).toBeUndefined()
        expect(await store.swapLease('one', lease('a', 2), lease('a', 3))).toBeUndefined()
        expect(await store.swapLease('one', undefined, lease('b'))).toEqual(lease('b'))
      })

      it('R39 gives a lease to one of many who ask at the same time', async () => {
        const owners = Array.from({ length: 16 }, (_, n) => `owner ${n}`)
        const held = await Promise.all(owners.map((owner) => store.swapLease('one', undefined, lease(owner))))
        expect(new Set(held.map((one) => one?.owner)).size).toBe(1)
      })

      it('R39 deletes a lease with its session, and keeps it beside events', async () => {
        await store.swapLease('one', undefined, lease('a'))
        await store.append('one', [stored(1)])
        expect(await store.swapLease('one', undefined, undefined)).toEqual(lease('a'))
        await store.delete('one')
        expect(await store.swapLease('one', undefined, undefined)).toBeUndefined()
      })
    })

    describeOpenSession(() => store)
  })
}
