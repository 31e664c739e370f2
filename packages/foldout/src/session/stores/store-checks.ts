import { checkNumber } from '../../core/check-number.ts'
import { isObject } from 'foldout-shared/values'
import { deferPattern } from '../../core/defer-pattern.ts'
import { FoldoutError } from '../../core/errors.ts'
import { notJson } from '../../core/json/json.ts'
import type { Event } from '../event.ts'
import type { Snapshot } from '../snapshot.ts'
import type { SessionPage, StoredEvent } from './store.ts'

/**
 * The sequence numbers that a store has for a session; {@link checkEvents} and {@link checkSnapshot} compare with them.
 *
 * @example
 * ```ts
 * const range: StoredRange = { snapshot: 0, last: 3 }
 * checkEvents('chat-1', range, [{ sequence: 4, event: cart.events.added('tea'), scope: 'all' }])
 * ```
 */
export interface StoredRange {
  /** The number of the last event that the snapshot includes; 0 if there is no snapshot. */
  readonly snapshot: number
  /** The number of the last event. */
  readonly last: number
}

const getStorableId = deferPattern(String.raw`^[^\p{Cc}\p{Cs}]+$`, 'u')

/**
 * Throws if an id cannot be stored in a file unchanged. Use it in custom stores.
 *
 * @example
 * ```ts
 * checkSessionId('chat-1')
 * ```
 */
export function checkSessionId(id: string): void {
  if (getStorableId().test(id)) return
  throw new FoldoutError(
    'session-invalid',
    `${JSON.stringify(id)} cannot be the id of a session. Use a non-empty string without control characters or lone surrogates.`,
  )
}

/** Throws if a value is no store, such as the address of a database. */
export function checkStore(store: unknown): void {
  if (isObject(store) && typeof store['load'] === 'function') return
  throw new FoldoutError(
    'session-invalid',
    'The store of a session must be an object, such as createMemoryStore() returns. For PostgreSQL, run npm install foldout-fleet and pass what its createPostgresStore() returns.',
  )
}

/**
 * Throws if events do not continue where the session ends (`store-conflict`: another writer was faster), or if JSON would
 * change them (`event-lossy`). Use it in custom stores.
 *
 * @example
 * ```ts
 * async function append(id: string, events: readonly StoredEvent[]) {
 *   checkEvents(id, { snapshot: 0, last: rows.length }, events)
 *   rows.push(...events.map((event) => JSON.stringify(event)))
 * }
 * ```
 */
export function checkEvents(id: string, range: StoredRange, events: readonly StoredEvent[]): void {
  for (const [i, { sequence, event }] of events.entries()) {
    const next = range.last + 1 + i
    if (sequence !== next) throw createConflict(id, `cannot take event ${sequence}: its next is ${next}`)
    checkEvent(event)
  }
}

/** Throws if JSON would change an event. */
export function checkEvent(event: Event): void {
  const lost = event.payload === undefined ? undefined : notJson(event.payload)
  if (lost === undefined) return
  throw new FoldoutError(
    'event-lossy',
    `The payload of the event '${event.type}' holds ${lost}, which JSON cannot represent, so it cannot be stored. Keep plain objects, lists, strings, finite numbers, booleans and null in events.`,
  )
}

/**
 * Throws if a snapshot is older than the stored one or includes events that the store does not have (`store-conflict`), or
 * if JSON would change it (`snapshot-lossy`). Use it in custom stores.
 *
 * @example
 * ```ts
 * async function save(id: string, snapshot: Snapshot, sequence: number) {
 *   checkSnapshot(id, { snapshot: 0, last: rows.length }, { snapshot, sequence })
 *   await writeFile(path, JSON.stringify({ snapshot, sequence }))
 * }
 * ```
 */
export function checkSnapshot(
  id: string,
  range: StoredRange,
  given: { readonly snapshot: Snapshot; readonly sequence: number },
): void {
  const { snapshot, sequence } = given
  if (sequence < range.snapshot || sequence > range.last) {
    throw createConflict(
      id,
      `cannot take a snapshot of its first ${sequence} events: it has events up to ${range.last} and a snapshot of the first ${range.snapshot}`,
    )
  }
  const lost = notJson(snapshot)
  if (lost === undefined) return
  throw new FoldoutError(
    'snapshot-lossy',
    `The snapshot holds ${lost}, which JSON cannot represent. It was not stored.`,
  )
}

/**
 * Sorts ids by code points and returns one page of them. Use it in custom stores.
 *
 * @example
 * ```ts
 * selectPage(['b', 'c', 'a'], { after: 'a', limit: 1 }) // => [ 'b' ]
 * ```
 */
export function selectPage(ids: Iterable<string>, { after, limit }: SessionPage = {}): readonly string[] {
  checkLimit(limit)
  const sorted = [...ids].sort(compareCodePoints)
  const from = after === undefined ? 0 : sorted.findIndex((id) => compareCodePoints(id, after) > 0)
  if (from === -1) return []
  return sorted.slice(from, limit === undefined ? undefined : from + limit)
}

/** Rejects the limit of a page that is not a number. */
export function checkLimit(limit: number | undefined): void {
  checkNumber('limit', limit, { code: 'session-invalid' })
}

/**
 * Compares like databases, by UTF-8. JavaScript compares strings by UTF-16, where emoji come before some other letters.
 */
function compareCodePoints(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)]
  for (const [i, character] of left.entries()) {
    const difference = (character.codePointAt(0) ?? 0) - (right[i]?.codePointAt(0) ?? -1)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

export function createConflict(id: string, what: string): FoldoutError {
  return new FoldoutError(
    'store-conflict',
    `Session '${id}' ${what}. Another writer has changed or deleted the session; open it again.`,
  )
}
