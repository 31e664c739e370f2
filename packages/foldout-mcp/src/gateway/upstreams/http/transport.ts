import {
  createHttpTransport,
  createSseTransport,
  isUnsent,
  type FetchLike,
  type HttpTransportOptions,
  type McpAuthorization,
  type McpLoss,
  type McpTransport,
} from 'foldout/mcp'
import type { FilledHttpServer } from '../../config/fill-server.ts'

/** What authorizes requests, for each server that is not authorized by a configured header. */
export interface Authorizations {
  get(server: FilledHttpServer): (McpAuthorization & { readonly fetch: FetchLike }) | undefined
}

export interface HttpOptions {
  readonly signIns: Authorizations
  /** Whether the connection has been opened. Before that, the one who opens it handles failures. */
  isOpen(): boolean
  /** Called when the connection is of no use any more. It may be called more than once. */
  onLost(loss: McpLoss): void
}

/** Connects to a server over HTTP, with its sign-in. */
export function connectByHttp(server: FilledHttpServer, { signIns, isOpen, onLost }: HttpOptions): McpTransport {
  const { kind, url, headers } = server
  const signIn = signIns.get(server)
  const options: HttpTransportOptions = {
    headers,
    authorization: signIn,
    onLost: (loss) => isOpen() && onLost(loss),
    ...(signIn && { fetch: signIn.fetch }),
  }
  if (kind === 'sse') return createSseTransport(url, options)
  return createHttpTransport(url, options)
}

/** Whether a result or an error says that the request has not reached the server. */
export function hasNotRun(outcome: unknown): boolean {
  if (typeof outcome !== 'object' || outcome === null) return false
  const isError = outcome instanceof Error && 'code' in outcome && outcome.code === 'NOT_CONNECTED'
  return isError || isUnsent(outcome)
}
