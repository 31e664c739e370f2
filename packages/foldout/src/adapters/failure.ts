import { FoldoutError, getErrorMessage } from '../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import { AdapterError } from './adapter-error.ts'

/**
 * The details of a failed request, whichever SDK threw the error.
 *
 * @example
 * ```ts
 * const computeDelay = ({ retryAfterMs }: RequestFailure, attempt: number): number => retryAfterMs ?? 1000 * attempt
 * ```
 */
export interface RequestFailure {
  /** Whether the same request may succeed later. */
  readonly isTransient: boolean
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined
  /** How long the provider asks to wait, in milliseconds: a finite number, never below zero. */
  readonly retryAfterMs: number | undefined
  readonly message: string
}

const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 409, 429])
const CONNECTION_CODES = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_)/
const CONNECTION_MESSAGES =
  /^(terminated|fetch failed|premature close|socket hang up|other side closed|connection error\.?)$/i
// The names of errors that arrive inside a stream.
const TRANSIENT_TYPES =
  /^(server_error|internal_server_error|api_error|overloaded_error|rate_limit_error|rate_limit_exceeded|timeout_error)$/
// Answered with 429, but waiting does not help.
const FINAL_TYPES = /^(insufficient_quota|billing_error|billing_not_active)$/

// Answered with 400 whatever form the request has.
const REFUSED_FOR_GOOD =
  /context[ _](length|window)|too long|too many tokens|maximum (context|number of tokens)|credit|billing|quota|usage limit|balance|api[ _]key|content[ _](policy|filter|management)|safety|flagged|moderat|(usage|violat\w{0,10}).{0,40}polic|invalid_prompt|model[ _]not[ _]found|model.{0,80}does not exist/i

/**
 * Whether the reason for a status 400 would remain in any other form of the request: it is too long, the account has no
 * credit, the model does not exist, or the content is not allowed.
 */
export function isRefusedForGood(said: string): boolean {
  return REFUSED_FOR_GOOD.test(said)
}

const FORMAT_REFUSED =
  /response_format|response mime type|json_schema|json mode|text\.format|output_(config|format)|structured output|guided|grammar|schema for response/i

/** Whether an answer with status 400 says that the provider does not support an output format or this schema. */
export function isFormatRefused(said: string): boolean {
  return FORMAT_REFUSED.test(said)
}

/** Creates the error for an incomplete reply. Inside an attempt, it causes a retry, unless text was already shown. */
export function cutStream(adapter: string, message: string, cause?: unknown): AdapterError {
  return new AdapterError('adapter-stream-cut', message, { adapter, cause })
}

/**
 * Reads the errors of the providers' SDKs by their shape, since a client that was passed in may come from another copy
 * of the package. Returns undefined for anything that is not a failed request, such as a bug in a program.
 */
export function toFailure(error: unknown): RequestFailure | undefined {
  if (error instanceof FoldoutError) return readOwnError(error)
  const readHeader = createHeaderReader(getField(error, 'headers') ?? getField(error, 'responseHeaders'))
  const status = getStatus(error)
  const message = getErrorMessage(error)
  const retryAfterMs = readRetryAfter(readHeader) ?? readRetryInfo(error) ?? readWaitInText(message)
  const failure = { status, retryAfterMs, message }
  if (isConnectionLoss(error)) return { ...failure, isTransient: true }
  if (!isApiError(error)) return undefined
  const types = getTypes(error)
  if (types.some((type) => FINAL_TYPES.test(type))) return { ...failure, isTransient: false }
  if (status === undefined) return { ...failure, isTransient: types.some((type) => TRANSIENT_TYPES.test(type)) }
  const advice = readHeader('x-should-retry')
  const isTransient = TRANSIENT_STATUSES.has(status) || status >= 500
  return { ...failure, isTransient: advice === 'true' || (advice !== 'false' && isTransient) }
}

/** An adapter uses these two codes to allow a retry; its other errors are final. */
function readOwnError(error: FoldoutError): RequestFailure | undefined {
  if (!(error instanceof AdapterError)) return undefined
  if (error.code !== 'adapter-stream-cut' && error.code !== 'adapter-unavailable') return undefined
  const { status, message } = error
  return { status, message, retryAfterMs: toWait(error.retryAfterMs), isTransient: true }
}

function isApiError(error: unknown): boolean {
  return error instanceof Error && ('status' in error || 'statusCode' in error)
}

/** Errors inside a stream have no status of their own; some servers use the status as the code. */
function getStatus(error: unknown): number | undefined {
  const status = getField(error, 'status') ?? getField(error, 'statusCode')
  if (typeof status === 'number') return status
  const code = getField(error, 'code')
  if (typeof code !== 'string' && typeof code !== 'number') return undefined
  if (Number(code) >= 400 && Number(code) < 600) return Number(code)
  return undefined
}

