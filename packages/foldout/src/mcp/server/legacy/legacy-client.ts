import type { JSONRPCMessage, JSONRPCRequest, RequestId, Server } from '@modelcontextprotocol/server'
import { createChannel } from './channel.ts'
import { answerInitialize, checkNotification, describeServer, type ServerDescription } from './description.ts'
import { DirectCalls } from './direct-calls.ts'
import type { FeatureNotification } from '../features.ts'
import { createHandlers, type ClientHandlers } from '../handlers.ts'
import type { ServeMcpOptions } from '../options.ts'
import { toWireError } from '../request-error.ts'
import type { Stops } from './stops.ts'
import type { ClientView } from '../views.ts'

export interface LegacyParts {
  readonly options: ServeMcpOptions
  readonly view: ClientView
  getCapabilities(): object | undefined
  /** Whether the client can get messages that belong to none of its requests. */
  isReachable(): boolean
  readonly maxResultBytes: number
  readonly stops: Stops
  /** Sends a message to the client: with the answer to one of its requests, if one is named. */
  send(message: JSONRPCMessage, request?: RequestId): Promise<void>
  /** The server of the SDK for this client, created on demand. */
  wake(): Promise<Server>
}

/**
 * Answers the messages that almost every legacy client sends, without the SDK: loading it takes longer than the rest of
 * a start. A message of another kind creates a server of the SDK with the same handlers, which takes part in the
 * connection from then on.
 */
export class LegacyClient {
  readonly handlers: ClientHandlers
  readonly calls: DirectCalls
  readonly view: ClientView
  readonly #parts: LegacyParts
  readonly #description: ServerDescription

  constructor(parts: LegacyParts) {
    const { options, view, maxResultBytes, stops, getCapabilities, isReachable, wake } = parts
    this.#parts = parts
    this.view = view
    this.#description = describeServer(options, view)
    const link = {
      getCapabilities,
      notify: (notification: FeatureNotification, request?: RequestId) => this.#notify(notification, request),
      onError: (error: Error) => options.onError?.(error),
      wake,
      channel: createChannel(isReachable, wake),
    }
    this.handlers = createHandlers({ options, view, link }, { isLasting: true, maxResultBytes })
    this.calls = new DirectCalls(this.handlers, link, stops)
  }

  /** Answers `initialize`, `ping` and `tools/list`. */
  answer(request: JSONRPCRequest): JSONRPCMessage {
    const { id, method } = request
    try {
      if (method === 'initialize') return { jsonrpc: '2.0', id, result: answerInitialize(this.#description, request) }
      return { jsonrpc: '2.0', id, result: method === 'ping' ? {} : this.handlers.list(request.params) }
    } catch (error) {
      return { jsonrpc: '2.0', id, error: toWireError(error) }
    }
  }

  /** Ends what is running, and notifies the client no longer. */
  stop(): void {
    this.handlers.stop()
    this.calls.stopAll()
  }

  async #notify({ method, params }: FeatureNotification, request?: RequestId): Promise<void> {
    checkNotification(method, this.#description)
    await this.#parts.send({ jsonrpc: '2.0', method, ...(params ? { params: { ...params } } : {}) }, request)
  }
}
