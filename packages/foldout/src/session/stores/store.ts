import { FoldoutError } from '../../core/errors.ts'
import { isPlainObject } from '../../core/json/json.ts'
import type { Event } from '../event.ts'
import { createJournaledSession, toSliceTable, type Scope, type Session, type SessionOptions } from '../session.ts'
import type { AnySlice } from '../slice.ts'
import { SNAPSHOT_VERSION, type Snapshot } from '../snapshot.ts'
import { checkEvent, checkSessionId } from './store-checks.ts'

/** One entry of a session's journal. */
export interface StoredEvent {
  /** Counts up by one from the session's first event. */
  readonly sequence: number
  readonly event: Event
  /** Who takes it: all slices or only logs. `'restore'` is not an event but a restore; the payload is its snapshot. */
  readonly scope: Scope | 'restore'
}

/** What a store knows of a session: the last snapshot, if any, and every event after it. */
export interface StoredSession {
  readonly snapshot?: Snapshot
  /** The number of the last event that the snapshot includes; 0 without one. */
  readonly sequence: number
  readonly events: readonly StoredEvent[]
}

/**
 * Where sessions are kept. When a promise resolves, what was written outlives the process. A second writer of the same
 * session is refused with the code `store-conflict`: its sequence numbers are taken. An event that JSON cannot
 * carry is refused with `event-lossy`.
 */
export interface SessionStore {
  /** What is known of a session, or `undefined`. */
  load(id: string): Promise<StoredSession | undefined>
  /** Adds events, all or none. */
  append(id: string, events: readonly StoredEvent[]): Promise<void>
  /** Replaces a session's events up to a number by a snapshot. */
  save(id: string, snapshot: Snapshot, sequence: number): Promise<void>
  /** The ids of all sessions, in order. */
  list(): Promise<readonly string[]>
  delete(id: string): Promise<void>
  close(): Promise<void>
}

/** What {@link openSession} takes. */
export interface StoredSessionOptions extends Omit<SessionOptions, 'snapshot'> {
  readonly store: SessionStore
  readonly id: string
}

/** A session whose events are written to a store as they happen. */
export interface KeptSession extends Session {
  readonly id: string
  /** The store that it is kept in. */
  readonly store: SessionStore
  /**
   * Resolves when everything dispatched so far is in the store. Rejects if it could not be written; what is missing is
   * kept and tried again with the next event or call.
   */
  saved(): Promise<void>
  /** Replaces the journal so far by a snapshot, so that the next opening is quick. */
  compact(): Promise<void>
}

/**
 * Opens a session in a store: a new one, or where it was left. Give every slice that the session was opened with before:
 * without one of them its events would be lost at the next `compact()`, so that is refused.
 *
 * @example
 * ```ts
 * const store = await createLibsqlStore({ path: 'sessions.db' })
 * const session = await openSession({ store, id: 'chat-1', slices: [agentRun, cart] })
 * session.dispatch(cart.events.added('tea'))
 * await session.saved()
 * ```
 */
export async function openSession(options: StoredSessionOptions): Promise<KeptSession> {
  const { store, id, slices = [] } = options
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
    // `saved` reports it; without this the process would end on an unhandled rejection first.
    lastJob.catch(() => undefined)
    return lastJob
  }
  // Events leave `unwritten` when they are written, never before: a journal with a hole would restore a state that never was.
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
    // Events of one tick are written together.
    if (!isFlushComing) void enqueue(flush)
    isFlushComing = true
  }

  const { session, replay, replayRestore } = createJournaledSession(
    { slices, ...(listing.snapshot ? { snapshot: listing.snapshot } : {}) },
    {
      check: checkEvent,
      // A copy, because its dispatcher may change the payload before it is written.
      recorded: ({ type, payload }, scope) => keep({ type, payload: structuredClone(payload) }, scope),
      restored: (snapshot) => keep({ type: 'session/restored', payload: snapshot }, 'restore'),
    },
  )
  for (const { event, scope } of known?.events ?? []) {
    if (scope === 'restore') replayRestore(event.payload as Snapshot)
    else replay(event, scope)
  }
  return {
    ...session,
    id,
    store,
    saved: () => enqueue(flush),
    async compact() {
      const snapshot = session.snapshot()
      const upTo = sequence
      await enqueue(async () => {
        await flush()
        await store.save(id, snapshot, upTo)
        // It names all slices, and is newer than the listing.
        listing.isWritten = true
      })
    },
  }
}

interface SliceListing {
  /** The part of the stored snapshot that has states. */
  readonly snapshot: Snapshot | undefined
  isWritten: boolean
  /** Notes in the store which slices the session has, once. */
  write(store: SessionStore): Promise<void>
}

/**
 * A journal does not say which slices took its events, so the stored snapshot names them all: those still at their
 * beginning without a state. Throws if the store knows a slice that is not given.
 */
function listSlices(id: string, known: StoredSession | undefined, given: readonly AnySlice[]): SliceListing {
  const slices = toSliceTable(given)
  const listed = known?.snapshot?.slices ?? {}
  for (const name of Object.keys(listed)) {
    if (slices.has(name)) continue
    throw new FoldoutError(
      'snapshot-unknown-slice',
      `The stored session '${id}' has a slice '${name}', which is not given. Pass it in openSession({ slices }), or what it holds would be lost.`,
    )
  }
  const added = [...slices.values()].filter(({ name }) => !Object.hasOwn(listed, name))
  const withStates = Object.entries(listed).filter(([, entry]) => !isPlainObject(entry) || 'state' in entry)
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