/** Returns the provider's names for the failure: `code` and `type` of the error itself and of the provider's answer. */
function getTypes(error: unknown): readonly string[] {
  const bodies = [error, getField(error, 'error'), getField(getField(error, 'error'), 'error')]
  return bodies
    .flatMap((body) => [getField(body, 'code'), getField(body, 'type')])
    .filter((value): value is string => typeof value === 'string')
}

function isConnectionLoss(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const code = getField(at, 'code')
    if (typeof code === 'string' && CONNECTION_CODES.test(code)) return true
    if (CONNECTION_MESSAGES.test(at.message) || at.constructor?.name.startsWith('APIConnection')) return true
  }
  return false
}

/** Headers are foreign input: the result is a finite number of milliseconds, 0 or more, or undefined. */
function readRetryAfter(readHeader: HeaderReader): number | undefined {
  const milliseconds = toWait(parseNumber(readHeader('retry-after-ms')))
  if (milliseconds !== undefined) return milliseconds
  const after = readHeader('retry-after')
  if (after === undefined) return readReset(readHeader)
  const seconds = parseNumber(after)
  if (seconds !== undefined) return toWait(seconds * 1000)
  const date = Date.parse(after)
  if (Number.isNaN(date)) return undefined
  return Math.max(0, date - Date.now())
}

/** Returns the wait until the limit that is used up starts again. Its form differs: `2s`, `6m0s`, `120ms`, seconds. */
function readReset(readHeader: HeaderReader): number | undefined {
  const waits = ['requests', 'tokens'].flatMap((what) => {
    const left = parseNumber(readHeader(`x-ratelimit-remaining-${what}`))
    const reset = readHeader(`x-ratelimit-reset-${what}`)
    const wait = left === 0 && reset !== undefined ? parseDuration(reset) : undefined
    if (wait === undefined) return []
    return [wait]
  })
  if (waits.length > 0) return Math.max(...waits)
  return readResetTime(readHeader('x-ratelimit-reset'))
}

/** OpenRouter and others name the time at which the limit starts again, in milliseconds or seconds since 1970. */
function readResetTime(reset: string | undefined): number | undefined {
  const time = parseNumber(reset)
  if (time === undefined || time < FIRST_TIME_S) return undefined
  const timeMs = time < FIRST_TIME_MS ? time * 1000 : time
  return Math.max(0, timeMs - Date.now())
}

// A smaller number is not a time of this century; a larger one is in milliseconds.
const FIRST_TIME_S = 1e9
const FIRST_TIME_MS = 1e11

/** Google says how long to wait in a detail of the error: `{ "@type": "….RetryInfo", "retryDelay": "27s" }`. */
function readRetryInfo(error: unknown): number | undefined {
  const details = getField(getField(error, 'error'), 'details')
  if (!Array.isArray(details)) return undefined
  const delay: unknown = details.map((detail) => getField(detail, 'retryDelay')).find((each) => each !== undefined)
  return typeof delay === 'string' ? parseDuration(delay) : undefined
}

/** With some clients, the details are part of the message: `"retryDelay": "27s"`. Others write "try again in 1.5s". */
function readWaitInText(message: string): number | undefined {
  const [, wait] =
    /(?:retryDelay"?: ?"|(?:try|retry) again (?:in|after) |retry in )([\d.]{1,20} ?(?:ms|s|m)[\da-z.]{0,20})/i.exec(
      message,
    ) ?? []
  if (wait === undefined) return undefined
  return parseDuration(wait)
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

function parseDuration(text: string): number | undefined {
  const parts = [...text.slice(0, 40).matchAll(/(\d{1,15}(?:\.\d{1,15})?) ?(ms|s|m|h)/g)]
  const sum = parts.reduce((all, [, number, unit = '']) => all + Number(number) * (UNITS[unit] ?? 0), 0)
  if (parts.length > 0) return toWait(Math.ceil(sum))
  return toWait(multiply(parseNumber(text), 1000))
}

function multiply(number: number | undefined, by: number): number | undefined {
  if (number === undefined) return undefined
  return number * by
}

function parseNumber(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '') return undefined
  const number = Number(text)
  if (Number.isNaN(number)) return undefined
  return number
}

function toWait(milliseconds: number | undefined): number | undefined {
  if (milliseconds !== undefined && Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds
  return undefined
}

type HeaderReader = (name: string) => string | undefined

function createHeaderReader(headers: unknown): HeaderReader {
  if (headers instanceof Headers) return (name) => headers.get(name) ?? undefined
  if (!isObject(headers)) return () => undefined
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return (name) => {
    const value = byName.get(name)
    if (typeof value === 'string') return value
    return undefined
  }
}

function getField(value: unknown, name: string): unknown {
  if (typeof value === 'object' && value !== null) return (value as Record<string, unknown>)[name]
  return undefined
}
