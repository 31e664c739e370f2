import { isObject } from 'foldout-shared/values'
import { isSameJson } from '../core/json/json.ts'
import type { Event } from './event.ts'
import { freezeChanges } from './freeze.ts'
import { checkVersion, makeSlice, type Reducer, type Slice } from './slice.ts'

const CHUNK = 1024

/**
 * An append-only list: the state of a log slice. Appending returns a new log and leaves the old one unchanged, in constant
 * time: full chunks are shared, and so is the last chunk until another log appends to it.
 *
 * @example
 * ```ts
 * for (const { type, payload } of session.get(history)) console.log(type, payload)
 * ```
 */
export class Log<Entry> implements Iterable<Entry> {
  readonly length: number
  readonly #full: readonly (readonly Entry[])[]
  readonly #last: Entry[]
  readonly #lastLength: number

  private constructor(full: readonly (readonly Entry[])[], last: Entry[], lastLength: number) {
    this.#full = full
    this.#last = last
    this.#lastLength = lastLength
    this.length = full.length * CHUNK + lastLength
  }

  /** Creates a log with these entries. */
  static of<Entry>(entries: Iterable<Entry>): Log<Entry> {
    let log = new Log<Entry>([], [], 0)
    for (const entry of entries) log = log.append(entry)
    return log
  }

  /** Returns a log with one more entry; this log stays unchanged. */
  append(entry: Entry): Log<Entry> {
    if (this.#lastLength === CHUNK) return new Log([...this.#full, this.#last], [entry], 1)
    // Another log may have continued this one and written past its end. In that case, this one continues on a copy.
    const last = this.#last.length === this.#lastLength ? this.#last : this.#last.slice(0, this.#lastLength)
    last.push(entry)
    return new Log(this.#full, last, this.#lastLength + 1)
  }

  /** Returns the entry at an index; a negative index counts from the end. */
  at(index: number): Entry | undefined {
    const at = index < 0 ? this.length + index : index
    if (at < 0 || at >= this.length) return undefined
    const chunk = Math.floor(at / CHUNK)
    return (this.#full[chunk] ?? this.#last)[at % CHUNK]
  }

  *[Symbol.iterator](): Iterator<Entry> {
    for (const chunk of this.#full) yield* chunk
    // Another log may have continued this one and written past its end.
    yield* this.#last.slice(0, this.#lastLength)
  }

  /** Whether this log begins with every entry of another log. */
  continues(other: Log<unknown>): boolean {
    if (this.length < other.length) return false
    let i = 0
    for (const entry of other) if (!isSameJson(entry, this.at(i++))) return false
    return true
  }

  /** Returns the entries as an array, for snapshots. */
  toJSON(): Entry[] {
    return [...this]
  }
}

type AnyEventCreator = ((...args: never) => Event) & { readonly type: string }

/**
 * Options of {@link defineLog}.
 *
 * @example
 * ```ts
 * const options: LogOptions<'calls', [typeof toolInvoked]> = { name: 'calls', of: [toolInvoked] }
 * const calls = defineLog(options)
 * ```
 */
export interface LogOptions<Name extends string, Creators extends readonly AnyEventCreator[]> {
  readonly name: Name
  /** The events that the log keeps. */
  readonly of: Creators
  /** The version of the entries' shape. Default 1. */
  readonly version?: number
}

type EventOf<Creator> = Creator extends (...args: never) => infer Made ? Made : never

/**
 * Defines a slice that keeps every event of the given types, in order. Its entries survive restores and abandoned
 * transactions.
 *
 * @example
 * ```ts
 * const calls = defineLog({ name: 'calls', of: [toolInvoked] })
 * const session = createSession({ slices: [calls] })
 * for (const { payload } of session.get(calls)) console.log(payload.name)
 * ```
 */
export function defineLog<const Name extends string, const Creators extends readonly AnyEventCreator[]>(
  options: LogOptions<Name, Creators>,
): Slice<Name, Log<EventOf<Creators[number]>>, {}> {
  type Entry = EventOf<Creators[number]>
  const reducers = new Map<string, Reducer<Log<Entry>>>()
  for (const { type } of options.of) {
    reducers.set(type, (log, payload: unknown) => log.append(getEntry(type, payload) as Entry))
  }
  return makeSlice({
    name: options.name,
    version: checkVersion(options.name, options.version),
    kind: 'log',
    initial: Log.of<Entry>([]),
    events: Object.freeze({}),
    reducers,
    toJson: (log) => log.toJSON(),
    fromJson: (json) => {
      if (!Array.isArray(json) || !json.every(isEvent)) throw new TypeError('it is not a list of events.')
      return Log.of(freezeChanges(json as Entry[]))
    },
  })
}

// JSON has no `undefined`. Leaving it out makes an entry without a payload the same before and after a snapshot.
const getEntry = (type: string, payload: unknown): object =>
  Object.freeze(payload === undefined ? { type } : { type, payload: freezeChanges(payload) })

const isEvent = (entry: unknown): boolean => isObject(entry) && typeof entry['type'] === 'string'
