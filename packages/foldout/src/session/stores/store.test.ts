import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { defineLog } from '../log.ts'
import { createMemoryStore } from './memory-store.ts'
import { DispatchError } from '../session.ts'
import { defineSlice } from '../slice.ts'
import type { Snapshot } from '../snapshot.ts'
import { type SessionStore } from './store.ts'
import { openSession, type KeptSession } from './open-session.ts'
import { visibility } from '../visibility.ts'
import { takeTurns } from '../../../../../test/turns.ts'

const sum = defineSlice({
  name: 'sum',
  initial: { total: 0, parts: [] as readonly number[][] },
  reducers: {
    added: (state, payload: readonly number[]) => {
      if (payload.includes(13)) throw new Error('unlucky')
      return { total: payload.reduce((a, b) => a + b, state.total), parts: [...state.parts, [...payload]] }
    },
    noted: (state, _payload: unknown) => state,
  },
})
const changes = defineLog({ name: 'changes', of: [sum.events.added] })
const slices = [sum, changes]

/** A memory store that counts appends and fails on demand. */
function testStore() {
  const store = createMemoryStore()
  const append = vi.fn<SessionStore['append']>(store.append)
  return { ...store, append } satisfies SessionStore
}
const open = (store: SessionStore): Promise<KeptSession> => openSession({ store, id: 'one', slices })

describe('openSession', () => {
  it('R25 starts a session with its seeds and resumes it without them', async () => {
    const store = createMemoryStore()
    const seeded = [visibility.seed({ context: 'full' })]
    const first = await openSession({ store, id: 'one', slices: seeded })
    expect(first.id).toBe('one')
    expect(first.get(visibility)).toEqual({ context: 'full' })
    first.dispatch(visibility.events.set({ path: 'other', visibility: 'full' }))
    await first.compact()
    const second = await openSession({ store, id: 'one' })
    expect(second.get(visibility)).toEqual({ context: 'full', other: 'full' })
  })

  it('R25 writes the events of one tick together', async () => {
    const store = testStore()
    const session = await open(store)
    for (let i = 0; i < 5; i++) session.dispatch(sum.events.added([i]))
    await session.saved()
    session.dispatch(sum.events.added([5]))
    await session.saved()
    await session.saved()
    expect(store.append.mock.calls.map(([, events]) => events.length)).toEqual([5, 1])
  })

  it('R25 writes events that are dispatched during a write after it, and only once', async () => {
    const store = createMemoryStore()
    let dispatchMore = (): void => undefined
    const slow: SessionStore = {
      ...store,
      async append(id, events) {
        dispatchMore()
        await store.append(id, events)
      },
    }
    const session = await open(slow)
    session.dispatch(sum.events.added([1]))
    dispatchMore = () => {
      dispatchMore = () => undefined
      session.dispatch(sum.events.added([2]))
      session.dispatch(sum.events.added([3]))
    }
    await session.saved()
    await session.saved()
    expect((await open(store)).get(sum).parts).toEqual([[1], [2], [3]])
  })

  it('R25 writes without a call to saved()', async () => {
    const store = createMemoryStore()
    const session = await open(store)
    session.dispatch(sum.events.added([1]))
    await vi.waitFor(async () => expect((await store.load('one'))?.events).toHaveLength(1))
  })

  it('R25 keeps the payload as it was dispatched, not as it was changed later', async () => {
    const store = createMemoryStore()
    const session = await open(store)
    const payload = { items: [1] }
    session.dispatch(sum.events.noted(payload))
    payload.items.push(2)
    await session.saved()
    expect((await store.load('one'))?.events[0]?.event.payload).toEqual({ items: [1] })
  })

  it('R21 R25 records an event once, even if a reducer or listener fails on it, and replays to the same state', async () => {
    const store = createMemoryStore()
    const first = await open(store)
    first.subscribe(() => {
      throw new Error('listener')
    })
    expect(() => first.dispatch(sum.events.added([13]))).toThrow(DispatchError)
    expect(() => first.dispatch(sum.events.added([2]))).toThrow(DispatchError)
    await first.saved()
    expect((await store.load('one'))?.events.map(({ event }) => event.payload)).toEqual([[13], [2]])
    const second = await open(store)
    expect(second.snapshot()).toEqual(first.snapshot())
    expect(second.get(sum).total).toBe(2)
  })

  it('R24 R25 writes only the slices that a restore changes: logs are already in the journal', async () => {
    const store = createMemoryStore()
    const session = await open(store)
    session.dispatch(sum.events.added([1]))
    session.restore(session.snapshot())
    await session.saved()
    const restore = (await store.load('one'))!.events[1]!
    expect(restore).toMatchObject({ sequence: 2, scope: 'restore', event: { type: 'session/restored' } })
    expect(Object.keys((restore.event.payload as Snapshot).slices)).toEqual(['visibility', 'sum'])
  })

  it('R25 does not notify listeners of replayed events', async () => {
    const store = testStore()
    const first = await open(store)
    first.dispatch(sum.events.added([1]))
    await first.saved()
    const second = await open(store)
    await second.saved()
    expect(store.append).toHaveBeenCalledTimes(1)
  })

  it('R25 rejects an event that JSON would change, before anything happens', async () => {
    const store = createMemoryStore()
    const session = await open(store)
    const heard = vi.fn<() => void>()
    session.subscribe(heard)
    const lossy = sum.events.added([Number.NaN])
    const refusal = {
      code: 'event-lossy',
      message:
        "The payload of the event 'sum/added' holds NaN at [0], which JSON cannot represent, so it cannot be stored. Keep plain objects, lists, strings, finite numbers, booleans and null in events.",
    }
    expect(() => session.dispatch(lossy)).toThrow(expect.objectContaining(refusal))
    expect(session.get(sum).total).toBe(0)
    expect(session.get(changes).length).toBe(0)
    expect(heard).not.toHaveBeenCalled()
    session.dispatch(sum.events.added([1]))
    await session.saved()
    expect((await open(store)).get(sum).total).toBe(1)
  })

  it('R25 rejects such an event inside a transaction too, so a commit is not cut short', async () => {
    const store = createMemoryStore()
    const session = await open(store)
    const transaction = session.begin()
    const nested = transaction.session.begin()
    transaction.session.dispatch(sum.events.added([1]))
    expect(() => transaction.session.dispatch(sum.events.noted(new Date(0)))).toThrow(
      expect.objectContaining({ code: 'event-lossy' }),
    )
    expect(() => nested.session.dispatch(sum.events.noted(new Date(0)))).toThrow(
      expect.objectContaining({ code: 'event-lossy' }),
    )
    transaction.session.dispatch(sum.events.added([2]))
    transaction.commit()
    await session.saved()
    expect((await open(store)).get(sum).total).toBe(3)
  })

  it('R23 R25 explains why a stored session cannot be read', async () => {
    const store = createMemoryStore()
    const session = await open(store)
    await session.compact()
    await expect(openSession({ store, id: 'one' })).rejects.toMatchObject({ code: 'snapshot-unknown-slice' })
  })
})

