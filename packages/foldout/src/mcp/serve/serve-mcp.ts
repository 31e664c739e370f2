import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Catalog } from '../../catalog/contract.ts'
import { FoldoutError } from '../../core/errors.ts'
import { answerFetch } from '../transports/http/fetch.ts'
import { listenForMcp, type HttpOptions, type ServedHttp } from '../transports/http/listen.ts'
import { createNodeHandler, type NodeHandler } from '../transports/http/node.ts'
import { connectClient, type McpConnection } from './connection.ts'
import type { ServeMcpOptions } from './contract/options.ts'
import { createEndpoint, type Endpoint } from './http/endpoint.ts'
import { adaptTransport, type SdkTransport } from './sdk-transport.ts'
import { serveOverStdio, type StdioOptions } from './stdio.ts'
import { createViews } from './views/views.ts'

/**
 * A catalog served over MCP, over any number of transports at once.
 *
 * @example
 * const served: ServedMcp = serveMcp(catalog, { name: 'home', version: '1.0.0' })
 * await served.stdio()
 */
export interface ServedMcp {
  /** Serves the client that started this process, until it closes standard input. */
  stdio(options?: StdioOptions): Promise<McpConnection>
  /** Listens for clients over streamable HTTP. */
  http(options?: HttpOptions): Promise<ServedHttp>
  /** Serves one client over a transport of the SDK. */
  connect(transport: SdkTransport): Promise<McpConnection>
  /**
   * Answers a request of streamable HTTP, for your own server. Check `Host` and `Origin` there, and pass `authorize` to
   * `serveMcp`.
   */
  fetch(request: Request): Promise<Response>
  /** The same for `node:http`, Express and the like. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Closes all connections and servers. */
  close(): Promise<void>
}

/**
 * Serves a catalog over MCP: to clients up to 2025-11-25, which have sessions, and to clients since 2026-07-28, which
 * have none.
 *
 * @example
 * const catalog = createCatalog([{ name: 'ping', description: 'Answers.', call: async () => ({ content: [] }) }])
 * const { url } = await serveMcp(catalog, { name: 'home', version: '1.0.0' }).http({ port: 3000 })
 *
 * @throws FoldoutError if the options do not fit the catalog.
 */
export function serveMcp(catalog: Catalog, options: ServeMcpOptions): ServedMcp {
  const views = createViews(catalog, options)
  const onError = (error: Error): void => options.onError?.(error)
  const open = new Set<{ close(): Promise<void> }>()
  let isClosed = false
  let endpoint: Endpoint | undefined
  let handler: NodeHandler | undefined

  function refuseClosed(): void {
    if (isClosed) throw new FoldoutError('mcp-closed', 'This MCP server was closed. Call serveMcp() again.')
  }
  /** Remembers connections to close with the server, until they close on their own. */
  function keep<Open extends { close(): Promise<void>; readonly closed?: Promise<void> }>(opened: Open): Open {
    open.add(opened)
    void opened.closed?.then(() => open.delete(opened))
    return opened
  }
  function getEndpoint(): Endpoint {
    return (endpoint ??= createEndpoint(views, options))
  }

  return {
    async stdio(streams = {}) {
      refuseClosed()
      return keep(await serveOverStdio(views, options, streams))
    },
    async http(where = {}) {
      refuseClosed()
      const { path = '/mcp' } = where
      const handle = createNodeHandler(getEndpoint())
      const find = (asked: string) => {
        if (asked === path) return { handle }
        return undefined
      }
      return keep(await listenForMcp(find, { ...where, isAuthorized: options.authorize !== undefined, onError }))
    },
    async connect(transport) {
      refuseClosed()
      return keep(await connectClient(adaptTransport(transport, onError), views, options))
    },
    async fetch(request) {
      refuseClosed()
      return answerFetch(getEndpoint(), request)
    },
    async handle(request, response) {
      refuseClosed()
      handler ??= createNodeHandler(getEndpoint())
      await handler(request, response)
    },
    async close() {
      isClosed = true
      endpoint?.close()
      await Promise.all(Array.from(open, (one) => one.close()))
    },
  }
}
