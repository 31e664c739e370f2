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

/** Converts an error as the SDK does. */
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
  const given = typeof code === 'number' && Number.isSafeInteger(code) ? code : -32_603
  return {
    // Missing resources used to have their own code.
    code: given === -32_002 ? -32_602 : given,
    message: typeof message === 'string' ? message : 'Internal error',
    ...(data === undefined ? {} : { data }),
  }
}
