import type { FetchLike, StreamableHTTPClientTransport, Transport } from '@modelcontextprotocol/client'
import { isUnsent } from 'foldout/mcp'
import pLimit from 'p-limit'
import type { SignIns } from '../../auth/sign-in.ts'
import type { FilledHttpServer } from '../../config/fill-server.ts'
import { isObject } from '../../fields.ts'
import { END_SESSION_MS, KEPT_STDERR_CHARACTERS, MAX_ANSWERING, MAX_RESUMES, MAX_UNREAD_ANSWERS } from '../limits.ts'
import { limitResponses } from './limit-response.ts'

/** Why a connection over HTTP is of no use any more. */
export interface Loss {
  readonly reason: string
  /** Whether the server cannot be reached at all. Otherwise, it has only forgotten the session. */
  readonly isDown: boolean
}

export interface HttpOptions {
  readonly signIns: SignIns
  /** Whether the connection has been opened. Before that, the one who opens it handles failures. */
  isOpen(): boolean
  /** Called when the connection is of no use any more. It may be called more than once. */
  onLost(loss: Loss): void
}

/** Thrown for a request that the server has not run, so that it can be sent again. */
class UnsentError extends Error {
  override readonly name = 'UnsentError'
  readonly code = 'NOT_CONNECTED'
}

/** Whether a result or an error says that the request has not reached the server. */
export function hasNotRun(outcome: unknown): boolean {
  if (typeof outcome !== 'object' || outcome === null) return false
  const isError = outcome instanceof Error && 'code' in outcome && outcome.code === 'NOT_CONNECTED'
  return isError || isUnsent(outcome)
}

export async function createHttpTransport(server: FilledHttpServer, options: HttpOptions): Promise<Transport> {
  const { SSEClientTransport, SseError, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const { kind, url, headers } = server
  const signIn = options.signIns.get(server)
  const shared = { requestInit: { headers: { ...headers } }, ...(signIn && { authProvider: signIn }) }
  const send = limitResponses(signIn?.fetch ?? fetch)
  if (kind === 'sse') {
    const transport = new SSEClientTransport(url, { ...shared, fetch: send })
    // Answers arrive only on the stream. A new stream would belong to a new session, which nobody has initialized.
    const closing = Object.assign(transport, {
      onerror(error: Error) {
        if (error instanceof SseError && options.isOpen()) void transport.close()
      },
    })
    return limitAnswers(closing)
  }
  const transport = new StreamableHTTPClientTransport(url, {
    ...shared,
    fetch: watchFetch(send, options),
    reconnectionOptions: {
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 1.5,
      maxRetries: MAX_RESUMES,
    },
  })
  return limitAnswers(transport)
}

/** Sends few answers at a time: each is a request, and a server that asks endlessly must not take all sockets and memory. */
function limitAnswers<Given extends Transport>(transport: Given): Given {
  const send = transport.send.bind(transport)
  const turn = pLimit(MAX_ANSWERING)
  return Object.assign(transport, {
    async send(...given: Parameters<Transport['send']>): Promise<void> {
      if ('method' in given[0]) return send(...given)
      if (turn.pendingCount < MAX_UNREAD_ANSWERS) return turn(() => send(...given))
      transport.onerror?.(new Error('The server floods the gateway with questions and does not read the answers.'))
      await transport.close()
    },
  })
}

/** Tells the server that a session is no longer needed. Never rejects, and takes a limited time. */
export async function endSession(transport: Transport): Promise<void> {
  const { sessionId, terminateSession } = transport as Partial<StreamableHTTPClientTransport>
  if (sessionId === undefined || !terminateSession) return
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, END_SESSION_MS)))
  // Some servers do not let clients end sessions.
  await Promise.race([terminateSession.call(transport).catch(() => undefined), late])
  clearTimeout(timer)
}

/**
 * The transport of the SDK does not say that a session or a server is gone, or that the answer to a request will not come, so its
 * requests are watched.
 */
