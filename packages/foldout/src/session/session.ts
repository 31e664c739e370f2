import { FoldoutError, getErrorMessage } from '../core/errors.ts'
import type { Event } from './event.ts'
import { frozen } from './freeze.ts'
import type { Log } from './log.ts'
import type { AnySlice, Reducer, Slice } from './slice.ts'
import { readSnapshot, writeSnapshot, type Snapshot } from './snapshot.ts'
import { visibility } from './visibility.ts'

/** The reading side of a session, which selectors and custom renderers get. */
export interface SessionReader {
  /** Whether the session has a slice. */
  has(slice: AnySlice): boolean
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

export interface SessionTransaction {
  readonly session: Session
  /** Dispatches to the outer session what was dispatched in here; a {@link DispatchError} says what failed there. */
  commit(): void
  /** Forgets what was dispatched in here, but for what logs keep. */
  abandon(): void
}

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
  /** Throws if it could not keep this event; then nothing happens. */
  check(event: Event): void
  recorded(event: Event, scope: Scope): void
  /** The snapshot has only the slices that changed. Told before they do: by throwing it prevents the restore. */
  restored(snapshot: Snapshot): void
}

/** A session and what only its owner may do with it. */
export interface OwnedSession {
  readonly session: Session
  /** Takes an event from a journal: nobody is told, nothing is recorded again. */
  replay(event: Event, scope: Scope): void
  /** Takes a restore from a journal. */
  replayRestore(snapshot: Snapshot): void
}

export function createJournaledSession(options: SessionOptions, journal?: Journal): OwnedSession {
  const slices = sliceTable(options.slices ?? [])
  const states = new Map<string, unknown>()
  for (const slice of slices.values()) states.set(slice.name, slice.initial)
  if (options.snapshot !== undefined) {
    for (const [name, state] of readSnapshot(options.snapshot, slices)) states.set(name, state)
  }
  return sessionOver({ slices, answers: getAnswers(slices), reducing: false }, states, journal)
}

interface Answer {
  readonly slice: AnySlice
  readonly reduce: Reducer<unknown>
}
/** What a session and its transactions have in common. */
interface Definition {
  readonly slices: ReadonlyMap<string, AnySlice>
  /** For each type of event, the slices that answer it. */
  readonly answers: ReadonlyMap<string, readonly Answer[]>
  reducing: boolean
}

function sliceTable(given: readonly AnySlice[]): Map<string, AnySlice> {
  const slices = new Map<string, AnySlice>([[visibility.name, visibility]])
  const seen = new Set<string>()
  for (const slice of given) {
    if (seen.has(slice.name) || (slice.name === visibility.name && slice.events !== visibility.events)) {
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

function getAnswers(slices: ReadonlyMap<string, AnySlice>): Map<string, Answer[]> {
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

function sessionOver(definition: Definition, states: Map<string, unknown>, journal?: Journal): OwnedSession {
  const { slices, answers } = definition
  // Replaced, never changed, so that a listener may subscribe or leave while events are given out.
  let listeners: readonly Listener[] = []
  const waiting: Event[] = []
  let notifying = false

  function reduce(event: Event, scope: Scope): DispatchFailure[] | undefined {
    const all = answers.get(event.type)
    if (all === undefined) return undefined
    let failures: DispatchFailure[] | undefined
    definition.reducing = true
    for (const { slice, reduce } of all) {
      if (scope === 'logs' && slice.kind !== 'log') continue
      try {
        const before = states.get(slice.name)
        states.set(slice.name, frozen(reduce(before, event.payload as never), before))
      } catch (error) {
        failures = [...(failures ?? []), { event, slice: slice.name, error }]
      }
    }
    definition.reducing = false
    return failures
  }

  /** Gives events out in the order they came, also when a listener dispatches; what fails is the first dispatch's. */
  function notify(event: Event): DispatchFailure[] | undefined {
    waiting.push(event)
    if (notifying) return undefined
    let failures: DispatchFailure[] | undefined
    notifying = true
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      for (const listener of listeners) {
        try {
          listener(next)
        } catch (error) {
          failures = [...(failures ?? []), { event: next, slice: undefined, error }]
        }
      }
    }
    notifying = false
    return failures
  }

  function record(event: Event, scope: Scope): void {
    if (definition.reducing) throw inReducer(`dispatched '${event.type}'`)
    if (scope === 'logs' && !answers.get(event.type)?.some(({ slice }) => slice.kind === 'log')) return
    journal?.check(event)
    journal?.recorded(event, scope)
    const reducing = reduce(event, scope)
    const notifying = scope === 'all' && listeners.length > 0 ? notify(event) : undefined
    if (reducing || notifying) throwFailures([...(reducing ?? []), ...(notifying ?? [])])
  }

  function adopt(restored: ReadonlyMap<string, unknown>): void {
    for (const [name, state] of restored) states.set(name, state)
  }
  /** The states of a snapshot that take effect. */
  function restorable(snapshot: Snapshot): ReadonlyMap<string, unknown> {
    const changes = ([name, state]: [string, unknown]): boolean =>
      slices.get(name)!.kind === 'state' || isContinued(states.get(name) as Log<unknown>, state as Log<unknown>)
    return new Map([...readSnapshot(snapshot, slices)].filter(changes))
  }

  const session: Session = {
    has: (slice: AnySlice) => slices.has(slice.name),
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
      let subscribed = true
      const own: Listener = (event) => {
        if (subscribed) listener(event)
      }
      listeners = [...listeners, own]
      return () => {
        subscribed = false
        listeners = listeners.filter((other) => other !== own)
      }
    },
    snapshot: () => writeSnapshot(slices.values(), states),
    restore(snapshot: Snapshot) {
      if (definition.reducing) throw inReducer('restored a snapshot')
      const restored = restorable(snapshot)
      const changed = [...slices.values()].filter(({ name }) => restored.has(name))
      journal?.restored(writeSnapshot(changed, restored))
      adopt(restored)
    },
    begin: () => transactionOn(definition, states, record, journal),
  }
  return {
    session,
    replay: (event, scope) => void reduce(event, scope),
    replayRestore: (snapshot) => adopt(restorable(snapshot)),
  }
}

function transactionOn(
  definition: Definition,
  outside: ReadonlyMap<string, unknown>,
  recordOutside: (event: Event, scope: Scope) => void,
  journal?: Journal,
): SessionTransaction {
  const events: { readonly event: Event; readonly scope: Scope }[] = []
  let state: 'open' | 'committed' | 'abandoned' = 'open'
  function refuseEnded(what: string): void {
    if (state === 'open') return
    throw new FoldoutError('transaction-ended', `This transaction was ${state} before; ${what}`)
  }
  const { session } = sessionOver(definition, new Map(outside), {
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
        failures.push(...error.failures)
      }
    }
    throwFailures(failures)
  }
  return { session, commit: () => end('committed'), abandon: () => end('abandoned') }
}

const isContinued = (log: Log<unknown>, by: Log<unknown>): boolean => by.length > log.length && by.continues(log)

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
