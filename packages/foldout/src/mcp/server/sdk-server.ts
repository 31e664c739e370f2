import type { JSONRPCRequest, ListToolsResult, RequestId, Server } from '@modelcontextprotocol/server'
import { LIST_TTL_MS, PAGE_SIZE } from '../limits.ts'
import { describeServer } from './legacy/description.ts'
import { toNotification } from './legacy/messages.ts'
import { createHandlers, type ClientHandlers, type ClientLink, type HandlerUse } from './handlers.ts'
import { answerLibrary } from './library.ts'
import type { ServeMcpOptions } from './options.ts'
import { NOT_FOUND } from './request-error.ts'
import type { ServerSdk } from './sdk.ts'
import type { ClientView } from './views.ts'

export interface ServerParts {
  readonly sdk: ServerSdk
  readonly options: ServeMcpOptions
  readonly view: ClientView
}

export interface ServerUse extends HandlerUse {
  /** The method of the only request it will get, if there is only one. */
  readonly method?: string
}

/** A server of the SDK that answers one modern client, or one request, with what a view shows. */
export function createModernServer(parts: ServerParts, use: ServerUse): Server {
  const { options, view } = parts
  const link: ClientLink = {
    getCapabilities: () => server.getClientCapabilities(),
    notify: (notification) => server.notification({ ...notification }),
    onError: (error) => options.onError?.(error),
  }
  const handlers = createHandlers({ options, view, link }, use)
  const server = createSdkServer(parts, handlers, use.method)
  answerTasks(server, view, handlers)
  return server
}

/** A server of the SDK with existing handlers. */
export function createSdkServer(parts: ServerParts, handlers: ClientHandlers, method?: string): Server {
  const { sdk, options, view } = parts
  const { library, features } = view
  const server = createServer(parts)
  Object.assign(server, {
    onerror: options.onError,
    onclose: () => handlers.stop(),
  } satisfies Partial<{ [K in keyof Server]: Server[K] | undefined }>)
  if (library) answerLibrary({ sdk, server, library, pageSize: options.pageSize ?? PAGE_SIZE })
  server.setRequestHandler('tools/list', ({ params }) => handlers.list(params) as ListToolsResult)
  // If logging is a capability, the SDK answers this itself, without passing on the level.
  if (features) server.removeRequestHandler('logging/setLevel')
  // Not with `setRequestHandler`: that would pass results through the SDK's schemas, which drop unknown fields. Over
  // HTTP, an unknown method is answered with 404, which only the SDK itself can do.
  if (method === undefined || handlers.has(method))
    server.fallbackRequestHandler = (request, context) => handlers.answer(request, context)
  if (view.client.era === 'legacy') keepNotFound(server)
  server.fallbackNotificationHandler = async (heard) => handlers.hear(toNotification(heard))
  return server
}

/**
 * Keeps the code that a missing resource had before 2026-07-28. The SDK replaces it by the later one in every version, which legacy
 * clients take for wrong arguments.
 */
function keepNotFound(server: Server): void {
  const { fallbackRequestHandler: answer } = server
  if (!answer) return
  const missing = new Set<RequestId>()
  server.fallbackRequestHandler = async (request, context) => {
    try {
      return await answer(request, context)
    } catch (error) {
      if ((error as { readonly code?: unknown }).code === NOT_FOUND) missing.add(request.id)
      throw error
    }
  }
  const connect = server.connect.bind(server)
  server.connect = (transport) => {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => {
      const isMissing = 'error' in message && message.id !== undefined && missing.delete(message.id)
      return send(isMissing ? { ...message, error: { ...message.error, code: NOT_FOUND } } : message, options)
    }
    return connect(transport)
  }
}

function createServer({ sdk, options, view }: ServerParts): Server {
  const { info, capabilities, instructions } = describeServer(options, view)
  const isPersonal = typeof options.everything === 'function' || options.catalogFor !== undefined
  const cacheHint = {
    ttlMs: options.cache?.ttlMs ?? LIST_TTL_MS,
    cacheScope: options.cache?.scope ?? (isPersonal ? 'private' : 'public'),
  } as const
  return new sdk.Server(info, {
    capabilities: { ...capabilities },
    instructions,
    cacheHints: {
      'tools/list': cacheHint,
      'resources/list': cacheHint,
      'resources/templates/list': cacheHint,
      'prompts/list': cacheHint,
      'server/discover': cacheHint,
    },
  })
}

/** Accepts any parameters, and any answer. */
const ANYTHING = {
  params: { '~standard': { version: 1, vendor: 'foldout', validate: (value: unknown) => ({ value }) } },
} as const

/**
 * Tasks are an extension since 2026-07-28. Two of its methods had another meaning before, so the SDK requires them to
 * be declared.
 */
function answerTasks(server: Server, { features }: ClientView, handlers: ClientHandlers): void {
  for (const method of ['tasks/get', 'tasks/cancel']) {
    if (features?.has?.(method) !== true) continue
    server.setRequestHandler(method, ANYTHING, async (params, context) => {
      const request = { jsonrpc: '2.0', id: context.mcpReq.id, method, params } as JSONRPCRequest
      return handlers.answer(request, context)
    })
  }
}
