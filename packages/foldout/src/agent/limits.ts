/** The maximum number of model replies for one user input. Option `maxTurns` of `runAgent`. */
export const DEFAULT_MAX_TURNS = 100

/** The maximum number of restarts that openings may cause for one user input. Option `maxExpansions` of `runAgent`. */
export const DEFAULT_MAX_EXPANSIONS = 10

/**
 * How often a model is asked to fix an answer that does not fit the prompt's output. Option `maxRepairs` of `runAgent`.
 */
export const DEFAULT_MAX_REPAIRS = 2

/** The maximum number of calls of one reply that run at the same time. Option `maxParallelCalls` of `runAgent`. */
export const DEFAULT_PARALLEL_CALLS = 16

/**
 * The maximum number of calls of one reply that run at all; the rest are answered with a failure. Option
 * `maxCallsPerReply` of `runAgent`.
 */
export const DEFAULT_CALLS_PER_REPLY = 256

/** The maximum number of characters of malformed arguments that an answer quotes. */
export const MAX_MALFORMED_SHOWN = 200

/** The maximum number of characters kept from a reason for approval or from a person's answer. */
export const MAX_APPROVAL_REASON = 4_000

/**
 * The maximum number of bytes of all images and files in one input. They become part of the conversation, and of its
 * stored state.
 */
export const MAX_INPUT_BYTES = 32 * 1024 * 1024

/** The maximum number of parts in one input: texts, images and files. */
export const MAX_INPUT_PARTS = 100

/** The maximum number of characters in the URL of an image or a file. A `data:` URL counts as bytes instead. */
export const MAX_INPUT_URL_CHARACTERS = 8_192

/** The maximum number of characters in the name of a file. */
export const MAX_INPUT_NAME_CHARACTERS = 255

/**
 * The maximum number of tokens that one user input may cost. A run that reaches a limit ends with a
 * `LimitReachedError`.
 *
 * @example
 * ```ts
 * const limits: TokenLimits = { inputTokens: 200_000, outputTokens: 20_000 }
 * await runAgent(bound, { adapter, limits })
 * ```
 */
export interface TokenLimits {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly totalTokens?: number
}
