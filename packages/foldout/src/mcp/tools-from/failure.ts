import { cutWithCount } from '../../core/text.ts'
import { createErrorResult } from '../../tools/call-result.ts'
import type { CallResult } from '../../catalog/tool.ts'
import { getErrorMessage } from '../../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import { toVisibleText } from '../../core/visible-text.ts'
import { ERROR_DATA_CHARACTERS } from '../limits.ts'
import { REFUSAL, type Refusal } from '../refusal.ts'
import { UNSENT } from './unsent.ts'

export interface FailedCall {
  readonly server: string
  readonly tool: string
  readonly timeoutMs: number
  readonly maxCallMs: number
  /** Whether the connection was lost during the call. */
  readonly isCutOff: boolean
  /** Whether the server has answered with questions or a task before. */
  readonly hasBegun: boolean
  /** Whether the call exceeded the time limit. */
  readonly isOverdue: boolean
  /** Whether the call was made for a client that can receive the server's own error. */
  readonly isPassedOn: boolean
}

/** Converts a failed call to an answer that a model can read. */
export function callFailure(error: unknown, call: FailedCall): CallResult {
  const result = createErrorResult(failureText(error, call))
  if (isNotConnected(error) && !call.hasBegun && !call.isOverdue) return { ...result, [UNSENT]: true }
  const refusal = call.isCutOff || call.isOverdue || !call.isPassedOn ? undefined : readRefusal(error)
  if (refusal) return { ...result, [REFUSAL]: refusal }
  return result
}

/** Returns the error that a server answered with, if any. */
function readRefusal(error: unknown): Refusal | undefined {
  const { code, data } = errorFields(error)
  if (typeof code !== 'number' || isTimeout(code, data)) return undefined
  return { code, message: withoutPrefix(getErrorMessage(error)), ...(data !== undefined && { data }) }
}

function failureText(error: unknown, call: FailedCall): string {
  const { server, tool, timeoutMs, maxCallMs, isCutOff, isOverdue, hasBegun } = call
  const { code, data } = errorFields(error)
  const text = toVisibleText(withoutPrefix(getErrorMessage(error)))
  if (isOverdue)
    return `Tool '${tool}' was cancelled: the server '${server}' had not answered after ${maxCallMs / 1_000} seconds, the time limit of a call.`
  if (isNotConnected(error) && !hasBegun)
    return `Tool '${tool}' was not run: there is no connection to the server '${server}'.${text === 'Not connected' ? '' : ` ${text}`}`
  if (code === 'CONNECTION_CLOSED' || isCutOff || isNotConnected(error))
    return `The connection to the server '${server}' was lost during the call of '${tool}'.${describeEnd(code, data)} It is unknown whether it has run.`
  if (isTimeout(code, data))
    return `Tool '${tool}' was cancelled: the server '${server}' gave no answer and no progress for ${timeoutMs / 1_000} seconds.`
  // Errors of the protocol have numbers, those of the transport do not.
  if (typeof code === 'number')
    return `The server '${server}' rejected the call of '${tool}': ${text}${describeData(data)}`
  return `The call of '${tool}' on the server '${server}' failed: ${text}${getReason(error)}`
}

/** Why the stream of a request ended, if the transport knows. */
function describeEnd(code: unknown, data: unknown): string {
  if (code !== 'CONNECTION_CLOSED' || typeof data !== 'string') return ''
  return ` ${toVisibleText(data).replace(/\.?$/, '.')}`
}

/** Errors of clients, and of transports that know that a request did not reach the server. */
function isNotConnected(error: unknown): boolean {
  return errorFields(error).code === 'NOT_CONNECTED' || withoutPrefix(getErrorMessage(error)) === 'Not connected'
}

function errorFields(error: unknown): { readonly code?: unknown; readonly data?: unknown } {
  if (typeof error === 'object' && error !== null) return error
  return {}
}

/** Servers use the number of a timeout for other errors too. */
function isTimeout(code: unknown, data: unknown): boolean {
  return code === 'REQUEST_TIMEOUT' || (code === -32_001 && isObject(data) && 'timeout' in data)
}

function withoutPrefix(message: string): string {
  return message.replace(/^MCP error -?\d+: /, '')
}

function describeData(data: unknown): string {
  if (data === undefined || data === null) return ''
  try {
    const text = typeof data === 'string' ? data : JSON.stringify(data)
    return ` (${text.length > ERROR_DATA_CHARACTERS ? `${text.slice(0, ERROR_DATA_CHARACTERS)}…` : text})`
  } catch {
    // Data that is nested too deeply for JSON.stringify is useless to a model.
    return ''
  }
}

/** `fetch` itself only says that it failed. */
function getReason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error && cause.message !== '') return ` (${cutWithCount(cause.message, ERROR_DATA_CHARACTERS)})`
  return ''
}
