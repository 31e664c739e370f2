import { MAX_LINE_BYTES, STDIO_WAITING } from '../../limits.ts'
import type { RequestId } from '../../protocol/messages.ts'
import type { ValidRequest } from '../../protocol/valid-message.ts'

interface WaitingRequest {
  readonly request: ValidRequest
  readonly bytes: number
}

/**
 * The requests of a client. Each one waits, runs, and is forgotten when its answer is on its way or it was cancelled:
 *
 * ```
 * waiting ── start, if there is room ──▶ running ── finish ──▶ forgotten
 *    └──────────── cancel ──────────────────┴── cancel ──────────▲
 * ```
 */
export class RequestQueue {
  readonly #maxRunning: number
  #waiting: WaitingRequest[] = []
  #waitingBytes = 0
  readonly #running = new Set<RequestId>()

  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning
  }

  /** Whether no more requests should be read. */
  get isFull(): boolean {
    return this.#waiting.length >= STDIO_WAITING || this.#waitingBytes >= MAX_LINE_BYTES
  }

  add(request: ValidRequest, bytes: number): void {
    this.#waiting.push({ request, bytes })
    this.#waitingBytes += bytes
  }

  /** The next request to run, if there is room for one. */
  start(): ValidRequest | undefined {
    if (this.#running.size >= this.#maxRunning) return undefined
    const next = this.#waiting.shift()
    if (!next) return undefined
    this.#waitingBytes -= next.bytes
    this.#running.add(next.request.id)
    return next.request
  }

  /** Forgets a request whose answer is on its way. */
  finish(id: RequestId): void {
    this.#running.delete(id)
  }

  /** Forgets a request, which gets no answer. */
  cancel(id: RequestId): void {
    this.#running.delete(id)
    this.#waiting = this.#waiting.filter(({ request, bytes }) => {
      if (request.id !== id) return true
      this.#waitingBytes -= bytes
      return false
    })
  }

  clear(): void {
    this.#waiting = []
  }
}
