import type { Message, Usage } from '../../adapters/contract.ts'

/**
 * The request that a run is about to send.
 *
 * @example
 * ```ts
 * const isLarge = ({ tokens, window = Infinity }: RequestPreview): boolean => tokens > window / 2
 * ```
 */
export interface RequestPreview {
  /** The messages as they would be sent. */
  readonly messages: readonly Message[]
  /** Its tokens, with system text and tools. */
  readonly tokens: number
  /** The usage of the current user input so far. */
  readonly usage: Usage
  /** The size of the context window, if known. */
  readonly window: number | undefined
}

/**
 * What a run should shorten before its next request.
 *
 * @example
 * ```ts
 * const fold: RequestedFold = { results: ['call_17'], sections: ['guide'] }
 * ```
 */
export interface RequestedFold {
  /** The ids of the calls whose results fold to one line. Failed calls, results with images and unknown ids are left out. */
  readonly results?: readonly string[]
  /** The sections that close, by key. */
  readonly sections?: readonly string[]
  /** A summary that replaces the older turns. */
  readonly summary?: string
}

/**
 * Decides before each request what to fold; undefined leaves the decision to the run's own rules.
 *
 * @example
 * ```ts
 * const beforeRequest: BeforeRequest = ({ messages, tokens }) => {
 *   if (tokens < 50_000) return undefined
 *   const results = messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : []))
 *   return { results: results.slice(0, -3) }
 * }
 * await runAgent(bound, { adapter, beforeRequest })
 * ```
 */
export type BeforeRequest = (request: RequestPreview) => RequestedFold | undefined | Promise<RequestedFold | undefined>
