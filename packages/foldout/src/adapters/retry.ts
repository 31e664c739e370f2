import { checkNumber } from '../core/check-number.ts'
import { untilAborted } from '../core/abort.ts'
import { AdapterError } from './adapter-error.ts'
import type { ModelEvent } from './contract.ts'
import { toFailure, type RequestFailure } from './failure.ts'
import { MAX_RETRY_WAIT_MS } from './limits.ts'

/**
 * The options of {@link withRetries}.
 *
 * @example
 * ```ts
 * const options: RetryOptions = { adapter: 'acme', signal: request.signal, emit: (event) => request.emit(event) }
 * ```
 */
export interface RetryOptions {
  /** The adapter's name, for its errors. */
  readonly adapter: string
  /** How often a failed request is retried. Default 3. */
  readonly retries?: number | undefined
  /** Ends the request, or the wait before the next attempt, as soon as it aborts. */
  readonly signal: AbortSignal
  /** Receives the events of an attempt, and an event for each retry. */
  emit(event: ModelEvent): void
  /**
   * Returns the wait in milliseconds before a retry, whose number starts at 1. Default: the wait that the provider
   * requests, or 0.5 s, doubled with each retry up to 8 s. If the wait is longer than two minutes, the request fails.
   */
  readonly computeDelay?: (failure: RequestFailure, attempt: number) => number
  /** Waits, and rejects when the signal aborts. Default: a timer. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>
}

/**
 * One attempt at a request. It must emit events through its `emit` argument, and use its `signal` argument for the
 * request: that signal lives only as long as the attempt, so listeners that an SDK leaves on it do not pile up over a
 * run.
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
 * Makes a request, and retries it after a temporary failure: a lost connection, a status of 408, 409, 429 or 500 and
 * above, or an {@link AdapterError} with the code `adapter-unavailable` or `adapter-stream-cut`. Once text was shown,
 * the request is not retried, because the reader would see the text twice.
 *
 * Errors are recognized by their shape, as the SDKs of OpenAI, Anthropic and Vercel throw them: a number in `status` or
 * `statusCode`, and `headers` or `responseHeaders`, whose `retry-after` and `retry-after-ms` set the wait. They are
 * rethrown as an {@link AdapterError} with the code `adapter-refused`, `adapter-unavailable` or `adapter-stream-cut`;
 * any other error is rethrown unchanged. After an abort, the signal's reason is thrown.
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
      // An abandoned attempt may still emit events.
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

/** Runs one attempt with its own signal, which follows the run's signal while the attempt lasts. */
async function runAttempt<T>(work: Attempt<T>, emit: (event: ModelEvent) => void, signal: AbortSignal): Promise<T> {
  const own = new AbortController()
  const follow = (): void => own.abort(signal.reason)
  signal.addEventListener('abort', follow, { once: true })
  try {
    return await untilAborted(own.signal, () => work(emit, own.signal))
  } catch (error) {
    // The rest of a failed request must not continue: a stream may be endless.
    own.abort(error)
    throw error
  } finally {
    signal.removeEventListener('abort', follow)
  }
}

/**
 * Returns the wait that the provider requests, or one that doubles each time, minus up to a quarter to spread out
 * clients.
 */
function getDelay({ retryAfterMs }: RequestFailure, attempt: number): number {
  if (retryAfterMs !== undefined) return retryAfterMs
  const backoff = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), LONGEST_BACKOFF_MS)
  return Math.round(backoff * (1 - Math.random() / 4))
}

/** A timer treats a delay that is negative, NaN or above 2^31 as one millisecond. */
function toDelay(milliseconds: number): number {
  if (Number.isNaN(milliseconds)) return LONGEST_BACKOFF_MS
  return Math.max(0, milliseconds)
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
    `The provider rejected the request${said}, and a retry would not help. It said: ${message}`,
    { adapter, status, retryAfterMs, cause },
  )
}

function createCut({ adapter, failure, cause }: FailedRequest): AdapterError {
  const { status, retryAfterMs, message } = failure
  return new AdapterError(
    'adapter-stream-cut',
    `The reply was cut off after some of its text had been shown, so the request was not retried. The reason: ${message}`,
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
    delayMs > MAX_RETRY_WAIT_MS
      ? ` The provider asks to wait ${Math.round(delayMs / 1000)} s; try again after that.`
      : ''
  return new AdapterError(
    'adapter-unavailable',
    `The provider could not be reached or had no capacity ${tried}.${wait} The last answer: ${message}`,
    { adapter, status, retryAfterMs, cause },
  )
}
