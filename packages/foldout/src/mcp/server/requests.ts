import type { CallToolResult, JSONRPCRequest, Result, Server, ServerContext } from '@modelcontextprotocol/server'
import { isPlainObject } from '../../core/json/json.ts'
import type { CallContext, CallPeer, CallResult, ToolProgress } from '../../catalog/tool.ts'
import { createErrorResult } from '../../tools/call-result.ts'
import { IDEMPOTENCY_KEY, REFUSED_WITH } from '../keys.ts'
import { LIST_TTL_MS, MAX_CALL_KEY, MAX_RESULT_DEPTH, PAGE_SIZE } from '../limits.ts'
import { findSizeFault, formatBytes } from '../../core/json/measure.ts'
import { formatPage, toMcpTool } from './list.ts'
import { FeatureState } from './feature-state.ts'
import { createPeer } from './features.ts'
import { createClientMemory, type ClientMemory } from './memory.ts'
import type { ServeMcpOptions } from './options.ts'
import { getRefusal } from '../refusal.ts'
import { createProgressReports } from './progress.ts'
import type { ServerSdk } from './sdk.ts'
import { answerLibrary } from './library.ts'
import { watchList, type ClientView } from './views.ts'

export interface ServerParts {
  readonly sdk: ServerSdk
  readonly options: ServeMcpOptions
  readonly view: ClientView
}

export interface ServerUse {
  /** Whether it lives for more than one request, so it can notify its client of changes. */
  readonly isLasting: boolean
  /** A result with more bytes of JSON is not sent. */
  readonly maxResultBytes: number
  /** The method of the only request it will get, if there is only one. */
  readonly method?: string
}

export interface ClientServer {
  readonly server: Server
  /** Applies another machine's notes about the client. */
  refresh(): Promise<void>
}

function createServer({ sdk, options, view }: ServerParts): Server {
  const { library, features } = view
  const isPersonal = typeof options.everything === 'function' || options.catalogFor !== undefined
  const cacheHint = {
    ttlMs: options.cache?.ttlMs ?? LIST_TTL_MS,
    cacheScope: options.cache?.scope ?? (isPersonal ? 'private' : 'public'),
  } as const
  return new sdk.Server(
    {
      name: options.name,
      version: options.version,
      ...(options.title === undefined ? {} : { title: options.title }),
    },
    {
      capabilities: {
        ...features?.capabilities,
        ...(library ? { resources: {}, prompts: {} } : {}),
        tools: { listChanged: true },
      },
      instructions: view.instructions,
      cacheHints: {
        'tools/list': cacheHint,
        'resources/list': cacheHint,
        'resources/templates/list': cacheHint,
        'prompts/list': cacheHint,
        'server/discover': cacheHint,
      },
    },
  )
}

/** A server of the SDK that answers one client, or one request, with what a view shows. */
export function createMcpServer({ sdk, options, view }: ServerParts, use: ServerUse): ClientServer {
  const { exposed, library, features } = view
  const server = createServer({ sdk, options, view })
  const running = createRunning(server)
  const watch = use.isLasting ? watchList(exposed, () => running.announce()) : undefined
  const unsubscribe = use.isLasting
    ? features?.subscribe?.((notification) => {
        // A client that has gone does not need the notification.
        server.notification({ ...notification }).catch(() => undefined)
      })
    : undefined
  Object.assign(server, {
    onerror: options.onError,
    onclose() {
      watch?.stop()
      unsubscribe?.()
    },
  } satisfies Partial<{ [K in keyof Server]: Server[K] | undefined }>)

  if (library) answerLibrary({ sdk, server, library, pageSize: options.pageSize ?? PAGE_SIZE })

  server.setRequestHandler('tools/list', ({ params }) => {
    const size = options.pageSize ?? PAGE_SIZE
    const page = formatPage(exposed.list(), params?.cursor, { size, getName: ({ name }) => name })
    if (!page)
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, 'This server did not issue this cursor.')
    if (params?.cursor === undefined) {
      exposed.listed()
      watch?.given()
    }
    const { items, ...next } = page
    return { tools: items.map(toMcpTool), ...next }
  })

  // If logging is a capability, the SDK answers this itself, without passing on the level.
  if (features) server.removeRequestHandler('logging/setLevel')
  const { memory = createClientMemory() } = view
  const state = new FeatureState(server, view, memory)
  const parts: CallParts = { sdk, view, running, maxResultBytes: use.maxResultBytes, memory, state }
  const isKnown = (method: string): boolean =>
    method === 'tools/call' || (features !== undefined && (features.has?.(method) ?? true))
  // Not with `setRequestHandler`: that would pass results through the SDK's schemas, which drop unknown fields. Over
  // HTTP, an unknown method is answered with 404, which only the SDK itself can do.
  if (use.method === undefined || isKnown(use.method))
    server.fallbackRequestHandler = async (request, context) => {
      const result = await (request.method === 'tools/call'
        ? answerCall(server, parts, request, context)
        : answerFeature(server, parts, request, context))
      if (result) return result
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.MethodNotFound, 'Method not found')
    }
  if (view.client.era === 'modern') answerTasks(server, parts)
  return {
    server,
    async refresh() {
      exposed.refresh?.()
      await state.apply()
    },
  }
}

