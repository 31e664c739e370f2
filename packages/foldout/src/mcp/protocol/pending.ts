import { isObject } from 'foldout-shared/values'
import { LONGEST_TIMER_MS } from '../../core/timer.ts'
import { ProtocolError, toErrorObject } from './errors.ts'
import type { JsonObject } from './messages.ts'
import type { SendOptions } from './transport.ts'

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
  /** How long the other side may go without an answer or progress. Default: forever. */
  readonly timeoutMs?: number
  /** How long the request may take, whatever progress there is. Default: forever. */
  readonly maxMs?: number
  /** Called with progress. Only if it is defined, the request asks for progress. */
  readonly onProgress?: ((progress: JsonObject) => void) | undefined
  /** Called with the request's id before it is sent. */
  readonly onStart?: (id: number) => void
  /** Called with the result and the request's id before anything that was sent later is read. */
  readonly onResult?: (result: JsonObject, id: number) => void
  /** How the message is sent. */
  readonly sending?: SendOptions
  /** How the other side learns that the answer is not wanted. Default: `notification`. */
  readonly cancelBy?: 'notification' | 'stream' | 'nothing'
}

/** Those who sent a request. */
export interface Requester {
  /** Called once, when nothing waits for the answer any more. */
  forget(id: number): void
  /** Tells the other side that the answer is not wanted. */
  cancel(id: number, reason: string, sending: SendOptions | undefined): void
}

interface Settle {
  resolve(result: JsonObject): void
  reject(error: Error): void
}

/** A request that waits for its answer. A class, because closures for each request would take longer than the rest. */
export class PendingRequest implements Expiring {
  readonly #id: number
  readonly #options: RequestOptions
  readonly #requester: Requester
  readonly #settle: Settle
  readonly #start = performance.now()
  #heardAt = this.#start
  #stream: AbortController | undefined
  #isOver = false

  constructor(id: number, options: RequestOptions, requester: Requester, settle: Settle) {
    this.#id = id
    this.#options = options
    this.#requester = requester
    this.#settle = settle
    options.signal?.addEventListener('abort', this, { once: true })
  }

  /** When it has taken too long, unless there is progress before. */
  get dueAt(): number {
    const { timeoutMs = Infinity, maxMs = Infinity } = this.#options
    return Math.min(this.#heardAt + timeoutMs, this.#start + maxMs)
  }

  /** How it is sent over a transport on which each request has its own stream. */
  followStream(): SendOptions {
    const { sending, cancelBy } = this.#options
    const onStreamEnd = (reason?: string): void =>
      this.fail(new ProtocolError('CONNECTION_CLOSED', reason ?? 'Connection closed', reason))
    if (cancelBy !== 'stream') return { ...sending, onStreamEnd }
    this.#stream = new AbortController()
    return { ...sending, onStreamEnd, signal: this.#stream.signal }
  }

  /** Takes the answer. */
  settle({ result, error }: JsonObject): void {
    if (this.#isOver) return
    const isFailed = error !== undefined && error !== null
    if (isFailed || !isObject(result)) {
      const { code, message, data } = toErrorObject(error ?? undefined)
      return this.fail(new ProtocolError(code, message, data))
    }
    this.#end()
    this.#options.onResult?.(result, this.#id)
    this.#settle.resolve(result)
  }

  fail(error: Error): void {
    if (this.#isOver) return
    this.#end()
    this.#settle.reject(error)
  }

  hear(progress: JsonObject): void {
    this.#heardAt = performance.now()
    this.#options.onProgress?.(progress)
  }

  expire(now: number): void {
    const isOverdue = now - this.#start >= (this.#options.maxMs ?? Infinity)
    const code = isOverdue ? 'OVERDUE' : 'REQUEST_TIMEOUT'
    this.#cancel(new ProtocolError(code, isOverdue ? 'Request took too long' : 'Request timed out'))
  }

  /** Listens to the signal. */
  handleEvent(): void {
    const reason: unknown = this.#options.signal?.reason
    this.#cancel(reason instanceof Error ? reason : new Error(String(reason)))
  }

  #cancel(why: Error): void {
    if (this.#isOver) return
    const { cancelBy = 'notification', sending } = this.#options
    this.fail(why)
    if (cancelBy === 'notification') this.#requester.cancel(this.#id, why.message, sending)
    this.#stream?.abort(why)
  }

  #end(): void {
    this.#isOver = true
    this.#requester.forget(this.#id)
    this.#options.signal?.removeEventListener('abort', this)
  }
}

/** Something that ends at a time, unless that time moves. */
interface Expiring {
  /** In milliseconds, as `performance.now()` counts them. `Infinity` if never. */
  readonly dueAt: number
  expire(now: number): void
}

/** Ends what takes too long, with one timer for all: creating and clearing a timer takes a tenth of a small call. */
export class Deadlines {
  readonly #listAll: () => Iterable<Expiring>
  #timer: ReturnType<typeof setTimeout> | undefined
  #at = Infinity

  constructor(listAll: () => Iterable<Expiring>) {
    this.#listAll = listAll
  }

  /** Looks at all of them at a time, or before. */
  watch(dueAt: number): void {
    if (dueAt < this.#at) this.#wait(dueAt)
    // A process waits for its requests.
    else this.#timer?.ref?.()
  }

  /** Nothing is left to wait for. The timer stays, for the next request. */
  rest(): void {
    this.#timer?.unref?.()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#at = Infinity
  }

  #wait(at: number): void {
    clearTimeout(this.#timer)
    this.#at = at
    const left = Math.max(0, Math.ceil(at - performance.now()))
    this.#timer = setTimeout(() => this.#look(), Math.min(left, LONGEST_TIMER_MS))
  }

  #look(): void {
    this.#at = Infinity
    this.#timer = undefined
    const now = performance.now()
    let next = Infinity
    for (const each of Array.from(this.#listAll())) {
      if (each.dueAt <= now) each.expire(now)
      else next = Math.min(next, each.dueAt)
    }
    // What has expired may have led to new requests.
    if (next < this.#at) this.#wait(next)
  }
}
