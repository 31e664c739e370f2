import { FoldoutError } from '../core/errors.ts'
import { isThenable } from '../core/promises.ts'
import { checkAnswered, computeState, isTaken, createMissingSliceError, type Answers } from './answers.ts'
import type { Event } from './event.ts'
import type { Log } from './log.ts'
import {
  DispatchError,
  type DispatchFailure,
  type Journal,
  type Listener,
  type Scope,
  type Session,
  type SessionTransaction,
  type SessionReader,
} from './contract.ts'
import type { AnySlice, Slice } from './slice.ts'
import { readSnapshot, writeSnapshot, type Snapshot } from './snapshot.ts'

/** The parts that a session and its transactions share. */
interface Definition {
  readonly slices: ReadonlyMap<string, AnySlice>
  readonly answers: Answers
  reducing: boolean
}

/** A session together with the operations reserved for its owner. */
export interface OwnedSession {
  readonly session: Session
  /** Applies an event from a journal, without notifying listeners or recording it again. */
  replay(event: Event, scope: Scope): void
  /** Applies a restore from a journal. */
  replayRestore(snapshot: Snapshot): void
}

type States = Map<string, unknown>

const identities = new WeakMap<SessionReader, object>()

/**
 * Returns an object that a session shares with its transactions. Use it as a key for data that is not part of the
 * session's state.
 */
export function getSessionIdentity(session: SessionReader): object {
  return identities.get(session) ?? session
}

// By their method, which copies of a session share, and readers of other kinds do not have.
const statesByReader = new WeakMap<SessionReader['get'], ReadonlyMap<string, unknown>>()

/** Returns the state of a slice in the form in which the session holds it. */
export function getHeld<State>(session: SessionReader, slice: Slice<string, State, unknown>): State {
  const states = statesByReader.get(session.get)
  if (states?.has(slice.name)) return states.get(slice.name) as State
  return session.get(slice)
}

export function createSessionOver(definition: Definition, states: States, journal?: Journal): OwnedSession {
  const { slices, answers } = definition
  const listeners = createListeners()

  function record(event: Event, scope: Scope): void {
    if (definition.reducing) throw inReducer(`dispatched '${event.type}'`)
    const answering = answers.get(event.type)
    if (scope === 'logs' && !answering?.some(({ slice }) => slice.kind === 'log')) return
    checkAnswered(event, answering)
    journal?.check(event)
    journal?.recorded(event, scope)
    const failed = reduceEvent(definition, states, event, scope)
    const failedToo = scope === 'all' ? listeners.notify(event) : undefined
    if (failed || failedToo) throwFailures([...(failed ?? []), ...(failedToo ?? [])])
  }

  const session: Session = {
    has: (slice: AnySlice) => slices.has(slice.name),
    get<State>(slice: Slice<string, State, unknown>): State {
      const known = slices.get(slice.name)
      if (!known) throw createMissingSliceError(slice.name)
      const held = states.get(slice.name) as State
      if (known.reveal) return known.reveal(held) as State
      return held
    },
    dispatch: (event: Event) => record(event, 'all'),
    subscribe: listeners.subscribe,
    snapshot: () => writeSnapshot(slices.values(), states),
    restore(snapshot: Snapshot) {
      if (definition.reducing) throw inReducer('restored a snapshot')
      const restored = findRestorable(definition, states, snapshot)
      const changed = [...slices.values()].filter(({ name }) => restored.has(name))
      journal?.restored(writeSnapshot(changed, restored))
      for (const [name, state] of restored) states.set(name, state)
    },
    begin: () => beginTransaction(definition, states, record, journal),
  }
  identities.set(session, definition)
  statesByReader.set(session.get, states)
  return {
    session,
    replay: (event, scope) => {
      // The journal may contain events that were recorded before their slice checked payloads.
      if (isTaken(event, answers.get(event.type) ?? [])) reduceEvent(definition, states, event, scope)
    },
    replayRestore: (snapshot) => {
      for (const [name, state] of findRestorable(definition, states, snapshot)) states.set(name, state)
    },
  }
}

function reduceEvent(
  definition: Definition,
  states: States,
  event: Event,
  scope: Scope,
): DispatchFailure[] | undefined {
  const answering = definition.answers.get(event.type)
  if (answering === undefined) return undefined
  let failures: DispatchFailure[] | undefined
  definition.reducing = true
  for (const answer of answering) {
    const { name, kind } = answer.slice
    if (scope === 'logs' && kind !== 'log') continue
    try {
      states.set(name, computeState(answer, states.get(name), event.payload))
    } catch (error) {
      failures ??= []
      failures.push({ event, slice: name, error })
    }
  }
  definition.reducing = false
  return failures
}

