import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FoldoutError, getErrorMessage } from '../../../core/errors.ts'
import { KEEP_ALIVE_MS, LISTEN_BACKLOG } from '../../limits.ts'
import type { ServeMcpOptions } from '../options.ts'
import { loadServerSdk } from '../sdk.ts'
import type { Endpoint } from './endpoint.ts'
import { createNodeHandler } from './node-handler.ts'

/**
 * Where to listen over HTTP, and whom to answer.
 *
 * @example
 * const { url } = await served.http({ port: 8080, allowedHosts: ['tools.example'] })
 */
export interface HttpOptions {
  /** Default: any that is free. */
  readonly port?: number
  /**
   * Default `127.0.0.1`, which only this machine reaches. Another one needs `authorize` of `serveMcp` or `allowedHosts`: who
   * may use the server, or at least under which names.
   */
  readonly host?: string
  /** Default `/mcp`. */
  readonly path?: string
  /** The names, without port, under which clients may reach the server; `*` stands for any. Default: those of this machine, and the host. */
  readonly allowedHosts?: readonly string[]
  /** The host names of web pages that may use it. Default: those of this machine, the host, and `allowedHosts`. */
  readonly allowedOrigins?: readonly string[]
}

/**
 * A server that listens over HTTP.
 *
 * @example
 * const { url, close } = await serveMcp(catalog, { name: 'home', version: '1.0.0' }).http()
 */
export interface ServedHttp {
  /** Where clients connect to. */
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
  { port = 0, host = '127.0.0.1', path = '/mcp', ...allowed }: HttpOptions,
): Promise<ServedHttp> {
  const hostName = host.includes(':') ? `[${host}]` : host
  const isAllowed = await createGuard(hostName, allowed, options)
  const handle = createNodeHandler(endpoint, options)

  // Servers over stdio and edge runtimes do without it.
  const { createServer } = await import('node:http')
  const server = createServer((request, response) => {
    if (!isAllowed(request, response)) return
    if (request.url?.split('?')[0] !== path) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end(`The MCP server is at ${path}.`)
      return
    }
    handle(request, response).catch((error: unknown) => {
      options.onError?.(error as Error)
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

type Guard = (request: IncomingMessage, response: ServerResponse) => boolean

/** Refuses requests that a web page of another origin makes, or that come under a name which is not this server's. */
async function createGuard(
  hostName: string,
  { allowedHosts, allowedOrigins }: Pick<HttpOptions, 'allowedHosts' | 'allowedOrigins'>,
  { authorize }: ServeMcpOptions,
): Promise<Guard> {
  const isLocal = LOOPBACK.includes(hostName) || /^127\.\d+\.\d+\.\d+$/.test(hostName)
  if (!isLocal && !authorize && !allowedHosts)
    throw new FoldoutError(
      'mcp-open',
      `Other machines can reach ${hostName}, and nothing says who may use this server. Give serveMcp() an authorize hook, and http() the names in allowedHosts under which clients reach it.`,
    )
  const { validateHostHeader, validateOriginHeader } = await loadServerSdk()
  const own = WILDCARDS.has(hostName) ? [] : [hostName]
  const hosts = allowedHosts ?? (own.length > 0 ? [...LOOPBACK, ...own] : ['*'])
  const origins = allowedOrigins ?? [...LOOPBACK, ...own, ...hosts]
  const isAnyHost = hosts.includes('*')
  const namedOrigins = origins.filter((name) => name !== '*')
  return ({ headers }, response) => {
    const origin = validateOriginHeader(headers.origin, namedOrigins)
    const named = isAnyHost ? origin : validateHostHeader(headers.host, [...hosts])
    if (named.ok && origin.ok) return true
    const message = named.ok ? describeRefusal(origin) : describeRefusal(named)
    response.writeHead(403, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }))
    return false
  }
}

function describeRefusal(result: { readonly ok: boolean; readonly message?: string }): string {
  return result.message ?? 'Forbidden'
}

interface ListenAddress {
  readonly host: string
  readonly port: number
  readonly hostName: string
}

/** Listens, and gives back on which port. */
function listen(server: Server, { host, port, hostName }: ListenAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new FoldoutError(
          'mcp-listen',
          `The MCP server cannot listen on ${hostName}:${port}: ${getErrorMessage(error)}. Give another port, or 0 for any that is free.`,
          { cause: error },
        ),
      ),
    )
    server.listen({ port, host, backlog: LISTEN_BACKLOG }, () => resolve((server.address() as AddressInfo).port))
  })
}
