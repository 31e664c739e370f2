import type { HeaderValues, HttpReply, HttpRequest, HttpStream } from './exchange.ts'
import type { HttpHandler } from './node.ts'

/** Answers a request of the Fetch API. */
export function answerFetch(handler: HttpHandler, request: Request): Promise<Response> {
  const reply = new FetchReply(request.signal)
  // Streams go on after the response has begun. Failures are answered.
  void handler.handle(new FetchRequest(request), reply)
  return reply.response
}

class FetchRequest implements HttpRequest {
  readonly method: string
  readonly address: undefined
  readonly #request: Request

  constructor(request: Request) {
    this.method = request.method
    this.#request = request
  }

  getHeader(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined
  }

  async readBody(maxBytes: number): Promise<string | undefined> {
    if (Number(this.getHeader('content-length')) > maxBytes) return undefined
    const decoder = new TextDecoder()
    let bytes = 0
    let text = ''
    for await (const chunk of this.#request.body ?? []) {
      bytes += (chunk as Uint8Array).byteLength
      if (bytes > maxBytes) return undefined
      text += decoder.decode(chunk as Uint8Array, { stream: true })
    }
    return text + decoder.decode()
  }

  toRequest(): Request {
    return this.#request
  }
}

/** The status of an answer that nobody gets. */
const CLIENT_GONE = 499

class FetchReply implements HttpReply {
  readonly response: Promise<Response>
  readonly #signal: AbortSignal
  readonly #listeners = new Set<() => void>()
  #respond: (response: Response) => void = () => undefined
  #isClosed = false

  constructor(signal: AbortSignal) {
    this.#signal = signal
    this.response = new Promise((resolve) => (this.#respond = resolve))
    signal.addEventListener('abort', this, { once: true })
    if (signal.aborted) this.#close()
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Listens to the signal. */
  handleEvent(): void {
    this.#close()
  }

  end(status: number, headers: HeaderValues, body?: string): void {
    if (this.#isClosed) return
    this.#respond(new Response(body ?? null, { status, headers }))
    this.#close()
  }

  stream(headers: HeaderValues): HttpStream {
    const encoder = new TextEncoder()
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined
    let isOpen = !this.#isClosed
    const close = (): void => {
      isOpen = false
      this.#close()
    }
    const body = new ReadableStream<Uint8Array>(
      { start: (given) => void (controller = given), cancel: close },
      new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
    )
    if (isOpen) this.#respond(new Response(body, { status: 200, headers }))
    this.onClose(() => (isOpen = false))
    return {
      get unreadBytes() {
        return -(controller?.desiredSize ?? 0)
      },
      write: (text) => void (isOpen && controller?.enqueue(encoder.encode(text))),
      end() {
        if (isOpen) controller?.close()
        close()
      },
      destroy() {
        if (isOpen) controller?.error(new Error('The stream was ended, because it was not read.'))
        close()
      },
    }
  }

  onClose(listener: () => void): void {
    if (this.#isClosed) listener()
    else this.#listeners.add(listener)
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#signal.removeEventListener('abort', this)
    // Nothing, if there is a response already.
    this.#respond(new Response(null, { status: CLIENT_GONE }))
    for (const listener of this.#listeners) listener()
    this.#listeners.clear()
  }
}
