import { EVENT_KEEP_ALIVE_MS } from '../../limits.ts'
import type { JsonObject } from '../../protocol/messages.ts'
import type { HeaderValues, HttpReply, HttpStream } from './exchange.ts'

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

export interface EventStreamOptions {
  readonly headers: HeaderValues
  /** Whether nothing is sent for now. Some servers keep even the headers back until there is something. */
  readonly isSilent: boolean
  /** With more bytes that the client has not read, the stream ends. The client may open another one. */
  readonly maxUnreadBytes?: number
}

/** An answer over HTTP that consists of messages. */
export class EventStream {
  readonly #stream: HttpStream
  readonly #maxUnreadBytes: number
  readonly #timer: ReturnType<typeof setInterval>

  constructor(reply: HttpReply, { headers, isSilent, maxUnreadBytes = Infinity }: EventStreamOptions) {
    this.#maxUnreadBytes = maxUnreadBytes
    this.#stream = reply.stream({ ...HEADERS, ...headers })
    if (isSilent) this.#stream.write(': open\n\n')
    // Proxies close connections on which nothing happens.
    this.#timer = setInterval(() => this.#stream.write(': keepalive\n\n'), EVENT_KEEP_ALIVE_MS)
    this.#timer.unref?.()
    reply.onClose(() => clearInterval(this.#timer))
  }

  send(message: JsonObject): void {
    this.#stream.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
    if (this.#stream.unreadBytes > this.#maxUnreadBytes) this.#stream.destroy()
  }

  end(): void {
    clearInterval(this.#timer)
    this.#stream.end()
  }
}
