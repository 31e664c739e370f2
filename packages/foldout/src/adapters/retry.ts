import { checkNumber } from '../core/check-number.ts'
import { untilAborted } from '../core/abort.ts'
import { AdapterError } from './adapter-error.ts'
import type { ModelEvent } from './contract.ts'
import { toFailure, type RequestFailure } from './failure.ts'
import { MAX_RETRY_WAIT_MS } from './limits.ts'

/**
 * How {@link withRetries} makes a request.
 *
 * @example
 * ```ts
 * const options: RetryOptions = { adapter: 'acme', signal: request.signal, emit: (event) => request.emit(event) }
 * ```
 */
export interface RetryOptions {
  /** The adapter's name, for its errors. */
  readonly adapter: string
  /** How often a failed request is sent again. Default 3. */
  readonly retries?: number | undefined
  /** Ends the request, or the wait for the next attempt, as soon as it aborts. */
  readonly signal: AbortSignal
  /** Takes what an attempt tells, and an event for each retry. */
  emit(event: ModelEvent): void
  /**
   * The wait in milliseconds before the retry of this number, from 1. Default: what the provider asks for, or else 0.5 s,
   * doubled with each retry up to 8 s. If it is longer than two minutes the request fails.
   */
  readonly computeDelay?: (failure: RequestFailure, attempt: number) => number
  /** Waits, and rejects when the signal aborts. Default: a timer. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>
}

/**
 * One attempt at a request. What it tells must go through the `emit` it is given, and its request must use the signal it is
 * given: that signal lives as long as the attempt, so listeners that an SDK leaves on it do not pile up over a run.
 *
 * @example
 * ```ts
 * const attempt: Attempt<ChatReply> = (emit, signal) => askAcme(request, emit, signal)
 * ```
 */
export type Attempt<T> = (emit: (event: ModelEvent) => void, signal: AbortSignal) => Promise<T>

const DEFAULT_RETRIES = 3
const FIRST_DELAY_MS = 500
const LONGEST_BACKOFF_MS = 8_000

/**
 * Makes a request, and makes it again if it failed in a way that may pass: a lost connection, a status of 408, 409, 429 or
 * 500 and above, or an {@link AdapterError} with the code `adapter-unavailable` or `adapter-stream-cut`. Once text was
 * shown the request is not repeated, since the reader would see it twice.
 *
 * Errors are read by their shape, as the SDKs of OpenAI, Anthropic and the AI SDK throw them: a number in `status` or
 * `statusCode`, and `headers` or `responseHeaders`, of which `retry-after` and `retry-after-ms` set the wait. They come out
 * as an {@link AdapterError} with the code `adapter-refused`, `adapter-unavailable` or `adapter-stream-cut`; anything else
 * that was thrown comes out as it is. An abort comes out as the signal's reason.
 *
 * @example
 * ```ts
 * const reply = await withRetries(
 *   async (emit, signal) => {
 *     const response = await fetch(url, { method: 'POST', body, signal })
 *     const { status, headers } = response
 *     if (!response.ok) throw Object.assign(new Error(await response.text()), { status, headers })
 *     return readReply(response, emit)
 *   },
 *   { adapter: 'acme', signal: request.signal, emit: (event) => request.emit(event) },
 * )
 * ```
 */
export async function withRetries<T>(work: Attempt<T>, options: RetryOptions): Promise<T> {
  checkNumber('maxRetries', options.retries, { code: 'adapter-config' })
  const { retries = DEFAULT_RETRIES, signal, emit, computeDelay = getDelay, sleep = pause } = options
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted()
    let hasText = false
    const watch = (event: ModelEvent): void => {
      // An attempt that was given up may still have something to say.
      if (signal.aborted) return
      if (event.type === 'text/delta') hasText = true
      emit(event)
    }
    try {
      return await runAttempt(work, watch, signal)
    } catch (error) {
      signal.throwIfAborted()
      const failure = toFailure(error)
      if (failure === undefined) throw error
      const failed = { ...options, failure, cause: error }
      if (!failure.isTransient) throw createRefusal(failed)
      if (hasText) throw createCut(failed)
      const delayMs = toDelay(computeDelay(failure, attempt))
      if (attempt > retries || delayMs > MAX_RETRY_WAIT_MS) throw createUnavailable(failed, attempt, delayMs)
      emit({ type: 'request/retried', attempt, delayMs, reason: failure.message })
      await sleep(delayMs, signal)
    }
  }
}

/** Runs one attempt under a signal of its own, which follows the run's for as long as the attempt lasts. */
async function runAttempt<T>(work: Attempt<T>, emit: (event: ModelEvent) => void, signal: AbortSignal): Promise<T> {
  const own = new AbortController()
  const follow = (): void => own.abort(signal.reason)
  signal.addEventListener('abort', follow, { once: true })
  try {
    return await untilAborted(own.signal, () => work(emit, own.signal))
  } catch (error) {
    // What is left of a failed request must not go on: a stream may have no end.
    own.abort(error)
    throw error
  } finally {
    signal.removeEventListener('abort', follow)
  }
}

/** What the provider asks for, or else twice as long each time, less up to a quarter so that clients spread. */
function getDelay({ retryAfterMs }: RequestFailure, attempt: number): number {
  if (retryAfterMs !== undefined) return retryAfterMs
  const backoff = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), LONGEST_BACKOFF_MS)
  return Math.round(backoff * (1 - Math.random() / 4))
}

/** A timer takes a delay below zero, NaN or above 2^31 for one millisecond. */
function toDelay(milliseconds: number): number {
  return Number.isNaN(milliseconds) ? LONGEST_BACKOFF_MS : Math.max(0, milliseconds)
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    await untilAborted(
      signal,
      () =>
        new Promise<void>((resolve) => {
          timer = setTimeout(resolve, milliseconds)
        }),
    )
  } finally {
    clearTimeout(timer)
  }
}

interface FailedRequest {
  readonly adapter: string
  readonly failure: RequestFailure
  readonly cause: unknown
}

function createRefusal({ adapter, failure, cause }: FailedRequest): AdapterError {
  const { status, retryAfterMs, message } = failure
  const said = status === undefined ? '' : ` with status ${status}`
  return new AdapterError(
    'adapter-refused',
    `The provider refused the request${said}, and sending it again would not help. It said: ${message}`,
    { adapter, status, retryAfterMs, cause },
  )
}

function createCut({ adapter, failure, cause }: FailedRequest): AdapterError {
  const { status, retryAfterMs, message } = failure
  return new AdapterError(
    'adapter-stream-cut',
    `The reply broke off after some of its text had been shown, so it was not asked for again. The reason: ${message}`,
    { adapter, status, retryAfterMs, cause },
  )
}

function createUnavailable(
  { adapter, failure, cause }: FailedRequest,
  attempts: number,
  delayMs: number,
): AdapterError {
  const { status, retryAfterMs, message } = failure
  const tried = attempts === 1 ? 'in one attempt' : `in ${attempts} attempts`
  const wait =
    delayMs > MAX_RETRY_WAIT_MS ? ` The provider asks to wait ${Math.round(delayMs / 1000)} s; try again then.` : ''
  return new AdapterError(
    'adapter-unavailable',
    `The provider could not be reached or had no capacity ${tried}.${wait} The last answer: ${message}`,
    { adapter, status, retryAfterMs, cause },
  )
}
