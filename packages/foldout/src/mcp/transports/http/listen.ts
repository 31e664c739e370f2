import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { checkNumber } from '../../../core/check-number.ts'
import { FoldoutError, getErrorMessage } from '../../../core/errors.ts'
import { KEEP_ALIVE_MS, LISTEN_BACKLOG } from '../../limits.ts'
import { createGuard } from './guard.ts'

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
  { port = 0, host = '127.0.0.1', path = '/mcp', isAuthorized = false, onError, ...allowed }: ListenOptions = {},
): Promise<ServedHttp> {
  checkNumber('port', port, { code: 'mcp-options' })
  const hostName = host.includes(':') ? `[${host}]` : host
  const isAllowed = createGuard(hostName, allowed, isAuthorized)
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!isAllowed(request, response)) return
    const found = await find(request.url?.split('?')[0] ?? '')
    if (found) return found.handle(request, response)
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

interface ListenAddress {
  readonly host: string
  readonly port: number
  readonly hostName: string
}

/** Something that answers requests of `node:http`, such as what `serveMcp` returns. */
type FoundServer = { handle(request: IncomingMessage, response: ServerResponse): Promise<void> } | undefined

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
