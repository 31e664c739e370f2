import { FoldoutError, getErrorMessage } from '../core/errors.ts'
import type { Event } from './event.ts'
import type { AnySlice, Slice } from './slice.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * The read-only view of a session that selectors and custom renderers receive.
 *
 * @example
 * ```ts
 * const countItems = (session: SessionReader): number => (session.has(cart) ? session.get(cart).items.length : 0)
 * countItems(createSession()) // => 0
 * ```
 */
export interface SessionReader {
  /** Whether the session has this slice. */
  has(slice: AnySlice): boolean
  /** Returns the current state of a slice. */
  get<State>(slice: Slice<string, State, unknown>): State
}

/**
 * A function that is called after each event. A promise that it returns is not awaited.
 *
 * @example
 * ```ts
 * const types: string[] = []
 * const listener: Listener = (event) => types.push(event.type)
 * const session = createSession({ slices: [cart] })
 * session.subscribe(listener)
 * session.dispatch(cart.events.added('tea'))
 * types // => [ 'cart/added' ]
 * ```
 */
export type Listener = (event: Event) => void

/**
 * Typed state that changes only through events. A run, its tools and its selectors share it.
 *
 * @example
 * ```ts
 * const session: Session = createSession({ slices: [cart] })
 * session.dispatch(cart.events.added('tea'))
 * session.get(cart).items // => [ 'tea' ]
 * await runAgent(bound, { adapter, session })
 * ```
 */
export interface Session extends SessionReader {
  /**
   * Passes an event to every slice that handles it, then to the listeners. A reducer or listener that throws does not stop
   * the others; once all have run, a {@link DispatchError} reports the failures. An event throws and changes nothing if the
   * session does not have its slice, or if the slice rejects its payload.
   */
  dispatch(event: Event): void
  /**
   * Calls the listener after each event, in order, until the returned function is called. An event that a listener
   * dispatches is delivered after all listeners have received the current one.
   */
  subscribe(listener: Listener): () => void
  /** Returns the state of every slice as plain JSON. */
  snapshot(): Snapshot
  /** Restores state slices from a snapshot. Logs never lose entries: a log changes only if the snapshot's log continues it. */
  restore(snapshot: Snapshot): void
  /**
   * Begins a transaction: changes that can be abandoned as a whole. They are visible in the transaction's own session at
   * once, and in this session after a commit. Several transactions can be open at the same time.
   */
  begin(): SessionTransaction
}

/**
 * Changes that reach the outer session only when they are committed.
 *
 * @example
 * ```ts
 * const session = createSession({ slices: [cart] })
 * const transaction: SessionTransaction = session.begin()
 * transaction.session.dispatch(cart.events.added('tea'))
 * session.get(cart).items // => []
 * transaction.commit()
 * session.get(cart).items // => [ 'tea' ]
 * ```
 */
export interface SessionTransaction {
  /** The session inside the transaction. */
  readonly session: Session
  /** Dispatches the transaction's events to the outer session. A {@link DispatchError} reports what failed there. */
  commit(): void
  /** Discards the transaction's events, except those that logs keep. */
  abandon(): void
}

/**
 * A reducer or listener that failed on an event.
 *
 * @example
 * ```ts
 * const format = ({ event, slice, error }: DispatchFailure): string => `${slice ?? 'a listener'} on ${event.type}: ${error}`
 * format({ event: cart.events.added('tea'), slice: 'cart', error: 'too many' }) // => 'cart on cart/added: too many'
 * ```
 */
export interface DispatchFailure {
  readonly event: Event
  /** The slice whose reducer failed, or `undefined` for a listener. */
  readonly slice: string | undefined
  readonly error: unknown
}

/**
 * Thrown by a dispatch after which some reducers or listeners have failed; all others have run.
 *
 * @example
 * ```ts
 * try {
 *   session.dispatch(cart.events.added('tea'))
 * } catch (error) {
 *   if (!(error instanceof DispatchError)) throw error
 *   for (const { slice, error: reason } of error.failures) console.error(slice ?? 'listener', reason)
 * }
 * ```
 */
export class DispatchError extends FoldoutError {
  /** The first event with a failure. */
  readonly event: Event
  /** All failures, including those on events that listeners dispatched in response. */
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

/**
 * Which slices apply an event: all, or only logs, which keep the events of an abandoned transaction.
 *
 * @example
 * ```ts
 * const isUndone = (scope: Scope): boolean => scope === 'logs'
 * isUndone('all') // => false
 * ```
 */
export type Scope = 'all' | 'logs'

/** Receives everything that a store needs to rebuild the session. */
export interface Journal {
  /** Throws if this event cannot be stored; the dispatch then changes nothing. */
  check(event: Event): void
  recorded(event: Event, scope: Scope): void
  /** Called before a restore, with only the slices that will change. Throwing prevents the restore. */
  restored(snapshot: Snapshot): void
}
