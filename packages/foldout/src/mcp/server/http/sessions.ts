import type { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { isPlainObject } from '../../../core/json/json.ts'
import { identityIn, NOBODY, type ClientIdentity } from '../client.ts'
import { DEFAULT_IDLE_MS, DEFAULT_MAX_BODY_BYTES, DEFAULT_MAX_SESSIONS, type ServeMcpOptions } from '../options.ts'
import type { ServerSdk } from '../sdk.ts'
import { httpError, whenAnswered } from './response.ts'

const SESSION_ID = 'mcp-session-id'

interface HttpSession {
  readonly id: string
  readonly server: Server
  readonly transport: WebStandardStreamableHTTPServerTransport
  /** Requests under way, open streams included. */
  busy: number
  timer: ReturnType<typeof setTimeout> | undefined
}

/** The sessions of clients of MCP before 2026-07-28, over HTTP. */
export interface HttpSessions {
  handle(request: Request, body: unknown): Promise<Response>
  close(): Promise<void>
}

export function createHttpSessions(
  sdk: ServerSdk,
  options: ServeMcpOptions,
  makeServer: (identity: ClientIdentity) => Server,
): HttpSessions {
  const max = options.sessions?.max ?? DEFAULT_MAX_SESSIONS
  const idleMs = options.sessions?.idleMs ?? DEFAULT_IDLE_MS
  // In the order in which they were last used.
  const sessions = new Map<string, HttpSession>()

  async function end({ id, server, timer }: HttpSession): Promise<void> {
    clearTimeout(timer)
    sessions.delete(id)
    await server.close()
  }

  async function answer(session: HttpSession, request: Request, body: unknown): Promise<Response> {
    clearTimeout(session.timer)
    session.busy++
    const done = (): void => {
      session.busy--
      if (session.busy > 0 || sessions.get(session.id) !== session) return
      sessions.delete(session.id)
      sessions.set(session.id, session)
      session.timer = setTimeout(() => void end(session), idleMs)
      // A session that may come back is no reason for a process to stay.
      session.timer.unref?.()
    }
    try {
      const response = await session.transport.handleRequest(request, body === undefined ? {} : { parsedBody: body })
      return whenAnswered(response, request, done)
    } catch (error) {
      done()
      throw error
    }
  }

  async function begin(request: Request, body: unknown): Promise<Response> {
    if (sessions.size >= max) {
      const idlest = [...sessions.values()].find(({ busy }) => busy === 0)
      if (!idlest) return httpError(503, -32000, `This server has ${max} sessions, which is all it takes. Try later.`)
      await end(idlest)
    }
    const id = crypto.randomUUID()
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      maxRequestBodySize: options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
    })
    const server = makeServer(identityIn(body) ?? NOBODY)
    const session: HttpSession = { id, server, transport, busy: 0, timer: undefined }
    sessions.set(id, session)
    await server.connect(transport)
    const { onclose } = server
    Object.assign(server, {
      onclose() {
        clearTimeout(session.timer)
        sessions.delete(id)
        onclose?.()
      },
    } satisfies Partial<Server>)
    const response = await answer(session, request, body)
    // It was refused, for its headers perhaps.
    if (transport.sessionId === undefined) await end(session)
    return response
  }

  return {
    async handle(request, body) {
      const id = request.headers.get(SESSION_ID)
      if (id !== null) {
        const session = sessions.get(id)
        return session ? answer(session, request, body) : httpError(404, -32001, 'Session not found')
      }
      if (request.method === 'POST' && isPlainObject(body) && body['method'] === 'initialize')
        return begin(request, body)
      return ['POST', 'GET', 'DELETE'].includes(request.method)
        ? httpError(400, -32000, 'Bad Request: Mcp-Session-Id header is required')
        : httpError(405, -32000, 'Method not allowed.', { allow: 'GET, POST, DELETE' })
    },
    async close() {
      await Promise.all(Array.from(sessions.values(), end))
    },
  }
}
