import { FoldoutError } from '../../core/errors.ts'
import type { Event } from '../event.ts'
import { createJournaledSession, type Session } from '../session.ts'
import type { AnySlice } from '../slice.ts'
import type { Snapshot } from '../snapshot.ts'
import { checkEvent, checkSessionId } from './store-checks.ts'
import type { SessionStore, StoredEvent, StoredSession } from './store.ts'

export interface SharedSessionOptions {
  readonly store: SessionStore
  readonly id: string
  readonly slices?: readonly AnySlice[]
}

/**
 * A session that several processes use at the same time. Each process writes its events to the store and applies the
 * events that the others have written. If two processes write at once, the second one applies the events of the first,
 * then its own, and writes again. The journal therefore has one order, which every process ends up with.
 */
export interface SharedSession {
  readonly session: Session
  /** How many events of the journal are applied here. It grows whenever a process writes. */
  readonly sequence: number
  /** Whether the store had the session when it was last asked. */
  readonly isGone: boolean
  /** Applies the events that other processes have written. Returns whether there were any. */
  sync(): Promise<boolean>
  /** Writes all events dispatched so far. Rejects with `store-conflict` if the session was deleted. */
  save(): Promise<void>
}

/** How often a write is retried while others write too. Each failure means that another process has made progress. */
const MOST_ATTEMPTS = 50
/** A journal with more events, or more bytes, than this is replaced by a snapshot. */
const MOST_EVENTS = 64
const MOST_BYTES = 1_048_576

/** Begins a session. It is in the store once its first events are saved. */
export function beginSharedSession(options: SharedSessionOptions): SharedSession {
  checkSessionId(options.id)
  return new JournaledCopy(options)
}

/** Opens a session that some process has begun, or returns `undefined` if there is none. */
export async function openSharedSession(options: SharedSessionOptions): Promise<SharedSession | undefined> {
  checkSessionId(options.id)
  const stored = await options.store.load(options.id)
  if (!stored) return undefined
  const copy = new JournaledCopy(options)
  copy.take(stored)
  return copy
}

class JournaledCopy implements SharedSession {
  readonly session: Session
  readonly #store: SessionStore
  readonly #id: string
  readonly #owned: ReturnType<typeof createJournaledSession>
  readonly #initial: Snapshot
  #unwritten: Omit<StoredEvent, 'sequence'>[] = []
  #sequence = 0
  #isGone = false
  /** The number of the last event that the stored snapshot includes, and how much has been written since. */
  #snapshotAt = 0
  #bytes = 0
  #last: Promise<unknown> = Promise.resolve()
  #nextSync: Promise<boolean> | undefined

  constructor({ store, id, slices = [] }: SharedSessionOptions) {
    this.#store = store
    this.#id = id
    this.#owned = createJournaledSession(
      { slices },
      {
        check: checkEvent,
        // A copy, because the dispatching code may change the payload before it is written.
        recorded: ({ type, payload }, scope) =>
          void this.#unwritten.push({ event: { type, payload: structuredClone(payload) }, scope }),
        restored: (snapshot) =>
          void this.#unwritten.push({ event: { type: 'session/restored', payload: snapshot }, scope: 'restore' }),
      },
    )
    this.session = this.#owned.session
    this.#initial = this.session.snapshot()
  }

  get sequence(): number {
    return this.#sequence
  }

  get isGone(): boolean {
    return this.#isGone
  }

  sync(): Promise<boolean> {
    // Callers that ask before the read begins share it.
    this.#nextSync ??= this.#enqueue(() => {
      this.#nextSync = undefined
      return this.#takeOthers()
    })
    return this.#nextSync
  }

  save(): Promise<void> {
    if (this.#unwritten.length === 0) return this.#last.then(() => undefined, ignore)
    return this.#enqueue(() => this.#write())
  }

  /** Applies stored events that are not applied here yet. Returns whether there were any. */
  take(stored: StoredSession): boolean {
    const last = stored.events.at(-1)?.sequence ?? stored.sequence
    if (last === this.#sequence) return false
    const isContinued = stored.sequence <= this.#sequence && this.#unwritten.length === 0
    // This process's unwritten events come after those of the others.
    if (!isContinued) this.#owned.replayRestore(fillSnapshot(this.#initial, stored.snapshot))
    const known = isContinued ? this.#sequence : stored.sequence
    for (const { sequence, event, scope } of stored.events) if (sequence > known) this.#replay(event, scope)
    for (const { event, scope } of this.#unwritten) this.#replay(event, scope)
    this.#sequence = last
    this.#snapshotAt = stored.sequence
    this.#bytes = countBytes(stored.events)
    return true
  }

  #replay(event: Event, scope: StoredEvent['scope']): void {
    if (scope === 'restore') this.#owned.replayRestore(event.payload as Snapshot)
    else this.#owned.replay(event, scope)
  }

  #enqueue<Value>(job: () => Promise<Value>): Promise<Value> {
    const next = this.#last.then(job, job)
    this.#last = next.catch(ignore)
    return next
  }

  async #takeOthers(): Promise<boolean> {
    // A session that was never written cannot have been deleted.
    if (this.#sequence === 0) return false
    const stored = await this.#store.load(this.#id)
    this.#isGone = !stored
    if (stored) return this.take(stored)
    return false
  }

  async #write(): Promise<void> {
    for (let attempt = 1; this.#unwritten.length > 0; attempt++) {
      const batch = this.#unwritten.map((one, i): StoredEvent => ({ ...one, sequence: this.#sequence + 1 + i }))
      try {
        await this.#store.append(this.#id, batch)
        this.#unwritten = this.#unwritten.slice(batch.length)
        this.#sequence += batch.length
        this.#bytes += countBytes(batch)
      } catch (error) {
        const isConflict = error instanceof FoldoutError && error.code === 'store-conflict'
        if (!isConflict || attempt >= MOST_ATTEMPTS) throw error
        await this.#takeOthers()
        if (this.#isGone || this.#sequence === 0) throw error
      }
    }
    await this.#compact()
  }

  /** Keeps the journal short, because every process reads it on each request. */
  async #compact(): Promise<void> {
    const isShort = this.#sequence - this.#snapshotAt < MOST_EVENTS && this.#bytes < MOST_BYTES
    if (isShort || this.#unwritten.length > 0) return
    const sequence = this.#sequence
    // Another process may already have done this.
    await this.#store.save(this.#id, this.session.snapshot(), sequence).catch(ignore)
    this.#snapshotAt = sequence
    this.#bytes = 0
  }
}

/** Completes a snapshot: slices that the stored snapshot lacks get their initial state. */
function fillSnapshot(initial: Snapshot, stored: Snapshot | undefined): Snapshot {
  if (stored) return { ...stored, slices: { ...initial.slices, ...stored.slices } }
  return initial
}

function countBytes(events: readonly StoredEvent[]): number {
  return events.reduce((sum, { event }) => sum + JSON.stringify(event.payload ?? null).length, 0)
}

function ignore(): undefined {
  return undefined
}
