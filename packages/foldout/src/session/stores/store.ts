import type { Event } from '../event.ts'
import { type Scope } from '../session.ts'
import { type Snapshot } from '../snapshot.ts'

/**
 * One entry of a session's journal.
 *
 * @example
 * ```ts
 * const stored: StoredEvent = { sequence: 1, event: cart.events.added('tea'), scope: 'all' }
 * await createMemoryStore().append('chat-1', [stored])
 * ```
 */
export interface StoredEvent {
  /** The position in the journal. The first event is 1. */
  readonly sequence: number
  readonly event: Event
  /** Which slices apply the event: all, or only logs. `'restore'` marks a restore; the payload is then its snapshot. */
  readonly scope: Scope | 'restore'
}

/**
 * A session as a store keeps it: the last snapshot, if any, and every event after it.
 *
 * @example
 * ```ts
 * const store = createMemoryStore()
 * await store.append('chat-1', [{ sequence: 1, event: cart.events.added('tea'), scope: 'all' }])
 * const stored: StoredSession | undefined = await store.load('chat-1')
 * stored?.events.length // => 1
 * ```
 */
export interface StoredSession {
  readonly snapshot?: Snapshot
  /** The number of the last event that the snapshot includes; 0 if there is no snapshot. */
  readonly sequence: number
  readonly events: readonly StoredEvent[]
}

/**
 * Which part of the ids of a store to list.
 *
 * @example
 * ```ts
 * const store = createMemoryStore()
 * const first = await store.list({ limit: 100 })
 * const page: SessionPage = { after: first.at(-1), limit: 100 }
 * await store.list(page) // => []
 * ```
 */
export interface SessionPage {
  /** List only ids after this one. Default: start at the first. */
  readonly after?: string | undefined
  /** The maximum number of ids. Default: all. */
  readonly limit?: number | undefined
}

/**
 * Where a session ends.
 *
 * @example
 * ```ts
 * const store = createMemoryStore()
 * await store.append('chat-1', [{ sequence: 1, event: cart.events.added('tea'), scope: 'all' }])
 * const ends: readonly SessionEnd[] | undefined = await store.listEnds?.()
 * ends // => [ { id: 'chat-1', last: 1 } ]
 * ```
 */
export interface SessionEnd {
  readonly id: string
  /** The number of the last event. */
  readonly last: number
}

/**
 * Stores sessions. When a promise resolves, the written data outlives the process. A second writer of the same session is
 * rejected with the code `store-conflict`, because its sequence numbers are taken. An event that JSON cannot represent is
 * rejected with `event-lossy`.
 *
 * @example
 * ```ts
 * const store: SessionStore = createMemoryStore()
 * await openSession({ store, id: 'chat-1' })
 * await store.delete('chat-1')
 * await store.list() // => []
 * ```
 */
export interface SessionStore {
  /** Returns a stored session, or `undefined` if there is none. */
  load(id: string): Promise<StoredSession | undefined>
  /** Appends events: all of them, or none if one is rejected. */
  append(id: string, events: readonly StoredEvent[]): Promise<void>
  /** Replaces a session's events, up to and including a sequence number, with a snapshot. */
  save(id: string, snapshot: Snapshot, sequence: number): Promise<void>
  /** Returns the ids of all sessions, or a page of them, sorted by code points. */
  list(page?: SessionPage): Promise<readonly string[]>
  /** Lists sessions like `list`, each with the number of its last event, without reading events. Without it, sessions are loaded. */
  listEnds?(page?: SessionPage): Promise<readonly SessionEnd[]>
  /** Deletes a session and its lease. */
  delete(id: string): Promise<void>
  /**
   * Replaces the lease of a session if it is still `from` (see `isSameLease`), in one step that no other process can
   * interrupt. Returns the lease that the session has then. `undefined` stands for no lease. A session can have a lease
   * before its first event.
   */
  swapLease(id: string, from: SessionLease | undefined, to: SessionLease | undefined): Promise<SessionLease | undefined>
  close(): Promise<void>
}

/**
 * The lease of a live run on a session. The holder raises `beat` as long as it lives.
 *
 * @example
 * ```ts
 * const lease: SessionLease = { owner: 'machine-1', beat: 1, ms: 10_000 }
 * await createMemoryStore().swapLease('chat-1', undefined, lease) // => { owner: 'machine-1', beat: 1, ms: 10000 }
 * ```
 */
export interface SessionLease {
  /** Identifies the run that holds the lease. */
  readonly owner: string
  readonly beat: number
  /** How long the beat may stay the same, in milliseconds, before others may take the lease. */
  readonly ms: number
}
