import { isObject } from 'foldout-shared/values'
import { MAX_REASON } from '../limits.ts'
import {
  describeThrown,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  ProtocolError,
  toErrorObject,
  type ErrorObject,
} from './errors.ts'
import { IncomingRequest } from './incoming.ts'
import { asObject, getParams, isAnswer, isRequest, type JsonObject, type Message, type RequestId } from './messages.ts'
import { Deadlines, PendingRequest, type Requester, type RequestOptions } from './pending.ts'
import type { Send, SendOptions } from './transport.ts'

const CANCELLED = 'notifications/cancelled'
const PROGRESS = 'notifications/progress'

/** Some programs keep ids in 32 bits, and answer larger ones with another id. */
const LAST_ID = 2 ** 31 - 1

export interface PeerOptions {
  readonly send: Send
  /** Whether each request has a stream of its own for its answer. */
  readonly hasRequestStreams?: boolean
  /** The ids of requests are larger. Default: 0. */
  readonly firstId?: number
  /**
   * Answers a request of the other side with its result. What it throws is sent as an error, with its `code` and `data`.
   * Without this, every method is unknown.
   */
  readonly onRequest?: (request: IncomingRequest) => Promise<JsonObject>
  /**
   * Called with every notification, except for cancellations of requests that are being answered and progress of requests
   * that wait.
   */
  readonly onNotification?: (method: string, params: JsonObject) => void
  /** Called with failures that concern no request of this side: an answer that could not be sent, a message that is none. */
  readonly onError?: (error: Error) => void
}

/**
 * One side of a conversation in JSON-RPC, over any transport. It gives requests their ids and answers their requesters,
 * and knows two notifications, which belong to requests: cancellation and progress. It knows no other method and no field
 * of parameters or results, so all of them are passed on unchanged.
 */
