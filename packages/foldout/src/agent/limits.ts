/** Replies that a model may give to one input of the user. Option `maxTurns` of `runAgent`. */
export const DEFAULT_MAX_TURNS = 100

/** Restarts that a model's openings may cause for one input of the user. Option `maxExpansions` of `runAgent`. */
export const DEFAULT_MAX_EXPANSIONS = 10

/** Times that a model is asked to fix an answer that does not fit the prompt's output. Option `maxRepairs` of `runAgent`. */
export const DEFAULT_MAX_REPAIRS = 2

/** Calls of one reply that run at the same time. Option `maxParallelCalls` of `runAgent`. */
export const DEFAULT_PARALLEL_CALLS = 16

/** Calls of one reply that are run at all; the model is told that the rest were not. Option `maxCallsPerReply` of `runAgent`. */
export const DEFAULT_CALLS_PER_REPLY = 256

/** Characters of malformed arguments that an answer repeats. */
export const MAX_MALFORMED_SHOWN = 200

/** Characters of a reason for asking a person, or of that person's answer, that are kept. */
export const MAX_APPROVAL_REASON = 4_000

/** Bytes that the images and files of one input may have together. They become part of the conversation, and of its stored state. */
export const MAX_INPUT_BYTES = 32 * 1024 * 1024

/** Parts that one input may have: texts, images and files. */
export const MAX_INPUT_PARTS = 100

/** Characters that the address of an image or a file may have. The address itself may not be longer; a `data:` URL counts as bytes. */
export const MAX_INPUT_URL_CHARACTERS = 8_192

/** Characters that the name of a file in an input may have. */
export const MAX_INPUT_NAME_CHARACTERS = 255

/**
 * Tokens that one input of the user may cost. A run that reaches a limit ends with a `LimitReachedError`.
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
