import type { McpHttpHandler, McpServer, Server } from '@modelcontextprotocol/server'
import { isPlainObject } from '../../../core/json/json.ts'
import { MAX_BODY_BYTES, MAX_HTTP_RESULT_BYTES, MAX_STREAMS, STREAMS_PER_PEER } from '../../limits.ts'
import { NO_CHANNEL } from '../legacy/channel.ts'
import { NOBODY, readIdentity } from '../client.ts'
import { readWatched, type FeatureNotification } from '../features.ts'
import type { ServeMcpOptions } from '../options.ts'
import { loadServerSdk, type ServerSdk } from '../sdk.ts'
import { createModernServer } from '../sdk-server.ts'
import { watchList, type ClientView, type ClientViews } from '../views.ts'
import { isAuthorized, refuseUnauthorized, type Authorize } from './authorize.ts'
import { answerDirectly, type Identify, type NodeCall } from './direct-http.ts'
import { toPeer } from './peer.ts'
import { httpError, refuseLongBody } from './response.ts'
import { createHttpSessions } from './sessions.ts'
import { LimitedStreams } from './streams.ts'

/** Who sent a request. */
export interface Caller {
  /** The key it is counted under: the principal, or an address. */
  readonly peer: string
  /** The identity returned by `authorize`. */
  readonly principal: string | undefined
}

/** Additional information about a request. */
export interface RequestParts {
  /** Where it came from. */
  readonly address?: string | undefined
  /** Its body, if that was read already. */
  readonly text?: string
}

/** Answers HTTP requests of both eras. */
export interface Endpoint {
  /** Answers a usual request of a legacy client without the SDK. Returns whether it was one. */
  call(asked: NodeCall): Promise<boolean>
  fetch(request: Request, read?: RequestParts): Promise<Response>
  close(): Promise<void>
}

export function createEndpoint(views: ClientViews, options: ServeMcpOptions): Endpoint {
  const maxBodyBytes = options.maxBodyBytes ?? MAX_BODY_BYTES
  const streams = new LimitedStreams({ max: MAX_STREAMS, perPeer: STREAMS_PER_PEER, ...options.streams })
  const sessions = createHttpSessions(options, views)
  // What fails for every client is reported at once.
  views.watchModern(() => undefined)()
  let modern: ModernHandler | undefined
  const getModern = (sdk: ServerSdk): ModernHandler =>
    (modern ??= createModernHandler(sdk, views, options, streams.limits.max))

  const identify: Identify = (getRequest, address) => {
    // Not read in advance: a server may begin to require it while it runs.
    const { authorize } = options
    return authorize ? identifyBy(authorize, getRequest) : { peer: toPeer(address), principal: undefined }
  }

  async function identifyBy(ask: Authorize, getRequest: () => Request): Promise<Caller | Response> {
    const authorization = await ask(getRequest())
    if (!isAuthorized(authorization)) return refuseUnauthorized(authorization)
    return { peer: authorization.principal, principal: authorization.principal }
  }

  async function answer(request: Request, caller: Caller, text: string | undefined): Promise<Response> {
    const sdk = await loadServerSdk()
    if (request.method !== 'POST') {
      if (!(await sdk.isLegacyRequest(request))) return getModern(sdk).fetch(request, undefined, caller)
      const handle = () => sessions.handle({ request, body: undefined, caller })
      return request.method === 'GET' ? streams.open(request, caller, handle) : handle()
    }
    if (!sdk.isJsonContentType(request.headers.get('content-type')))
      return httpError(415, -32_000, 'Unsupported Media Type: Content-Type must be application/json')
    const read = text === undefined ? await sdk.readRequestBody(request, maxBodyBytes) : { tooLarge: false, text }
    if (read.tooLarge) return refuseLongBody(maxBodyBytes)
    let body: unknown
    try {
      body = JSON.parse(read.text ?? '')
    } catch {
      return httpError(400, -32_700, 'Parse error: the body is not valid JSON')
    }
    if (isPlainlyLegacy(request, body) || (await sdk.isLegacyRequest(request, body)))
      return sessions.handle({ request, body, caller })
    const handle = () => getModern(sdk).fetch(request, body, caller)
    const uris = readWatched(body)
    if (!uris) return handle()
    const { client, features } = views.modern(readIdentity(body) ?? NOBODY, caller.principal)
    return streams.open(request, caller, handle, () => features?.listen?.(uris, { client }))
  }

  return {
    call: (asked) => answerDirectly(asked, { sessions, streams, identify }),
    async fetch(request, { address, text } = {}) {
      try {
        const caller = await identify(() => request, address)
        return caller instanceof Response ? caller : await answer(request, caller, text)
      } catch (error) {
        options.onError?.(error as Error)
        return httpError(500, -32_603, 'Internal server error')
      }
    },
    async close() {
      await Promise.all([modern?.close(), sessions.close()])
    },
  }
}

