import type { IncomingHttpHeaders } from 'node:http'
import type { McpHttpHandler, McpServer, Server } from '@modelcontextprotocol/server'
import type { CallPeer } from '../../../catalog/tool.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { MAX_BODY_BYTES, MAX_HTTP_RESULT_BYTES, MAX_STREAMS, STREAMS_PER_PEER } from '../../limits.ts'
import { NOBODY, readIdentity } from '../client.ts'
import { isPlainCall } from '../direct-calls.ts'
import { readWatched, type FeatureNotification } from '../features.ts'
import type { ServeMcpOptions } from '../options.ts'
import { createMcpServer } from '../requests.ts'
import type { ServerSdk } from '../sdk.ts'
import { watchList, type ClientView, type ClientViews } from '../views.ts'
import { isAuthorized, refuseUnauthorized } from './authorize.ts'
import type { CallSink } from './call-sink.ts'
import { PeerCounter, toPeer, type PeerLimits, type Refusal } from './peer.ts'
import { httpError, refuseForNow, refuseLongBody, watchResponse } from './response.ts'
import { createHttpSessions, type HttpSessions } from './sessions.ts'

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

/** A request of `node:http` that may be a call. */
export interface NodeCall {
  readonly headers: IncomingHttpHeaders
  readonly address: string | undefined
  readonly text: string
  /** Creates the request on demand. */
  toRequest(): Request
  createSink(session: string): CallSink
}

/** Answers HTTP requests of both eras. */
export interface Endpoint {
  /** Answers a call of a session without the SDK. Returns whether it was one. */
  call(asked: NodeCall): Promise<boolean>
  fetch(request: Request, read?: RequestParts): Promise<Response>
  close(): Promise<void>
}

export function createEndpoint(sdk: ServerSdk, views: ClientViews, options: ServeMcpOptions): Endpoint {
  const maxBodyBytes = options.maxBodyBytes ?? MAX_BODY_BYTES
  const maxResultBytes = options.maxResultBytes ?? MAX_HTTP_RESULT_BYTES
  const streams = new LimitedStreams({ max: MAX_STREAMS, perPeer: STREAMS_PER_PEER, ...options.streams })
  const modernRequests = new WeakMap<Request, { readonly body: unknown; readonly caller: Caller }>()
  const modern = sdk.createMcpHandler(
    ({ requestInfo }) => {
      const { body, caller } = (requestInfo && modernRequests.get(requestInfo)) ?? {}
      const method = isPlainObject(body) ? String(body['method']) : undefined
      const view = views.modern(readIdentity(body) ?? NOBODY, caller?.principal)
      const use = { isLasting: false, maxResultBytes, ...(method === undefined ? {} : { method }) }
      return withHeaderCheck(sdk, createMcpServer({ sdk, options, view }, use).server, view, body)
    },
    {
      legacy: 'reject',
      maxRequestBodySize: maxBodyBytes,
      maxSubscriptions: streams.limits.max,
      ...(options.onError ? { onerror: options.onError } : {}),
    },
  )
  const sessions = createHttpSessions(sdk, options, (identity, principal, kept) => {
    const view = views.legacy(identity, principal, kept)
    return createMcpServer({ sdk, options, view }, { isLasting: true, maxResultBytes })
  })
  const stopAnnouncing = announceChanges(views, modern.notify)

  const { authorize } = options
  const identify: Identify = (getRequest, address) =>
    authorize ? identifyBy(authorize, getRequest) : { peer: toPeer(address), principal: undefined }

  async function identifyBy(ask: NonNullable<typeof authorize>, getRequest: () => Request): Promise<Caller | Response> {
    const authorization = await ask(getRequest())
    if (!isAuthorized(authorization)) return refuseUnauthorized(authorization)
    return { peer: authorization.principal, principal: authorization.principal }
  }

  async function answer(request: Request, caller: Caller, text: string | undefined): Promise<Response> {
    if (request.method !== 'POST') {
      if (!(await sdk.isLegacyRequest(request))) return modern.fetch(request)
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
    modernRequests.set(request, { body, caller })
    const handle = () => modern.fetch(request, { parsedBody: body })
    const uris = readWatched(body)
    if (!uris) return handle()
    const { client, features } = views.modern(readIdentity(body) ?? NOBODY, caller.principal)
    return streams.open(request, caller, handle, () => features?.listen?.(uris, { client }))
  }

  return {
    call: (asked) => answerCall(asked, sessions, identify),
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
      stopAnnouncing()
      await Promise.all([modern.close(), sessions.close()])
    },
  }
}

