import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Transport } from '@modelcontextprotocol/server'
import { FoldoutError } from '../../core/errors.ts'
import type { Catalog } from '../../catalog/contract.ts'
import { connectClient, type McpConnection } from './connection.ts'
import { createEndpoint, type Endpoint } from './http/endpoint.ts'
import { serveOverHttp, type HttpOptions, type ServedHttp } from './http/http.ts'
import { createNodeHandler, type NodeHandler } from './http/node-handler.ts'
import type { ServeMcpOptions } from './options.ts'
import { checkServerSdk } from './sdk.ts'
import { serveOverStdio, type StdioOptions } from './stdio/stdio.ts'
import { createViews } from './views.ts'

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
  connect(transport: Transport): Promise<McpConnection>
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
    checkServerSdk()
    return (endpoint ??= createEndpoint(views, options))
  }

  return {
    async stdio(streams = {}) {
      refuseClosed()
      return keep(await serveOverStdio(views, options, streams))
    },
    async http(where = {}) {
      refuseClosed()
      return keep(await serveOverHttp(getEndpoint(), options, where))
    },
    async connect(transport) {
      refuseClosed()
      return keep(await connectClient(transport, views, options))
    },
    async fetch(request) {
      refuseClosed()
      return getEndpoint().fetch(request)
    },
    async handle(request, response) {
      refuseClosed()
      handler ??= createNodeHandler(getEndpoint(), options)
      await handler(request, response)
    },
    async close() {
      isClosed = true
      await endpoint?.close()
      await Promise.all(Array.from(open, (one) => one.close()))
    },
  }
}
