import { ERROR_BODY_BYTES, SERVER_MESSAGE_BYTES } from '../../limits.ts'
import type { JsonObject } from '../../protocol/messages.ts'
import type { McpReceiver, McpTransport, SendOptions } from '../../protocol/transport.ts'
import { AnswerQueue } from './answer-queue.ts'
import { dropBody, readStart } from './body.ts'
import { readEvents } from './events.ts'
import { HttpError, UnsentError } from './http-error.ts'
import { Requests, type HttpTransportOptions } from './requests.ts'

/**
 * Connects to an MCP server over the oldest transport over HTTP: the server sends everything on one stream of events, and
 * takes messages at an address that it names there.
 *
 * @example
 * ```ts
 * const transport = createSseTransport('https://mcp.example.com/sse')
 * ```
 */
export function createSseTransport(url: URL | string, options: HttpTransportOptions = {}): McpTransport {
  return new SseTransport(new URL(url), options)
}

class SseTransport implements McpTransport {
  readonly #url: URL
  readonly #options: HttpTransportOptions
  readonly #requests: Requests
  readonly #answers = new AnswerQueue()
  readonly #stop = new AbortController()
  #receiver: McpReceiver | undefined
  #endpoint: URL | undefined

  constructor(url: URL, options: HttpTransportOptions) {
    this.#url = url
    this.#options = options
    this.#requests = new Requests(options)
  }

  async start(receiver: McpReceiver): Promise<void> {
    this.#receiver = receiver
    const { signal } = this.#stop
    const headers = { accept: 'text/event-stream' }
    const response = await this.#requests.send(this.#url, { method: 'GET', headers, signal })
    const isStream = response.headers.get('content-type')?.toLowerCase().includes('text/event-stream') === true
    if (!response.ok || !isStream) throw new HttpError(response.status, await readStart(response, ERROR_BODY_BYTES))
    await new Promise<void>((resolve, reject) => {
      // A new stream would belong to a new session, so nothing is requested again.
      void this.#read(response, resolve)
        .catch((error: Error) => {
          reject(error)
          this.#options.onError?.(error)
        })
        .finally(() => {
          reject(new Error('The server ended its stream before it said where to send messages.'))
          void this.close()
        })
    })
  }

  async send(message: JsonObject, options: SendOptions = {}): Promise<void> {
    if (!this.#endpoint || this.#stop.signal.aborted) throw new UnsentError('Not connected')
    if ('method' in message) return this.#post(this.#endpoint, message, options)
    const endpoint = this.#endpoint
    if (!this.#answers.isFull) return this.#answers.run(() => this.#post(endpoint, message, options))
    await this.close()
  }

  async close(): Promise<void> {
    if (this.#stop.signal.aborted) return
    this.#stop.abort(new Error('The connection was closed.'))
    this.#receiver?.close()
  }

  async #post(endpoint: URL, message: JsonObject, { headers }: SendOptions): Promise<void> {
    const response = await this.#requests.send(endpoint, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(message),
      signal: this.#stop.signal,
    })
    if (!response.ok) throw new HttpError(response.status, await readStart(response, ERROR_BODY_BYTES))
    // The answer comes on the stream.
    await dropBody(response)
  }

  async #read(response: Response, onEndpoint: () => void): Promise<void> {
    for await (const { type, data } of readEvents(response, SERVER_MESSAGE_BYTES)) {
      if (this.#stop.signal.aborted) return
      if (type === 'endpoint') {
        this.#endpoint = readEndpoint(data, this.#url)
        onEndpoint()
      } else if (type === 'message' && data !== '') this.#take(data)
    }
  }

  #take(data: string): void {
    let message: unknown
    try {
      message = JSON.parse(data)
    } catch {
      this.#options.onError?.(new Error('The server sent an event that is not JSON.'))
      return
    }
    this.#receiver?.receive(message)
  }
}

/** The messages carry credentials, so they go to the server itself only. */
function readEndpoint(data: string, url: URL): URL {
  const endpoint = URL.canParse(data, url.href) ? new URL(data, url) : undefined
  if (endpoint?.origin !== url.origin)
    throw new Error(
      `The server wants its messages at ${endpoint?.origin ?? 'an address that is none'}, which is not its own.`,
    )
  return endpoint
}
