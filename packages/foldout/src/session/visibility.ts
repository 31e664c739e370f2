import { isObject } from 'foldout-shared/values'
import { shorten } from '../core/text.ts'
import type { SessionReader } from './contract.ts'
import { getHeld } from './live-session.ts'
import { defineSlice, makeSlice, type Slice } from './slice.ts'

/**
 * How much of a section the model sees: its text or its summary.
 *
 * @example
 * ```ts
 * const visibility: Visibility = 'full'
 * bound.render({ visibility: { guide: visibility } }).summarized // => [ 'refunds' ]
 * ```
 */
export type Visibility = 'full' | 'summary'

/**
 * The requested visibility of sections, by dotted path.
 *
 * @example
 * ```ts
 * const overrides: VisibilityOverrides = { 'context.examples': 'full' }
 * const session = createSession({ slices: [visibility.seed(overrides)] })
 * ```
 */
export type VisibilityOverrides = Readonly<Record<string, Visibility>>

/** The same in the form that a session holds: a large object is slow to copy, and a model may open thousands of sections. */
export type VisibilityMap = ReadonlyMap<string, Visibility>

type Held = VisibilityOverrides | VisibilityMap

const getNothing = (): Held => ({})
const NONE = getNothing()

const slice = defineSlice({
  name: 'visibility',
  initial: NONE,
  reducers: {
    set(state, { path, visibility }: { readonly path: string; readonly visibility: Visibility }): Held {
      const map = toVisibilityMap(state)
      if (map.get(path) === visibility) return state
      return new Map(map).set(path, visibility)
    },
    cleared(state, { path }: { readonly path: string }): Held {
      const map = new Map(toVisibilityMap(state))
      if (map.delete(path)) return map
      return state
    },
    reset: () => NONE,
  },
  checks: {
    set: (payload) => describePathFault(payload) ?? describeVisibilityFault(payload),
    cleared: describePathFault,
  },
  fromJson: (json) => {
    if (!isObject(json) || !Object.values(json).every(isVisibility)) {
      throw new TypeError("it is not an object of 'full' and 'summary' by path.")
    }
    return json as VisibilityOverrides
  },
})

/**
 * The slice that records which sections the model has opened. Every session has it; seed it to start with sections
 * open.
 *
 * @example
 * ```ts
 * const session = createSession({ slices: [visibility.seed({ context: 'full' })] })
 * session.dispatch(visibility.events.set({ path: 'context.examples', visibility: 'full' }))
 * ```
 */
export const visibility: Slice<'visibility', VisibilityOverrides, (typeof slice)['events']> = makeSlice({
  ...slice,
  initial: {},
  reveal: toOverrides,
  toJson: toOverrides,
} as Omit<Slice<'visibility', VisibilityOverrides, (typeof slice)['events']>, 'seed'>)

const revealed = new WeakMap<VisibilityMap, VisibilityOverrides>()

function toOverrides(held: Held): VisibilityOverrides {
  if (!(held instanceof Map)) return held as VisibilityOverrides
  const known = revealed.get(held) ?? Object.freeze(Object.fromEntries(held as VisibilityMap))
  revealed.set(held, known)
  return known
}

export function toVisibilityMap(held: Held): VisibilityMap {
  if (held instanceof Map) return held
  return new Map(Object.entries(held))
}

/** Returns the state as the session holds it. */
export function getVisibilityMap(session: SessionReader): VisibilityMap {
  return toVisibilityMap(getHeld(session, visibility))
}

function describePathFault(payload: unknown): string | undefined {
  if (!isObject(payload)) return 'its payload is not an object'
  if (typeof payload['path'] === 'string' && payload['path'] !== '') return undefined
  return 'its path is not a non-empty string'
}

function describeVisibilityFault(payload: unknown): string | undefined {
  const wanted = isObject(payload) ? payload['visibility'] : undefined
  if (isVisibility(wanted)) return undefined
  const found = typeof wanted === 'string' ? `'${shorten(wanted)}'` : typeof wanted
  return `its visibility is ${found}; use 'full' or 'summary'`
}

export function isVisibility(value: unknown): value is Visibility {
  return value === 'full' || value === 'summary'
}