describe('a store that fails', () => {
  it('R25 is reported by saved(), and the missing events are written in order once it works again', async () => {
    const store = testStore()
    const session = await open(store)
    session.dispatch(sum.events.added([1]))
    await session.saved()
    const full = new Error('disk full')
    store.append.mockRejectedValueOnce(full)
    session.dispatch(sum.events.added([2]))
    await expect(session.saved()).rejects.toThrow('disk full')
    session.dispatch(sum.events.added([3]))
    await session.saved()
    const resumed = await open(store)
    expect(resumed.get(sum).parts).toEqual([[1], [2], [3]])
    expect((await store.load('one'))?.events.map(({ sequence }) => sequence)).toEqual([1, 2, 3])
  })

  it('R25 does not crash the process when nothing awaits the write', async () => {
    const store = testStore()
    store.append.mockRejectedValue(new Error('disk full'))
    const session = await open(store)
    const unhandled = vi.fn<() => void>()
    process.on('unhandledRejection', unhandled)
    session.dispatch(sum.events.added([1]))
    await takeTurns()
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
    expect(session.get(sum).total).toBe(1)
  })

  it('R25 does not save a snapshot of events that it could not write', async () => {
    const store = testStore()
    const session = await open(store)
    store.append.mockRejectedValueOnce(new Error('disk full'))
    session.dispatch(sum.events.added([1]))
    await expect(session.compact()).rejects.toThrow('disk full')
    expect(await store.load('one')).toBeUndefined()
    await session.compact()
    expect((await store.load('one'))?.sequence).toBe(1)
  })
})

