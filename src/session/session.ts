import { FoldoutError, messageOf } from '../core/errors.ts'
import type { Event } from './event.ts'
import type { AnySlice, Reducer, Slice } from './slice.ts'
import { readSnapshot, writeSnapshot, type Snapshot } from './snapshot.ts'
import { visibility } from './visibility.ts'

/** The reading side of a session, which selectors and custom renderers get. */
export interface SessionReader {
  /** The current state of a slice. */
  get<State>(slice: Slice<string, State, unknown>): State
}

export type Listener = (event: Event) => void

export interface Session extends SessionReader {
  /**
   * Gives an event to every slice that answers it, then to the listeners. A reducer or listener that throws stops none of
   * the others; when all have run, a {@link DispatchError} says what failed.
   */
  dispatch(event: Event): void
  /** Calls the listener after each event, in order, until the returned function is called. */
  subscribe(listener: Listener): () => void
  /** The state of every slice as plain JSON. */
  snapshot(): Snapshot
  /** Takes state slices back to a snapshot. Logs never lose entries: one that is longer than the snapshot's stays. */
  restore(snapshot: Snapshot): void
  /**
   * Begins changes that can be abandoned as a whole. They show in the transaction's own session at once and here when it
   * commits; several transactions may be open side by side.
   */
  begin(): SessionTransaction
}

export interface SessionTransaction {
  readonly session: Session
  /** Dispatches to the outer session what was dispatched in here. */
  commit(): void
  /** Forgets what was dispatched in here, but for what logs keep. */
  abandon(): void
}

export interface DispatchFailure {
  /** The slice whose reducer failed, or `undefined` for a listener. */
  readonly slice: string | undefined
  readonly error: unknown
}

/** Some reducers or listeners failed on an event; the others have run. */
export class DispatchError extends FoldoutError {
  readonly event: Event
  readonly failures: readonly DispatchFailure[]

  constructor(event: Event, failures: readonly DispatchFailure[]) {
    const said = failures.map(
      ({ slice, error }) => `${slice === undefined ? 'a listener' : `slice '${slice}'`} failed: ${messageOf(error)}`,
    )
    super(
      'dispatch-failed',
      `On the event '${event.type}' ${said.join('; ')}. Every other slice and listener has taken the event.`,
      {
        cause: failures[0]?.error,
      },
    )
    this.event = event
    this.failures = failures
  }
}

export interface SessionOptions {
  /** The slices besides `visibility`, which every session has; give it here, seeded, to begin with sections open. */
  readonly slices?: readonly AnySlice[]
  /** Where to go on from. */
  readonly snapshot?: Snapshot
}

/** A place for typed state that changes only by events. */
export function createSession(options: SessionOptions = {}): Session {
  return createJournaledSession(options).session
}

/** Whether all slices or only logs take an event: an abandoned transaction's events stay in logs. */
export type Scope = 'all' | 'logs'

/** Told of everything that must be kept to build the session again; what stores write down. */
export interface Journal {
  recorded(event: Event, scope: Scope): void
  restored(snapshot: Snapshot): void
}

/** A session and what only its owner may do with it. */
export interface OwnedSession {
  readonly session: Session
  /** As `dispatch`, and for logs alone. */
  record(event: Event, scope: Scope): void
  /** Takes an event from a journal: nobody is told, nothing is recorded again. */
  replay(event: Event, scope: Scope): void
}

export function createJournaledSession(options: SessionOptions, journal?: Journal): OwnedSession {
  const slices = sliceTable(options.slices ?? [])
  const states = new Map<string, unknown>()
  for (const slice of slices.values()) states.set(slice.name, slice.initial)
  if (options.snapshot) for (const [name, state] of readSnapshot(options.snapshot, slices)) states.set(name, state)
  return sessionOver({ slices, answers: answersOf(slices), states }, journal)
}

interface Answer {
  readonly slice: AnySlice
  readonly reduce: Reducer<unknown>
}
interface Store {
  readonly slices: ReadonlyMap<string, AnySlice>
  /** For each type of event, the slices that answer it. */
  readonly answers: ReadonlyMap<string, readonly Answer[]>
  readonly states: Map<string, unknown>
}

function sliceTable(given: readonly AnySlice[]): Map<string, AnySlice> {
  const slices = new Map<string, AnySlice>([[visibility.name, visibility]])
  const seen = new Set<string>()
  for (const slice of given) {
    if (seen.has(slice.name)) {
      throw new FoldoutError(
        'session-invalid',
        `Two slices are named '${slice.name}'. A session has one slice of a name; rename one of them.`,
      )
    }
    seen.add(slice.name)
    slices.set(slice.name, slice)
  }
  return slices
}

