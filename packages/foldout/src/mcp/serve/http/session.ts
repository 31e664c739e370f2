import type { CallPeer } from '../../../catalog/tool.ts'
import { ignore } from '../../../core/promises.ts'
import { MAX_HTTP_RESULT_BYTES } from '../../limits.ts'
import { getParams, isAnswer, type JsonObject, type Message, type RequestId } from '../../protocol/messages.ts'
import type { SendOptions } from '../../protocol/transport.ts'
import type { ValidRequest } from '../../protocol/valid-message.ts'
import { Answers } from '../../transports/http/answers.ts'
import type { EventStream } from '../../transports/http/event-stream.ts'
import type { HttpReply } from '../../transports/http/exchange.ts'
import { readInitialize } from '../contract/client.ts'
import type { ServeMcpOptions } from '../contract/options.ts'
import { Conversation } from '../conversation/conversation.ts'
import type { ClientViews } from '../views/views.ts'
import type { Caller } from './caller.ts'
import type { KeptCopy } from './kept/keeper.ts'
import { KeptSession } from './kept/kept-session.ts'

export interface SessionParts {
  readonly id: string
  readonly caller: Caller
  /** The parameters of the client's `initialize`. */
  readonly initialize: JsonObject
  /** The copy of a session that other machines may have as well. */
  readonly copy: KeptCopy | undefined
}

/** How requests are answered that came together. */
export interface AnswerParts {
  readonly reply: HttpReply
  readonly headers: CallPeer['headers']
}

/** Where the answer to a request goes. */
interface Asked {
  readonly answers: Answers
  readonly headers: CallPeer['headers']
}

/** A session of a client before MCP 2026-07-28, as this process has it. */
export class HttpSession {
  readonly id: string
  readonly peer: string
  readonly principal: string | undefined
  readonly kept: KeptSession | undefined
  readonly #conversation: Conversation
  readonly #asked = new Map<RequestId, Asked>()
  /** The client's stream for messages that belong to no request. */
  #stream: EventStream | undefined
  #isClosed = false

  constructor(options: ServeMcpOptions, views: ClientViews, { id, caller, initialize, copy }: SessionParts) {
    this.id = id
    this.peer = caller.peer
    this.principal = caller.principal
    this.kept = copy && new KeptSession(copy, (error) => options.onError?.(error as Error))
    this.#conversation = new Conversation({
      options,
      view: views.legacy(readInitialize(initialize), caller.principal, copy?.client),
      initialize,
      maxResultBytes: options.maxResultBytes ?? MAX_HTTP_RESULT_BYTES,
      send: (message, sending) => this.#send(message, sending),
      isReachable: () => !this.#isClosed && this.#stream !== undefined,
      getHeaders: (request) => this.#asked.get(request)?.headers,
    })
  }

  get isStreaming(): boolean {
    return this.#stream !== undefined
  }

  isAnswering(request: RequestId): boolean {
    return this.#asked.has(request)
  }

  /** Answers requests that came together, and stops them if their client goes. */
  answer(requests: readonly ValidRequest[], { reply, headers }: AnswerParts): void {
    const ids = requests.map(({ id }) => id)
    // Calls are the most frequent requests.
    const isAlwaysStream = requests.some(({ method }) => method !== 'tools/call')
    const answers = new Answers(reply, { ids, isAlwaysStream, headers: { 'mcp-session-id': this.id } })
    for (const id of ids) this.#asked.set(id, { answers, headers })
    reply.onClose(() => {
      for (const id of answers.getMissing()) this.#cancel(id, 'The client has closed the connection.')
    })
    for (const request of requests) this.#conversation.receive(request)
  }

  /** Takes a notification, or the answer to a question. */
  receive(message: JsonObject): void {
    this.#conversation.receive(message)
    const { requestId } = getParams(message)
    if (message['method'] === 'notifications/cancelled') this.#settle(requestId as RequestId, undefined)
  }

  /** Applies another machine's notes about the client. */
  refresh(): void {
    void ignore(this.#conversation.refresh(), 'failures of the features are reported')
  }

  /** Takes the client's stream for messages that belong to no request. */
  listen(stream: EventStream, reply: HttpReply): void {
    this.#stream = stream
    reply.onClose(() => {
      if (this.#stream === stream) this.#stream = undefined
    })
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#conversation.close()
    this.#stream?.end()
    for (const id of Array.from(this.#asked.keys())) this.#settle(id, undefined)
  }

  #cancel(requestId: RequestId, reason: string): void {
    this.receive({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } })
  }

  #settle(id: RequestId, answer: JsonObject | undefined): void {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    asked?.answers.answer(id, answer)
  }

  async #send(message: Message, { relatedTo }: SendOptions = {}): Promise<void> {
    if (isAnswer(message)) {
      // Its effects have to be visible to the machine that gets the next request.
      await this.kept?.save()
      return this.#settle(message['id'] as RequestId, message)
    }
    const way = (relatedTo === undefined ? undefined : this.#asked.get(relatedTo)?.answers) ?? this.#stream
    // A question to nobody would never be answered.
    if (!way && message['id'] !== undefined) throw new Error('The client has no open event stream.')
    way?.send(this.kept?.mailbox.address(message) ?? message)
  }
}
