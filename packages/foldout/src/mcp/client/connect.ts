import type { CallPeer } from '../../catalog/tool.ts'
import { untilAborted } from '../../core/abort.ts'
import { checkNumbers } from '../../core/check-number.ts'
import { LIST_TIMEOUT_MS } from '../limits.ts'
import { addSender, LEGACY_VERSIONS, MODERN_VERSIONS, UNSUPPORTED_VERSION, type Era } from '../protocol/eras.ts'
import { METHOD_NOT_FOUND, ProtocolError } from '../protocol/errors.ts'
import { toRequestHeaders } from '../protocol/headers.ts'
import type { IncomingRequest } from '../protocol/incoming.ts'
import type { JsonObject } from '../protocol/messages.ts'
import { Peer } from '../protocol/peer.ts'
import type { RequestOptions } from '../protocol/pending.ts'
import type { McpReceiver, McpTransport } from '../protocol/transport.ts'
import { PeerSession, readDescription, versionHeader } from './peer-session.ts'
import { discover } from './discover.ts'
import type { McpServerDescription, McpSession } from './session.ts'
import { createDeadline } from './signal.ts'

/**
 * Options of {@link connectToMcp}.
 *
 * @example
 * ```ts
 * const options: ConnectToMcpOptions = { name: 'app', version: '1.0.0', era: 'legacy', timeoutMs: 10_000 }
 * ```
 */
export interface ConnectToMcpOptions {
  /** The name of this program. */
  readonly name: string
  readonly version: string
  /** What this program can do for servers, such as `{ roots: {} }`. Default: nothing. */
  readonly capabilities?: JsonObject
  /**
   * The era in which to speak. Default: `auto`, which asks the server for its versions first, and uses the older handshake
   * if the server does not know the question.
   */
  readonly era?: Era | 'auto'
  /** How long each step of the handshake may take. Default: one minute. */
  readonly timeoutMs?: number
  /** Ends the handshake. */
  readonly signal?: AbortSignal
  /** Answers the server's questions, such as `sampling/createMessage`. Without this, every question is refused. */
  readonly onRequest?: NonNullable<CallPeer['ask']>
  /** Called with each notification of the server, from the end of the handshake on. */
  readonly onNotification?: (method: string, params: JsonObject) => void
  /** Called with failures that concern no request, such as a message that is none. */
  readonly onError?: (error: Error) => void
}

/**
 * Connects to an MCP server over any transport. Nothing is left open if that fails.
 *
 * @example
 * ```ts
 * const connect = (url: string): Promise<McpSession> =>
 *   connectToMcp(createHttpTransport(url), { name: 'app', version: '1.0.0' })
 * ```
 */
export async function connectToMcp(transport: McpTransport, options: ConnectToMcpOptions): Promise<McpSession> {
  checkNumbers({ timeoutMs: options.timeoutMs }, { code: 'mcp-options' })
  const connecting = new Connecting(transport, options)
  try {
    return await connecting.connect()
  } catch (error) {
    await transport.close().catch((failure: Error) => options.onError?.(failure))
    throw error
  }
}

const NO_COMMON_VERSION = `The server does not speak MCP ${MODERN_VERSIONS.join(' or ')}.`

/** A connection until the end of its handshake. */
class Connecting {
  readonly #transport: McpTransport
  readonly #options: ConnectToMcpOptions
  readonly #peer: Peer
  readonly #closed: Promise<void>
  #onClosed: () => void = () => undefined
  #session: PeerSession | undefined

  constructor(transport: McpTransport, options: ConnectToMcpOptions) {
    this.#transport = transport
    this.#options = options
    this.#closed = new Promise((resolve) => (this.#onClosed = resolve))
    this.#peer = new Peer({
      send: (message, sending) => transport.send(message, sending),
      get hasRequestStreams() {
        return transport.hasRequestStreams === true
      },
      onRequest: (request) => this.#answer(request),
      onNotification: (method, params) => this.#hear(method, params),
      onError: (error) => options.onError?.(error),
    })
  }

  async connect(): Promise<McpSession> {
    const { era = 'auto', signal } = this.#options
    signal?.throwIfAborted()
    await this.#start()
    if (era === 'legacy') return this.#initialize()
    const discovered = await this.#discover(era === 'auto')
    if (!discovered && era === 'modern') throw new ProtocolError(UNSUPPORTED_VERSION, NO_COMMON_VERSION)
    return discovered ?? this.#initialize()
  }

  /** A transport may wait for a server that says nothing. */
  async #start(): Promise<void> {
    const { signal, timeoutMs = LIST_TIMEOUT_MS } = this.#options
    const deadline = createDeadline(signal, timeoutMs)
    const receiver: McpReceiver = {
      receive: (message) => this.#peer.receive(message),
      close: () => {
        this.#peer.close()
        this.#onClosed()
      },
    }
    try {
      await untilAborted(deadline.signal, () => this.#transport.start(receiver))
    } finally {
      deadline.release()
    }
  }

  /** The older handshake. */
  async #initialize(): Promise<McpSession> {
    const [version = ''] = LEGACY_VERSIONS
    const params = { protocolVersion: version, capabilities: this.#capabilities, clientInfo: this.#info }
    const result = await this.#peer.request('initialize', params, { ...this.#step, sending: { isHandshake: true } })
    const { protocolVersion } = result
    const agreed = LEGACY_VERSIONS.find((known) => known === protocolVersion)
    if (agreed === undefined)
      throw new ProtocolError(
        UNSUPPORTED_VERSION,
        `The server speaks a version of MCP that is not supported: ${JSON.stringify(protocolVersion)?.slice(0, 100)}`,
      )
    const session = this.#begin('legacy', readDescription(result['serverInfo'], result, agreed))
    await session.notify('notifications/initialized')
    this.#transport.listen?.(versionHeader(agreed))
    return session
  }

  async #discover(mayFallBack: boolean): Promise<McpSession | undefined> {
    const found = await discover({
      mayFallBack,
      isHttp: this.#transport.hasRequestStreams === true,
      ask: (method, version) => {
        const params = addSender({}, this.#toSender(version))
        return this.#peer.request(method, params, {
          ...this.#step,
          sending: { headers: toRequestHeaders(version, method, params) },
        })
      },
    })
    return found && this.#begin('modern', readDescription(found.info, found.result, found.version))
  }

  #begin(era: Era, server: McpServerDescription): PeerSession {
    const { onRequest, onNotification } = this.#options
    this.#session = new PeerSession({
      peer: this.#peer,
      transport: this.#transport,
      era,
      sender: this.#toSender(server.protocolVersion),
      server,
      closed: this.#closed,
      ...(onRequest && { ask: onRequest }),
    })
    if (onNotification) this.#session.onNotification(onNotification)
    return this.#session
  }

  /** The limits of a step of the handshake, which must not be cancelled. */
  get #step(): RequestOptions {
    const { timeoutMs = LIST_TIMEOUT_MS, signal } = this.#options
    return { timeoutMs, signal, cancelBy: 'nothing' }
  }

  get #info(): JsonObject {
    return { name: this.#options.name, version: this.#options.version }
  }

  get #capabilities(): JsonObject {
    return this.#options.capabilities ?? {}
  }

  #toSender(version: string) {
    return { version, info: this.#info, capabilities: this.#capabilities }
  }

  async #answer({ method, params, signal }: IncomingRequest): Promise<JsonObject> {
    if (method === 'ping') return {}
    const { onRequest } = this.#options
    if (onRequest) return onRequest(method, params, signal)
    throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 100)}`)
  }

  #hear(method: string, params: JsonObject): void {
    this.#session?.hear(method, params)
  }
}
