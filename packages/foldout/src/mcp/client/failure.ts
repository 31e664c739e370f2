import { createErrorResult } from '../../tools/call-result.ts'
import type { CallResult } from '../../catalog/tool.ts'
import { getErrorMessage } from '../../core/errors.ts'
import { isPlainObject } from '../../core/json/json.ts'

/** What a server says beside its message is shown up to here. */
const SHOWN_DATA = 1_000

export interface FailedCall {
  readonly server: string
  readonly tool: string
  readonly timeoutMs: number
  /** Whether there was a connection before the call and is none now. */
  readonly isCutOff: boolean
}

/** A call that came to nothing, as an answer that a model can read. */
export function callFailure(error: unknown, call: FailedCall): CallResult {
  return createErrorResult(failureText(error, call))
}

function failureText(error: unknown, { server, tool, timeoutMs, isCutOff }: FailedCall): string {
  const { code, data } = errorFields(error)
  const text = withoutPrefix(getErrorMessage(error))
  if (code === 'NOT_CONNECTED' || text === 'Not connected')
    return `Tool '${tool}' was not run: there is no connection to the server '${server}'.`
  if (code === 'CONNECTION_CLOSED' || isCutOff)
    return `The connection to the server '${server}' was lost during the call of '${tool}'. Whether it has run is not known.`
  if (isTimeout(code, data))
    return `Tool '${tool}' was cancelled: the server '${server}' gave no answer and no progress for ${timeoutMs / 1_000} seconds.`
  // Errors of the protocol have numbers, those of the way there do not.
  if (typeof code === 'number') return `The server '${server}' refused the call of '${tool}': ${text}${shown(data)}`
  return `The call of '${tool}' on the server '${server}' failed: ${text}${getReason(error)}`
}

function errorFields(error: unknown): { readonly code?: unknown; readonly data?: unknown } {
  return typeof error === 'object' && error !== null ? error : {}
}

/** Servers use the number of a timeout for errors of their own too. */
function isTimeout(code: unknown, data: unknown): boolean {
  return code === 'REQUEST_TIMEOUT' || (code === -32_001 && isPlainObject(data) && 'timeout' in data)
}

function withoutPrefix(message: string): string {
  return message.replace(/^MCP error -?\d+: /, '')
}

function shown(data: unknown): string {
  if (data === undefined || data === null) return ''
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return ` (${text.length > SHOWN_DATA ? `${text.slice(0, SHOWN_DATA)}…` : text})`
}

/** What `fetch` says of itself is only that it failed. */
function getReason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && cause.message !== '' ? ` (${cause.message})` : ''
}
