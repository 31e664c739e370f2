import { asObject, type JsonObject } from './messages.ts'

/** The codes of JSON-RPC. */
export const PARSE_ERROR = -32_700
export const INVALID_REQUEST = -32_600
export const METHOD_NOT_FOUND = -32_601
export const INVALID_PARAMS = -32_602
export const INTERNAL_ERROR = -32_603

/** An error as JSON-RPC defines it. */
export interface ErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** Why a request has no result. A number is the code that the other side answered with; the others are ours. */
export type FailureCode = 'NOT_CONNECTED' | 'CONNECTION_CLOSED' | 'REQUEST_TIMEOUT' | 'OVERDUE' | number

/** The failure of a request, or the error to answer one with. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly code: FailureCode
  readonly data: unknown

  constructor(code: FailureCode, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** Reads the error of an answer. Some programs send a text instead, or neither an error nor a result. */
export function toErrorObject(error: unknown): ErrorObject {
  if (error === undefined) return { code: INTERNAL_ERROR, message: 'Its answer has no result.' }
  if (typeof error === 'string') return { code: INTERNAL_ERROR, message: error }
  return createErrorObject(asObject(error), 'Its error has no message.')
}

/** The error to answer a request with after something was thrown. */
export function describeThrown(thrown: unknown): ErrorObject {
  return createErrorObject(Object(thrown) as JsonObject, String(thrown))
}

function createErrorObject({ code, message, data }: JsonObject, otherwise: string): ErrorObject {
  const error = { code: INTERNAL_ERROR, message: otherwise }
  if (Number.isFinite(code)) error.code = Number(code)
  if (typeof message === 'string') error.message = message
  if (data === undefined) return error
  return { ...error, data }
}
