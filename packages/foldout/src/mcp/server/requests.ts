import type { CallToolResult, JSONRPCRequest, Result, Server, ServerContext } from '@modelcontextprotocol/server'
import { isPlainObject } from '../../core/json/json.ts'
import type { CallContext, CallResult, Progress } from '../../catalog/tool.ts'
import { mcpTool, formatPage } from './list.ts'
import { DEFAULT_PAGE_SIZE, DEFAULT_TTL_MS, type ServeMcpOptions } from './options.ts'
import type { ServerSdk } from './sdk.ts'
import { answerLibrary } from './library.ts'
import { watchList, type ClientView } from './views.ts'

export interface ServerParts {
  readonly sdk: ServerSdk
  readonly options: ServeMcpOptions
  readonly view: ClientView
}

export interface ServerUse {
  /** Whether it lives for more than one request, so that it can tell its client of changes. */
  readonly isLasting: boolean
  /** The method of the only request it will get, if there is only one. */
  readonly method?: string
}

/** A server of the SDK that answers one client, or one request, with what a view shows. */
export function createMcpServer({ sdk, options, view }: ServerParts, use: ServerUse): Server {
  const { exposed, library } = view
  const cacheHint = {
    ttlMs: options.cache?.ttlMs ?? DEFAULT_TTL_MS,
    cacheScope: options.cache?.scope ?? (typeof options.everything === 'function' ? 'private' : 'public'),
  } as const
  const server = new sdk.Server(
    {
      name: options.name,
      version: options.version,
      ...(options.title === undefined ? {} : { title: options.title }),
    },
    {
      capabilities: { tools: { listChanged: true }, ...(library ? { resources: {}, prompts: {} } : {}) },
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
  const running = createRunning(server)
  const watch = use.isLasting ? watchList(exposed, () => running.announce()) : undefined
  Object.assign(server, {
    onerror: options.onError,
    onclose: () => watch?.stop(),
  } satisfies Partial<{ [K in keyof Server]: Server[K] | undefined }>)

  if (library) answerLibrary({ sdk, server, library, pageSize: options.pageSize ?? DEFAULT_PAGE_SIZE })

  server.setRequestHandler('tools/list', ({ params }) => {
    const size = options.pageSize ?? DEFAULT_PAGE_SIZE
    const page = formatPage(exposed.list(), params?.cursor, { size, getName: ({ name }) => name })
    if (!page)
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, 'This server did not issue this cursor.')
    if (params?.cursor === undefined) {
      exposed.listed()
      watch?.given()
    }
    const { items, ...next } = page
    return { tools: items.map(mcpTool), ...next }
  })

  if (use.method === undefined || use.method === 'tools/call') answerCalls(server, { sdk, view, running })
  return server
}

interface CallParts {
  readonly sdk: ServerSdk
  readonly view: ClientView
  readonly running: Running
}

/** Not by `setRequestHandler`: that would pass results through the SDK's schemas, which drop what they do not know. */
function answerCalls(server: Server, { sdk, view, running }: CallParts): void {
  server.fallbackRequestHandler = async (request, context) => {
    if (request.method !== 'tools/call')
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.MethodNotFound, 'Method not found')
    const { name, arguments: args } = request.params ?? {}
    if (typeof name !== 'string')
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, "'name' must say which tool to call.")
    const progress = progressFor(request, context)
    const stopped = running.started(context)
    try {
      const result = await view.exposed.call(name, args, callContext(view, request, context, progress.report))
      await Promise.all([progress.sent(), running.announced()])
      return wireResult(server, view, result)
    } finally {
      progress.end()
      stopped()
    }
  }
}

/** Results go through as they are, but for what a client of before 2026-07-28 would refuse the whole answer for. */
function wireResult(server: Server, view: ClientView, result: CallResult): Result {
  const { structuredContent } = result
  const isRefused = structuredContent !== undefined && !isPlainObject(structuredContent) && view.client.era === 'legacy'
  return isRefused ? server.projectCallToolResult(result as unknown as CallToolResult, undefined) : result
}

function callContext(
  view: ClientView,
  request: JSONRPCRequest,
  context: ServerContext,
  onProgress: ((progress: Progress) => void) | undefined,
): CallContext {
  // The token is this connection's; a tool that calls another server uses its own.
  const { progressToken: _, ...meta } = request.params?.['_meta'] ?? {}
  return {
    signal: context.mcpReq.signal,
    session: view.session,
    ...(Object.keys(meta).length > 0 ? { meta } : {}),
    ...(onProgress ? { onProgress } : {}),
  }
}

interface ProgressReports {
  /** There only if the client wants to know. */
  readonly report: ((progress: Progress) => void) | undefined
  /** When the result may follow. */
  sent(): Promise<void>
  end(): void
}

/** Clients that read a report and the result at one go forget the report. */
const PAUSE_MS = 5

function progressFor(request: JSONRPCRequest, context: ServerContext): ProgressReports {
  const token = request.params?.['_meta']?.progressToken
  if (token === undefined) return { report: undefined, sent: async () => undefined, end: () => undefined }
  let isRunning = true
  let sending: Promise<void> = Promise.resolve()
  let last = -Infinity
  return {
    report(progress) {
      if (!isRunning) return
      const params = { ...progress, progressToken: token }
      // Whoever no longer listens does not stop the call.
      const sent = context.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
      sending = sending.then(() => sent)
      last = performance.now()
    },
    async sent() {
      await sending
      const pause = last + PAUSE_MS - performance.now()
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause))
    },
    end() {
      isRunning = false
    },
  }
}

interface Running {
  started(context: ServerContext): () => void
  announce(): void
  announced(): Promise<void>
}

/**
 * Tells a client that its list changed. While a call runs, the news goes along with the call: it comes before the result, and
 * also to clients that keep no stream open for news.
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
