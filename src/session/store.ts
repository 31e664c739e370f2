import type { Event } from './event.ts'
import { createJournaledSession, type Scope, type Session, type SessionOptions } from './session.ts'
import type { Snapshot } from './snapshot.ts'

/** One entry of a session's journal. */
export interface StoredEvent {
  /** Counts up by one from the session's first event. */
  readonly sequence: number
  readonly event: Event
  readonly scope: Scope
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
 * session is refused: its sequence numbers are taken.
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

export interface StoredSessionOptions extends Omit<SessionOptions, 'snapshot'> {
  readonly store: SessionStore
  readonly id: string
}

/** A session whose events are written to a store as they happen. */
export interface KeptSession extends Session {
  readonly id: string
  /** Resolves when everything dispatched so far is in the store; rejects if it could not be written. */
  saved(): Promise<void>
  /** Replaces the journal so far by a snapshot, so that the next opening is quick. */
  compact(): Promise<void>
}

/** Opens a session in a store: a new one, or where it was left. */
export async function openSession(options: StoredSessionOptions): Promise<KeptSession> {
  const { store, id, slices = [] } = options
  const known = await store.load(id)
  let sequence = known?.events.at(-1)?.sequence ?? known?.sequence ?? 0
  let unwritten: StoredEvent[] = []
  let writing: Promise<void> = Promise.resolve()

  function write(job: () => Promise<void>): void {
    // After a failure nothing more is written: a journal with a hole in it would restore a state that never was.
    writing = writing.then(job)
    // `saved` reports it; without this the process would end on an unhandled rejection first.
    writing.catch(() => undefined)
  }
  function flush(): Promise<void> {
    const batch = unwritten
    unwritten = []
    return batch.length === 0 ? Promise.resolve() : store.append(id, batch)
  }

  const { session, replay } = createJournaledSession(
    { slices, ...(known?.snapshot ? { snapshot: known.snapshot } : {}) },
    {
      recorded(event, scope) {
        sequence += 1
        unwritten.push({ sequence, event, scope })
        // Events of one tick are written together.
        if (unwritten.length === 1) write(flush)
      },
      restored(snapshot) {
        save(snapshot)
      },
    },
  )
  function save(snapshot: Snapshot): void {
    const upTo = sequence
    write(async () => {
      await flush()
      await store.save(id, snapshot, upTo)
    })
  }
  for (const { event, scope } of known?.events ?? []) replay(event, scope)
  return {
    ...session,
    id,
    saved: () => writing,
    compact() {
      save(session.snapshot())
      return writing
    },
  }
}
