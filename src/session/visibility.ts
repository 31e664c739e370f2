import { defineSlice } from './slice.ts'

/** How much of a section a model is shown. */
export type Visibility = 'full' | 'summary'

/** What was asked for sections, by dotted path. */
export type VisibilityOverrides = Readonly<Record<string, Visibility>>

/**
 * What the model has opened. Every session has this slice; seed it with
 * `createSession({ slices: [visibility.seed({ context: 'full' })] })`.
 */
export const visibility = defineSlice({
  name: 'visibility',
  initial: Object.freeze({}) as VisibilityOverrides,
  reducers: {
    set: (state, payload: { readonly path: string; readonly visibility: Visibility }): VisibilityOverrides =>
      state[payload.path] === payload.visibility
        ? state
        : Object.freeze({ ...state, [payload.path]: payload.visibility }),
    cleared: (state, payload: { readonly path: string }): VisibilityOverrides => {
      const { [payload.path]: _, ...others } = state
      return Object.freeze(others)
    },
    reset: (): VisibilityOverrides => Object.freeze({}),
  },
})

export function isVisibility(value: unknown): value is Visibility {
  return value === 'full' || value === 'summary'
}
