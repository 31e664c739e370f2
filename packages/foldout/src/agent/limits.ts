import type { UsageRates } from '../adapters/usage/price-usage.ts'

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

/** After how many replies in a row whose calls were cut off a run stops. */
export const MAX_CUT_OFF_REPLIES = 3

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
 * The most that one user input may cost, in tokens or in money. A run that reaches a limit ends with a
 * `LimitReachedError`.
 *
 * @example
 * ```ts
 * const rates: UsageRates = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
 * const limits: RunLimits = { outputTokens: 20_000, cost: { usd: 0.5, rates } }
 * await runAgent(bound, { adapter, limits })
 * ```
 */
export interface RunLimits {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly totalTokens?: number
  /**
   * The most that it may cost in US dollars, at your rates. If the provider reports a higher cost (`usage.costUsd`),
   * that counts. The reply that reaches the limit is paid, so a run may cost one reply more.
   */
  readonly cost?: { readonly usd: number; readonly rates: UsageRates }
}

/** How many conversations an hour begin with a prompt if nobody has said so. Option `perHour` of `runAgent`. */
export const DEFAULT_PER_HOUR = 40

/**
 * Why a run stopped: a limit on turns, `stopWhen`, a reply that reached a limit of the model (`'cut-off'`), or one that the
 * provider stopped because of its content (`'filtered'`).
 *
 * @example
 * ```ts
 * const isUnfinished = (reason: StopReason): boolean => reason === 'cut-off' || reason === 'max-turns'
 * ```
 */
export type StopReason = 'max-turns' | 'stop-when' | 'cut-off' | 'filtered'

/** How many characters of a question about a section its agent receives. */
export const MAX_QUESTION_CHARACTERS = 100_000