/** Accepts any parameters, and any answer. */
const ANYTHING = {
  params: { '~standard': { version: 1, vendor: 'foldout', validate: (value: unknown) => ({ value }) } },
} as const

/**
 * Tasks are an extension since 2026-07-28. Two of its methods had another meaning before, so the SDK requires them to
 * be declared.
 */
function answerTasks(server: Server, parts: CallParts): void {
  for (const method of ['tasks/get', 'tasks/cancel']) {
    if (parts.view.features?.has?.(method) !== true) continue
    server.setRequestHandler(method, ANYTHING, async (params, context) => {
      const request = { jsonrpc: '2.0', id: context.mcpReq.id, method, params } as JSONRPCRequest
      return (await answerFeature(server, parts, request, context)) ?? {}
    })
  }
}

/** Answers requests that are not about tools. */
async function answerFeature(
  server: Server,
  parts: CallParts,
  request: JSONRPCRequest,
  context: ServerContext,
): Promise<Result | undefined> {
  const { client, features } = parts.view
  const progress = createProgressReports(request, context)
  try {
    const { method, params = {} } = request
    const { report } = progress
    const result = await features?.request(
      { method, params },
      {
        client,
        peer: createPeer(server, client.era, context, parts.memory.logLevel),
        signal: context.mcpReq.signal,
        meta: params['_meta'] ?? {},
        ...(report ? { onProgress: report } : {}),
      },
    )
    // Legacy clients set this once, modern ones with every request.
    if (result && client.era === 'legacy') parts.state.note(method, params)
    await progress.sent()
    return result
  } finally {
    progress.end()
  }
}

interface CallParts {
  readonly sdk: ServerSdk
  readonly view: ClientView
  readonly running: Running
  readonly maxResultBytes: number
  readonly memory: ClientMemory
  readonly state: FeatureState
}

async function answerCall(
  server: Server,
  { sdk, view, running, maxResultBytes, memory }: CallParts,
  request: JSONRPCRequest,
  context: ServerContext,
): Promise<Result> {
  const { name, arguments: args } = request.params ?? {}
  if (typeof name !== 'string')
    throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, "'name' must say which tool to call.")
  const progress = createProgressReports(request, context)
  const stopped = running.started(context)
  try {
    const peer = createPeer(server, view.client.era, context, memory.logLevel)
    const result = await view.exposed.call(name, args, callContext(view, request, peer, context, progress.report))
    await Promise.all([progress.sent(), running.announced()])
    const refusal = getRefusal(result)
    if (!refusal) return toWireResult(server, view, limitResult(name, result, maxResultBytes))
    // By its own name, a tool answers as if the client had called the server itself.
    const isOwnName = view.exposed.target(name, args)?.entry.name === name
    if (isOwnName) throw new sdk.ProtocolError(refusal.code, refusal.message, refusal.data)
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
function toWireResult(server: Server, view: ClientView, result: CallResult): Result {
  if (isInPlaceOfResult(result)) {
    const { content: _, ...question } = result
    return question
  }
  const { structuredContent } = result
  const isRefused = structuredContent !== undefined && !isPlainObject(structuredContent) && view.client.era === 'legacy'
  return isRefused ? server.projectCallToolResult(result as unknown as CallToolResult, undefined) : result
}

/** Whether a result contains something else instead: questions, or a task. */
function isInPlaceOfResult(result: CallResult): boolean {
  const { resultType, task, content } = result
  const isTask = isPlainObject(task) && typeof task['taskId'] === 'string' && content.length === 0
  return resultType === 'input_required' || resultType === 'task' || isTask
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
  announced(): Promise<void>
}

/**
 * Notifies a client that its list has changed. While a call runs, the notification is sent with the call: it arrives
 * before the result, even for clients without an open stream.
 */
function createRunning(server: Server): Running {
  const calls = new Set<ServerContext>()
  let announced: Promise<void> = Promise.resolve()
  return {
    started(context) {
      calls.add(context)
      return () => calls.delete(context)
    },
    announce() {
      const call = [...calls].at(-1)
      const sent = call
        ? call.mcpReq.notify({ method: 'notifications/tools/list_changed' })
        : server.sendToolListChanged()
      announced = sent.catch((error: unknown) => server.onerror?.(error as Error))
    },
    announced: () => announced,
  }
}
