import { FoldoutError, type ErrorCode } from '../core/errors.ts'

/**
 * The codes that an {@link AdapterError} can have. `docs/errors.md` explains each code.
 *
 * @example
 * ```ts
 * const isFinal = (code: AdapterErrorCode): boolean => code !== 'adapter-unavailable'
 * ```
 */
export type AdapterErrorCode = Extract<
  ErrorCode,
  | 'adapter-config'
  | 'adapter-refused'
  | 'adapter-reply-invalid'
  | 'adapter-reply-too-large'
  | 'adapter-stream-cut'
  | 'adapter-unavailable'
  | 'model-refused'
>

/**
 * The details of a failed request.
 *
 * @example
 * ```ts
 * const details: AdapterErrorDetails = { adapter: 'acme', status: 429, retryAfterMs: 2000 }
 * ```
 */
export interface AdapterErrorDetails {
  /** The adapter's name: `openai`, `anthropic`. */
  readonly adapter: string
  /** The HTTP status of the provider's answer, if there was one. */
  readonly status?: number | undefined
  /** How long the provider asked to wait before the next attempt, in milliseconds. */
  readonly retryAfterMs?: number | undefined
  /** The error that the provider's SDK threw. */
  readonly cause?: unknown
}

/**
 * Thrown when a request to a provider fails. `code` is the kind of failure: the provider rejected the request
 * (`adapter-refused`), could not answer now (`adapter-unavailable`), stopped after part of the text
 * (`adapter-stream-cut`) or sent too much (`adapter-reply-too-large`); the request could not be made at all
 * (`adapter-config`); or the model declined to answer (`model-refused`).
 *
 * @example
 * ```ts
 * try {
 *   await runAgent(bound, { adapter })
 * } catch (error) {
 *   if (!(error instanceof AdapterError)) throw error
 *   if (error.code === 'adapter-unavailable') retryLater(error.retryAfterMs ?? 60_000)
 *   else console.error(error.adapter, error.status, error.message)
 * }
 * ```
 */
export class AdapterError extends FoldoutError {
  declare readonly code: AdapterErrorCode
  readonly adapter: string
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined

  constructor(code: AdapterErrorCode, message: string, details: AdapterErrorDetails) {
    super(code, message, details.cause === undefined ? undefined : { cause: details.cause })
    this.adapter = details.adapter
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
  }
}