/** Picks the states of a snapshot to restore. A log is restored only if it continues the current log. */
function findRestorable(
  { slices }: Definition,
  states: ReadonlyMap<string, unknown>,
  snapshot: Snapshot,
): ReadonlyMap<string, unknown> {
  const isRestored = ([name, state]: [string, unknown]): boolean =>
    slices.get(name)?.kind === 'state' || isContinued(states.get(name) as Log<unknown>, state as Log<unknown>)
  return new Map([...readSnapshot(snapshot, slices)].filter(isRestored))
}

const isContinued = (log: Log<unknown>, by: Log<unknown>): boolean => by.length > log.length && by.continues(log)

interface Listeners {
  subscribe(listener: Listener): () => void
  /** Delivers events in dispatch order, even when a listener dispatches. The first dispatch reports all failures. */
  notify(event: Event): DispatchFailure[] | undefined
}

function createListeners(): Listeners {
  // Replaced, never mutated, so a listener can subscribe or unsubscribe during delivery.
  let listeners: readonly Listener[] = []
  const waiting: Event[] = []
  let notifying = false
  return {
    subscribe(listener) {
      let subscribed = true
      const own: Listener = (event) => {
        if (subscribed) return listener(event)
        return undefined
      }
      listeners = [...listeners, own]
      return () => {
        subscribed = false
        listeners = listeners.filter((other) => other !== own)
      }
    },
    notify(event) {
      if (listeners.length === 0) return undefined
      waiting.push(event)
      if (notifying) return undefined
      let failures: DispatchFailure[] | undefined
      notifying = true
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        for (const listener of listeners) {
          try {
            watch(listener(next), next)
          } catch (error) {
            failures ??= []
            failures.push({ event: next, slice: undefined, error })
          }
        }
      }
      notifying = false
      return failures
    },
  }
}

/** Async listeners are not awaited. A rejection comes too late for the dispatch to report it, so it becomes a warning. */
function watch(returned: unknown, event: Event): void {
  if (!isThenable(returned)) return
  returned.then(undefined, (error: unknown) => {
    const warning = new DispatchError([{ event, slice: undefined, error }])
    globalThis.process?.emitWarning?.(warning)
  })
}

function beginTransaction(
  definition: Definition,
  outside: ReadonlyMap<string, unknown>,
  recordOutside: (event: Event, scope: Scope) => void,
  journal?: Journal,
): SessionTransaction {
  const events: { readonly event: Event; readonly scope: Scope }[] = []
  let state: 'open' | 'committed' | 'abandoned' = 'open'
  function refuseEnded(what: string): void {
    if (state === 'open') return
    throw new FoldoutError('transaction-ended', `This transaction was already ${state}; ${what}`)
  }
  const { session } = createSessionOver(definition, new Map(outside), {
    check(event) {
      refuseEnded(`it cannot take the event '${event.type}' now. Dispatch to the outer session.`)
      journal?.check(event)
    },
    recorded: (event, scope) => void events.push({ event, scope }),
    restored: () => {
      throw new FoldoutError(
        'transaction-restore',
        'A session cannot be restored inside a transaction. Abandon the transaction and restore the outer session.',
      )
    },
  })
  function end(how: 'committed' | 'abandoned'): void {
    if (definition.reducing) throw inReducer('ended a transaction')
    refuseEnded(`it cannot be ${how} now.`)
    state = how
    const failures: DispatchFailure[] = []
    for (const { event, scope } of events) {
      try {
        recordOutside(event, how === 'committed' ? scope : 'logs')
      } catch (error) {
        if (!(error instanceof DispatchError)) throw error
        for (const failure of error.failures) failures.push(failure)
      }
    }
    throwFailures(failures)
  }
  return { session, commit: () => end('committed'), abandon: () => end('abandoned') }
}

function inReducer(did: string): FoldoutError {
  return new FoldoutError(
    'dispatch-in-reducer',
    `A reducer ${did}. Reducers only compute state: dispatch from a listener, or let a slice react to the event.`,
  )
}

function throwFailures(failures: readonly DispatchFailure[]): void {
  const [first, ...others] = failures
  if (first) throw new DispatchError([first, ...others])
}
