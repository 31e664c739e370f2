import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FoldoutError, getErrorMessage } from '../../../core/errors.ts'
import type { Endpoint } from './fetch.ts'
import { DEFAULT_MAX_BODY_BYTES, type ServeMcpOptions } from '../options.ts'
import { loadNodeSdk } from '../sdk.ts'

export interface HttpOptions {
  /** Default: any that is free. */
  readonly port?: number
  /** Default `127.0.0.1`, which only this machine reaches. */
  readonly host?: string
  /** Default `/mcp`. */
  readonly path?: string
  /** The names, without port, under which clients may reach it. Default: those of this machine, if the host is one of them; else any. */
  readonly allowedHosts?: readonly string[]
  /** The host names of web pages that may use it. Default: those of this machine, and the host. */
  readonly allowedOrigins?: readonly string[]
}

export interface ServedHttp {
  /** Where clients connect to. */
  readonly url: string
  close(): Promise<void>
}

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

export async function nodeHandlerFor(endpoint: Endpoint, options: ServeMcpOptions): Promise<NodeHandler> {
  const { toNodeHandler } = await loadNodeSdk()
  return toNodeHandler(endpoint, {
    maxRequestBodySize: options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
    ...(options.onError ? { onerror: options.onError } : {}),
  }) as NodeHandler
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** Listens for clients over streamable HTTP. */
export async function serveOverHttp(
  endpoint: Endpoint,
  options: ServeMcpOptions,
  { port = 0, host = '127.0.0.1', path = '/mcp', ...allowed }: HttpOptions,
): Promise<ServedHttp> {
  const { hostHeaderValidation, originValidation } = await loadNodeSdk()
  const hostName = host.includes(':') ? `[${host}]` : host
  const isLoopback = LOOPBACK.includes(hostName)
  const allowedHosts = allowed.allowedHosts ?? (isLoopback ? LOOPBACK : undefined)
  const allowedOrigins = allowed.allowedOrigins ?? [...LOOPBACK, hostName]
  const isHostAllowed = allowedHosts ? hostHeaderValidation([...allowedHosts]) : () => true
  const isOriginAllowed = originValidation([...allowedOrigins])
  const handle = await nodeHandlerFor(endpoint, options)

  const server = createServer((request, response) => {
    if (!isHostAllowed(request, response) || !isOriginAllowed(request, response)) return
    if (request.url?.split('?')[0] !== path) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end(`The MCP server is at ${path}.`)
      return
    }
    handle(request, response).catch((error: unknown) => {
      options.onError?.(error as Error)
      response.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new FoldoutError(
          'mcp-listen',
          `The MCP server cannot listen on ${hostName}:${port}: ${getErrorMessage(error)}. Give another port, or 0 for any that is free.`,
          { cause: error },
        ),
      ),
    )
    server.listen(port, host, resolve)
  })
  const { port: listening } = server.address() as AddressInfo
  return {
    url: `http://${hostName}:${listening}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
