import type { JSONRPCMessage, JSONRPCRequest, RequestId, Server, ServerContext } from '@modelcontextprotocol/server'
import type { CallPeer } from '../../../catalog/tool.ts'
import type { ClientChannel, FeatureNotification, FeatureRequest } from '../features.ts'
import type { ClientHandlers } from '../handlers.ts'
import { readCancelled, readReason } from './messages.ts'
import { toWireError } from '../request-error.ts'
import type { Stops } from './stops.ts'

/** What a running call may need of its client. */
export interface CallLink {
  /** Sends a notification that belongs to a request. */
  notify(notification: FeatureNotification, request: RequestId): Promise<void>
  /** The server that can ask the client something, created on demand. */
  wake(): Promise<Server>
  /** Asks the client something that belongs to no request. */
  readonly channel: ClientChannel
}

/** Where a call comes from, if that matters. */
export interface CallOrigin {
  /** Stops the call, if somebody else may stop it as well. */
  readonly stop?: AbortController
  readonly headers?: CallPeer['headers']
}

/**
 * Answers calls of a legacy client without the SDK, with the same handler. The SDK checks each message against several
 * schemas and creates a context of closures for it, which takes more time and memory than the rest of a small call.
 */
export class DirectCalls {
  readonly #handlers: ClientHandlers
  readonly #link: CallLink
  readonly #stops: Stops
  readonly #running = new Map<RequestId, AbortController>()

  constructor(handlers: ClientHandlers, link: CallLink, stops: Stops) {
    this.#handlers = handlers
    this.#link = link
    this.#stops = stops
  }

  /** Runs a call. Gives back the message that answers it; nothing if it was cancelled. */
  async answer(request: JSONRPCRequest, over: CallOrigin = {}): Promise<JSONRPCMessage | undefined> {
    const stop = over.stop ?? this.#stops.take()
    const { signal } = stop
    const { id } = request
    const asking = new DirectRequest(this.#link, id, signal)
    this.#running.set(id, stop)
    try {
      const result = await this.#handlers.answer(request, createContext(asking, over.headers))
      return signal.aborted ? undefined : { jsonrpc: '2.0', id, result }
    } catch (error) {
      return signal.aborted ? undefined : { jsonrpc: '2.0', id, error: toWireError(error) }
    } finally {
      asking.hasEnded = true
      if (this.#running.get(id) === stop) this.#running.delete(id)
      if (!over.stop) this.#stops.giveBack(stop)
    }
  }

  /** Stops the call that a client has cancelled. Returns whether there was one. */
  cancel(message: unknown): boolean {
    const id = readCancelled(message)
    const running = id === undefined ? undefined : this.#running.get(id)
    const reason = readReason(message)
    // Without a reason, it is the one of the platform.
    running?.abort(...(reason === undefined ? [] : [new DOMException(reason, 'AbortError')]))
    return running !== undefined
  }

  stopAll(): void {
    for (const stop of Array.from(this.#running.values())) stop.abort()
  }
}

function createContext(mcpReq: DirectRequest, headers: CallPeer['headers']): ServerContext {
  return (headers ? { mcpReq, http: { req: { headers } } } : { mcpReq }) as unknown as ServerContext
}

/**
 * The part of the SDK's context that the handler uses. Questions and notifications name the call that they belong to.
 * A class, because most calls use none of its functions.
 */
class DirectRequest {
  readonly id: RequestId
  readonly signal: AbortSignal
  /** Whether the call has been answered. */
  hasEnded = false
  readonly #link: CallLink

  constructor(link: CallLink, id: RequestId, signal: AbortSignal) {
    this.#link = link
    this.id = id
    this.signal = signal
  }

  requestState(): undefined {
    return undefined
  }

  notify(notification: FeatureNotification): Promise<void> {
    return this.#link.notify(notification, this.id)
  }

  async send(
    request: FeatureRequest,
    schema: never,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<unknown> {
    const { method, params } = request
    const server = await this.#link.wake()
    // A question may come with the answer. Nobody reads what is sent with a call that has been answered.
    if (this.hasEnded) return this.#link.channel.ask(method, params, options.signal)
    return server.request({ method, params: { ...params } }, schema, { ...options, relatedRequestId: this.id })
  }
}
