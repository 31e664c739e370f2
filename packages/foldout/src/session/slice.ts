import { FoldoutError } from '../core/errors.ts'
import { defineEvent, type EventCreator } from './event.ts'
import { freezeChanges } from './freeze.ts'

export type Reducer<State> = (state: State, payload: never) => State
type Reducers<State> = Record<string, Reducer<State>>
type PayloadOf<R> = R extends (...args: infer Args) => unknown
  ? Args extends readonly [unknown, unknown?]
    ? Args[1]
    : void
  : never

/** The event creators of a slice, one for each of its reducers. */
export type SliceEvents<Name extends string, R> = {
  readonly [K in keyof R & string]: EventCreator<`${Name}/${K}`, PayloadOf<R[K]>>
}

/** What is wrong with a payload, as a clause such as `its path is not a string`; `undefined` if nothing is. */
export type PayloadCheck = (payload: unknown) => string | undefined

/**
 * A part of a session's state and how it answers events. `'state'` goes back to what it was when a session is restored or
 * a transaction abandoned; a `'log'` only ever grows.
 */
export interface Slice<Name extends string = string, State = unknown, Events = unknown> {
  readonly name: Name
  /** Of the shape of the state: count it up when old snapshots no longer fit. */
  readonly version: number
  readonly kind: 'state' | 'log'
  readonly initial: State
  /** Makes the events of this slice: `cart.events.added({ … })`. */
  readonly events: Events
  readonly reducers: ReadonlyMap<string, Reducer<State>>
  /** By type of event, what is wrong with a payload. An event with a fault is refused before anything happens. */
  readonly checks?: ReadonlyMap<string, PayloadCheck>
  /** The same slice beginning with another state. */
  seed(state: State): Slice<Name, State, Events>
  toJson(state: State): unknown
  fromJson(json: unknown): State
}

// oxlint-disable typescript/no-explicit-any -- a slice is invariant in its state; only `any` takes them all
/** A slice of any state. */
export type AnySlice = Slice<string, any, unknown>
// oxlint-enable typescript/no-explicit-any

interface Reaction<State> {
  readonly type: string
  readonly reducer: Reducer<State>
}
/** Declares what a slice does on an event of another: the argument of `reactions`. */
export type On<State> = <Payload>(
  event: EventCreator<string, Payload>,
  reducer: (state: State, payload: Payload) => State,
) => Reaction<State>

/** What {@link defineSlice} takes. */
export interface SliceOptions<Name extends string, State, R> {
  readonly name: Name
  readonly initial: State
  /**
   * Each becomes an event `name/key` whose payload is the reducer's second parameter. They return the new state and never
   * change the old: it is frozen.
   */
  readonly reducers: R & Reducers<State>
  /** What the slice does on events of others: `(on) => [on(toolInvoked, (state, payload) => …)]`. */
  readonly reactions?: (on: On<State>) => readonly Reaction<State>[]
  /**
   * By reducer, what is wrong with a payload, if anything. Give it where events come from code that the compiler does not
   * check: such an event is refused before anything happens, where a reducer that throws only keeps its own slice.
   */
  readonly checks?: { readonly [K in keyof R]?: PayloadCheck }
  /** Default 1. */
  readonly version?: number
  /** Reads the state from a snapshot and throws if it cannot be one. By default it is taken as it is. */
  readonly fromJson?: (json: unknown) => State
}

/**
 * Defines a part of a session's state and how it answers events: its own (`reducers`) and others' (`reactions`).
 *
 * @example
 * ```ts
 * const cart = defineSlice({
 *   name: 'cart',
 *   initial: { items: [] as readonly string[] },
 *   reducers: { added: (state, item: string) => ({ items: [...state.items, item] }) },
 * })
 * const session = createSession({ slices: [cart] })
 * session.dispatch(cart.events.added('tea'))
 * session.get(cart).items // ['tea']
 * ```
 */
export function defineSlice<const Name extends string, State, R extends Reducers<State>>(
  options: SliceOptions<Name, State, R>,
): Slice<Name, State, SliceEvents<Name, R>> {
  const events: Record<string, EventCreator<string, unknown>> = {}
  const table = new Map<string, Reducer<State>>()
  for (const [key, reducer] of Object.entries<Reducer<State>>(options.reducers)) {
    const type = `${options.name}/${key}`
    events[key] = defineEvent<unknown>()(type)
    table.set(type, reducer)
    sliceNames.set(type, options.name)
  }
  const on: On<State> = (event, reducer) => ({ type: event.type, reducer })
  for (const reaction of options.reactions?.(on) ?? []) {
    if (table.has(reaction.type)) {
      throw new FoldoutError(
        'slice-invalid',
        `Slice '${options.name}' answers the event '${reaction.type}' twice. Merge the two reducers.`,
      )
    }
    table.set(reaction.type, reaction.reducer)
  }
  return makeSlice({
    name: options.name,
    version: options.version ?? 1,
    kind: 'state',
    initial: options.initial,
    events: Object.freeze(events) as unknown as SliceEvents<Name, R>,
    reducers: table,
    ...getChecks(options),
    toJson: (state) => state,
    fromJson: options.fromJson ?? ((json) => json as State),
  })
}

function getChecks<State, R>(options: SliceOptions<string, State, R>): Pick<Slice, 'checks'> {
  if (!options.checks) return {}
  const checks = new Map<string, PayloadCheck>()
  for (const [key, check] of Object.entries<PayloadCheck | undefined>(options.checks)) {
    if (check) checks.set(`${options.name}/${key}`, check)
  }
  return { checks }
}

const sliceNames = new Map<string, string>()

/** The slice whose own event has this type, as far as this process has defined it; events of no slice have none. */
export function findSliceName(eventType: string): string | undefined {
  return sliceNames.get(eventType)
}

/** Makes a slice immutable, its first state included, which all sessions share, and adds `seed`. */
export function makeSlice<Name extends string, State, Events>(
  parts: Omit<Slice<Name, State, Events>, 'seed'>,
): Slice<Name, State, Events> {
  if (!/^[a-z][a-z0-9-]*$/i.test(parts.name)) {
    throw new FoldoutError(
      'slice-invalid',
      `'${parts.name}' cannot name a slice. Use letters, digits and hyphens, beginning with a letter.`,
    )
  }
  return Object.freeze({
    ...parts,
    initial: freezeChanges(parts.initial),
    seed: (initial: State) => makeSlice({ ...parts, initial }),
  })
}