describe('a session that is opened with fewer slices than before', () => {
  const echo = defineSlice({
    name: 'echo',
    initial: 0,
    reducers: {},
    reactions: (on) => [on(sum.events.added, (count) => count + 1)],
  })
  const all = [sum, changes, echo]

  it.each([
    { without: 'sum', left: [changes, echo] },
    { without: 'changes', left: [sum, echo] },
    { without: 'echo', left: [sum, changes] },
  ])("R25 is rejected, naming '$without', and loses nothing", async ({ without, left }) => {
    const store = createMemoryStore()
    const first = await openSession({ store, id: 'one', slices: all })
    first.dispatch(sum.events.added([1]))
    await first.saved()
    await expect(openSession({ store, id: 'one', slices: left })).rejects.toMatchObject({
      code: 'snapshot-unknown-slice',
      message: `The stored session 'one' has a slice '${without}', which was not passed. Pass it in openSession({ slices }); otherwise its state would be lost.`,
    })
    const again = await openSession({ store, id: 'one', slices: all })
    expect(again.snapshot()).toEqual(first.snapshot())
  })

  it('R25 is rejected for a slice that was added later, too', async () => {
    const store = createMemoryStore()
    const first = await openSession({ store, id: 'one', slices: [sum] })
    first.dispatch(sum.events.added([1]))
    await first.compact()
    const second = await openSession({ store, id: 'one', slices: [sum, echo] })
    expect(second.get(echo)).toBe(0)
    second.dispatch(sum.events.added([2]))
    await second.saved()
    await expect(openSession({ store, id: 'one', slices: [sum] })).rejects.toThrow("has a slice 'echo'")
    const third = await openSession({ store, id: 'one', slices: [sum, echo] })
    expect([third.get(echo), third.get(sum).total]).toEqual([1, 3])
  })

  it('R25 keeps a snapshot that was made before the first event', async () => {
    const store = createMemoryStore()
    const first = await openSession({ store, id: 'one', slices: [visibility.seed({ a: 'full' })] })
    await first.compact()
    first.dispatch(visibility.events.set({ path: 'b', visibility: 'full' }))
    await first.saved()
    expect((await openSession({ store, id: 'one' })).get(visibility)).toEqual({ a: 'full', b: 'full' })
  })

  it('R25 stores nothing for a session without events', async () => {
    const store = createMemoryStore()
    const session = await open(store)
    await session.saved()
    expect(await store.load('one')).toBeUndefined()
  })

  it('R25 records the slices again if the store failed the first time', async () => {
    const store = createMemoryStore()
    const save = vi.fn<SessionStore['save']>(store.save)
    save.mockRejectedValueOnce(new Error('disk full'))
    const session = await open({ ...store, save })
    session.dispatch(sum.events.added([1]))
    await expect(session.saved()).rejects.toThrow('disk full')
    await session.saved()
    expect(save).toHaveBeenCalledTimes(2)
    await expect(openSession({ store, id: 'one' })).rejects.toThrow("has a slice 'sum'")
  })
})

describe('a kept session', () => {
  const operation = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('add' as const), n: fc.integer({ min: 1, max: 20 }) }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constantFrom('commit', 'abandon'), n: fc.integer({ min: 1, max: 20 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom('snapshot', 'restore', 'compact', 'reopen', 'saved'),
        n: fc.constant(0),
      }),
    },
  )
  it('R25 is the same whenever it is opened again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
        const store = createMemoryStore()
        let session = await open(store)
        let snapshot = session.snapshot()
        const reopenings: [Snapshot, Snapshot][] = []
        const tolerant = (job: () => void): void => {
          try {
            job()
          } catch (error) {
            if (!(error instanceof DispatchError)) throw error
          }
        }
        for (const { kind, n } of operations) {
          if (kind === 'add') tolerant(() => session.dispatch(sum.events.added([n])))
          if (kind === 'commit' || kind === 'abandon') {
            const transaction = session.begin()
            tolerant(() => transaction.session.dispatch(sum.events.added([n])))
            tolerant(() => transaction[kind]())
          }
          if (kind === 'snapshot') snapshot = session.snapshot()
          if (kind === 'restore') session.restore(snapshot)
          if (kind === 'compact') await session.compact()
          if (kind === 'saved') await session.saved()
          if (kind === 'reopen') {
            await session.saved()
            const before = session.snapshot()
            session = await open(store)
            reopenings.push([before, session.snapshot()])
          }
        }
        await session.saved()
        reopenings.push([session.snapshot(), (await open(store)).snapshot()])
        for (const [before, after] of reopenings) expect(after).toEqual(before)
      }),
    )
  })
})

it.each(['postgres://localhost/chats', {}, undefined, null])(
  'refuses %j as a store, and names the one for PostgreSQL',
  async (store) => {
    const opened = openSession({ store: store as SessionStore, id: 'chat-1' })
    await expect(opened).rejects.toMatchObject({
      code: 'session-invalid',
      message: expect.stringContaining('npm install foldout-fleet'),
    })
  },
)
