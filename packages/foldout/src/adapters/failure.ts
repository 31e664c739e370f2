import { getErrorMessage } from '../core/errors.ts'
import { isPlainObject } from '../core/json/json.ts'

/** What a failed request tells, whichever SDK threw it. */
export interface RequestFailure {
  /** Whether the same request may go through later. */
  readonly isTransient: boolean
  /** The HTTP status, where there was an answer. */
  readonly status: number | undefined
  /** How long the provider asks to wait. */
  readonly retryAfterMs: number | undefined
  readonly message: string
}

const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 409, 429])
const CONNECTION_CODES = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_)/
const CONNECTION_MESSAGES =
  /^(terminated|fetch failed|premature close|socket hang up|other side closed|connection error\.?)$/i
// What errors that arrive inside of a stream are called.
const TRANSIENT_TYPES =
  /^(server_error|internal_server_error|api_error|overloaded_error|rate_limit_error|rate_limit_exceeded|timeout_error)$/
// Answered with 429, but no waiting helps.
const FINAL_TYPES = /^(insufficient_quota|billing_error|billing_not_active)$/

class CutStreamError extends Error {}

/** For a reply that ended before it was whole. */
export function cutStream(message: string, options?: ErrorOptions): Error {
  return new CutStreamError(message, options)
}

/**
 * Reads the errors of the providers' SDKs by their shape, since a client that was passed in may come from another copy.
 * Undefined for what is no failed request, such as a mistake in a program.
 */
export function toFailure(error: unknown): RequestFailure | undefined {
  const read = createReader(field(error, 'headers') ?? field(error, 'responseHeaders'))
  const status = getStatus(error)
  const failure = { status, retryAfterMs: readRetryAfter(read), message: getErrorMessage(error) }
  if (error instanceof CutStreamError || isConnectionLoss(error)) return { ...failure, isTransient: true }
  if (!isApiError(error)) return undefined
  const types = getTypes(error)
  if (types.some((type) => FINAL_TYPES.test(type))) return { ...failure, isTransient: false }
  if (status === undefined) return { ...failure, isTransient: types.some((type) => TRANSIENT_TYPES.test(type)) }
  const advice = read('x-should-retry')
  const isTransient = TRANSIENT_STATUSES.has(status) || status >= 500
  return { ...failure, isTransient: advice === 'true' || (advice !== 'false' && isTransient) }
}

function isApiError(error: unknown): boolean {
  return error instanceof Error && ('status' in error || 'statusCode' in error)
}

/** Errors that arrive inside of a stream have no status of their own; some servers write it as their code. */
function getStatus(error: unknown): number | undefined {
  const status = field(error, 'status') ?? field(error, 'statusCode')
  if (typeof status === 'number') return status
  const code = Number(field(error, 'code') ?? NaN)
  return code >= 400 && code < 600 ? code : undefined
}

/** The provider's names for what went wrong: `code` and `type`, of the error itself and of what it answered. */
function getTypes(error: unknown): readonly string[] {
  const bodies = [error, field(error, 'error'), field(field(error, 'error'), 'error')]
  return bodies
    .flatMap((body) => [field(body, 'code'), field(body, 'type')])
    .filter((value): value is string => typeof value === 'string')
}

function isConnectionLoss(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const code = field(at, 'code')
    if (typeof code === 'string' && CONNECTION_CODES.test(code)) return true
    if (CONNECTION_MESSAGES.test(at.message) || at.constructor.name.startsWith('APIConnection')) return true
  }
  return false
}

function readRetryAfter(read: (name: string) => string | undefined): number | undefined {
  const milliseconds = Number.parseFloat(read('retry-after-ms') ?? '')
  if (milliseconds >= 0) return milliseconds
  const after = read('retry-after')
  if (after === undefined) return undefined
  const seconds = Number(after)
  const wait = Number.isNaN(seconds) ? Date.parse(after) - Date.now() : seconds * 1000
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}

function createReader(headers: unknown): (name: string) => string | undefined {
  if (headers instanceof Headers) return (name) => headers.get(name) ?? undefined
  if (!isPlainObject(headers)) return () => undefined
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return (name) => {
    const value = byName.get(name)
    return typeof value === 'string' ? value : undefined
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}
