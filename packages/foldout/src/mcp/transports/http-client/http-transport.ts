import { parseJson } from '../../../core/json/json.ts'
import { isObject } from 'foldout-shared/values'
import { END_SESSION_MS, ERROR_BODY_BYTES, SERVER_MESSAGE_BYTES } from '../../limits.ts'
import { isRequest, type JsonObject, type RequestId } from '../../protocol/messages.ts'
import type { McpReceiver, McpTransport, SendOptions } from '../../protocol/transport.ts'
import { AnswerQueue } from './answer-queue.ts'
import { dropBody, readBody, readStart } from './body.ts'
import { EventStream } from './event-stream.ts'
import { describeFetchFailure, HttpError, isNoConnection, UnsentError } from './http-error.ts'
import { Requests, type HttpRequest, type HttpTransportOptions } from './requests.ts'

const JSON_TYPE = 'application/json'
const EVENT_TYPE = 'text/event-stream'

/**
 * Connects to an MCP server over HTTP. Answers and events are limited in size, a server that restarts or forgets the
 * session is noticed, and the session is ended with the connection.
 *
 * @example
 * ```ts
 * const transport = createHttpTransport(new URL('https://mcp.example.com/mcp'), { headers: { 'x-api-key': 'secret' } })
 * ```
 */
export function createHttpTransport(url: URL | string, options: HttpTransportOptions = {}): McpTransport {
  return new HttpTransport(new URL(url), options)
}

class HttpTransport implements McpTransport {
  readonly hasRequestStreams = true
  readonly #url: URL
  readonly #options: HttpTransportOptions
  readonly #requests: Requests
  readonly #answers = new AnswerQueue()
  /** The requests that are running. */
  readonly #open = new Set<AbortController>()
  #receiver: McpReceiver | undefined
  #session: string | undefined
  /** Listens to what the server sends outside of answers. */
  #events: EventStream | undefined
  /** The header of a legacy session for its version. */
  #version: Readonly<Record<string, string>> = {}
  #isClosed = false

  constructor(url: URL, options: HttpTransportOptions) {
    this.#url = url
    this.#options = options
    this.#requests = new Requests(options)
  }

  async start(receiver: McpReceiver): Promise<void> {
    this.#receiver = receiver
  }

