import { isObject } from 'foldout-shared/values'
import { ignore } from '../../core/promises.ts'
import { MAX_MESSAGE_BYTES } from '../limits.ts'
import { INTERNAL_ERROR } from '../protocol/errors.ts'
import { getParams, isRequest, type JsonObject, type Message } from '../protocol/messages.ts'
import type { McpTransport } from '../protocol/transport.ts'
import { NOBODY, readEnvelope, readInitialize } from './contract/client.ts'
import type { ServeMcpOptions } from './contract/options.ts'
import { Conversation } from './conversation/conversation.ts'
import { hasEnvelope } from './conversation/eras.ts'
import { getMeta } from './requests/request.ts'
import type { ClientView, ClientViews } from './views/views.ts'

/**
 * One client, served over its own transport.
 *
 * @example
 * const { closed } = await served.stdio()
 * await closed
 */
export interface McpConnection {
  /** Resolves when the client has disconnected or was closed. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

/** A transport with one client at its other end. */
export interface ClientTransport extends McpTransport {
  /** Called with the version that a legacy client gets. */
  setProtocolVersion?(version: string): void
}

/** Serves the client at the other end of a transport. */
export async function connectClient(
  transport: ClientTransport,
  views: ClientViews,
  options: ServeMcpOptions,
): Promise<McpConnection> {
  const connection = new Connection(transport, views, options)
  await connection.start()
  return connection
}

/**
 * A connection of one client. Its messages say which era it speaks:
 *
 * ```
 * silent ── a request with an envelope ──▶ modern
 * silent ── any other message ───────────▶ legacy
 * modern ── initialize ──────────────────▶ legacy, because it was only asking which versions there are
 * any    ── the transport has closed ────▶ closed
 * ```
 */
class Connection implements McpConnection {
  readonly closed: Promise<void>
  readonly #transport: ClientTransport
  readonly #views: ClientViews
  readonly #options: ServeMcpOptions
  #conversation: Conversation | undefined
  /** Whether the client has completed the handshake. */
  #isReady = false
  #isClosed = false
  #onClosed: () => void = () => undefined

  constructor(transport: ClientTransport, views: ClientViews, options: ServeMcpOptions) {
    this.#transport = transport
    this.#views = views
    this.#options = options
    this.closed = new Promise((resolve) => (this.#onClosed = resolve))
  }

  start(): Promise<void> {
    return this.#transport.start({ receive: (message) => this.#receive(message), close: () => this.#end() })
  }

  async close(): Promise<void> {
    // Those who listen get their answers before the end.
    this.#conversation?.subscriptions.close()
    await new Promise((resolve) => setImmediate(resolve))
    if (!this.#isClosed) await this.#transport.close()
    this.#end()
  }

  #end(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#conversation?.close()
    this.#onClosed()
  }

  #receive(message: unknown): void {
    // Several messages at once are a batch of the version that has batches, so they come after the handshake.
    if (isObject(message)) this.#choose(message)
    this.#conversation?.receive(message)
  }

  /** Chooses whom a message goes to. */
  #choose(message: JsonObject): void {
    this.#isReady ||= message['method'] === 'notifications/initialized'
    const views = this.#views
    const params = getParams(message)
    const meta = getMeta(params)
    const isBeginning = isRequest(message) && message.method === 'initialize' && !hasEnvelope(meta)
    const era = this.#conversation?.view.client.era
    if (era === 'legacy' || (era === 'modern' && !isBeginning)) return
    const isModern = isRequest(message) && hasEnvelope(meta)
    try {
      const next = this.#begin(
        isModern ? views.connection(readEnvelope(meta)) : views.legacy(isBeginning ? readInitialize(params) : NOBODY),
      )
      this.#conversation?.close()
      this.#conversation = next
    } catch (error) {
      // An option has failed. The next message may begin again.
      this.#conversation = undefined
      this.#options.onError?.(error as Error)
      if (!isRequest(message)) return
      const answer = { code: INTERNAL_ERROR, message: 'Internal server error' }
      void ignore(
        this.#transport.send({ jsonrpc: '2.0', id: message.id, error: answer }),
        'the error is reported already',
      )
    }
  }

  #begin(view: ClientView): Conversation {
    const transport = this.#transport
    return new Conversation({
      options: this.#options,
      view,
      maxResultBytes: this.#options.maxResultBytes ?? MAX_MESSAGE_BYTES,
      send: (message: Message, options) => transport.send(message, options),
      isReachable: () => this.#isReady && !this.#isClosed,
      onVersion: (version) => transport.setProtocolVersion?.(version),
    })
  }
}
