/**
 * Whether a server runs, and why not.
 *
 * @example
 * const isBroken = (state: UpstreamState): boolean => state.type === 'failed'
 */
export type UpstreamState =
  | { readonly type: 'stopped' }
  | { readonly type: 'starting' }
  | { readonly type: 'running'; readonly calls: number }
  | {
      readonly type: 'failed'
      readonly reason: string
      readonly retryAt: number
      /** Whether the server only needs a sign-in to work. */
      readonly needsSignIn?: true
    }