function answersOf(slices: ReadonlyMap<string, AnySlice>): Map<string, Answer[]> {
  const answers = new Map<string, Answer[]>()
  for (const slice of slices.values()) {
    for (const [type, reduce] of slice.reducers) {
      const list = answers.get(type)
      if (list) list.push({ slice, reduce })
      else answers.set(type, [{ slice, reduce }])
    }
  }
  return answers
}

function sessionOver(store: Store, journal?: Journal): OwnedSession {
  const { slices, answers, states } = store
  // Replaced, never changed, so that a listener may subscribe or leave while events are given out.
  let listeners: readonly Listener[] = []
  const waiting: { event: Event; failures: DispatchFailure[] }[] = []
  let reducing = false
  let notifying = false

  function reduce(event: Event, scope: Scope): DispatchFailure[] | undefined {
    if (reducing) {
      throw new FoldoutError(
        'dispatch-in-reducer',
        `A reducer dispatched '${event.type}'. Reducers only compute state: dispatch from a listener, or let a slice react to the event.`,
      )
    }
    const all = answers.get(event.type)
    if (all === undefined) return undefined
    let failures: DispatchFailure[] | undefined
    reducing = true
    for (const { slice, reduce } of all) {
      if (scope === 'logs' && slice.kind !== 'log') continue
      try {
        states.set(slice.name, reduce(states.get(slice.name), event.payload as never))
      } catch (error) {
        failures = [...(failures ?? []), { slice: slice.name, error }]
      }
    }
    reducing = false
    return failures
  }

  /** Gives events out in the order they came, also when a listener dispatches. */
  function notify(event: Event, failures: DispatchFailure[]): void {
    waiting.push({ event, failures })
    if (notifying) return
    notifying = true
    try {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        for (const listener of listeners) {
          try {
            listener(next.event)
          } catch (error) {
            next.failures.push({ slice: undefined, error })
          }
        }
      }
    } finally {
      notifying = false
    }
  }

  function record(event: Event, scope: Scope): void {
    const failures = reduce(event, scope) ?? []
    journal?.recorded(event, scope)
    if (scope === 'all' && listeners.length > 0) notify(event, failures)
    if (failures.length > 0) throw new DispatchError(event, failures)
  }

  const session: Session = {
    get<State>(slice: Slice<string, State, unknown>): State {
      if (!slices.has(slice.name)) {
        throw new FoldoutError(
          'slice-unknown',
          `This session has no slice '${slice.name}'. Create it with createSession({ slices: [${slice.name}] }).`,
        )
      }
      return states.get(slice.name) as State
    },
    dispatch: (event: Event) => record(event, 'all'),
    subscribe(listener: Listener) {
      listeners = [...listeners, listener]
      return () => {
        listeners = listeners.filter((other) => other !== listener)
      }
    },
    snapshot: () => writeSnapshot(slices, states),
    restore(snapshot: Snapshot) {
      const restored = readSnapshot(snapshot, slices)
      for (const [name, state] of restored) {
        const isShorterLog = slices.get(name)!.kind === 'log' && lengthOf(state) < lengthOf(states.get(name))
        if (!isShorterLog) states.set(name, state)
      }
      journal?.restored(writeSnapshot(slices, states))
    },
    begin: () => transactionOn(store, record),
  }
  return { session, record, replay: (event, scope) => void reduce(event, scope) }
}

const lengthOf = (log: unknown): number => (log as { length: number }).length

function transactionOn(store: Store, recordOutside: OwnedSession['record']): SessionTransaction {
  const events: { readonly event: Event; readonly scope: Scope }[] = []
  let state: 'open' | 'committed' | 'abandoned' = 'open'
  const { session } = sessionOver(
    { ...store, states: new Map(store.states) },
    {
      recorded: (event, scope) => void events.push({ event, scope }),
      restored: () => {
        throw new FoldoutError(
          'transaction-restore',
          'A session cannot be restored inside a transaction. Abandon the transaction and restore the outer session.',
        )
      },
    },
  )
  function end(how: 'committed' | 'abandoned'): void {
    if (state !== 'open')
      throw new FoldoutError('transaction-ended', `This transaction was ${state} before; it cannot be ${how} now.`)
    state = how
    const failures: unknown[] = []
    for (const { event, scope } of events) {
      try {
        recordOutside(event, how === 'committed' ? scope : 'logs')
      } catch (error) {
        failures.push(error)
      }
    }
    // The inner session has already told of a reducer that fails; only the first is told again.
    if (failures.length > 0) throw failures[0]
  }
  return { session, commit: () => end('committed'), abandon: () => end('abandoned') }
}
