import { isPlainObject } from '../core/json/json.ts'
import { defineSlice } from './slice.ts'

/** How much of a section a model is shown. */
export type Visibility = 'full' | 'summary'

/** What was asked for sections, by dotted path. */
export type VisibilityOverrides = Readonly<Record<string, Visibility>>

const NONE: VisibilityOverrides = {}

/**
 * What the model has opened. Every session has this slice; seed it with
 * `createSession({ slices: [visibility.seed({ context: 'full' })] })`.
 */
export const visibility = defineSlice({
  name: 'visibility',
  initial: NONE,
  reducers: {
    set: (state, payload: { readonly path: string; readonly visibility: Visibility }): VisibilityOverrides =>
      state[payload.path] === payload.visibility ? state : { ...state, [payload.path]: payload.visibility },
    cleared: (state, payload: { readonly path: string }): VisibilityOverrides => {
      if (!Object.hasOwn(state, payload.path)) return state
      const { [payload.path]: _, ...others } = state
      return others
    },
    reset: () => NONE,
  },
  fromJson: (json) => {
    if (!isPlainObject(json) || !Object.values(json).every(isVisibility)) {
      throw new TypeError("it is not an object of 'full' and 'summary' by path.")
    }
    return json as VisibilityOverrides
  },
})

export function isVisibility(value: unknown): value is Visibility {
  return value === 'full' || value === 'summary'
}
