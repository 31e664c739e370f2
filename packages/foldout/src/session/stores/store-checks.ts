import { FoldoutError } from '../../core/errors.ts'
import { notJson } from '../../core/json/json.ts'
import type { Event } from '../event.ts'
import type { StoredEvent } from './store.ts'

/** How far a session in a store goes. */
export interface StoredRange {
  /** The number of the last event that its snapshot includes; 0 without one. */
  readonly snapshot: number
  /** The number of its last event. */
  readonly last: number
}

/** Refuses an id that a file could not keep as it is. */
export function checkId(id: string): void {
  if (/^[^\p{Cc}\p{Cs}]+$/u.test(id)) return
  throw new FoldoutError(
    'session-invalid',
    `${JSON.stringify(id)} cannot be the id of a session. Use a text that is not empty, without control characters or halves of surrogate pairs.`,
  )
}

/** Refuses an event that would not come back from JSON as it was. */
export function checkEvent(event: Event): void {
  const lost = event.payload === undefined ? undefined : notJson(event.payload)
  if (lost === undefined) return
  throw new FoldoutError(
    'event-lossy',
    `The payload of the event '${event.type}' holds ${lost}, which JSON cannot carry, so that it cannot be stored. Keep plain objects, lists, strings, finite numbers, booleans and null in events.`,
  )
}

/** Refuses events that do not go on where a session ends: someone else has written meanwhile. */
export function checkAppend(id: string, range: StoredRange, events: readonly StoredEvent[]): void {
  events.forEach(({ sequence }, i) => {
    const next = range.last + 1 + i
    if (sequence === next) return
    throw conflict(id, `cannot take event ${sequence}: its next is ${next}`)
  })
}

/** Refuses a snapshot that would undo a later one, or that includes events the store does not have. */
export function checkSave(id: string, range: StoredRange, sequence: number): void {
  if (sequence >= range.snapshot && sequence <= range.last) return
  throw conflict(
    id,
    `cannot take a snapshot of its first ${sequence} events: it has events up to ${range.last} and a snapshot of the first ${range.snapshot}`,
  )
}

function conflict(id: string, what: string): FoldoutError {
  return new FoldoutError(
    'store-conflict',
    `Session '${id}' ${what}. Another writer has changed or deleted it; open it again.`,
  )
}
