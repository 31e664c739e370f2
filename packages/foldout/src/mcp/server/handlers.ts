import type { JSONRPCRequest, Result, ServerContext } from '@modelcontextprotocol/server'
import { isPlainObject } from '../../core/json/json.ts'
import type { CallContext, CallPeer, CallResult, ToolProgress } from '../../catalog/tool.ts'
import { createErrorResult } from '../../tools/call-result.ts'
import { IDEMPOTENCY_KEY, REFUSED_WITH } from '../keys.ts'
import { MAX_CALL_KEY, MAX_REQUEST_DEPTH, MAX_RESULT_DEPTH, PAGE_SIZE } from '../limits.ts'
import { findSizeFault, formatBytes, isDeeperThan } from '../../core/json/measure.ts'
import { formatPage, toMcpTool } from './list.ts'
import { FeatureState } from './feature-state.ts'
import { NO_CHANNEL } from './legacy/channel.ts'
import { createPeer, type ClientChannel, type FeatureNotification } from './features.ts'
import { createClientMemory, type ClientMemory } from './memory.ts'
import type { ServeMcpOptions } from './options.ts'
import { getRefusal } from '../refusal.ts'
import { createProgressReports } from './progress.ts'
import { RequestError } from './request-error.ts'
import { watchList, type ClientView } from './views.ts'

/** The client at the other end of a connection. */
export interface ClientLink {
  /** What the client can do, once it has said so. */
  getCapabilities(): object | undefined
  /** Sends a notification that belongs to no request. */
  notify(notification: FeatureNotification): Promise<void>
  onError(error: Error): void
  /** Asks the client outside of its requests, if that is possible at all. */
  readonly channel?: ClientChannel
}

export interface HandlerParts {
  readonly options: ServeMcpOptions
  readonly view: ClientView
  readonly link: ClientLink
}

export interface HandlerUse {
  /** Whether they live for more than one request, so they can notify their client of changes. */
  readonly isLasting: boolean
  /** A result with more bytes of JSON is not sent. */
  readonly maxResultBytes: number
}

/** Answers the requests of one client, or one request, with what a view shows. */
export interface ClientHandlers {
  /** Answers `tools/list`. */
  list(params: Readonly<Record<string, unknown>> | undefined): Result
  /** Answers a call, and every request that is about something other than tools. */
  answer(request: JSONRPCRequest, context: ServerContext): Promise<Result>
  /** Whether a method is known. */
  has(method: string): boolean
  /** Passes a notification of the client on to the features. */
  hear(notification: FeatureNotification): void
  /** Applies another machine's notes about the client. */
  refresh(): Promise<void>
  /** Stops notifying the client. */
  stop(): void
}

export function createHandlers({ options, view, link }: HandlerParts, use: HandlerUse): ClientHandlers {
  const { exposed, features } = view
  const running = createRunning(link)
  const watch = use.isLasting ? watchList(exposed, () => running.announce()) : undefined
  // A client that has gone does not need the notification.
  const send = (notification: FeatureNotification): void => void link.notify(notification).catch(() => undefined)
  const unsubscribe = use.isLasting ? features?.subscribe?.(send, link.channel ?? NO_CHANNEL) : undefined
  const { memory = createClientMemory() } = view
  const state = new FeatureState(link, view, memory)
  const parts: CallParts = { link, view, running, maxResultBytes: use.maxResultBytes, memory, state }
  return {
    list(params) {
      const cursor = params?.['cursor']
      const size = options.pageSize ?? PAGE_SIZE
      const isCursor = cursor === undefined || typeof cursor === 'string'
      const page = isCursor ? formatPage(exposed.list(), cursor, { size, getName: ({ name }) => name }) : undefined
      if (!page) throw new RequestError('invalid-params', 'This server did not issue this cursor.')
      if (cursor === undefined) {
        exposed.listed()
        watch?.given()
      }
      const { items, ...next } = page
      return { tools: items.map((tool) => toMcpTool(tool, view.client.era)), ...next }
    },
    answer: (request, context) =>
      request.method === 'tools/call' ? answerCall(parts, request, context) : answerFeature(parts, request, context),
    has: (method) => method === 'tools/call' || (features !== undefined && (features.has?.(method) ?? true)),
    hear: (notification) => features?.hear?.(notification),
    async refresh() {
      exposed.refresh?.()
      await state.apply()
    },
    stop() {
      watch?.stop()
      unsubscribe?.()
    },
  }
}

/** Answers requests that are not about tools. */
async function answerFeature(parts: CallParts, request: JSONRPCRequest, context: ServerContext): Promise<Result> {
  const { client, features } = parts.view
  refuseDeep(request)
  const progress = createProgressReports(request, context)
  try {
    const { method, params = {} } = request
    const { report } = progress
    const result = await features?.request(
      { method, params },
      {
        client,
        peer: createPeer(parts.link, client.era, context, parts.memory.logLevel),
        signal: context.mcpReq.signal,
        meta: params['_meta'] ?? {},
        ...(report ? { onProgress: report } : {}),
      },
    )
    // Legacy clients set this once, modern ones with every request.
    if (result && client.era === 'legacy') parts.state.note(method, params)
    await progress.sent?.()
    if (result) return result
    throw new RequestError('method-not-found', 'Method not found')
  } finally {
    progress.end()
  }
}

