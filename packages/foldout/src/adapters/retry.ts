import { FoldoutError } from '../core/errors.ts'
import type { ModelEvent } from './contract.ts'
import { toFailure, type RequestFailure } from './failure.ts'

export interface RetryOptions {
  /** How often a failed request is sent again. Default 3. */
  readonly retries?: number | undefined
  readonly signal: AbortSignal
  emit(event: ModelEvent): void
  /** The wait before the retry of this number, from 1. Default: what the provider asks for, or else twice as long each time. */
  readonly computeDelay?: (failure: RequestFailure, attempt: number) => number
  /** Waits; rejects when the signal aborts. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>
}

/** One attempt at a request. What it tells must go through the `emit` it is given. */
export type Attempt<T> = (emit: (event: ModelEvent) => void) => Promise<T>

const DEFAULT_RETRIES = 3
const FIRST_DELAY_MS = 500
const LONGEST_BACKOFF_MS = 8_000
const LONGEST_WAIT_MS = 120_000

/**
 * Makes a request, again where the failure may pass. As soon as text went out it is not made again, since the reader would
 * see it twice. Errors of the provider come out as `FoldoutError`, others as they are, an abort as the signal's reason.
 */
export async function withRetries<T>(work: Attempt<T>, options: RetryOptions): Promise<T> {
  const { retries = DEFAULT_RETRIES, signal, emit, computeDelay = delayBefore, sleep = pause } = options
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
      return await abortable(work(watch), signal)
    } catch (error) {
      signal.throwIfAborted()
      const failure = error instanceof FoldoutError ? undefined : toFailure(error)
      if (failure === undefined) throw error
      if (!failure.isTransient) throw refused(failure, error)
      if (hasText) throw streamCut(failure, error)
      const delayMs = computeDelay(failure, attempt)
      if (attempt > retries || delayMs > LONGEST_WAIT_MS) throw unavailable(failure, attempt, delayMs, error)
      emit({ type: 'request/retried', attempt, delayMs, reason: failure.message })
      await sleep(delayMs, signal)
    }
  }
}

/** What the provider asks for, or else twice as long each time, less up to a quarter so that clients spread. */
function delayBefore({ retryAfterMs }: RequestFailure, attempt: number): number {
  if (retryAfterMs !== undefined) return retryAfterMs
  const backoff = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), LONGEST_BACKOFF_MS)
  return Math.round(backoff * (1 - Math.random() / 4))
}

/** Waits for a promise, but not after the signal aborts: then it rejects with the signal's reason. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: (() => void) | undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the reason is what the caller gave
    onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort)
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  try {
    await abortable(elapsed, signal)
  } finally {
    clearTimeout(timer)
  }
}

function refused({ status, message }: RequestFailure, cause: unknown): FoldoutError {
  const said = status === undefined ? '' : ` with status ${status}`
  return new FoldoutError(
    'adapter-refused',
    `The provider refused the request${said}, and sending it again would not help. It said: ${message}`,
    { cause },
  )
}

function streamCut({ message }: RequestFailure, cause: unknown): FoldoutError {
  return new FoldoutError(
    'adapter-stream-cut',
    `The reply broke off after some of its text had been shown, so it was not asked for again. The reason: ${message}`,
    { cause },
  )
}

function unavailable(failure: RequestFailure, attempts: number, delayMs: number, cause: unknown): FoldoutError {
  const wait =
    delayMs > LONGEST_WAIT_MS ? ` The provider asks to wait ${Math.round(delayMs / 1000)} s; try again then.` : ''
  return new FoldoutError(
    'adapter-unavailable',
    `The provider could not be reached or had no capacity, ${attempts === 1 ? 'at the one attempt made' : `at ${attempts} attempts`}.${wait} The last answer: ${failure.message}`,
    { cause },
  )
}
