import { isObject } from 'foldout-shared/values'
import type { JsonObject, Message, RequestId } from './messages.ts'

/** A request that is complete and has parameters of the right types. */
export interface ValidRequest extends Message {
  readonly id: RequestId
  readonly method: string
  readonly params?: JsonObject
}

export function isValidRequest(value: unknown): value is ValidRequest {
  return isObject(value) && isId(value['id']) && isCall(value)
}

/** Whether a value is a message of JSON-RPC: a request, a notification, or the answer to a request. */
export function isValidMessage(value: unknown): value is Message {
  if (!isObject(value)) return false
  const { jsonrpc, id, method, result, error } = value
  if (method !== undefined) return (id === undefined || isId(id)) && isCall(value)
  if (jsonrpc !== '2.0') return false
  if (isObject(error)) return (id === undefined || isId(id)) && isError(error)
  return isId(id) && isObject(result)
}

function isCall({ jsonrpc, method, params }: JsonObject): boolean {
  if (jsonrpc !== '2.0' || typeof method !== 'string') return false
  if (params === undefined) return true
  if (!isObject(params)) return false
  const { _meta: meta } = params
  if (meta === undefined) return true
  return isObject(meta) && (meta['progressToken'] === undefined || isId(meta['progressToken']))
}

function isError({ code, message }: JsonObject): boolean {
  return Number.isSafeInteger(code) && typeof message === 'string'
}

function isId(value: unknown): boolean {
  return typeof value === 'string' || Number.isSafeInteger(value)
}
