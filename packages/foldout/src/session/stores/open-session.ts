import { ignore } from '../../core/promises.ts'
import { FoldoutError } from '../../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import type { Event } from '../event.ts'
import { createJournaledSession, toSliceTable, type Session, type SessionOptions } from '../session.ts'
import type { AnySlice } from '../slice.ts'
import { SNAPSHOT_VERSION, type Snapshot } from '../snapshot.ts'
import { checkEvent, checkSessionId, checkStore, createConflict } from './store-checks.ts'
import type { SessionStore, StoredEvent, StoredSession } from './store.ts'

/**
 * Options of {@link openSession}.
 *
 * @example
 * ```ts
 * const options: StoredSessionOptions = { store, id: 'chat-3', slices: [cart] }
 * const session = await openSession(options)
 * ```
 */
export interface StoredSessionOptions extends Omit<SessionOptions, 'snapshot'> {
  readonly store: SessionStore
  readonly id: string
}

/**
 * A session whose events are written to a store as they happen.
 *
 * @example
 * ```ts
 * const session: KeptSession = await openSession({ store, id: 'chat-2', slices: [cart] })
 * session.dispatch(cart.events.added('tea'))
 * await session.saved()
 * await session.compact()
 * ```
 */
export interface KeptSession extends Session {
  readonly id: string
  /** The store that holds the session. */
  readonly store: SessionStore
  /**
   * Resolves when all events dispatched so far are in the store. Rejects if they could not be written; unwritten events
   * are kept and retried with the next event or call.
   */
  saved(): Promise<void>
  /**
   * Applies what other processes have written since the session was opened. Rejects with `store-conflict` if this process
   * has written at the same time, or if the journal was compacted meanwhile; open the session again.
   */
  sync(): Promise<void>
  /** Replaces the journal with a snapshot, so the session opens quickly next time. */
  compact(): Promise<void>
}

/**
 * Opens a session in a store: a new one, or a stored one to resume. Pass every slice that the stored session has. If one is
 * missing, the call is rejected, because the next `compact()` would lose that slice's state.
 *
 * @example
 * ```ts
 * const store = await createLibsqlStore({ path: 'sessions.db' })
 * const session = await openSession({ store, id: 'chat-1', slices: [cart] })
 * session.dispatch(cart.events.added('tea'))
 * await session.saved()
 * ```
 */
export async function openSession(options: StoredSessionOptions): Promise<KeptSession> {
  const { store, id, slices = [] } = options
  checkStore(store)
  checkSessionId(id)
  const known = await store.load(id)
  const listing = listSlices(id, known, slices)
  let sequence = known?.events.at(-1)?.sequence ?? known?.sequence ?? 0
  const unwritten: StoredEvent[] = []
  let isFlushComing = false
  let isBegun = false
  let lastJob: Promise<void> = Promise.resolve()

  function enqueue(job: () => Promise<void>): Promise<void> {
    lastJob = lastJob.then(job, job)
    // `saved` reports the failure. Without this handler, the unhandled rejection would crash the process first.
    void ignore(lastJob, '`saved` reports it')
    return lastJob
  }
  // Events leave `unwritten` only once they are written: a journal with a gap would restore a state that never existed.
  async function flush(): Promise<void> {
    isFlushComing = false
    const batch = [...unwritten]
    if (batch.length > 0) {
      await store.append(id, batch)
      unwritten.splice(0, batch.length)
      isBegun = true
    }
    if (isBegun) await listing.write(store)
  }
  function keep(event: Event, scope: StoredEvent['scope']): void {
    sequence += 1
    unwritten.push({ sequence, event, scope })
    if (isFlushComing) return
    isFlushComing = true
    // Events of one tick are written together; `saved` does not wait for its end.
    afterTick(() => {
      if (isFlushComing) void enqueue(flush)
    })
  }

  const { session, replay, replayRestore } = createJournaledSession(
    { slices, ...(listing.snapshot && { snapshot: listing.snapshot }) },
    {
      check: checkEvent,
      // A copy, because the dispatching code may change the payload before it is written.
      recorded: ({ type, payload }, scope) => keep({ type, payload: structuredClone(payload) }, scope),
      restored: (snapshot) => keep({ type: 'session/restored', payload: snapshot }, 'restore'),
    },
  )
  const apply = ({ event, scope }: StoredEvent): void => {
    if (scope === 'restore') replayRestore(event.payload as Snapshot)
    else replay(event, scope)
  }
  for (const one of known?.events ?? []) apply(one)
  return {
    ...session,
    id,
    store,
    saved: () => enqueue(flush),
    sync: () =>
      enqueue(async () => {
        await flush()
        const missed = findMissed(id, await store.load(id), sequence)
        if (missed.length > 0 && unwritten.length > 0) throw createConflict(id, `has changed`)
        for (const one of missed) apply(one)
        sequence += missed.length
      }),
    async compact() {
      const snapshot = session.snapshot()
      const upTo = sequence
      await enqueue(async () => {
        await flush()
        await store.save(id, snapshot, upTo)
        // The snapshot names all slices and is newer than the recorded list of slices.
        listing.isWritten = true
      })
    },
  }
}

/** Finds the stored events that a session with events up to a number lacks. */
function findMissed(id: string, stored: StoredSession | undefined, sequence: number): readonly StoredEvent[] {
  if (!stored && sequence === 0) return []
  if (stored && stored.sequence <= sequence) return stored.events.filter((event) => event.sequence > sequence)
  throw createConflict(id, stored ? 'was compacted' : 'is gone')
}

/** A tick ends when every promise that can settle has settled. */
const afterTick: (job: () => void) => unknown = globalThis.setImmediate ?? ((job) => setTimeout(job, 0))

interface SliceListing {
  /** The slices of the stored snapshot that have a state. */
  readonly snapshot: Snapshot | undefined
  isWritten: boolean
  /** Records in the store, once, which slices the session has. */
  write(store: SessionStore): Promise<void>
}

/**
 * A journal does not say which slices applied its events, so the stored snapshot names all slices; those that still have
 * their initial state are listed without one. Throws if the store has a slice that was not passed.
 */
function listSlices(id: string, known: StoredSession | undefined, given: readonly AnySlice[]): SliceListing {
  const slices = toSliceTable(given)
  const listed = known?.snapshot?.slices ?? {}
  for (const name of Object.keys(listed)) {
    if (slices.has(name)) continue
    throw new FoldoutError(
      'snapshot-unknown-slice',
      `The stored session '${id}' has a slice '${name}', which was not passed. Pass it in openSession({ slices }); otherwise its state would be lost.`,
    )
  }
  const added = [...slices.values()].filter(({ name }) => !Object.hasOwn(listed, name))
  const withStates = Object.entries(listed).filter(([, entry]) => !isObject(entry) || 'state' in entry)
  const listing: SliceListing = {
    isWritten: added.length === 0,
    snapshot: known?.snapshot && { ...known.snapshot, slices: Object.fromEntries(withStates) },
    async write(store) {
      if (listing.isWritten) return
      const entries = added.map((slice) => [slice.name, { version: slice.version }] as const)
      const version = known?.snapshot?.version ?? SNAPSHOT_VERSION
      const snapshot = { version, slices: { ...listed, ...Object.fromEntries(entries) } }
      await store.save(id, snapshot, known?.sequence ?? 0)
      listing.isWritten = true
    },
  }
  return listing
}
