import type { JSONRPCMessage, JSONRPCRequest, RequestId, Server, Transport } from '@modelcontextprotocol/server'
import { isPlainObject } from '../../core/json/json.ts'
import { readIdentity, NOBODY, type ClientIdentity, type ServedClient } from './client.ts'
import { readCapabilities } from './legacy/description.ts'
import { readWatched } from './features.ts'
import { LegacyClient } from './legacy/legacy-client.ts'
import { MAX_MESSAGE_BYTES } from '../limits.ts'
import {
  isInitialized,
  isNotification,
  isPlainCall,
  isPlainInitialize,
  isPlainQuestion,
  toNotification,
} from './legacy/messages.ts'
import type { ServeMcpOptions } from './options.ts'
import { checkServerSdk, loadServerSdk, loadStdioSdk, type ServerSdk } from './sdk.ts'
import { createModernServer, createSdkServer } from './sdk-server.ts'
import { Stops } from './legacy/stops.ts'
import type { ClientView, ClientViews } from './views.ts'

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

/** Serves the client at the other end of a transport, in the era of its first message. */
export async function connectClient(
  transport: Transport,
  views: ClientViews,
  options: ServeMcpOptions,
): Promise<McpConnection> {
  checkServerSdk()
  const connection = new Connection(transport, views, { ...options, ...reportOnce(options.onError) })
  await connection.start()
  return connection
}

/** The SDK's half of a connection. */
interface SdkHalf {
  receive(message: JSONRPCMessage): void
  /** The transport has closed. */
  end(): void
  close(): Promise<void>
}

class Connection implements McpConnection {
  readonly closed: Promise<void>
  readonly #transport: Transport
  readonly #views: ClientViews
  readonly #options: ServeMcpOptions
  readonly #listening = new Listening(() => this.#view)
  #identity: ClientIdentity = NOBODY
  #view: ClientView | undefined
  #client: LegacyClient | undefined
  /** What the SDK hears first, if it was answered without it. */
  #handshake: JSONRPCMessage[] = []
  /** What has woken the SDK, and what came since. */
  #waiting: JSONRPCMessage[] = []
  #waking: Promise<void> | undefined
  #half: SdkHalf | undefined
  #legacyServer: Server | undefined
  /** The same, when it can ask the client something. */
  #server: Deferred<Server> = createDeferred()
  /** Whether the client has completed the handshake. */
  #isReady = false
  #isClosed = false
  #onClosed: () => void = () => undefined

  constructor(transport: Transport, views: ClientViews, options: ServeMcpOptions) {
    this.#transport = transport
    this.#views = views
    this.#options = options
    this.closed = new Promise((resolve) => (this.#onClosed = resolve))
  }

  async start(): Promise<void> {
    Object.assign(this.#transport, {
      onmessage: (message) => this.#receive(message),
      onerror: (error) => this.#options.onError?.(error),
      onclose: () => this.#end(),
    } satisfies Partial<Transport>)
    await this.#transport.start()
  }

  async close(): Promise<void> {
    await this.#half?.close()
    if (!this.#isClosed) await this.#transport.close()
  }

  #end(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#listening.stopAll()
    this.#client?.stop()
    this.#server.reject(new Error('The client has closed the connection.'))
    this.#half?.end()
    this.#onClosed()
  }

  #receive(message: JSONRPCMessage): void {
    const client = this.#client
    if (client && isPlainCall(message)) void this.#answer(client.calls.answer(message))
    else if (client && isPlainQuestion(message)) void this.#answer(client.answer(message))
    else if (!client && !this.#waking && isPlainInitialize(message)) void this.#answer(this.#begin(message))
    else {
      this.#isReady ||= isInitialized(message)
      if (!client || !this.#isHeard(client, message)) this.#pass(message)
    }
  }

  /** Whether a notification needs nothing more. */
  #isHeard(client: LegacyClient, message: JSONRPCMessage): boolean {
    if (client.calls.cancel(message)) return true
    // Without the SDK, nothing else is running that a notification could be about.
    if (this.#waking || !isNotification(message)) return false
    if (!isInitialized(message)) client.handlers.hear(toNotification(message))
    else if (this.#handshake.length === 1) this.#handshake.push(message)
    return true
  }

  #begin(initialize: JSONRPCRequest): JSONRPCMessage {
    this.#identity = readIdentity(initialize) ?? NOBODY
    const capabilities = readCapabilities(initialize)
    try {
      const client = this.#createClient(() => capabilities)
      this.#handshake = [{ ...initialize, id: REPEATED }]
      return client.answer(initialize)
    } catch (error) {
      // An option has failed.
      this.#options.onError?.(error as Error)
      return createInternalError(initialize.id)
    }
  }

  #createClient(getCapabilities: () => object | undefined): LegacyClient {
    const view = this.#views.legacy(this.#identity)
    this.#view = view
    this.#client = new LegacyClient({
      options: this.#options,
      view,
      getCapabilities,
      isReachable: () => this.#isReady && !this.#isClosed,
      maxResultBytes: this.#maxResultBytes,
      stops: new Stops(this.#options.reuseSignals === true),
      send: (message) => this.#transport.send(message),
      wake: () => {
        this.#wake()
        return this.#server.promise
      },
    })
    return this.#client
  }

