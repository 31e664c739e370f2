import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../protocol/errors.ts'

/** An error that answers a request, with a code of JSON-RPC. */
export class RequestError extends Error {
  readonly code: number
  readonly data?: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.name = 'RequestError'
    this.code = code
    if (data !== undefined) this.data = data
  }
}

/** Nothing here answers a method. */
export class UnknownMethod extends RequestError {
  constructor() {
    super(METHOD_NOT_FOUND, 'Method not found')
  }
}

export function createInvalid(message: string, data?: unknown): RequestError {
  return new RequestError(INVALID_PARAMS, message, data)
}

export const UNKNOWN_CURSOR = 'This server did not issue this cursor.'

/** The code of a missing resource before 2026-07-28. Modern clients get the one for invalid parameters. */
export const NOT_FOUND = -32_002
