import { checkNumber } from '../core/check-number.ts'
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

/**
 * The event creators of a slice, one for each of its reducers.
 *
 * @example
 * ```ts
 * const events: SliceEvents<'cart', { added: (state: unknown, item: string) => unknown }> = cart.events
 * events.added('tea') // => { type: 'cart/added', payload: 'tea' }
 * ```
 */
export type SliceEvents<Name extends string, R> = {
  readonly [K in keyof R & string]: EventCreator<`${Name}/${K}`, PayloadOf<R[K]>>
}

/**
 * Returns what is wrong with a payload, as a clause such as `its path is not a string`, or `undefined` if it is valid.
 *
 * @example
 * ```ts
 * const isItem: PayloadCheck = (item) => (typeof item === 'string' ? undefined : 'it is not the name of an item')
 * isItem(7) // => 'it is not the name of an item'
 * ```
 */
export type PayloadCheck = (payload: unknown) => string | undefined

/**
 * A part of a session's state and the events it handles. A slice of kind `'state'` is reset when a session is restored or
 * a transaction is abandoned; a `'log'` only grows.
 *
 * @example
 * ```ts
 * const seeded: Slice<'cart', { readonly items: readonly string[] }> = cart.seed({ items: ['tea'] })
 * createSession({ slices: [seeded] }).get(cart).items // => [ 'tea' ]
 * ```
 */
export interface Slice<Name extends string = string, State = unknown, Events = unknown> {
  readonly name: Name
  /** The version of the state's shape. Increase it when old snapshots no longer fit. */
  readonly version: number
  readonly kind: 'state' | 'log'
  readonly initial: State
  /** Creates the events of this slice: `cart.events.added({ … })`. */
  readonly events: Events
  readonly reducers: ReadonlyMap<string, Reducer<State>>
  /** Payload checks by event type. An event that fails its check is rejected before anything changes. */
  readonly checks?: ReadonlyMap<string, PayloadCheck>
  /** Returns the same slice with another initial state. */
  seed(state: State): Slice<Name, State, Events>
  /** Returns what `session.get` returns, if the session holds the state in another form. */
  readonly reveal?: (held: State) => State
  toJson(state: State): unknown
  fromJson(json: unknown): State
}

// oxlint-disable typescript/no-explicit-any -- a slice is invariant in its state; only `any` accepts every slice
/**
 * A slice of any state.
 *
 * @example
 * ```ts
 * const slices: AnySlice[] = [cart, defineLog({ name: 'calls', of: [toolInvoked] })]
 * const session = createSession({ slices })
 * ```
 */
export type AnySlice = Slice<string, any, unknown>
// oxlint-enable typescript/no-explicit-any

interface Reaction<State> {
  readonly type: string
  readonly reducer: Reducer<State>
}
/**
 * Declares how a slice reacts to an event of another slice. It is the argument of `reactions`.
 *
 * @example
 * ```ts
 * const count = defineSlice({
 *   name: 'count',
 *   initial: 0,
 *   reducers: {},
 *   reactions: (on: On<number>) => [on(cart.events.added, (state) => state + 1)],
 * })
 * ```
 */
export type On<State> = <Payload>(
  event: EventCreator<string, Payload>,
  reducer: (state: State, payload: Payload) => State,
) => Reaction<State>

/**
 * Options of {@link defineSlice}.
 *
 * @example
 * ```ts
 * const options: SliceOptions<'count', number, { increased: (state: number) => number }> = {
 *   name: 'count',
 *   initial: 0,
 *   reducers: { increased: (state) => state + 1 },
 * }
 * const count = defineSlice(options)
 * ```
 */
export interface SliceOptions<Name extends string, State, R> {
  readonly name: Name
  readonly initial: State
  /**
   * Each reducer defines an event `name/key` whose payload is the reducer's second parameter. A reducer returns the new
   * state and never changes the old one, which is frozen.
   */
  readonly reducers: R & Reducers<State>
  /** Reactions to events of other slices: `(on) => [on(toolInvoked, (state, payload) => …)]`. */
  readonly reactions?: (on: On<State>) => readonly Reaction<State>[]
  /**
   * Payload checks by reducer. Use them for events from code that the compiler does not check: an event that fails its
   * check is rejected before anything changes, whereas a reducer that throws protects only its own slice.
   */
  readonly checks?: { readonly [K in keyof R]?: PayloadCheck }
  /** The version of the state's shape. Default 1. */
  readonly version?: number
  /** Reads the state from a snapshot and throws if it is invalid. By default, the state is used unchanged. */
  readonly fromJson?: (json: unknown) => State
}

/**
 * Defines a part of a session's state and how it handles events: its own (`reducers`) and those of other slices
 * (`reactions`).
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
 * session.get(cart).items // => [ 'tea' ]
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
        `Slice '${options.name}' handles the event '${reaction.type}' twice. Merge the two reducers.`,
      )
    }
    table.set(reaction.type, reaction.reducer)
  }
  return makeSlice({
    name: options.name,
    version: checkVersion(options.name, options.version),
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

/** Returns the name of the slice that defines this event type in this process, or `undefined` if none does. */
export function findSliceName(eventType: string): string | undefined {
  return sliceNames.get(eventType)
}

/** Makes a slice immutable, including its initial state, which all sessions share, and adds `seed`. */
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

/** Returns the version of a slice. A snapshot with a version that is no number could never be restored. */
export function checkVersion(name: string, version: number | undefined): number {
  checkNumber(`The version of the slice '${name}'`, version, { code: 'slice-invalid' })
  return version ?? 1
}
