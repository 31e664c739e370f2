import type { CallContext, CallPeer, CallResult, ToolProgress } from '../../../catalog/tool.ts'
import { isObject } from 'foldout-shared/values'
import { findSizeFault, formatBytes, isDeeperThan } from '../../../core/json/measure.ts'
import { createErrorResult } from '../../../tools/call-result.ts'
import { IDEMPOTENCY_KEY, REFUSED_WITH } from '../../keys.ts'
import { MAX_CALL_KEY, MAX_REQUEST_DEPTH, MAX_RESULT_DEPTH } from '../../limits.ts'
import type { JsonObject } from '../../protocol/messages.ts'
import { getRefusal } from '../../refusal.ts'
import type { FeatureNotification } from '../contract/features.ts'
import type { ClientMemory } from '../views/memory.ts'
import type { ClientView } from '../views/views.ts'
import type { Announcements } from './announcements.ts'
import { createProgressReports } from './progress.ts'
import type { ServedRequest } from './request.ts'
import { createInvalid, RequestError } from './request-error.ts'

export interface CallParts {
  readonly view: ClientView
  readonly memory: ClientMemory
  readonly announcements: Announcements
  /** A result with more bytes of JSON is not sent. */
  readonly maxResultBytes: number
  /** Sends a notification that belongs to no request. */
  notify(notification: FeatureNotification): Promise<void>
}

/** Answers `tools/call`. */
export async function answerCall(parts: CallParts, request: ServedRequest): Promise<JsonObject> {
  const { view, announcements, maxResultBytes } = parts
  const { name, arguments: args } = request.params
  if (typeof name !== 'string') throw createInvalid("'name' must say which tool to call.")
  refuseDeep(request)
  const progress = createProgressReports(request)
  const ended = announcements.begin(request)
  try {
    const peer = request.createPeer(parts.memory.logLevel)
    const result = await view.exposed.call(name, args, createContext(view, request, peer, progress.report))
    if (progress.sent) await progress.sent()
    if (announcements.pending) await announcements.pending
    const refusal = getRefusal(result)
    const taskId = progress.goOn && view.client.era === 'legacy' ? readTask(result) : undefined
    if (taskId !== undefined) progress.goOn?.(taskId, (notification) => parts.notify(notification))
    if (!refusal) return toWireResult(view, limitResult(name, result, maxResultBytes))
    // By its own name, a tool answers as if the client had called the server itself.
    const isOwnName = view.exposed.target(name, args)?.entry.name === name
    if (isOwnName) throw new RequestError(refusal.code, refusal.message, refusal.data)
    return { ...result, _meta: { [REFUSED_WITH]: refusal } }
  } finally {
    progress.end()
    ended()
  }
}

/** What is nested too deeply could not be written for a server. */
export function refuseDeep({ params }: ServedRequest): void {
  if (isDeeperThan(params, MAX_REQUEST_DEPTH))
    throw createInvalid(`The request is nested deeper than ${MAX_REQUEST_DEPTH} levels.`)
}

/** Returns the same result, or an error instead if it cannot be sent. */
function limitResult(tool: string, result: CallResult, maxBytes: number): CallResult {
  const fault = findSizeFault(result, { maxBytes, maxDepth: MAX_RESULT_DEPTH })
  if (!fault) return result
  const start = `The tool '${tool}' has run, but its result`
  if (fault.type === 'deep')
    return createErrorResult(`${start} is nested deeper than the ${MAX_RESULT_DEPTH} levels that can be sent.`)
  if (fault.type === 'unwritable')
    return createErrorResult(`${start} holds ${fault.what}, which JSON cannot represent.`)
  return createErrorResult(
    `${start} is too large to send: ${formatBytes(fault.bytes)} or more, where ${formatBytes(maxBytes)} is the limit. Ask for less at once, such as a part, a page or a filter.`,
  )
}

/**
 * Results pass through unchanged, except for parts because of which a client before 2026-07-28 would reject the whole
 * answer.
 */
function toWireResult(view: ClientView, result: CallResult): JsonObject {
  if (isInPlaceOfResult(result)) {
    const { content: _, ...question } = result
    return question
  }
  const { structuredContent } = result
  const isRefused = structuredContent !== undefined && !isObject(structuredContent) && view.client.era === 'legacy'
  if (isRefused) return wrapStructured(result)
  return result
}

/** Structured content was an object before 2026-07-28, and a text repeated it for models. */
function wrapStructured(result: CallResult): JsonObject {
  const { content, structuredContent } = result
  const hasText = content.some(({ type }) => type === 'text')
  const text = { type: 'text', text: JSON.stringify(structuredContent) }
  return {
    ...result,
    content: hasText ? content : [...content, text],
    structuredContent: { result: structuredContent },
  }
}

/** Whether a result contains something else instead: questions, or a task. */
function isInPlaceOfResult(result: CallResult): boolean {
  const { resultType } = result
  return resultType === 'input_required' || resultType === 'task' || readTask(result) !== undefined
}

/** Returns the id of the task that a legacy server has begun instead of a result. */
function readTask({ task, content }: CallResult): string | undefined {
  const taskId = isObject(task) && content.length === 0 ? task['taskId'] : undefined
  if (typeof taskId === 'string') return taskId
  return undefined
}

function createContext(
  view: ClientView,
  request: ServedRequest,
  peer: CallPeer,
  onProgress: ((progress: ToolProgress) => void) | undefined,
): CallContext {
  const { task } = request.params
  const meta = dropToken(request.meta)
  return {
    ...getCallKeys(view, request.id, meta[IDEMPOTENCY_KEY]),
    signal: request.signal,
    session: view.getSession(),
    client: view.client,
    peer,
    ...(Object.keys(meta).length > 0 && { meta }),
    ...(onProgress && { onProgress }),
    ...(isObject(task) && view.client.era === 'legacy' && { task }),
  }
}

/** The token is this connection's; a tool that calls another server uses its own. */
function dropToken(given: JsonObject): JsonObject {
  const { progressToken: _, ...meta } = given
  return meta
}

/** Returns a call's id and key. A client that repeats a call can reuse its key, but not a key of another principal. */
function getCallKeys(
  { client: { principal }, connection }: ClientView,
  request: ServedRequest['id'],
  given: unknown,
): Required<Pick<CallContext, 'callId' | 'idempotencyKey'>> {
  const isRequest = connection !== undefined && String(request).length <= MAX_CALL_KEY
  const callId = isRequest ? `${connection}/${request}` : crypto.randomUUID()
  const isKey = typeof given === 'string' && given !== '' && given.length <= MAX_CALL_KEY
  if (!isKey) return { callId, idempotencyKey: callId }
  return { callId, idempotencyKey: [...(principal === undefined ? [] : [principal]), given].join('/') }
}
