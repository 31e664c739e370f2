import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FoldoutError, getErrorMessage } from '../../../core/errors.ts'
import {
  KEEP_ALIVE_MS,
  LISTEN_BACKLOG,
  MAX_BODY_BYTES,
  MAX_REQUESTS,
  REQUESTS_PER_PEER,
  RETRY_AFTER_SECONDS,
} from '../../limits.ts'
import type { ServeMcpOptions } from '../options.ts'
import { loadNodeSdk } from '../sdk.ts'
import type { Endpoint } from './endpoint.ts'
import { PeerCounter, toPeer } from './peer.ts'

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

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** Answers requests of `node:http` within the limit of requests at a time. */
export async function createNodeHandler(endpoint: Endpoint, options: ServeMcpOptions): Promise<NodeHandler> {
  const { toNodeHandler } = await loadNodeSdk()
  const requests = new PeerCounter({ max: MAX_REQUESTS, perPeer: REQUESTS_PER_PEER })
  const settings = {
    maxRequestBodySize: options.maxBodyBytes ?? MAX_BODY_BYTES,
    ...(options.onError ? { onerror: options.onError } : {}),
  }
  return async (request, response) => {
    const address = request.socket.remoteAddress
    const peer = toPeer(address)
    const refusal = requests.check(peer)
    if (refusal) {
      response.writeHead(refusal === 'peer' ? 429 : 503, { 'retry-after': String(RETRY_AFTER_SECONDS) })
      response.end('This server is answering too many requests at once. Try again later.')
      return
    }
    response.once('close', requests.take(peer))
    const handle = toNodeHandler({ fetch: (web) => endpoint.fetch(web, { address }) }, settings) as NodeHandler
    await handle(request, response)
  }
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
  const handle = await createNodeHandler(endpoint, options)

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

/** Answers requests that a web page of another origin makes, or that come under a name which is not this server's. */
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
  const { hostHeaderValidation, originValidation } = await loadNodeSdk()
  const own = WILDCARDS.has(hostName) ? [] : [hostName]
  const hosts = allowedHosts ?? (own.length > 0 ? [...LOOPBACK, ...own] : ['*'])
  const origins = allowedOrigins ?? [...LOOPBACK, ...own, ...hosts]
  const isHostAllowed = hosts.includes('*') ? () => true : hostHeaderValidation([...hosts])
  const isOriginAllowed = originValidation(origins.filter((name) => name !== '*'))
  return (request, response) => isHostAllowed(request, response) && isOriginAllowed(request, response)
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
