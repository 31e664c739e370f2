import { isObject } from 'foldout-shared/values'
import { LIST_TIMEOUT_MS } from '../limits.ts'
import type { Era } from '../protocol/eras.ts'
import { asObject, isAnswer, type JsonObject } from '../protocol/messages.ts'
import { Peer } from '../protocol/peer.ts'
import type { McpReceiver, McpTransport, SendOptions } from '../protocol/transport.ts'
import { ANY_RESULT, type McpClient, type SdkSubscription } from './client.ts'
import { PeerSession } from './peer-session.ts'
import type { McpRequestOptions, McpServerDescription, McpSession, McpSubscription } from './session.ts'
import { createFollower } from './signal.ts'

const sessions = new WeakMap<McpClient, SdkSession>()

/** The session of a connected client of the SDK, or a session as it is. */
export function toSession(client: McpClient | McpSession): McpSession {
  if (isSession(client)) return client
  const known = sessions.get(client) ?? new SdkSession(client)
  sessions.set(client, known)
  return known
}

function isSession(client: McpClient | McpSession): client is McpSession {
  return 'onNotification' in client
}

/**
 * A session over a client of the SDK, for those who bring one. At a legacy server, it speaks over the client's transport
 * beside the client, which would check the server's results and drop parts of them. A modern request carries what only the
 * client knows, so the client sends it, and its checks apply.
 */
class SdkSession implements McpSession {
  readonly closed: Promise<void>
  readonly #client: McpClient
  readonly #listeners = new Set<Listener>()
  #onClosed: () => void = () => undefined
  #beside: Beside | undefined

