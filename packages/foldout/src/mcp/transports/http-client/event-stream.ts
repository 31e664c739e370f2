import { ignore } from '../../../core/promises.ts'
import { FIRST_RESUME_MS, LONGEST_RESUME_MS, MAX_RESUMES, SERVER_MESSAGE_BYTES } from '../../limits.ts'
import { LongEventError, readEvents } from './events.ts'
import { describeFetchFailure, HttpError } from './http-error.ts'

export interface EventStreamParts {
  /** Requests the stream, from the event after one on if the server keeps events. Rejects if the server refuses. */
  open(lastId: string | undefined, signal: AbortSignal): Promise<Response>
  receive(message: unknown): void
  onError(error: Error): void
  /** Called when it has ended for good. The reason is undefined if the server offers no stream, or it was not resumable. */
  onEnd(reason: string | undefined): void
}

/** The statuses of a server that only wants a token, or has no events. */
const NOT_FAILED: ReadonlySet<unknown> = new Set([401, 403, 405])

/**
 * A stream of messages as events. One that breaks is requested again a few times:
 *
 * ```
 * opening ── refused ─────────────▶ ended
 * opening ── response ────────────▶ open
 * open    ── finished or stopped ─▶ ended
 * open    ── broken ──────────────▶ waiting, if it can be resumed, otherwise ended
 * waiting ── response ────────────▶ open
 * waiting ── failed too often ────▶ ended
 * ```
 */
export class EventStream {
  readonly #parts: EventStreamParts
  readonly #stop = new AbortController()
  #opening: Promise<unknown> = Promise.resolve()
  #lastId: string | undefined
  #retryMs = FIRST_RESUME_MS
  /** How often it was requested in a row without a message. */
  #attempts = 0
  #failed = 0
  #wasOpen = false
  #isFinished = false

  constructor(parts: EventStreamParts) {
    this.#parts = parts
  }

  /** Whether the server has ever sent it. */
  get wasOpen(): boolean {
    return this.#wasOpen
  }

  /** Whether it is open, or may be opened again. */
  get isOpen(): Promise<boolean> {
    return this.#opening.then(() => this.#wasOpen && this.#failed < MAX_RESUMES && !this.#isOver)
  }

  /** Requests a stream that belongs to no request, and keeps it open. */
  async listen(): Promise<void> {
    const first = await this.#open()
    if (!first) return
    await this.#keepOpen(first, true)
  }

  /** Reads the stream of a request up to its answer. */
  async follow(first: Response): Promise<void> {
    await this.#keepOpen(first, false)
  }

  /** Nothing more is expected. */
  finish(): void {
    this.#isFinished = true
  }

  /** Ends it without a word. */
  stop(): void {
    this.#stop.abort()
  }

  get #isOver(): boolean {
    return this.#isFinished || this.#stop.signal.aborted
  }

  /** @param isLasting Whether it can be requested again even if its events have no ids. */
  async #keepOpen(first: Response, isLasting: boolean): Promise<void> {
    let response: Response | undefined = first
    let why: string | undefined
    while (response && !this.#isOver) {
      this.#wasOpen = true
      this.#failed = 0
      const isTooLong = await this.#read(response)
      if (this.#isOver) return
      if (isTooLong) return this.#parts.onEnd('It sent an event that is too long.')
      if (!isLasting && this.#lastId === undefined) return this.#parts.onEnd(undefined)
      ;({ response, why } = await this.#reopen())
    }
    if (!this.#isOver) this.#parts.onEnd(why)
  }

  /** Reads to the end. Returns whether an event was too long, which it would be again. */
  async #read(response: Response): Promise<boolean> {
    try {
      for await (const { type, data, id, retryMs } of readEvents(response, SERVER_MESSAGE_BYTES)) {
        if (this.#stop.signal.aborted) return false
        if (id !== undefined) this.#lastId = id
        if (retryMs !== undefined) this.#retryMs = retryMs
        if (data !== '' && type === 'message') this.#take(data)
      }
      return false
    } catch (error) {
      if (!this.#isOver) this.#parts.onError(error as Error)
      return error instanceof LongEventError
    }
  }

  #take(data: string): void {
    let message: unknown
    try {
      message = JSON.parse(data)
    } catch {
      return this.#parts.onError(new Error('The server sent an event that is not JSON.'))
    }
    this.#attempts = 0
    this.#parts.receive(message)
  }

  async #reopen(): Promise<{ readonly response: Response | undefined; readonly why: string | undefined }> {
    let why: string | undefined
    while (this.#failed < MAX_RESUMES && !this.#isOver) {
      await this.#pause()
      if (this.#isOver) break
      const response = await this.#open((reason) => (why = reason))
      if (response) return { response, why: undefined }
    }
    return { response: undefined, why }
  }

  async #open(onFailure?: (reason: string) => void): Promise<Response | undefined> {
    try {
      const opening = this.#parts.open(this.#lastId, this.#stop.signal)
      this.#opening = ignore(opening, 'the caller is told')
      return await opening
    } catch (error) {
      if (this.#isOver) return undefined
      const status = error instanceof HttpError ? error.status : undefined
      // There is nothing to wait for.
      if (NOT_FAILED.has(status)) this.#failed = MAX_RESUMES
      else onFailure?.(status === undefined ? describeFetchFailure(error) : `HTTP ${status}`)
      this.#failed++
      return undefined
    }
  }

  /** Waits longer each time, so that a server that keeps ending the stream is not kept busy. */
  async #pause(): Promise<void> {
    const ms = Math.min(this.#retryMs * 1.5 ** this.#attempts++, LONGEST_RESUME_MS)
    const { signal } = this.#stop
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      ;(timer as { unref?: () => void }).unref?.()
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }
}
