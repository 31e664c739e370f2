import { FoldoutError } from '../core/errors.ts'
import { findAnswers } from './answers.ts'
import type { Journal, Session } from './contract.ts'
import { createSessionOver, type OwnedSession } from './live-session.ts'
import type { AnySlice } from './slice.ts'
import { readSnapshot, type Snapshot } from './snapshot.ts'
import { visibility } from './visibility.ts'

export {
  DispatchError,
  type DispatchFailure,
  type Listener,
  type Scope,
  type Session,
  type SessionReader,
  type SessionTransaction,
} from './contract.ts'

/**
 * Options of {@link createSession}.
 *
 * @example
 * ```ts
 * const options: SessionOptions = { slices: [cart] }
 * const session = createSession(options)
 * ```
 */
export interface SessionOptions {
  /**
   * The session's slices. Every session also has `visibility` and `agentRun`; pass a seeded one here to start with sections
   * open or with a conversation.
   */
  readonly slices?: readonly AnySlice[]
  /** The snapshot to resume from. */
  readonly snapshot?: Snapshot
}

/**
 * Creates a session: typed state that changes only through events.
 *
 * @example
 * ```ts
 * const session = createSession({ slices: [cart] })
 * session.dispatch(cart.events.added('tea'))
 * const later = createSession({ slices: [cart], snapshot: session.snapshot() })
 * ```
 */
export function createSession(options: SessionOptions = {}): Session {
  return createJournaledSession(options).session
}

export function createJournaledSession(options: SessionOptions, journal?: Journal): OwnedSession {
  const slices = toSliceTable(options.slices ?? [])
  const states = new Map<string, unknown>()
  for (const slice of slices.values()) states.set(slice.name, slice.initial)
  if (options.snapshot !== undefined) {
    for (const [name, state] of readSnapshot(options.snapshot, slices)) states.set(name, state)
  }
  return createSessionOver({ slices, answers: findAnswers(slices), reducing: false }, states, journal)
}

const builtIn = new Map<string, AnySlice>([[visibility.name, visibility]])

/**
 * Adds a slice to every session from now on, like `visibility`. Use it for slices of rooms that this one cannot import.
 */
export function includeInSessions<S extends AnySlice>(slice: S): S {
  builtIn.set(slice.name, slice)
  return slice
}

/** Maps the slices of a session by name, including those that every session has. */
export function toSliceTable(given: readonly AnySlice[]): ReadonlyMap<string, AnySlice> {
  const slices = new Map(builtIn)
  const seen = new Set<string>()
  for (const slice of given) {
    const known = builtIn.get(slice.name)
    if (seen.has(slice.name) || (known && slice.events !== known.events)) {
      throw new FoldoutError(
        'session-invalid',
        `Two slices are named '${slice.name}'. Slice names must be unique in a session; rename one of them.`,
      )
    }
    seen.add(slice.name)
    slices.set(slice.name, slice)
  }
  return slices
}
