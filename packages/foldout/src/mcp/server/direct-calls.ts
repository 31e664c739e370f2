import type { JSONRPCMessage, JSONRPCRequest, RequestId, Server, ServerContext } from '@modelcontextprotocol/server'
import type { CallPeer } from '../../catalog/tool.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { PROTOCOL_PREFIX } from '../keys.ts'
import type { Stops } from './stops.ts'

/**
 * Answers calls of a legacy client without the SDK, with the same handler. The SDK checks each message against several
 * schemas and creates a context of closures for it, which takes more time and memory than the rest of a small call.
 */
export class DirectCalls {
  readonly #server: Server
  readonly #stops: Stops
  readonly #running = new Map<RequestId, AbortController>()

  constructor(server: Server, stops: Stops) {
    this.#server = server
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
    { id, method, params }: JSONRPCRequest,
    headers?: CallPeer['headers'],
  ): Promise<JSONRPCMessage | undefined> {
    const { signal } = stop
    this.#running.set(id, stop)
    try {
      const handle = this.#server.fallbackRequestHandler
      if (!handle) throw new Error('Method not found')
      const result = await handle({ jsonrpc: '2.0', id, method, params }, this.#createContext(id, signal, headers))
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
    running?.abort()
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
    const server = this.#server
    const mcpReq = {
      id,
      signal,
      requestState: () => undefined,
      notify: (notification: never, options?: object) =>
        server.notification(notification, { ...options, relatedRequestId: id }),
      send: (request: never, schema: never, options?: object) =>
        server.request(request, schema, { ...options, relatedRequestId: id }),
    }
    return { mcpReq, ...(headers ? { http: { req: { headers } } } : {}) } as unknown as ServerContext
  }
}

/** Fields that only the SDK can handle. */
const SDK_FIELDS = ['task', 'inputResponses', 'requestState'] as const

/** Whether a message is definitely a call, and nothing about it needs the SDK. */
export function isPlainCall(message: unknown): message is JSONRPCRequest {
  if (!isPlainRequest(message) || message.method !== 'tools/call') return false
  const { params } = message
  if (!params || SDK_FIELDS.some((field) => field in params)) return false
  return Object.keys(params['_meta'] ?? {}).every((key) => !key.startsWith(PROTOCOL_PREFIX))
}

/** Whether a message is definitely a request that the SDK's schema would accept. */
export function isPlainRequest(message: unknown): message is JSONRPCRequest {
  if (!isPlainObject(message)) return false
  const { jsonrpc, id, method, params } = message
  if (jsonrpc !== '2.0' || typeof method !== 'string' || !isId(id)) return false
  if (params === undefined) return true
  if (!isPlainObject(params)) return false
  const meta = params['_meta']
  if (meta === undefined) return true
  return isPlainObject(meta) && (meta['progressToken'] === undefined || isId(meta['progressToken']))
}

function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

function readCancelled(message: unknown): RequestId | undefined {
  if (!isPlainObject(message) || message['method'] !== 'notifications/cancelled') return undefined
  const id = isPlainObject(message['params']) ? message['params']['requestId'] : undefined
  return isId(id) ? id : undefined
}

/** Converts an error as the SDK does. */
function toWireError(error: unknown): { readonly code: number; readonly message: string; readonly data?: unknown } {
  const { code, data, message } = error as {
    readonly code?: unknown
    readonly data?: unknown
    readonly message?: unknown
  }
  const given = typeof code === 'number' && Number.isSafeInteger(code) ? code : -32_603
  return {
    // Missing resources used to have their own code.
    code: given === -32_002 ? -32_602 : given,
    message: typeof message === 'string' ? message : 'Internal error',
    ...(data === undefined ? {} : { data }),
  }
}