export class Peer {
  readonly #options: PeerOptions
  readonly #pending = new Map<number, PendingRequest>()
  readonly #incoming = new Map<RequestId, IncomingRequest>()
  readonly #deadlines = new Deadlines(() => this.#pending.values())
  readonly #requester: Requester = {
    forget: (id) => this.#forget(id),
    cancel: (requestId, reason, sending) => this.#notifyQuietly(CANCELLED, { requestId, reason }, sending),
  }
  #lastId: number
  #closedWith: Error | undefined

  constructor(options: PeerOptions) {
    this.#options = options
    this.#lastId = options.firstId ?? 0
  }

  get isClosed(): boolean {
    return this.#closedWith !== undefined
  }

  /**
   * Sends a request and resolves with its result.
   *
   * @throws ProtocolError with the code of the answer, or one that says why there is none; the reason of the signal.
   */
  request(method: string, params: JsonObject = {}, options: RequestOptions = {}): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      options.signal?.throwIfAborted()
      if (this.#closedWith) throw createNotConnected()
      const id = this.#nextId()
      const pending = new PendingRequest(id, options, this.#requester, { resolve, reject })
      this.#pending.set(id, pending)
      this.#deadlines.watch(pending.dueAt)
      options.onStart?.(id)
      const sending = this.#options.hasRequestStreams ? pending.followStream() : options.sending
      const message = {
        jsonrpc: '2.0',
        id,
        method,
        params: options.onProgress ? withToken(params, id) : params,
      } as const
      this.#send(message, sending).catch((error: unknown) => pending.fail(toError(error)))
    })
  }

  /** Sends a notification. Rejects if it cannot be sent. */
  async notify(method: string, params?: JsonObject, options?: SendOptions): Promise<void> {
    if (this.#closedWith) throw createNotConnected()
    await this.#send({ jsonrpc: '2.0', method, ...(params && { params }) }, options)
  }

  /** Takes what the other side has sent: a message, or a list of messages. */
  receive(message: unknown): void {
    if (this.#closedWith) return
    if (Array.isArray(message)) {
      for (const one of message as readonly unknown[]) this.#take(one)
      return
    }
    this.#take(message)
  }

  /** Ends the conversation: what waits for an answer fails, and what is being answered is aborted. */
  close(reason: Error = new ProtocolError('CONNECTION_CLOSED', 'Connection closed')): void {
    if (this.#closedWith) return
    this.#closedWith = reason
    for (const pending of Array.from(this.#pending.values())) pending.fail(reason)
    for (const request of Array.from(this.#incoming.values())) request.abort(reason)
    this.#incoming.clear()
    this.#deadlines.stop()
  }

  #take(message: unknown): void {
    if (!isObject(message)) return this.#complain('The other side sent JSON that is not a message.')
    if (isAnswer(message)) return this.#settle(message)
    if (isRequest(message)) return void this.#answer(message)
    const { method, id } = message
    if (typeof method !== 'string') return this.#complain('The other side sent JSON that is not a message.')
    // An id that is no id cannot be answered.
    if (id !== undefined)
      return this.#complain(`The other side sent a request '${method.slice(0, 100)}' with a wrong id.`)
    this.#hear(method, getParams(message))
  }

  /** Handles an answer. One that is not waited for came too late, or twice. */
  #settle(message: JsonObject): void {
    const { id, error } = message
    if (id !== null) return this.#find(id)?.settle(message)
    // The other side could not even read the id.
    this.#complain(`The other side could not read a message: ${toErrorObject(error).message}`)
  }

  #hear(method: string, params: JsonObject): void {
    if (method === PROGRESS) {
      const { progressToken, ...progress } = params
      const pending = this.#find(progressToken)
      if (pending) return pending.hear(progress)
    }
    if (method === CANCELLED) {
      const request = this.#incoming.get(params['requestId'] as RequestId)
      if (request) return this.#abort(request, params['reason'])
    }
    this.#options.onNotification?.(method, params)
  }

  #abort(request: IncomingRequest, reason: unknown): void {
    this.#incoming.delete(request.id)
    const text =
      typeof reason === 'string' && reason !== '' ? reason.slice(0, MAX_REASON) : 'The request was cancelled.'
    request.abort(new Error(text))
  }

  async #answer(message: Message & { readonly id: RequestId; readonly method: string }): Promise<void> {
    const { id } = message
    if (this.#incoming.has(id)) return this.#reply(id, { error: DUPLICATE })
    const request = new IncomingRequest(message)
    this.#incoming.set(id, request)
    const answer = await this.#run(request)
    // A request that was cancelled gets no answer.
    if (this.#incoming.get(id) !== request) return
    this.#incoming.delete(id)
    await this.#reply(id, answer)
  }

  async #run(request: IncomingRequest): Promise<Answer> {
    const { onRequest } = this.#options
    if (!onRequest)
      return { error: { code: METHOD_NOT_FOUND, message: `Method not found: ${request.method.slice(0, 100)}` } }
    try {
      return { result: await onRequest(request) }
    } catch (error) {
      return { error: describeThrown(error) }
    }
  }

  async #reply(id: RequestId, answer: Answer): Promise<void> {
    try {
      await this.#send({ jsonrpc: '2.0', id, ...answer }, { relatedTo: id })
    } catch (error) {
      const { message } = toError(error)
      this.#options.onError?.(new Error(`An answer was not sent: ${message}`, { cause: error }))
    }
  }

  async #send(message: Message, options: SendOptions | undefined): Promise<void> {
    await this.#options.send(message, options)
  }

  /** The other side will notice on its own if it cannot be reached. */
  #notifyQuietly(method: string, params: JsonObject, options: SendOptions | undefined): void {
    this.notify(method, params, options).catch((error: unknown) => this.#options.onError?.(toError(error)))
  }

  #forget(id: number): void {
    this.#pending.delete(id)
    if (this.#pending.size === 0) this.#deadlines.rest()
  }

  /** Some programs write the number of a request as a text. */
  #find(id: unknown): PendingRequest | undefined {
    if (typeof id === 'number') return this.#pending.get(id)
    if (typeof id === 'string' && /^\d{1,10}$/.test(id)) return this.#pending.get(Number(id))
    return undefined
  }

  #nextId(): number {
    do this.#lastId = this.#lastId < LAST_ID ? this.#lastId + 1 : (this.#options.firstId ?? 0) + 1
    while (this.#pending.has(this.#lastId))
    return this.#lastId
  }

  #complain(what: string): void {
    this.#options.onError?.(new Error(what))
  }
}

type Answer = { readonly result: JsonObject } | { readonly error: ErrorObject }

const DUPLICATE: ErrorObject = {
  code: INVALID_REQUEST,
  message: 'Another request with this id has not been answered yet.',
}

function withToken({ _meta: meta, ...params }: JsonObject, progressToken: number): JsonObject {
  return { ...params, _meta: { ...asObject(meta), progressToken } }
}

function createNotConnected(): ProtocolError {
  return new ProtocolError('NOT_CONNECTED', 'Not connected')
}

function toError(reason: unknown): Error {
  if (reason instanceof Error) return reason
  return new Error(String(reason))
}
