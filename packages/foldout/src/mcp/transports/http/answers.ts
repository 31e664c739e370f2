import { JSON_ANSWER_MS } from '../../limits.ts'
import type { JsonObject, RequestId } from '../../protocol/messages.ts'
import { EventStream } from './event-stream.ts'
import type { HeaderValues, HttpReply } from './exchange.ts'

export interface AnswersOptions {
  /** The requests that came together. */
  readonly ids: readonly RequestId[]
  readonly headers: HeaderValues
  /** Whether an answer that comes alone is an event as well. Default false. */
  readonly isAlwaysStream?: boolean
  /** The status of an answer that comes alone. Default 200. */
  getStatus?(answer: JsonObject): number
}

/**
 * Sends the answers to the requests of one HTTP request. One that comes soon and alone is plain JSON, and an event
 * stream otherwise: plain answers take half the time, but the client receives nothing until the end.
 */
export class Answers {
  readonly #reply: HttpReply
  readonly #options: AnswersOptions
  readonly #missing: Set<RequestId>
  readonly #timer: ReturnType<typeof setTimeout>
  #stream: EventStream | undefined

  constructor(reply: HttpReply, options: AnswersOptions) {
    this.#reply = reply
    this.#options = options
    this.#missing = new Set(options.ids)
    this.#timer = setTimeout(() => this.#open(true), JSON_ANSWER_MS)
    reply.onClose(() => clearTimeout(this.#timer))
  }

  /** The requests that are not answered. */
  getMissing(): readonly RequestId[] {
    return [...this.#missing]
  }

  /** Sends a message that comes before the answer. */
  send(message: JsonObject): void {
    this.#open(false).send(message)
  }

  /** Sends the answer to a request; nothing if the request was cancelled. */
  answer(id: RequestId, message: JsonObject | undefined): void {
    this.#missing.delete(id)
    const { ids, headers, isAlwaysStream = false, getStatus } = this.#options
    if (message && ids.length === 1 && !this.#stream && !isAlwaysStream) {
      const status = getStatus?.(message) ?? 200
      return this.#reply.end(status, { ...headers, 'content-type': 'application/json' }, JSON.stringify(message))
    }
    const stream = this.#open(false)
    if (message) stream.send(message)
    if (this.#missing.size === 0) stream.end()
  }

  #open(isSilent: boolean): EventStream {
    clearTimeout(this.#timer)
    this.#stream ??= new EventStream(this.#reply, { headers: this.#options.headers, isSilent })
    return this.#stream
  }
}
