const CODES = { 'invalid-params': -32_602, 'method-not-found': -32_601 } as const

/** An error that answers a request, with a code of JSON-RPC. The SDK sends the fields of any such error. */
export class RequestError extends Error {
  readonly code: number
  readonly data?: unknown

  constructor(code: keyof typeof CODES | number, message: string, data?: unknown) {
    super(message)
    this.name = 'RequestError'
    this.code = typeof code === 'number' ? code : CODES[code]
    if (data !== undefined) this.data = data
  }
}

/** The code of a missing resource before 2026-07-28. */
export const NOT_FOUND = -32_002

/** Converts an error as the SDK does, for legacy clients. */
export function toWireError(error: unknown): {
  readonly code: number
  readonly message: string
  readonly data?: unknown
} {
  const { code, data, message } = error as {
    readonly code?: unknown
    readonly data?: unknown
    readonly message?: unknown
  }
  return {
    code: typeof code === 'number' && Number.isSafeInteger(code) ? code : -32_603,
    message: typeof message === 'string' ? message : 'Internal error',
    ...(data === undefined ? {} : { data }),
  }
}
