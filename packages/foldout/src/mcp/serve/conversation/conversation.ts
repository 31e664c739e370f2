import type { CallPeer } from '../../../catalog/tool.ts'
import type { IncomingRequest } from '../../protocol/incoming.ts'
import type { JsonObject, RequestId } from '../../protocol/messages.ts'
import { Peer } from '../../protocol/peer.ts'
import type { Send } from '../../protocol/transport.ts'
import type { FeatureNotification } from '../contract/features.ts'
import type { ServeMcpOptions } from '../contract/options.ts'
import { createHandlers, type Handlers } from '../requests/handlers.ts'
import { getMeta, ServedRequest, type Handler, type Sender } from '../requests/request.ts'
import { UnknownMethod } from '../requests/request-error.ts'
import { checkNotification, describeServer, type ServerDescription } from '../views/description.ts'
import type { ClientView } from '../views/views.ts'
import { createChannel, NO_CHANNEL } from './channel.ts'
import {
  answerInitialize,
  checkEnvelope,
  checkVersion,
  chooseVersion,
  createDiscoverHandler,
  LATER_METHODS,
  readCapabilities,
  REMOVED_METHODS,
  toModernError,
  toModernResult,
} from './eras.ts'
import { needsSubscription, Subscriptions } from './subscriptions.ts'

/** Notifications that are nobody else's business. */
const ABOUT_REQUESTS: ReadonlySet<string> = new Set([
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
])

export interface ConversationParts {
  readonly options: ServeMcpOptions
  readonly view: ClientView
  /** A result with more bytes of JSON is not sent. */
  readonly maxResultBytes: number
  /** Sends a message: with the answer to a request, if it belongs to one. */
  readonly send: Send
  /** Whether the client stays for more than one request. Default true. */
  readonly isLasting?: boolean
  /** The parameters of the `initialize` that has begun the conversation elsewhere. */
  readonly initialize?: JsonObject
  /** Where modern clients listen. Default: only in this conversation. */
  readonly subscriptions?: Subscriptions
  /** Whether the client can get messages that belong to none of its requests. Default: no. */
  isReachable?(): boolean
  /** The headers of a request that came over HTTP. */
  getHeaders?(id: RequestId): CallPeer['headers']
  /** Called with the version that a legacy client gets. */
  onVersion?(version: string): void
  /** Called before a request is answered whose method nothing here knows. */
  onUnknownMethod?(): void
}

/** A client's conversation with this server, of either era and over any transport. */
export class Conversation {
  readonly view: ClientView
  readonly peer: Peer
  readonly subscriptions: Subscriptions
  readonly #parts: ConversationParts
  readonly #description: ServerDescription
  readonly #handlers: Handlers
  readonly #sender: Sender
  #capabilities: JsonObject

  constructor(parts: ConversationParts) {
    const { options, view, maxResultBytes, isLasting = true, initialize = {}, subscriptions } = parts
    const { era } = view.client
    this.#parts = parts
    this.view = view
    this.subscriptions = subscriptions ?? new Subscriptions()
    this.#description = describeServer(options, view)
    this.#capabilities = readCapabilities(initialize)
    this.peer = new Peer({
      send: parts.send,
      onRequest: (incoming) => this.#answer(incoming),
      onNotification: (method, params) => {
        const rest = Object.keys(params).length > 0 ? { params } : {}
        if (!ABOUT_REQUESTS.has(method)) view.features?.hear?.({ method, ...rest })
      },
      onError: (error) => options.onError?.(error),
    })
    const getCapabilities = (): JsonObject => this.#capabilities
    const isReachable = (): boolean => parts.isReachable?.() === true
    this.#sender = {
      era,
      peer: this.peer,
      get capabilities() {
        return getCapabilities()
      },
      getHeaders: (id) => parts.getHeaders?.(id),
      notify: (notification, request) => this.#notify(notification, request),
    }
    this.#handlers = createHandlers({
      options,
      view,
      own: era === 'legacy' ? this.#createLegacyHandlers() : this.#createModernHandlers(),
      removed: era === 'legacy' ? LATER_METHODS : REMOVED_METHODS,
      channel: era === 'legacy' ? createChannel(isReachable, this.peer) : NO_CHANNEL,
      isLasting,
      maxResultBytes,
      getCapabilities,
      notify: (notification) => this.#notify(notification),
    })
  }

  receive(message: unknown): void {
    this.peer.receive(message)
  }

  /** Applies another machine's notes about the client. */
  refresh(): Promise<void> {
    return this.#handlers.refresh()
  }

  /** Ends what is running, and notifies the client no longer. */
  close(): void {
    this.#handlers.stop()
    this.peer.close()
  }

  #createLegacyHandlers(): Readonly<Record<string, Handler>> {
    return {
      initialize: ({ params }) => {
        const version = chooseVersion(params)
        this.#capabilities = readCapabilities(params)
        this.#parts.onVersion?.(version)
        return answerInitialize(version, this.#description)
      },
      ping: () => ({}),
    }
  }

  #createModernHandlers(): Readonly<Record<string, Handler>> {
    const { capabilities } = this.#description
    return {
      'server/discover': createDiscoverHandler(this.#description),
      'subscriptions/listen': (request) => this.subscriptions.listen(request, this.view, capabilities),
    }
  }

  async #answer(incoming: IncomingRequest): Promise<JsonObject> {
    try {
      if (this.view.client.era === 'legacy')
        return await this.#handlers.answer(new ServedRequest(incoming, this.#sender))
      const meta = getMeta(incoming.params)
      checkEnvelope(meta)
      checkVersion(meta)
      const result = await this.#handlers.answer(new ServedRequest(incoming, this.#sender))
      return toModernResult(incoming.method, result, this.#description)
    } catch (error) {
      if (error instanceof UnknownMethod) this.#parts.onUnknownMethod?.()
      if (this.view.client.era === 'legacy') throw error
      throw toModernError(error)
    }
  }

  /** Modern clients get some notifications only if they listen for them. */
  async #notify({ method, params }: FeatureNotification, request?: RequestId): Promise<void> {
    checkNotification(method, this.#description)
    const { isLasting = true } = this.#parts
    if (this.view.client.era === 'modern' && isLasting && needsSubscription(method))
      return this.subscriptions.publish({ method, ...(params && { params }) })
    await this.peer.notify(method, params, request === undefined ? {} : { relatedTo: request })
  }
}