/** Answers the requests of modern clients. */
interface ModernHandler {
  fetch(request: Request, body: unknown, caller: Caller): Promise<Response>
  close(): Promise<void>
}

function createModernHandler(
  sdk: ServerSdk,
  views: ClientViews,
  options: ServeMcpOptions,
  maxSubscriptions: number,
): ModernHandler {
  const maxResultBytes = options.maxResultBytes ?? MAX_HTTP_RESULT_BYTES
  const requests = new WeakMap<Request, { readonly body: unknown; readonly caller: Caller }>()
  const handler = sdk.createMcpHandler(
    ({ requestInfo }) => {
      const { body, caller } = (requestInfo && requests.get(requestInfo)) ?? {}
      const method = isPlainObject(body) ? String(body['method']) : undefined
      const view = views.modern(readIdentity(body) ?? NOBODY, caller?.principal)
      const use = { isLasting: false, maxResultBytes, ...(method === undefined ? {} : { method }) }
      return withHeaderCheck(sdk, createModernServer({ sdk, options, view }, use), view, body)
    },
    {
      legacy: 'reject',
      maxRequestBodySize: options.maxBodyBytes ?? MAX_BODY_BYTES,
      maxSubscriptions,
      ...(options.onError ? { onerror: options.onError } : {}),
    },
  )
  const stopAnnouncing = announceChanges(views, handler)
  return {
    fetch(request, body, caller) {
      requests.set(request, { body, caller })
      return handler.fetch(request, body === undefined ? {} : { parsedBody: body })
    },
    async close() {
      stopAnnouncing()
      await handler.close()
    },
  }
}

const LEGACY_VERSION = /^202[45]-/

/**
 * Whether a request definitely belongs to a session. The SDK decides about all others: it checks the whole message
 * against a schema, which takes a tenth of the time and memory of a small call.
 */
function isPlainlyLegacy({ headers }: Request, body: unknown): boolean {
  if (!headers.has('mcp-session-id') || !LEGACY_VERSION.test(headers.get('mcp-protocol-version') ?? '')) return false
  if (!isPlainObject(body)) return false
  const { jsonrpc, id, method, params = {} } = body
  const isRequest = jsonrpc === '2.0' && typeof method === 'string' && (typeof id === 'string' || Number.isInteger(id))
  // What a modern request says of itself is in `_meta`.
  return isRequest && isPlainObject(params) && params['_meta'] === undefined
}

type Announcer = Pick<McpHttpHandler, 'notify' | 'bus'>

/** Notifies modern clients of changes to every list that they may have. */
function announceChanges(views: ClientViews, handler: Announcer): () => void {
  const stops: (() => void)[] = []
  const stop = views.watchModern(({ exposed, features }) => {
    const watch = watchList(exposed, () => handler.notify.toolsChanged())
    const unsubscribe = features?.subscribe?.((notification) => announce(handler, notification), NO_CHANNEL)
    stops.push(() => watch.stop(), ...(unsubscribe ? [unsubscribe] : []))
  })
  return () => {
    stop()
    for (const one of stops) one()
  }
}

/**
 * Notifies modern clients that listen. Over HTTP, other notifications are sent with the request that they belong to.
 */
function announce({ notify, bus }: Announcer, { method, params }: FeatureNotification): void {
  if (method === 'notifications/prompts/list_changed') notify.promptsChanged()
  if (method === 'notifications/resources/list_changed') notify.resourcesChanged()
  // Not with `notify`, which passes on nothing but the URI.
  if (method === 'notifications/resources/updated')
    bus.publish({ kind: 'resource_updated', uri: String(params?.['uri']), params: { ...params } })
}

/** The SDK checks headers with arguments only for its own kind of server, so this one is passed as such. */
function withHeaderCheck(sdk: ServerSdk, server: Server, { exposed }: ClientView, body: unknown): Server | McpServer {
  const { name, arguments: args } = readCall(body)
  const entry = name === undefined ? undefined : exposed.target(name, args)?.entry
  if (entry?.name !== name || !entry || !hasHeaders(entry.inputSchema)) return server
  const { inputSchema } = entry
  return Object.assign(new sdk.McpServer({ name: '', version: '' }), { server, toolInputSchemaJson: () => inputSchema })
}

function readCall(body: unknown): { readonly name?: string; readonly arguments?: unknown } {
  if (!isPlainObject(body) || body['method'] !== 'tools/call' || !isPlainObject(body['params'])) return {}
  const { name, arguments: args } = body['params']
  return typeof name === 'string' ? { name, arguments: args } : {}
}

const withHeaders = new WeakMap<object, boolean>()

/** Whether a tool has arguments that come in headers as well. */
function hasHeaders(schema: object): boolean {
  const known = withHeaders.get(schema)
  if (known !== undefined) return known
  const isFound = JSON.stringify(schema).includes('"x-mcp-header"')
  withHeaders.set(schema, isFound)
  return isFound
}
