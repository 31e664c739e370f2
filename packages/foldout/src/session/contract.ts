import { FoldoutError, getErrorMessage } from '../core/errors.ts'
import type { Event } from './event.ts'
import type { AnySlice, Slice } from './slice.ts'
import type { Snapshot } from './snapshot.ts'

/** The reading side of a session, which selectors and custom renderers get. */
export interface SessionReader {
  /** Whether the session has a slice. */
  has(slice: AnySlice): boolean
  /** The current state of a slice. */
  get<State>(slice: Slice<string, State, unknown>): State
}

/** Called after each event. What it returns is not waited for. */
export type Listener = (event: Event) => void

/** Typed state that changes only by events: what a run, its tools and its selectors share. */
export interface Session extends SessionReader {
  /**
   * Gives an event to every slice that answers it, then to the listeners. A reducer or listener that throws stops none of
   * the others; when all have run, a {@link DispatchError} says what failed. An event of a slice that the session does not
   * have, and one whose payload its slice refuses, changes nothing and throws.
   */
  dispatch(event: Event): void
  /**
   * Calls the listener after each event, in order, until the returned function is called. What a listener dispatches is
   * given out when all listeners have had the event before it.
   */
  subscribe(listener: Listener): () => void
  /** The state of every slice as plain JSON. */
  snapshot(): Snapshot
  /** Takes state slices back to a snapshot. Logs never lose entries: one changes only if the snapshot's continues it. */
  restore(snapshot: Snapshot): void
  /**
   * Begins changes that can be abandoned as a whole. They show in the transaction's own session at once and here when it
   * commits; several transactions may be open side by side.
   */
  begin(): SessionTransaction
}

/** Changes that show in the outer session when they are committed, or never. */
export interface SessionTransaction {
  /** The session inside the transaction. */
  readonly session: Session
  /** Dispatches to the outer session what was dispatched in here; a {@link DispatchError} says what failed there. */
  commit(): void
  /** Forgets what was dispatched in here, except for what logs keep. */
  abandon(): void
}

/** One reducer or listener that failed on an event. */
export interface DispatchFailure {
  readonly event: Event
  /** The slice whose reducer failed, or `undefined` for a listener. */
  readonly slice: string | undefined
  readonly error: unknown
}

/** Some reducers or listeners failed; the others have run. */
export class DispatchError extends FoldoutError {
  /** The first event that something failed on. */
  readonly event: Event
  /** At least one; also those on events that listeners dispatched in answer. */
  readonly failures: readonly DispatchFailure[]

  constructor(failures: readonly [DispatchFailure, ...DispatchFailure[]]) {
    const said = failures.map(
      ({ event, slice, error }) =>
        `${slice === undefined ? 'a listener' : `slice '${slice}'`} failed on the event '${event.type}': ${getErrorMessage(error)}`,
    )
    super('dispatch-failed', `While dispatching, ${said.join('; ')}. All other slices and listeners have run.`, {
      cause: failures[0].error,
    })
    this.event = failures[0].event
    this.failures = failures
  }
}

/** Whether all slices or only logs take an event: an abandoned transaction's events stay in logs. */
export type Scope = 'all' | 'logs'

/** Told of everything that must be kept to build the session again; what stores write down. */
export interface Journal {
  /** Throws if it could not keep this event; then nothing happens. */
  check(event: Event): void
  recorded(event: Event, scope: Scope): void
  /** The snapshot has only the slices that changed. Told before they do: by throwing it prevents the restore. */
  restored(snapshot: Snapshot): void
}
