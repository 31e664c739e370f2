import type { CallPeer } from '../../catalog/tool.ts'
import { LIST_TIMEOUT_MS } from '../limits.ts'
import { addSender, type Era, type Sender } from '../protocol/eras.ts'
import { toRequestHeaders } from '../protocol/headers.ts'
import { asObject, type JsonObject } from '../protocol/messages.ts'
import type { Peer } from '../protocol/peer.ts'
import type { RequestOptions } from '../protocol/pending.ts'
import type { McpTransport, SendOptions } from '../protocol/transport.ts'
import type { McpRequestOptions, McpServerDescription, McpSession, McpSubscription } from './session.ts'
import { ACKNOWLEDGED, Subscriptions } from './subscriptions.ts'
import { TaskProgress } from './task-progress.ts'

export interface PeerSessionParts {
  readonly peer: Peer
  readonly transport: McpTransport
  readonly era: Era
  readonly sender: Sender
  readonly server: McpServerDescription
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>
  readonly ask?: CallPeer['ask']
}

/** A session over our own peer, from the end of the handshake on. */
export class PeerSession implements McpSession {
  readonly era: Era
  readonly server: McpServerDescription
  readonly closed: Promise<void>
  readonly ask?: CallPeer['ask']
  readonly #peer: Peer
  readonly #transport: McpTransport
  readonly #sender: Sender
  readonly #tasks = new TaskProgress()
  readonly #listeners = new Set<(method: string, params: JsonObject) => void>()
  readonly #subscriptions: Subscriptions
  /** How every legacy request is sent. */
  readonly #legacySending: SendOptions

  constructor({ peer, transport, era, sender, server, closed, ask }: PeerSessionParts) {
    this.#peer = peer
    this.#transport = transport
    this.#sender = sender
    this.#legacySending = { headers: versionHeader(sender.version) }
    this.era = era
    this.server = server
    this.closed = closed
    if (ask) this.ask = ask
    this.#subscriptions = new Subscriptions((params, options) => this.#send('subscriptions/listen', params, options))
  }

  get isConnected(): boolean {
    return !this.#peer.isClosed
  }

  request(method: string, params: JsonObject = {}, options: McpRequestOptions = {}): Promise<JsonObject> {
    const { onProgress } = options
    const onResult = (result: JsonObject, id: number): void => {
      this.#tasks.read({ result })
      this.#tasks.follow(id, result, onProgress)
    }
    return this.#send(method, params, { timeoutMs: LIST_TIMEOUT_MS, ...options, onResult }, options.headers)
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    const isModern = this.era === 'modern'
    await this.#peer.notify(method, isModern ? addSender(params ?? {}, this.#sender) : params, {
      headers: versionHeader(this.#sender.version),
    })
  }

  listen(filter: JsonObject, { signal }: { readonly signal?: AbortSignal } = {}): Promise<McpSubscription> {
    return this.#subscriptions.open(filter, signal)
  }

  onNotification(listener: (method: string, params: JsonObject) => void): () => void {
    // A new function, so the same listener can be added twice.
    const own = (method: string, params: JsonObject): void => listener(method, params)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  /** Takes a notification of the server. Those that belong to one of its requests say nothing to anyone else. */
  hear(method: string, params: JsonObject): void {
    if (method === 'notifications/cancelled') return this.#subscriptions.end(params['requestId'])
    if (method === ACKNOWLEDGED) return this.#subscriptions.acknowledge(params)
    if (method === 'notifications/progress') {
      const { progressToken, ...progress } = params
      // The call has been answered with a task, which goes on, or it was cancelled.
      return this.#tasks.hear(Number(progressToken), progress)
    }
    if (method === 'notifications/tasks/status') this.#tasks.read({ method, params })
    for (const listener of this.#listeners) listener(method, params)
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  #send(
    method: string,
    given: JsonObject,
    options: RequestOptions,
    headers?: Readonly<Record<string, string>>,
  ): Promise<JsonObject> {
    const { version } = this.#sender
    if (this.era === 'legacy') return this.#peer.request(method, given, { ...options, sending: this.#legacySending })
    const params = addSender(given, this.#sender)
    const sending = { headers: { ...headers, ...toRequestHeaders(version, method, params) } }
    const cancelBy = this.#transport.hasRequestStreams ? 'stream' : 'notification'
    return this.#peer.request(method, params, { cancelBy, ...options, sending })
  }

  /** The same for all requests. */
}

export function versionHeader(version: string): Readonly<Record<string, string>> {
  return { 'mcp-protocol-version': version }
}

/** Reads what a server says about itself, in either era. */
export function readDescription(
  info: unknown,
  { capabilities, instructions }: JsonObject,
  protocolVersion: string,
): McpServerDescription {
  return {
    info: asObject(info),
    capabilities: asObject(capabilities),
    instructions: typeof instructions === 'string' ? instructions : undefined,
    protocolVersion,
  }
}
