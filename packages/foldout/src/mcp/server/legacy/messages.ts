import type { JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, RequestId } from '@modelcontextprotocol/server'
import { isPlainObject } from '../../../core/json/json.ts'
import { PROTOCOL_PREFIX } from '../../keys.ts'
import { MAX_REASON } from '../../limits.ts'
import type { FeatureNotification } from '../features.ts'

/** The versions before 2026-07-28, newest first. A client that names another version gets the newest. */
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']

/** Fields that only the SDK can handle. */
const SDK_FIELDS = ['task', 'inputResponses', 'requestState'] as const

/** Whether a message is definitely a call of a legacy client, and nothing about it needs the SDK. */
export function isPlainCall(message: unknown): message is JSONRPCRequest {
  if (!isPlainRequest(message) || message.method !== 'tools/call') return false
  const { params } = message
  if (!params || SDK_FIELDS.some((field) => field in params)) return false
  return isLegacyMeta(params)
}

/** The same for the other requests that almost every client sends: `ping` and `tools/list`. */
export function isPlainQuestion(message: unknown): message is JSONRPCRequest {
  if (!isPlainRequest(message) || (message.method !== 'tools/list' && message.method !== 'ping')) return false
  // A cursor of any type is answered in words, where the SDK would answer with the issues of its schema.
  return isLegacyMeta(message.params)
}

/** Whether a message is definitely the `initialize` of a legacy client, as its specification says. */
export function isPlainInitialize(message: unknown): message is JSONRPCRequest {
  if (!isPlainRequest(message) || message.method !== 'initialize' || !isLegacyMeta(message.params)) return false
  const { protocolVersion, capabilities, clientInfo } = message.params ?? {}
  if (typeof protocolVersion !== 'string' || !LEGACY_VERSIONS.includes(protocolVersion)) return false
  if (!isPlainObject(clientInfo) || !isPlainObject(capabilities)) return false
  const hasNames = typeof clientInfo['name'] === 'string' && typeof clientInfo['version'] === 'string'
  return hasNames && Object.values(capabilities).every(isPlainCapability)
}

function isPlainCapability(value: unknown): boolean {
  return isPlainObject(value) && Object.values(value).every((one) => typeof one === 'boolean' || isPlainObject(one))
}

export function isNotification(message: unknown): message is JSONRPCNotification {
  return isPlainObject(message) && typeof message['method'] === 'string' && message['id'] === undefined
}

/** A notification without the fields of JSON-RPC. */
export function toNotification({
  method,
  params,
}: Pick<JSONRPCNotification, 'method' | 'params'>): FeatureNotification {
  return { method, ...(params ? { params } : {}) }
}

export function isInitialized(message: unknown): message is JSONRPCNotification {
  return isNotification(message) && message.method === 'notifications/initialized'
}

/** What a modern request says of itself is in `_meta`. */
function isLegacyMeta(params: JSONRPCRequest['params']): boolean {
  return Object.keys(params?.['_meta'] ?? {}).every((key) => !key.startsWith(PROTOCOL_PREFIX))
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

/** Whether a value is a message of JSON-RPC: a request, a notification, or the answer to one of the server's requests. */
export function isMessage(value: unknown): value is JSONRPCMessage {
  if (isPlainRequest(value)) return true
  if (!isPlainObject(value) || value['jsonrpc'] !== '2.0') return false
  const { id, method, params, result, error } = value
  if (typeof method === 'string') return id === undefined && (params === undefined || isPlainObject(params))
  if (method !== undefined) return false
  if (isPlainObject(error)) return (id === undefined || isId(id)) && isError(error)
  return isId(id) && isPlainObject(result)
}

function isError({ code, message }: Readonly<Record<string, unknown>>): boolean {
  return Number.isSafeInteger(code) && typeof message === 'string'
}

export function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

/** The request that a message cancels, if it is such a message. */
export function readCancelled(message: unknown): RequestId | undefined {
  if (!isPlainObject(message) || message['method'] !== 'notifications/cancelled') return undefined
  const id = isPlainObject(message['params']) ? message['params']['requestId'] : undefined
  return isId(id) ? id : undefined
}

/** Why the client cancels a request, if it says so. */
export function readReason(message: unknown): string | undefined {
  const params = isPlainObject(message) ? message['params'] : undefined
  const reason = isPlainObject(params) ? params['reason'] : undefined
  return typeof reason === 'string' ? reason.slice(0, MAX_REASON) : undefined
}
