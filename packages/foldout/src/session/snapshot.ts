import { isObject } from 'foldout-shared/values'
import { FoldoutError, getErrorMessage } from '../core/errors.ts'
import { notJson } from '../core/json/json.ts'
import { freezeChanges } from './freeze.ts'
import type { AnySlice } from './slice.ts'

export const SNAPSHOT_VERSION = 1

/**
 * A session's state as plain JSON.
 *
 * @example
 * ```ts
 * const snapshot: Snapshot = createSession({ slices: [cart.seed({ items: ['tea'] })] }).snapshot()
 * const later = createSession({ slices: [cart], snapshot })
 * later.get(cart).items // => [ 'tea' ]
 * ```
 */
export interface Snapshot {
  /** The version of this envelope. Each slice has its own version. */
  readonly version: number
  readonly slices: { readonly [name: string]: SliceSnapshot }
}

/**
 * One slice in a snapshot.
 *
 * @example
 * ```ts
 * const { slices } = createSession({ slices: [cart] }).snapshot()
 * const kept: SliceSnapshot | undefined = slices['cart']
 * kept?.state // => { items: [] }
 * ```
 */
export interface SliceSnapshot {
  readonly version: number
  /** Absent in a store's snapshot for a slice that still has its initial state. */
  readonly state?: unknown
}

export function writeSnapshot(slices: Iterable<AnySlice>, states: ReadonlyMap<string, unknown>): Snapshot {
  const written: Record<string, { version: number; state: unknown }> = {}
  for (const slice of slices) {
    const state: unknown = slice.toJson(states.get(slice.name))
    const lost = notJson(state)
    if (lost) {
      throw new FoldoutError(
        'snapshot-lossy',
        `Slice '${slice.name}' holds ${lost}, which JSON cannot represent. Keep plain objects, lists, strings, finite numbers, booleans and null in slices.`,
      )
    }
    written[slice.name] = { version: slice.version, state: structuredClone(state) }
  }
  return { version: SNAPSHOT_VERSION, slices: written }
}

/** Reads a whole snapshot before any of it takes effect. Slices that are not in the snapshot keep their state. */
export function readSnapshot(snapshot: unknown, slices: ReadonlyMap<string, AnySlice>): ReadonlyMap<string, unknown> {
  const version = isObject(snapshot) ? snapshot['version'] : undefined
  if (typeof version === 'number' && version !== SNAPSHOT_VERSION) {
    throw new FoldoutError(
      'snapshot-version',
      `The snapshot has version ${version}; this version of Foldout reads version ${SNAPSHOT_VERSION}.`,
    )
  }
  if (!isObject(snapshot) || typeof version !== 'number' || !isObject(snapshot['slices'])) {
    throw new FoldoutError(
      'snapshot-invalid',
      'This is not a snapshot of a session: it has no `version` and `slices`. Pass the return value of session.snapshot(), or its parsed JSON.',
    )
  }
  const states = new Map<string, unknown>()
  for (const [name, entry] of Object.entries(snapshot['slices'])) {
    const slice = slices.get(name)
    if (!slice) {
      throw new FoldoutError(
        'snapshot-unknown-slice',
        `The snapshot has a slice '${name}' that this session does not. Pass it in createSession({ slices }), or remove it from the snapshot.`,
      )
    }
    states.set(name, readState(slice, entry))
  }
  return states
}

function readState(slice: AnySlice, entry: unknown): unknown {
  const { name } = slice
  if (!isObject(entry) || !('state' in entry)) {
    throw new FoldoutError('snapshot-invalid', `The slice '${name}' in the snapshot has no state.`)
  }
  if (entry['version'] !== slice.version) {
    throw new FoldoutError(
      'snapshot-slice-version',
      `The snapshot has version ${String(entry['version'])} of slice '${name}'; this session has version ${slice.version}. Convert its state to the new shape before restoring.`,
    )
  }
  const lost = notJson(entry['state'])
  if (lost)
    throw new FoldoutError('snapshot-invalid', `The slice '${name}' in the snapshot holds ${lost}, which is not JSON.`)
  try {
    return freezeChanges(slice.fromJson(structuredClone(entry['state'])))
  } catch (error) {
    throw new FoldoutError(
      'snapshot-invalid',
      `The slice '${name}' in the snapshot cannot be read: ${getErrorMessage(error)}`,
      {
        cause: error,
      },
    )
  }
}