/** At once, if nobody has to be asked. */
type Identify = (getRequest: () => Request, address: string | undefined) => Caller | Promise<Caller | Response>

/**
 * Answers a call of a session without the SDK, if it is one. Any other request takes the usual path, which reports what
 * is wrong.
 */
async function answerCall(
  { headers, address, text, toRequest, createSink }: NodeCall,
  sessions: HttpSessions,
  identify: Identify,
): Promise<boolean> {
  const id = readSession(headers)
  const body: unknown = id === undefined || !text.includes('"tools/call"') ? undefined : parse(text)
  if (id === undefined || !isPlainCall(body)) return false
  const identified = identify(toRequest, address)
  const caller = identified instanceof Promise ? await identified : identified
  const found = caller instanceof Response ? undefined : sessions.find(id, caller)
  const session = found instanceof Promise ? await found.catch(() => undefined) : found
  if (!session || session instanceof Response || session.sinks.has(body.id)) return false
  await sessions.call(session, body, createSink(id), toHeaders(headers))
  return true
}

/** Creates the headers of a call, without a Fetch `Headers` object for each request. */
function toHeaders(headers: IncomingHttpHeaders): CallPeer['headers'] {
  return {
    get(name) {
      const value = Object.hasOwn(headers, name.toLowerCase()) ? headers[name.toLowerCase()] : undefined
      return Array.isArray(value) ? value.join(', ') : (value ?? null)
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

/** Notifies modern clients of changes to every list that they may have. */
function announceChanges(views: ClientViews, notify: McpHttpHandler['notify']): () => void {
  const stops: (() => void)[] = []
  const stop = views.watchModern(({ exposed, features }) => {
    const watch = watchList(exposed, () => notify.toolsChanged())
    const unsubscribe = features?.subscribe?.((notification) => announce(notify, notification))
    stops.push(() => watch.stop(), ...(unsubscribe ? [unsubscribe] : []))
  })
  return () => {
    stop()
    for (const one of stops) one()
  }
}

const LEGACY_VERSIONS: ReadonlySet<unknown> = new Set(['2025-03-26', '2025-06-18', '2025-11-25'])

/** Returns the session of a request with valid headers. */
function readSession(headers: IncomingHttpHeaders): string | undefined {
  const { accept = '', 'content-type': type = '', 'mcp-session-id': id, 'mcp-protocol-version': version } = headers
  if (typeof id !== 'string' || !LEGACY_VERSIONS.has(version)) return undefined
  const isAccepted = accept.includes('application/json') && accept.includes('text/event-stream')
  return isAccepted && /^application\/json\s*(?:;|$)/i.test(type) ? id : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Notifies modern clients that listen. Over HTTP, other notifications are sent with the request that they belong to.
 */
function announce(notify: McpHttpHandler['notify'], { method, params }: FeatureNotification): void {
  if (method === 'notifications/prompts/list_changed') notify.promptsChanged()
  if (method === 'notifications/resources/list_changed') notify.resourcesChanged()
  if (method === 'notifications/resources/updated') notify.resourceUpdated(String(params?.['uri']))
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

/** Event streams within limits. */
class LimitedStreams {
  readonly limits: PeerLimits
  readonly #counter: PeerCounter

  constructor(limits: PeerLimits) {
    this.limits = limits
    this.#counter = new PeerCounter(limits)
  }

  /** Answers with a stream, as long as there are not too many of them. */
  async open(
    request: Request,
    { peer }: Caller,
    answer: () => Promise<Response>,
    listen?: () => (() => void) | undefined,
  ): Promise<Response> {
    const refusal = this.#counter.check(peer)
    if (refusal) return refuseForNow(refusal, this.#describe(refusal))
    const leave = this.#counter.take(peer)
    let stop: (() => void) | undefined
    const finish = (): void => {
      leave()
      stop?.()
    }
    try {
      const response = await answer()
      if (response.ok && response.body) stop = listen?.()
      return watchResponse(response, request, { done: finish })
    } catch (error) {
      finish()
      throw error
    }
  }

  #describe(refusal: Refusal): string {
    const { max, perPeer } = this.limits
    if (refusal === 'total') return `This server has ${max} open streams, which is the maximum. Try again later.`
    return `You have ${perPeer} open streams, which is the maximum for one client. Close one, or try again later.`
  }
}