  get #maxResultBytes(): number {
    return this.#options.maxResultBytes ?? MAX_MESSAGE_BYTES
  }

  async #answer(answer: JSONRPCMessage | Promise<JSONRPCMessage | undefined>): Promise<void> {
    try {
      const message = await answer
      if (message) await this.#transport.send(message)
    } catch (error) {
      const why = (error as Error).message
      this.#options.onError?.(new Error(`An answer was not sent: ${why}`, { cause: error }))
    }
  }

  /** Passes a message on to the SDK. */
  #pass(message: JSONRPCMessage): void {
    this.#identity = readIdentity(message) ?? this.#identity
    this.#listening.hear(message)
    if (this.#half) return this.#half.receive(message)
    this.#waiting.push(message)
    this.#wake()
  }

  #wake(): void {
    this.#waking ??= this.#createHalf().catch((error: unknown) => this.#failWaking(error as Error))
  }

  /** Answers what waits for the SDK. The next message that needs it tries again. */
  #failWaking(error: Error): void {
    if (this.#isClosed) return
    this.#options.onError?.(error)
    this.#server.reject(error)
    this.#server = createDeferred()
    this.#waking = undefined
    for (const message of this.#waiting.splice(0))
      if ('method' in message && 'id' in message) void this.#answer(createInternalError(message.id))
  }

  async #createHalf(): Promise<void> {
    const [sdk, { serveStdio }] = await Promise.all([loadServerSdk(), loadStdioSdk()])
    if (this.#isClosed) return
    const wire = this.#createWire()
    const { onError } = this.#options
    // Made for stdio, it serves any transport that has one client.
    const handle = serveStdio(({ era }) => this.#createServer(sdk, era), {
      transport: wire,
      ...(onError ? { onerror: onError } : {}),
    })
    const receive = (message: JSONRPCMessage): void => wire.onmessage?.(message)
    this.#half = { receive, end: () => wire.onclose?.(), close: () => handle.close() }
    for (const message of [...this.#handshake, ...this.#waiting.splice(0)]) receive(message)
  }

  #createServer(sdk: ServerSdk, era: ServedClient['era']): Server {
    const options = this.#options
    if (era === 'modern') {
      const view = this.#views.connection(this.#identity)
      this.#view = view
      return createModernServer({ sdk, options, view }, { isLasting: true, maxResultBytes: this.#maxResultBytes })
    }
    const client = this.#client ?? this.#createClient(() => server.getClientCapabilities())
    const server = createSdkServer({ sdk, options, view: client.view }, client.handlers)
    this.#legacyServer = server
    if (this.#handshake.length === 0) this.#server.resolve(server)
    return server
  }

  /** The transport as the SDK sees it. It is open already, and the answer to a repeated handshake goes nowhere. */
  #createWire(): Transport {
    const inner = this.#transport
    return {
      start: async () => undefined,
      send: async (message, sending) => {
        if (!('id' in message) || message.id !== REPEATED) return inner.send(message, sending)
        // From now on, it knows its client and can ask it something.
        if (this.#legacyServer) this.#server.resolve(this.#legacyServer)
      },
      close: () => inner.close(),
      setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
      get sessionId() {
        return inner.sessionId
      },
    }
  }
}

function createInternalError(id: RequestId): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: -32_603, message: 'Internal server error' } }
}

/** The id of an `initialize` that is repeated for the SDK. */
const REPEATED = 'foldout/initialize'

interface Deferred<Value> {
  readonly promise: Promise<Value>
  resolve(value: Value): void
  reject(error: Error): void
}

function createDeferred<Value>(): Deferred<Value> {
  let settle: Pick<Deferred<Value>, 'resolve' | 'reject'> | undefined
  const promise = new Promise<Value>((resolve, reject) => (settle = { resolve, reject }))
  // Nobody may be waiting.
  promise.catch(() => undefined)
  return { promise, resolve: (value) => settle?.resolve(value), reject: (error) => settle?.reject(error) }
}

/** The SDK tells both the connection and the server of an error. */
function reportOnce(onError: ServeMcpOptions['onError']): Pick<ServeMcpOptions, 'onError'> {
  if (!onError) return {}
  const known = new WeakSet<Error>()
  return {
    onError(error) {
      if (known.has(error)) return
      known.add(error)
      onError(error)
    },
  }
}

/** The resources that a modern client listens for. The SDK keeps these requests to itself. */
class Listening {
  readonly #getView: () => ClientView | undefined
  readonly #stops = new Map<unknown, () => void>()

  constructor(getView: () => ClientView | undefined) {
    this.#getView = getView
  }

  hear(message: unknown): void {
    const uris = readWatched(message)
    // Once the SDK has seen it, which may be what makes the view.
    if (uris) queueMicrotask(() => this.#start((message as { readonly id?: unknown }).id, uris))
    if (isPlainObject(message) && message['method'] === 'notifications/cancelled' && isPlainObject(message['params']))
      this.#stop(message['params']['requestId'])
  }

  stopAll(): void {
    for (const id of Array.from(this.#stops.keys())) this.#stop(id)
  }

  #start(id: unknown, uris: readonly string[]): void {
    const { client, features } = this.#getView() ?? {}
    const stop = client && features?.listen?.(uris, { client })
    if (!stop) return
    this.#stop(id)
    this.#stops.set(id, stop)
  }

  #stop(id: unknown): void {
    const stop = this.#stops.get(id)
    this.#stops.delete(id)
    stop?.()
  }
}
