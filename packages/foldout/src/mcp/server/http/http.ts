import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FoldoutError, getErrorMessage } from '../../../core/errors.ts'
import { KEEP_ALIVE_MS, LISTEN_BACKLOG } from '../../limits.ts'
import type { ServeMcpOptions } from '../options.ts'
import { loadServerSdk } from '../sdk.ts'
import type { Endpoint } from './endpoint.ts'
import { createNodeHandler, type NodeHandler } from './node-handler.ts'
import type { ServedMcp } from '../serve-mcp.ts'

/**
 * Options of `http`: where to listen, and whom to answer.
 *
 * @example
 * const { url } = await served.http({ port: 8080, allowedHosts: ['tools.example'] })
 */
export interface HttpOptions {
  /** The port. Default: any free port. */
  readonly port?: number
  /**
   * The host to listen on. Default `127.0.0.1`, which only this machine can reach. Any other host requires `authorize`
   * of `serveMcp`, or `allowedHosts`.
   */
  readonly host?: string
  /** The path of the server. Default `/mcp`. */
  readonly path?: string
  /**
   * The names, without port, under which clients may reach the server; `*` allows any. Default: the names of this
   * machine, and the host.
   */
  readonly allowedHosts?: readonly string[]
  /** The host names of web pages that may use it. Default: the names of this machine, the host, and `allowedHosts`. */
  readonly allowedOrigins?: readonly string[]
}

/**
 * A server that listens over HTTP.
 *
 * @example
 * const { url, close } = await serveMcp(catalog, { name: 'home', version: '1.0.0' }).http()
 */
export interface ServedHttp {
  /** The URL that clients connect to. */
  readonly url: string
  close(): Promise<void>
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']
/** Every address of the machine. None of them is a name under which clients reach it. */
const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '[::]'])

/** Listens for clients over streamable HTTP. */
export async function serveOverHttp(
  endpoint: Endpoint,
  options: ServeMcpOptions,
  { path = '/mcp', ...where }: HttpOptions,
): Promise<ServedHttp> {
  const handle = createNodeHandler(endpoint, options)
  return listenOverHttp((asked) => (asked === path ? handle : undefined), {
    ...where,
    path,
    isAuthorized: options.authorize !== undefined,
    ...(options.onError ? { onError: options.onError } : {}),
  })
}

/**
 * Options of {@link listenForMcp}.
 *
 * @example
 * const options: ListenOptions = { port: 3000, host: '0.0.0.0', isAuthorized: true }
 */
export interface ListenOptions extends HttpOptions {
  /** Whether every server has an `authorize` hook, without which other machines are kept out. Default false. */
  readonly isAuthorized?: boolean
  /** Called with errors that do not belong to a request. */
  readonly onError?: (error: Error) => void
}

/**
 * Listens for the clients of several MCP servers at one address, each at its own path.
 *
 * @example
 * const about = { name: 'home', version: '1.0.0' }
 * const servers = new Map([['/mcp', serveMcp(catalog, about)], ['/mcp/all', serveMcp(catalog, { ...about, expose: all() })]])
 * const { close } = await listenForMcp(async (path) => servers.get(path), { port: 3000 })
 */
export async function listenForMcp(
  find: (path: string) => FoundServer | Promise<FoundServer>,
  options: ListenOptions = {},
): Promise<ServedHttp> {
  const toHandler = (served: FoundServer): NodeHandler | undefined =>
    served && ((request, response) => served.handle(request, response))
  return listenOverHttp((path) => {
    const found = find(path)
    return found instanceof Promise ? found.then(toHandler) : toHandler(found)
  }, options)
}

type FoundServer = Pick<ServedMcp, 'handle'> | undefined

type FindHandler = (path: string) => NodeHandler | undefined | Promise<NodeHandler | undefined>