  constructor(client: McpClient) {
    this.#client = client
    this.closed = new Promise((resolve) => (this.#onClosed = resolve))
  }

  get era(): Era {
    if (this.#client.getProtocolEra?.() === 'modern') return 'modern'
    return 'legacy'
  }

  get server(): McpServerDescription {
    return {
      info: { ...this.#client.getServerVersion() },
      capabilities: { ...this.#client.getServerCapabilities() },
      instructions: undefined,
      protocolVersion: '',
    }
  }

  /** One behind a wrapper does not say. */
  get isConnected(): boolean {
    return !('transport' in this.#client) || this.#client.transport !== undefined
  }

  async request(method: string, params: JsonObject = {}, options: McpRequestOptions = {}): Promise<JsonObject> {
    const beside = this.#speakBeside()
    if (beside && this.era === 'legacy') return beside.session.request(method, params, options)
    const { signal, timeoutMs = LIST_TIMEOUT_MS, maxMs, onProgress, headers, keepsQuestions } = options
    // Older clients listen to a signal for as long as it lives, so each request gets its own.
    const own = createFollower(signal)
    try {
      const result = await this.#client.request({ method, params }, ANY_RESULT, {
        signal: own.signal,
        timeout: timeoutMs,
        maxTotalTimeout: maxMs ?? Infinity,
        ...(onProgress && { onprogress: (progress) => onProgress({ ...progress }), resetTimeoutOnProgress: true }),
        allowInputRequired: keepsQuestions === true,
        ...(headers && { headers }),
      })
      return asObject(result)
    } finally {
      own.release()
    }
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    if (this.era === 'modern') throw new Error('Notifications to a modern server are sent with the client itself.')
    await this.#speakBeside()?.session.notify(method, params)
  }

  async listen(filter: JsonObject, { signal }: { readonly signal?: AbortSignal } = {}): Promise<McpSubscription> {
    const own = this.#client.autoOpenedSubscription
    if (own && Object.keys(filter).every((key) => key in own.honoredFilter)) return toSubscription(own)
    if (!this.#client.listen) throw new Error('This MCP client cannot subscribe to changes.')
    return toSubscription(await this.#client.listen(filter, signal ? { signal } : {}))
  }

  onNotification(listener: Listener): () => void {
    // A new function, so the same listener can be added twice.
    const own: Listener = (method, params) => listener(method, params)
    this.#listeners.add(own)
    this.#speakBeside()
    return () => this.#listeners.delete(own)
  }

  /** The client belongs to those who brought it. */
  async close(): Promise<void> {
    this.#listeners.clear()
  }

  /** The client may have been connected again since. */
  #speakBeside(): Beside | undefined {
    const transport = this.#client.transport as SdkTransport | undefined
    if (!transport) return this.#beside
    if (this.#beside?.transport === transport) return this.#beside
    const hear: Listener = (method, params) => {
      for (const listener of this.#listeners) listener(method, params)
    }
    this.#beside = { transport, session: createBeside(transport, this, hear) }
    void this.#beside.session.closed.then(() => this.#onClosed())
    return this.#beside
  }
}

type Listener = (method: string, params: JsonObject) => void

interface Beside {
  readonly transport: SdkTransport
  readonly session: PeerSession
}

function toSubscription(subscription: SdkSubscription): McpSubscription {
  const { honoredFilter, closed } = subscription
  return {
    honored: { ...honoredFilter },
    closed: closed.then((how) => (how === 'local' ? 'local' : 'remote')),
    close: () => subscription.close(),
  }
}

/** Far above the ids that a client uses. Many servers store ids in 32 bits, and answer larger ones with another id. */
const FIRST_ID = 2 ** 30

function createBeside(sdk: SdkTransport, { server }: McpSession, hear: Listener): PeerSession {
  const transport = listenBeside(sdk, hear)
  const peer = new Peer({
    send: (message, options) => transport.send(message, options),
    get hasRequestStreams() {
      return transport.hasRequestStreams === true
    },
    firstId: FIRST_ID,
    onNotification: (method, params) => session.hear(method, params),
  })
  const closed = new Promise<void>((resolve) => {
    const receiver: McpReceiver = {
      receive: (message) => peer.receive(message),
      close: () => {
        peer.close()
        resolve()
      },
    }
    void transport.start(receiver)
  })
  const sender = { version: '', info: {}, capabilities: {} }
  const session = new PeerSession({ peer, transport, era: 'legacy', sender, server, closed })
  return session
}

interface SdkTransport {
  send(message: unknown, options?: object): Promise<void>
  close?(): Promise<void>
  onmessage?: ((message: unknown, ...rest: readonly unknown[]) => void) | undefined
  onclose?: (() => void) | undefined
  readonly hasPerRequestStream?: boolean
}

/** Takes the answers to its own requests off a transport of the SDK. Its client hears everything else, as before. */
function listenBeside(sdk: SdkTransport, hear: Listener): McpTransport {
  return {
    get hasRequestStreams() {
      return sdk.hasPerRequestStream === true
    },
    async start(receiver) {
      const { onmessage, onclose } = sdk
      const listening: Pick<SdkTransport, 'onmessage' | 'onclose'> = {
        onmessage(message, ...rest) {
          if (isOurs(message)) return receiver.receive(message)
          onmessage?.call(sdk, message, ...rest)
          if (isObject(message) && typeof message['method'] === 'string' && message['id'] === undefined)
            hear(message['method'], asObject(message['params']))
        },
        onclose() {
          receiver.close()
          onclose?.call(sdk)
        },
      }
      Object.assign(sdk, listening)
    },
    send: (message, { signal, onStreamEnd }: SendOptions = {}) =>
      sdk.send(message, { requestSignal: signal, onRequestStreamEnd: onStreamEnd }),
    close: async () => undefined,
  }
}

/** Whether a message is an answer to a request from here, or its progress. */
function isOurs(message: unknown): boolean {
  if (!isObject(message)) return false
  if (isAnswer(message)) return Number(message['id']) > FIRST_ID
  const { method, params } = message
  if (method !== 'notifications/progress' || !isObject(params)) return false
  return Number(params['progressToken']) > FIRST_ID
}