/** What is nested too deeply could not be written for a server. */
function refuseDeep({ params }: JSONRPCRequest): void {
  if (isDeeperThan(params, MAX_REQUEST_DEPTH))
    throw new RequestError('invalid-params', `The request is nested deeper than ${MAX_REQUEST_DEPTH} levels.`)
}

interface CallParts {
  readonly link: ClientLink
  readonly view: ClientView
  readonly running: Running
  readonly maxResultBytes: number
  readonly memory: ClientMemory
  readonly state: FeatureState
}

async function answerCall(
  { link, view, running, maxResultBytes, memory }: CallParts,
  request: JSONRPCRequest,
  context: ServerContext,
): Promise<Result> {
  const { name, arguments: args } = request.params ?? {}
  if (typeof name !== 'string') throw new RequestError('invalid-params', "'name' must say which tool to call.")
  refuseDeep(request)
  const progress = createProgressReports(request, context)
  const stopped = running.started(context)
  try {
    const peer = createPeer(link, view.client.era, context, memory.logLevel)
    const result = await view.exposed.call(name, args, callContext(view, request, peer, context, progress.report))
    if (progress.sent) await progress.sent()
    if (running.announcement) await running.announcement
    const refusal = getRefusal(result)
    const taskId = progress.goOn && view.client.era === 'legacy' ? readTask(result) : undefined
    if (taskId !== undefined) progress.goOn?.(taskId, (notification) => link.notify(notification))
    if (!refusal) return toWireResult(view, limitResult(name, result, maxResultBytes))
    // By its own name, a tool answers as if the client had called the server itself.
    const isOwnName = view.exposed.target(name, args)?.entry.name === name
    if (isOwnName) throw new RequestError(refusal.code, refusal.message, refusal.data)
    return { ...result, _meta: { [REFUSED_WITH]: refusal } }
  } finally {
    progress.end()
    stopped()
  }
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
function toWireResult(view: ClientView, result: CallResult): Result {
  if (isInPlaceOfResult(result)) {
    const { content: _, ...question } = result
    return question
  }
  const { structuredContent } = result
  const isRefused = structuredContent !== undefined && !isPlainObject(structuredContent) && view.client.era === 'legacy'
  return isRefused ? wrapStructured(result) : result
}

/** Structured content was an object before 2026-07-28, and a text repeated it for models. */
function wrapStructured(result: CallResult): Result {
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
  const taskId = isPlainObject(task) && content.length === 0 ? task['taskId'] : undefined
  return typeof taskId === 'string' ? taskId : undefined
}

function callContext(
  view: ClientView,
  request: JSONRPCRequest,
  peer: CallPeer,
  context: ServerContext,
  onProgress: ((progress: ToolProgress) => void) | undefined,
): CallContext {
  const { _meta: given, task } = request.params ?? {}
  const meta = given && dropToken(given)
  const { callId, idempotencyKey } = getCallKeys(view, request.id, meta?.[IDEMPOTENCY_KEY])
  const common = {
    callId,
    idempotencyKey,
    signal: context.mcpReq.signal,
    session: view.getSession(),
    client: view.client,
    peer,
  }
  const isTask = isPlainObject(task) && view.client.era === 'legacy'
  if (!meta && !onProgress && !isTask) return common
  return {
    ...common,
    ...(meta && Object.keys(meta).length > 0 ? { meta } : {}),
    ...(onProgress ? { onProgress } : {}),
    ...(isTask ? { task } : {}),
  }
}

/** The token is this connection's; a tool that calls another server uses its own. */
function dropToken(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { progressToken: _, ...meta } = given
  return meta
}

/** Returns a call's id and key. A client that repeats a call can reuse its key, but not a key of another principal. */
function getCallKeys(
  { client: { principal }, connection }: ClientView,
  request: JSONRPCRequest['id'],
  given: unknown,
): Required<Pick<CallContext, 'callId' | 'idempotencyKey'>> {
  const isRequest = connection !== undefined && String(request).length <= MAX_CALL_KEY
  const callId = isRequest ? `${connection}/${request}` : crypto.randomUUID()
  const isKey = typeof given === 'string' && given !== '' && given.length <= MAX_CALL_KEY
  if (!isKey) return { callId, idempotencyKey: callId }
  return { callId, idempotencyKey: [...(principal === undefined ? [] : [principal]), given].join('/') }
}

interface Running {
  started(context: ServerContext): () => void
  announce(): void
  /** The notification that is being sent, which has to arrive before a result. */
  readonly announcement: Promise<void> | undefined
}

/**
 * Notifies a client that its list has changed. While a call runs, the notification is sent with the call: it arrives
 * before the result, even for clients without an open stream.
 */
function createRunning(link: ClientLink): Running {
  const calls = new Set<ServerContext>()
  let announcement: Promise<void> | undefined
  return {
    started(context) {
      calls.add(context)
      return () => calls.delete(context)
    },
    announce() {
      const call = [...calls].at(-1)
      const sent = call
        ? call.mcpReq.notify({ method: 'notifications/tools/list_changed' })
        : link.notify({ method: 'notifications/tools/list_changed' })
      const current = sent
        .catch((error: unknown) => link.onError(error as Error))
        .finally(() => {
          if (announcement === current) announcement = undefined
        })
      announcement = current
    },
    get announcement() {
      return announcement
    },
  }
}
