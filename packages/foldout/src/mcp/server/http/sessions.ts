import type { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { isPlainObject } from '../../../core/json/json.ts'
import { MAX_BODY_BYTES } from '../../limits.ts'
import { readIdentity, NOBODY, type ClientIdentity } from '../client.ts'
import type { ServeMcpOptions } from '../options.ts'
import type { ServerSdk } from '../sdk.ts'
import type { Caller } from './endpoint.ts'
import type { PeerLimits, Refusal } from './peer.ts'
import { httpError, refuseForNow, watchResponse } from './response.ts'
import { SessionTable, type SessionUse } from './session-table.ts'

const SESSION_ID = 'mcp-session-id'

interface HttpSession extends SessionUse {
  readonly id: string
  readonly principal: string | undefined
  readonly server: Server
  readonly transport: WebStandardStreamableHTTPServerTransport
}

/** A request of a client that has sessions. */
export interface SessionRequest {
  readonly request: Request
  /** What was read of it, if it has a body. */
  readonly body: unknown
  readonly caller: Caller
}

/** The sessions of clients before MCP 2026-07-28, over HTTP. */
export interface HttpSessions {
  handle(request: SessionRequest): Promise<Response>
  close(): Promise<void>
}

export function createHttpSessions(
  sdk: ServerSdk,
  options: ServeMcpOptions,
  makeServer: (identity: ClientIdentity, principal: string | undefined) => Server,
): HttpSessions {
  const sessions = new SessionTable<HttpSession>(options.sessions ?? {}, (session) => void end(session))

  async function end({ id, server }: HttpSession): Promise<void> {
    sessions.remove(id)
    await server.close().catch((error: unknown) => options.onError?.(error as Error))
  }

  async function answer(session: HttpSession, { request, body }: SessionRequest): Promise<Response> {
    const done = sessions.use(session.id, session)
    try {
      const response = await session.transport.handleRequest(request, body === undefined ? {} : { parsedBody: body })
      return watchResponse(response, request, { done, gone: () => cancelRequests(session, body) })
    } catch (error) {
      done()
      throw error
    }
  }

  async function begin(begun: SessionRequest): Promise<Response> {
    const { peer, principal } = begun.caller
    const refusal = sessions.makeRoom(peer)
    if (refusal) return refuseForNow(refusal, describeRefusal(refusal, sessions.limits))
    const id = crypto.randomUUID()
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      maxRequestBodySize: options.maxBodyBytes ?? MAX_BODY_BYTES,
    })
    const server = makeServer(readIdentity(begun.body) ?? NOBODY, principal)
    const now = Date.now()
    const use: SessionUse = { peer, startedAt: now, usedAt: now, busy: 0, isReady: false, timer: undefined }
    const session: HttpSession = { id, principal, server, transport, ...use }
    sessions.add(id, session)
    try {
      await server.connect(transport)
      const { onclose } = server
      Object.assign(server, {
        onclose() {
          sessions.remove(id)
          onclose?.()
        },
      } satisfies Partial<Server>)
      const response = await answer(session, begun)
      // It was refused, for its headers perhaps.
      if (transport.sessionId === undefined) await end(session)
      return response
    } catch (error) {
      await end(session)
      throw error
    }
  }

  return {
    async handle(given) {
      const { request, body, caller } = given
      const id = request.headers.get(SESSION_ID)
      if (id !== null) {
        const session = sessions.get(id)
        // To others than the one that began it, a session does not exist.
        if (!session || session.principal !== caller.principal) return httpError(404, -32_001, 'Session not found')
        session.isReady = true
        return answer(session, given)
      }
      if (request.method === 'POST' && isPlainObject(body) && body['method'] === 'initialize') return begin(given)
      return ['POST', 'GET', 'DELETE'].includes(request.method)
        ? httpError(400, -32_000, 'Bad Request: Mcp-Session-Id header is required')
        : httpError(405, -32_000, 'Method not allowed.', { allow: 'GET, POST, DELETE' })
    },
    async close() {
      await Promise.all(Array.from(sessions.all, end))
    },
  }
}

function describeRefusal(refusal: Refusal, { max, perPeer }: PeerLimits): string {
  if (refusal === 'total')
    return `This server has ${max} open sessions, which is the most that it takes. Try again later.`
  return `You have ${perPeer} open sessions, which is the most that one client may have. End one, or try again later.`
}

/** A client that has gone can no longer be answered: without this, what it asked for would run on. */
function cancelRequests({ transport }: HttpSession, body: unknown): void {
  for (const message of Array.isArray(body) ? (body as readonly unknown[]) : [body]) {
    if (!isPlainObject(message) || message['method'] === undefined) continue
    const { id: requestId } = message
    if (typeof requestId !== 'string' && typeof requestId !== 'number') continue
    const params = { requestId, reason: 'The client has closed the connection.' }
    transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
  }
}
