import { FoldoutError } from '../../core/errors.ts'
import { notJson } from '../../core/json/json.ts'
import type { Event } from '../event.ts'
import type { Snapshot } from '../snapshot.ts'
import type { StoredEvent } from './store.ts'

/** How far a session in a store goes: what {@link checkEvents} and {@link checkSnapshot} compare with. */
export interface StoredRange {
  /** The number of the last event that its snapshot includes; 0 without one. */
  readonly snapshot: number
  /** The number of its last event. */
  readonly last: number
}

/**
 * Throws if an id could not be kept by a file as it is. For stores of your own.
 *
 * @example
 * ```ts
 * checkSessionId('chat-1')
 * ```
 */
export function checkSessionId(id: string): void {
  if (/^[^\p{Cc}\p{Cs}]+$/u.test(id)) return
  throw new FoldoutError(
    'session-invalid',
    `${JSON.stringify(id)} cannot be the id of a session. Use a text that is not empty, without control characters or halves of surrogate pairs.`,
  )
}

/**
 * Throws if events do not go on where a session ends (`store-conflict`: someone else has written meanwhile), or would not
 * come back from JSON as they were (`event-lossy`). For stores of your own.
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
    if (sequence !== next) throw conflict(id, `cannot take event ${sequence}: its next is ${next}`)
    checkEvent(event)
  }
}

/** Throws if an event would not come back from JSON as it was. */
export function checkEvent(event: Event): void {
  const lost = event.payload === undefined ? undefined : notJson(event.payload)
  if (lost === undefined) return
  throw new FoldoutError(
    'event-lossy',
    `The payload of the event '${event.type}' holds ${lost}, which JSON cannot carry, so that it cannot be stored. Keep plain objects, lists, strings, finite numbers, booleans and null in events.`,
  )
}

/**
 * Throws if a snapshot would undo a later one or includes events the store does not have (`store-conflict`), or would not
 * come back from JSON as it was (`snapshot-lossy`). For stores of your own.
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
    throw conflict(
      id,
      `cannot take a snapshot of its first ${sequence} events: it has events up to ${range.last} and a snapshot of the first ${range.snapshot}`,
    )
  }
  const lost = notJson(snapshot)
  if (lost === undefined) return
  throw new FoldoutError('snapshot-lossy', `The snapshot holds ${lost}, which JSON cannot carry. It was not stored.`)
}

function conflict(id: string, what: string): FoldoutError {
  return new FoldoutError(
    'store-conflict',
    `Session '${id}' ${what}. Another writer has changed or deleted it; open it again.`,
  )
}