  async send(message: JsonObject, options: SendOptions = {}): Promise<void> {
    if (this.#isClosed) throw new UnsentError('Not connected')
    if ('method' in message) return this.#post(message, options)
    if (!this.#answers.isFull) return this.#answers.run(() => this.#post(message, options))
    this.#complain(new Error('The server floods its client with questions and does not read the answers.'))
    await this.close()
  }

  listen(headers: Readonly<Record<string, string>>): void {
    this.#version = headers
    this.#events = new EventStream({
      open: (lastId, signal) => this.#openEvents(lastId, signal),
      receive: (message) => this.#receiver?.receive(message),
      onError: (error) => this.#complain(error),
      onEnd: (reason) => reason !== undefined && this.#lose(reason, true),
    })
    void this.#events.listen()
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#events?.stop()
    await this.#endSession()
    for (const controller of this.#open) controller.abort(new Error('The connection was closed.'))
    this.#receiver?.close()
  }

  async #post(message: JsonObject, options: SendOptions): Promise<void> {
    const controller = this.#begin(options.signal)
    let isFollowed = false
    try {
      const response = await this.#request({
        method: 'POST',
        headers: {
          ...options.headers,
          ...(!options.isHandshake && this.#sessionHeader),
          'content-type': JSON_TYPE,
          accept: `${JSON_TYPE}, ${EVENT_TYPE}`,
        },
        body: JSON.stringify(message),
        signal: controller.signal,
      })
      if (options.isHandshake && response.ok) this.#session = response.headers.get('mcp-session-id') || undefined
      const id = isRequest(message) ? message.id : undefined
      if (!response.ok) return await this.#refuse(response, id)
      // Some servers send a body that never ends.
      if (id === undefined) return void dropBody(response)
      isFollowed = getType(response) === EVENT_TYPE
      if (isFollowed) void this.#follow(response, { id, options, controller })
      else await this.#readAnswer(response, id)
    } finally {
      if (!isFollowed) this.#end(controller)
    }
  }

  /** Reads an answer that is one body. */
  async #readAnswer(response: Response, id: RequestId): Promise<void> {
    if (response.status === 202) {
      await dropBody(response)
      if (!(await this.#events?.isOpen))
        throw new Error(`The server accepted the request and sent no answer (HTTP 202). ${UNKNOWN}`)
      return
    }
    const type = getType(response)
    if (type !== JSON_TYPE) {
      await dropBody(response)
      throw new Error(
        `The server answered with the content type ${type === '' ? 'unknown' : type}, not with JSON or events. ${UNKNOWN}`,
      )
    }
    const body: unknown = JSON.parse(await readBody(response, SERVER_MESSAGE_BYTES))
    const messages: readonly unknown[] = Array.isArray(body) ? body : [body]
    if (!messages.some((one) => isAnswerTo(one, id)) && !(await this.#events?.isOpen))
      throw new Error(`The server sent the answer to another request. ${UNKNOWN}`)
    for (const one of messages) this.#receiver?.receive(one)
  }

  /** Reads an answer that is a stream of events. If it ends without the answer, it is requested again where that is possible. */
  async #follow(first: Response, { id, options, controller }: Followed): Promise<void> {
    const stream = new EventStream({
      open: (lastId, signal) => this.#openEvents(lastId, signal),
      receive: (message) => {
        if (isAnswerTo(message, id)) stream.finish()
        this.#receiver?.receive(message)
      },
      onError: (error) => this.#complain(error),
      onEnd: (reason) => options.onStreamEnd?.(reason),
    })
    controller.signal.addEventListener('abort', () => stream.stop(), { once: true })
    try {
      await stream.follow(first)
    } finally {
      this.#end(controller)
    }
  }

  /** Fails a request, unless the server has answered it with an error of the protocol. */
  async #refuse(response: Response, id: RequestId | undefined): Promise<void> {
    const body = await readStart(response, ERROR_BODY_BYTES)
    if (this.#isForgotten(response.status, body)) {
      this.#lose('It has forgotten the session.', false)
      throw new UnsentError(`HTTP ${response.status} ${body.trim().slice(0, 2_000)}`.trim())
    }
    const answer = parseJson(body)
    if (id === undefined || !isAnswerTo(answer, id)) throw new HttpError(response.status, body)
    this.#receiver?.receive(answer)
  }

  async #openEvents(lastId: string | undefined, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { ...this.#version, ...this.#sessionHeader, accept: EVENT_TYPE }
    if (lastId !== undefined) headers['last-event-id'] = lastId
    const response = await this.#requests.send(this.#url, { method: 'GET', headers, signal })
    if (response.ok) return response
    const body = await readStart(response, ERROR_BODY_BYTES)
    if (this.#isForgotten(response.status, body) && this.#events?.wasOpen)
      this.#lose('It has forgotten the session.', false)
    throw new HttpError(response.status, body)
  }

  async #request(request: HttpRequest): Promise<Response> {
    try {
      return await this.#requests.send(this.#url, request)
    } catch (error) {
      if (request.signal.aborted || !isNoConnection(error)) throw error
      const reason = describeFetchFailure(error)
      this.#lose(reason, true)
      throw new UnsentError(reason, { cause: error })
    }
  }

  /** Whether a server says that it does not know the session. Some do not use the status that the protocol requires. */
  #isForgotten(status: number, body: string): boolean {
    if (this.#session === undefined) return false
    return status === 404 || (status === 400 && /\bsession\b|not initialized/i.test(body))
  }

  get #sessionHeader(): Readonly<Record<string, string>> {
    if (this.#session === undefined) return {}
    return { 'mcp-session-id': this.#session }
  }

  #lose(reason: string, isDown: boolean): void {
    if (!this.#isClosed) this.#options.onLost?.({ reason, isDown })
  }

  #complain(error: Error): void {
    this.#options.onError?.(error)
  }

  #begin(signal: AbortSignal | undefined): AbortController {
    const controller = new AbortController()
    this.#open.add(controller)
    if (signal?.aborted) controller.abort(signal.reason)
    // The signal lives no longer than the request.
    signal?.addEventListener('abort', () => controller.abort(signal.reason), { once: true })
    return controller
  }

  #end(controller: AbortController): void {
    this.#open.delete(controller)
  }

  /** Tells the server that the session is no longer needed. Never rejects, and takes a limited time. */
  async #endSession(): Promise<void> {
    if (this.#session === undefined) return
    const headers = { ...this.#version, ...this.#sessionHeader }
    this.#session = undefined
    const signal = AbortSignal.timeout(END_SESSION_MS)
    try {
      // Some servers do not let clients end sessions.
      await dropBody(await this.#requests.send(this.#url, { method: 'DELETE', headers, signal }))
    } catch {
      // It ends on its own.
    }
  }
}

interface Followed {
  readonly id: RequestId
  readonly options: SendOptions
  readonly controller: AbortController
}

const UNKNOWN = 'It is unknown whether the request has had an effect.'

function getType({ headers }: Response): string {
  const [type = ''] = (headers.get('content-type') ?? '').split(';')
  return type.trim().toLowerCase()
}

/** Some servers answer with the number of a request as a text. */
function isAnswerTo(message: unknown, id: RequestId): boolean {
  return isObject(message) && !('method' in message) && String(message['id']) === String(id)
}
