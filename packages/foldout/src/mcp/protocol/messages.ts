import { isObject } from 'foldout-shared/values'

export type JsonObject = Readonly<Record<string, unknown>>

export type RequestId = string | number

/** A message as it is sent: a request, an answer, or a notification. */
export interface Message extends JsonObject {
  readonly jsonrpc: '2.0'
}

/** Whether a message asks for an answer. */
export function isRequest(
  message: JsonObject,
): message is Message & { readonly id: RequestId; readonly method: string } {
  return typeof message['method'] === 'string' && isRequestId(message['id'])
}

/** Whether a message answers a request, with a result or an error. */
export function isAnswer(message: JsonObject): boolean {
  return message['method'] === undefined && message['id'] !== undefined
}

export function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id))
}

/** The parameters of a message. Anything but an object counts as none. */
export function getParams({ params }: JsonObject): JsonObject {
  return asObject(params)
}

/** Reads a field that should be an object. Anything else counts as an empty one. */
export function asObject(value: unknown): JsonObject {
  if (isObject(value)) return value
  return {}
}
