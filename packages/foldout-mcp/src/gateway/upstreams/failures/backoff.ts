import { ignore } from 'foldout/promises'
import { UpstreamError } from './failures.ts'
import { FIRST_PAUSE_MS, LONGEST_PAUSE_MS } from './limits.ts'
import { pause } from './pause.ts'

/** Why a server cannot be used now. */
export interface Failure {
  readonly reason: string
  readonly retryAt: number
  /** Whether the server only needs a sign-in to work. */
  readonly needsSignIn?: true
}

/** How long a server is left alone after failures: longer after each. */
export class Backoff {
  #failures = 0
  #failure: Failure | undefined

  get failure(): Failure | undefined {
    return this.#failure
  }

  get isPausing(): boolean {
    return this.#failure !== undefined && Date.now() < this.#failure.retryAt
  }

  fail(reason: string, { firstMs = FIRST_PAUSE_MS, needsSignIn = false } = {}): Failure {
    // The user may sign in at any moment, and should not have to wait then.
    if (needsSignIn) this.#failures = 0
    const pauseMs = this.#failures === 0 ? firstMs : FIRST_PAUSE_MS * 2 ** (this.#failures - 1)
    this.#failures++
    const retryAt = Date.now() + Math.min(pauseMs, LONGEST_PAUSE_MS)
    this.#failure = { reason, retryAt, ...(needsSignIn && { needsSignIn }) }
    return this.#failure
  }

  /** The server has started, or is to be started now. */
  clear(): void {
    this.#failure = undefined
  }

  /** The server works: the next failure is the first one again. */
  succeed(): void {
    this.#failures = 0
  }
}

interface RestorerOptions {
  /** Whether the server has to run, and does not. */
  isWanted(): boolean
  open(): Promise<unknown>
  /** Ends the attempts. */
  readonly signal: AbortSignal
}

/** Starts a server again without a call: clients that have subscribed to it wait for its notifications. */
export class Restorer {
  readonly #backoff: Backoff
  readonly #options: RestorerOptions
  #isRunning = false

  constructor(backoff: Backoff, options: RestorerOptions) {
    this.#backoff = backoff
    this.#options = options
  }

  start(): void {
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    const { isWanted, open, signal } = this.#options
    this.#isRunning = true
    // A sign-in starts the server by itself.
    while (isWanted() && !signal.aborted && !this.#backoff.failure?.needsSignIn) {
      const leftMs = (this.#backoff.failure?.retryAt ?? 0) - Date.now()
      await pause(Math.max(FIRST_PAUSE_MS, leftMs), signal)
      // If it fails, the server's state says why.
      if (isWanted() && !signal.aborted) await ignore(open(), "the server's state says why")
    }
    this.#isRunning = false
  }
}

/** The error of a call to a server that is left alone. */
export function createPauseError(server: string, { reason, retryAt }: Failure): UpstreamError {
  const seconds = Math.max(1, Math.ceil((retryAt - Date.now()) / 1_000))
  return new UpstreamError(
    `the server '${server}' cannot be started. ${reason} It will be retried in ${seconds} s at the earliest.`,
    { reason },
  )
}
