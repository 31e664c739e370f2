import { cutWithCount } from '../../../core/text.ts'
import { ERROR_DATA_CHARACTERS } from '../../limits.ts'

/** An answer over HTTP that is no message. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  /** The beginning of the answer. */
  readonly body: string

  constructor(status: number, body: string, message = describe(status, body)) {
    super(message)
    this.status = status
    this.body = body
  }
}

function describe(status: number, body: string): string {
  const text = cutWithCount(body.trim(), ERROR_DATA_CHARACTERS)
  return `It answered with HTTP ${status}${text === '' ? '.' : `: ${text}`}`
}

/** Thrown for a request that the server has not run, so that it can be sent again. */
export class UnsentError extends Error {
  override readonly name = 'UnsentError'
  readonly code = 'NOT_CONNECTED'
}

/** Failures to connect. After these, the server cannot have read the request. */
const NO_CONNECTION: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Whether a failure of `fetch` means that there was no connection. */
export function isNoConnection(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && NO_CONNECTION.has(cause.code)
}

/** `fetch` itself only says that it failed. */
export function describeFetchFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  // Without a message, it has several causes: one for each address of the host.
  const [first] = cause instanceof AggregateError ? (cause.errors as readonly unknown[]) : [cause]
  if (first instanceof Error) return first.message
  return error.message
}