async function listenOverHttp(
  find: FindHandler,
  { port = 0, host = '127.0.0.1', path = '/mcp', isAuthorized = false, onError, ...allowed }: ListenOptions,
): Promise<ServedHttp> {
  const hostName = host.includes(':') ? `[${host}]` : host
  const isAllowed = createGuard(hostName, allowed, isAuthorized)
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const allowed = isAllowed(request, response)
    if (allowed !== true && !(await allowed)) return
    const found = find(request.url?.split('?')[0] ?? '')
    // Does not wait unless necessary: the client may be gone before the request is read.
    const handle = found instanceof Promise ? await found : found
    if (handle) return handle(request, response)
    response.writeHead(404, { 'content-type': 'text/plain' }).end(`The MCP server is at ${path}.`)
  }

  // Servers over stdio and edge runtimes do without it.
  const { createServer } = await import('node:http')
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      onError?.(error as Error)
      response.destroy()
    })
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS
  const listening = await listen(server, { host, port, hostName })
  return {
    url: `http://${hostName}:${listening}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** At once, if a request is plainly allowed. */
type Guard = (request: IncomingMessage, response: ServerResponse) => true | Promise<boolean>

/** Rejects requests from web pages of other origins, and requests for a host name that is not this server's. */
function createGuard(
  hostName: string,
  { allowedHosts, allowedOrigins }: Pick<HttpOptions, 'allowedHosts' | 'allowedOrigins'>,
  isAuthorized: boolean,
): Guard {
  const isLocal = LOOPBACK.includes(hostName) || /^127\.\d+\.\d+\.\d+$/.test(hostName)
  if (!isLocal && !isAuthorized && !allowedHosts)
    throw new FoldoutError(
      'mcp-open',
      `Other machines can reach ${hostName}, but nothing restricts who may use this server. Pass an authorize hook to serveMcp(), and the host names that clients use as allowedHosts to http().`,
    )
  const own = WILDCARDS.has(hostName) ? [] : [hostName]
  const hosts = allowedHosts ?? (own.length > 0 ? [...LOOPBACK, ...own] : ['*'])
  const origins = allowedOrigins ?? [...LOOPBACK, ...own, ...hosts]
  const isAnyHost = hosts.includes('*')
  const namedOrigins = origins.filter((name) => name !== '*')
  const plainHosts = new Set(hosts)

  /** The SDK decides about everything that is not plainly allowed. */
  async function check({ headers }: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { validateHostHeader, validateOriginHeader } = await loadServerSdk()
    const origin = validateOriginHeader(headers.origin, namedOrigins)
    const named = isAnyHost ? origin : validateHostHeader(headers.host, [...hosts])
    if (named.ok && origin.ok) return true
    const message = named.ok ? describeRefusal(origin) : describeRefusal(named)
    response.writeHead(403, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }))
    return false
  }
  return (request, response) => {
    const { host = '', origin } = request.headers
    if (!HOST.test(host) || hasSecondHost(request)) return refuseHost(response)
    const isPlain = origin === undefined && plainHosts.has(host.replace(PORT, ''))
    return isPlain || check(request, response)
  }
}

const PORT = /:\d{1,5}$/
/** A name or an address, and a port. Parsers of URLs would accept more, such as a path, and ignore it. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~-]*)(?::\d{1,5})?$/i

/** Whether a request names two hosts. Node.js reads the first one, and what is in front of this server may read the other. */
function hasSecondHost({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
}

async function refuseHost(response: ServerResponse): Promise<boolean> {
  const message = 'Bad Request: the Host header must name one host.'
  response.writeHead(400, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_600, message }, id: null }))
  return false
}

function describeRefusal(result: { readonly ok: boolean; readonly message?: string }): string {
  return result.message ?? 'Forbidden'
}

interface ListenAddress {
  readonly host: string
  readonly port: number
  readonly hostName: string
}

/** Listens, and returns the port. */
function listen(server: Server, { host, port, hostName }: ListenAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new FoldoutError(
          'mcp-listen',
          `The MCP server cannot listen on ${hostName}:${port}: ${getErrorMessage(error)}. Pass another port, or 0 for any free port.`,
          { cause: error },
        ),
      ),
    )
    server.listen({ port, host, backlog: LISTEN_BACKLOG }, () => resolve((server.address() as AddressInfo).port))
  })
}
