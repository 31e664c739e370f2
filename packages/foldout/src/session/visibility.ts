import { isPlainObject } from '../core/json/json.ts'
import { shorten } from '../core/text.ts'
import { defineSlice } from './slice.ts'

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

const NONE: VisibilityOverrides = {}

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
export const visibility = defineSlice({
  name: 'visibility',
  initial: NONE,
  reducers: {
    set: (state, payload: { readonly path: string; readonly visibility: Visibility }): VisibilityOverrides =>
      isSet(state, payload) ? state : { ...state, [payload.path]: payload.visibility },
    cleared: (state, payload: { readonly path: string }): VisibilityOverrides => {
      if (!Object.hasOwn(state, payload.path)) return state
      const { [payload.path]: _, ...others } = state
      return others
    },
    reset: () => NONE,
  },
  checks: {
    set: (payload) => describePathFault(payload) ?? describeVisibilityFault(payload),
    cleared: describePathFault,
  },
  fromJson: (json) => {
    if (!isPlainObject(json) || !Object.values(json).every(isVisibility)) {
      throw new TypeError("it is not an object of 'full' and 'summary' by path.")
    }
    return json as VisibilityOverrides
  },
})

function isSet(
  state: VisibilityOverrides,
  wanted: { readonly path: string; readonly visibility: Visibility },
): boolean {
  return Object.hasOwn(state, wanted.path) && state[wanted.path] === wanted.visibility
}

function describePathFault(payload: unknown): string | undefined {
  if (!isPlainObject(payload)) return 'its payload is not an object'
  return typeof payload['path'] === 'string' && payload['path'] !== ''
    ? undefined
    : 'its path is not a non-empty string'
}

function describeVisibilityFault(payload: unknown): string | undefined {
  const wanted = isPlainObject(payload) ? payload['visibility'] : undefined
  if (isVisibility(wanted)) return undefined
  const found = typeof wanted === 'string' ? `'${shorten(wanted)}'` : typeof wanted
  return `its visibility is ${found}; use 'full' or 'summary'`
}

export function isVisibility(value: unknown): value is Visibility {
  return value === 'full' || value === 'summary'
}
