import { isPlainObject } from '../../core/json/json.ts'

/** An error as the protocol defines it. */
export interface ErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** The error of an answer. Servers also send a text instead, or neither an error nor a result. */
export function toErrorObject(error: unknown): ErrorObject {
  const { code, message, data } = isPlainObject(error) ? error : { message: error }
  const text = error === undefined ? 'Its answer has no result.' : 'Its error has no message.'
  return {
    code: typeof code === 'number' ? code : -32_603,
    message: typeof message === 'string' ? message : text,
    ...(data === undefined ? {} : { data }),
  }
}