function watchFetch(send: FetchLike, { isOpen, onLost }: HttpOptions): FetchLike {
  /** The latest request for events outside of answers, which may have been opened since. */
  let opening: Promise<unknown> = Promise.resolve()
  /** Whether the server has ever sent events outside of an answer. */
  let hasStream = false
  let failedResumes = 0
  /** After the last attempt, the transport gives up, and nobody would hear the server's notifications. */
  const countFailedResume = (reason: string): void => {
    failedResumes++
    if (hasStream && failedResumes >= MAX_RESUMES) onLost({ reason, isDown: true })
  }
  const handleFailure = (error: unknown, isStream: boolean): never => {
    const reason = describe(error)
    if (isStream) countFailedResume(reason)
    if (isStream || !isRefusal(error)) throw error
    onLost({ reason, isDown: true })
    throw new UnsentError(reason, { cause: error })
  }
  return async (url, init) => {
    const isStream = init?.method === 'GET'
    let response: Response
    try {
      const sending = send(url, init)
      if (isStream) opening = Promise.allSettled([sending])
      response = await sending
    } catch (error) {
      if (!isOpen() || init?.signal?.aborted) throw error
      return handleFailure(error, isStream)
    }
    if (isStream && response.ok) {
      hasStream = true
      failedResumes = 0
    }
    if (response.ok && init?.method === 'POST')
      return requireAnswer(response, init.body, async () => {
        await opening
        return hasStream && failedResumes < MAX_RESUMES
      })
    if (response.ok || !isOpen() || init?.method === 'DELETE') return response
    if (!(await isForgotten(response, init?.headers)) || (isStream && !hasStream)) {
      if (isStream && !NOT_FAILED.has(response.status)) countFailedResume(`HTTP ${response.status}`)
      return response
    }
    onLost({ reason: 'It has forgotten the session.', isDown: false })
    throw new UnsentError(await describeRefusal(response))
  }
}

/**
 * Makes a request fail if the whole response to it has no answer, because nobody would wait for anything but the time limit.
 *
 * @param mayFollow Whether the answer may still come on another stream.
 */
async function requireAnswer(
  response: Response,
  sent: RequestInit['body'],
  mayFollow: () => Promise<boolean>,
): Promise<Response> {
  const id = readRequestId(sent)
  if (id === undefined) return response
  const complain = async (what: string): Promise<void> => {
    if (!(await mayFollow())) throw new Error(`${what} It is unknown whether the request has had an effect.`)
  }
  if (response.status === 202) await complain('The server accepted the request and sent no answer (HTTP 202).')
  const read = response.json.bind(response)
  return Object.assign(response, {
    async json(): Promise<unknown> {
      const body: unknown = await read()
      const isAnswer = (one: unknown): boolean => isObject(one) && !('method' in one) && readId(one) === id
      if (![body].flat().some(isAnswer)) await complain('The server sent the answer to another request.')
      return body
    },
  })
}

/** The id of a request. Notifications and answers have none. */
function readRequestId(sent: RequestInit['body']): string | undefined {
  const message: unknown = typeof sent === 'string' ? JSON.parse(sent) : undefined
  return isObject(message) && 'method' in message ? readId(message) : undefined
}

/** Some servers answer with the number of a request as a string. */
function readId({ id }: { readonly id?: unknown }): string | undefined {
  return typeof id === 'number' || typeof id === 'string' ? String(id) : undefined
}

/** The statuses of a server that only wants a token, or has no events. */
const NOT_FAILED: ReadonlySet<number> = new Set([401, 403, 405])

/** Whether a server says that it does not know the session. Some servers do not use the status that the protocol requires. */
async function isForgotten(response: Response, sent: RequestInit['headers']): Promise<boolean> {
  if (!new Headers(sent).has('mcp-session-id')) return false
  if (response.status === 404) return true
  if (response.status !== 400) return false
  const text = await response.clone().text()
  return /\bsession\b|not initialized/i.test(text)
}

async function describeRefusal(response: Response): Promise<string> {
  const text = await response.text().catch(() => '')
  return `HTTP ${response.status} ${text.trim().slice(0, KEPT_STDERR_CHARACTERS)}`.trim()
}

/** Failures to connect. After these, the server cannot have read the request. */
const REFUSALS: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

function isRefusal(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && REFUSALS.has(cause.code)
}

/** `fetch` itself only says that it failed. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  // Without a message, it has several causes: one for each address of the host.
  const [first] = cause instanceof AggregateError ? (cause.errors as readonly unknown[]) : [cause]
  return first instanceof Error ? first.message : error.message
}
