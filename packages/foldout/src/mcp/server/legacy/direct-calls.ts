import type { JSONRPCMessage, JSONRPCRequest, RequestId, Server, ServerContext } from '@modelcontextprotocol/server'
import type { CallPeer } from '../../../catalog/tool.ts'
import type { FeatureNotification } from '../features.ts'
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
  async answer(request: JSONRPCRequest): Promise<JSONRPCMessage | undefined> {
    const stop = this.#stops.take()
    try {
      return await this.answerUntil(stop, request)
    } finally {
      this.#stops.giveBack(stop)
    }
  }

  /** The same for a call that somebody else may stop as well. */
  async answerUntil(
    stop: AbortController,
    request: JSONRPCRequest,
    headers?: CallPeer['headers'],
  ): Promise<JSONRPCMessage | undefined> {
    const { signal } = stop
    const { id } = request
    this.#running.set(id, stop)
    try {
      const result = await this.#handlers.answer(request, this.#createContext(id, signal, headers))
      return signal.aborted ? undefined : { jsonrpc: '2.0', id, result }
    } catch (error) {
      return signal.aborted ? undefined : { jsonrpc: '2.0', id, error: toWireError(error) }
    } finally {
      if (this.#running.get(id) === stop) this.#running.delete(id)
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

  /**
   * Creates the part of the SDK's context that the handler uses. Questions and notifications name the call that they
   * belong to.
   */
  #createContext(id: RequestId, signal: AbortSignal, headers: CallPeer['headers']): ServerContext {
    const link = this.#link
    const mcpReq = {
      id,
      signal,
      requestState: () => undefined,
      notify: (notification: FeatureNotification) => link.notify(notification, id),
      send: async (request: never, schema: never, options?: object) => {
        const server = await link.wake()
        return server.request(request, schema, { ...options, relatedRequestId: id })
      },
    }
    return { mcpReq, ...(headers ? { http: { req: { headers } } } : {}) } as unknown as ServerContext
  }
}
