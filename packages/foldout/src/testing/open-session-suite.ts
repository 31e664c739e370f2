import { describe, expect, it } from 'vitest'
import { defineEvent } from '../session/event.ts'
import { defineLog } from '../session/log.ts'
import { defineSlice } from '../session/slice.ts'
import { type SessionStore } from '../session/stores/store.ts'
import { openSession, type KeptSession } from '../session/stores/open-session.ts'
import { visibility } from '../session/visibility.ts'

const noted = defineEvent<{ readonly text: string }>()('notes/noted')
/** An event without a payload. */
export const cleared = defineEvent()('notes/cleared')
const total = defineSlice({
  name: 'total',
  initial: { sum: 0, last: null as number | null },
  reducers: { added: (state, payload: number) => ({ sum: state.sum + payload, last: payload }) },
})
const notes = defineLog({ name: 'notes', of: [noted, cleared, total.events.added] })
/** The slices of the sessions that the suite keeps. */
export const slices = [total, notes]

/** The part of the store suite on sessions that are kept in the store. */
export function describeOpenSession(getStore: () => SessionStore): void {
  const open = (id = 'one'): Promise<KeptSession> => openSession({ store: getStore(), id, slices })

  describe('for openSession', () => {
    /** Waits until a session is saved and opens it again, as another process would. */
    async function reopened(session: KeptSession): Promise<KeptSession> {
      await session.saved()
      const again = await open(session.id)
      expect(again.snapshot()).toEqual(session.snapshot())
      return again
    }

    it('R25 resumes a session with the same state and logs, and continues the same way', async () => {
      const first = await open()
      first.dispatch(visibility.events.set({ path: 'context', visibility: 'full' }))
      first.dispatch(total.events.added(2))
      first.dispatch(cleared())
      await first.saved()
      first.dispatch(noted({ text: 'hello' }))
      const second = await reopened(first)
      second.dispatch(total.events.added(3))
      const third = await reopened(second)
      expect(third.get(total)).toEqual({ sum: 5, last: 3 })
      expect(third.get(visibility)).toEqual({ context: 'full' })
      expect([...third.get(notes)]).toEqual([
        { type: 'total/added', payload: 2 },
        { type: 'notes/cleared' },
        { type: 'notes/noted', payload: { text: 'hello' } },
        { type: 'total/added', payload: 3 },
      ])
      expect((await getStore().load('one'))?.events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5])
    })

    it('R39 applies what another process has written since a session was opened', async () => {
      const [first, second] = [await open(), await open()]
      await second.sync()
      first.dispatch(total.events.added(1))
      await first.saved()
      await second.sync()
      await second.sync()
      expect(second.get(total).sum).toBe(1)
      second.dispatch(total.events.added(2))
      await reopened(second)
      first.dispatch(total.events.added(4))
      await expect(first.sync()).rejects.toMatchObject({ code: 'store-conflict' })
    })

    it('R25 writes nothing for a session without events', async () => {
      await (await open()).saved()
      expect(await getStore().list()).toEqual([])
    })

    it('R24 R25 keeps a restore: the state goes back, logs and later events stay', async () => {
      const first = await open()
      first.dispatch(total.events.added(1))
      const before = first.snapshot()
      first.dispatch(total.events.added(10))
      first.restore(before)
      first.dispatch(total.events.added(100))
      const second = await reopened(first)
      expect(second.get(total).sum).toBe(101)
      expect(second.get(notes).length).toBe(3)
    })

    it('R24 R25 keeps a restore right after a compaction, and a compaction right after a restore', async () => {
      const first = await open()
      const before = first.snapshot()
      first.dispatch(total.events.added(10))
      await first.compact()
      first.restore(before)
      const second = await reopened(first)
      expect(second.get(total).sum).toBe(0)
      second.dispatch(total.events.added(5))
      second.restore(before)
      await second.compact()
      const third = await reopened(second)
      expect(third.get(total).sum).toBe(0)
      expect(third.get(notes).length).toBe(2)
    })

    it('R24 R25 keeps a committed transaction, and only the log entries of an abandoned one', async () => {
      const first = await open()
      const kept = first.begin()
      const dropped = first.begin()
      kept.session.dispatch(total.events.added(1))
      dropped.session.dispatch(total.events.added(10))
      dropped.session.dispatch(visibility.events.set({ path: 'context', visibility: 'full' }))
      dropped.abandon()
      kept.commit()
      const second = await reopened(first)
      expect(second.get(total).sum).toBe(1)
      expect(second.get(visibility)).toEqual({})
      expect([...second.get(notes)].map((entry) => ('payload' in entry ? entry.payload : undefined))).toEqual([10, 1])
      expect((await getStore().load('one'))?.events).toEqual([
        { sequence: 1, event: total.events.added(10), scope: 'logs' },
        { sequence: 2, event: total.events.added(1), scope: 'all' },
      ])
    })

    it('R25 writes nothing for an open transaction', async () => {
      const first = await open()
      first.begin().session.dispatch(total.events.added(1))
      await first.saved()
      expect(await getStore().load('one')).toBeUndefined()
    })

    it('R25 compacts the journal to a snapshot and continues from it', async () => {
      const first = await open()
      for (let i = 1; i <= 5; i++) first.dispatch(total.events.added(i))
      const compacting = first.compact()
      first.dispatch(total.events.added(100))
      await compacting
      await first.saved()
      expect(await getStore().load('one')).toMatchObject({
        snapshot: { slices: { total: { state: { sum: 15 } } } },
        sequence: 5,
        events: [{ sequence: 6 }],
      })
      const second = await reopened(first)
      second.dispatch(total.events.added(1))
      expect((await reopened(second)).get(total).sum).toBe(116)
    })

    it('R25 rejects the events of a second writer; the first continues', async () => {
      const [first, second] = [await open(), await open()]
      first.dispatch(total.events.added(1))
      await first.saved()
      second.dispatch(total.events.added(2))
      await expect(second.saved()).rejects.toMatchObject({ code: 'store-conflict' })
      await expect(second.compact()).rejects.toMatchObject({ code: 'store-conflict' })
      first.dispatch(total.events.added(4))
      await reopened(first)
      await expect(second.saved()).rejects.toMatchObject({ code: 'store-conflict' })
    })

    it('R25 does not bring back a session that was deleted in the meantime', async () => {
      const first = await open()
      first.dispatch(total.events.added(1))
      await first.saved()
      await getStore().delete('one')
      await expect(first.compact()).rejects.toMatchObject({ code: 'store-conflict' })
      first.dispatch(total.events.added(1))
      await expect(first.saved()).rejects.toMatchObject({ code: 'store-conflict' })
      expect(await getStore().list()).toEqual([])
    })
  })
}
