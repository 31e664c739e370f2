/** How many replies a model may give to one user input. Option `maxTurns` of `runAgent`. */
export const DEFAULT_MAX_TURNS = 100

/** How many restarts a model's openings may cause for one user input. Option `maxExpansions` of `runAgent`. */
export const DEFAULT_MAX_EXPANSIONS = 10

/**
 * How many times a model is asked to fix an answer that does not match the prompt's output schema. Option `maxRepairs` of
 * `runAgent`.
 */
export const DEFAULT_MAX_REPAIRS = 2

/** How many calls of one reply run at the same time. Option `maxParallelCalls` of `runAgent`. */
export const DEFAULT_PARALLEL_CALLS = 16

/**
 * How many calls of one reply are run. The model is told that the rest were not. Option `maxCallsPerReply` of `runAgent`.
 */
export const DEFAULT_CALLS_PER_REPLY = 256

/** How many characters of malformed arguments an answer repeats. */
export const MAX_MALFORMED_SHOWN = 200

/** How many characters are kept of a reason for asking a person, and of that person's answer. */
export const MAX_APPROVAL_REASON = 4_000

/**
 * How many bytes the images and files of one input may have together. They become part of the conversation and of its stored
 * state.
 */
export const MAX_INPUT_BYTES = 32 * 1024 * 1024

/** How many parts one input may have: texts, images and files. */
export const MAX_INPUT_PARTS = 100

/** How many characters the address of an image or a file may have. A `data:` URL is limited by its bytes instead. */
export const MAX_INPUT_URL_CHARACTERS = 8_192

/** How many characters the name of a file in an input may have. */
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
