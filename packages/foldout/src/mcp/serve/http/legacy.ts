import { MAX_HTTP_BATCH, MAX_UNREAD_EVENT_BYTES } from '../../limits.ts'
import { LEGACY_VERSIONS } from '../../protocol/eras.ts'
import { INVALID_PARAMS, INVALID_REQUEST } from '../../protocol/errors.ts'
import { getParams, type JsonObject } from '../../protocol/messages.ts'
import { isValidRequest, type ValidRequest } from '../../protocol/valid-message.ts'
import { EventStream } from '../../transports/http/event-stream.ts'
import type { HttpReply, HttpRequest } from '../../transports/http/exchange.ts'
import { HTTP_ERROR, HttpRefusal, refuse, refuseForNow } from '../../transports/http/refusal.ts'
import type { ServeMcpOptions } from '../contract/options.ts'
import type { Caller } from './caller.ts'
import type { HttpSession } from './session.ts'
import { isStoreError, type HttpSessions } from './sessions.ts'
import type { LimitedStreams } from './streams.ts'

const SESSION_ID = 'mcp-session-id'
const NOT_FOUND = -32_001

/** A request over HTTP, and who sent it. */
export interface HttpCall {
  readonly request: HttpRequest
  readonly reply: HttpReply
  readonly caller: Caller
}

export interface LegacyParts {
  readonly options: ServeMcpOptions
  readonly sessions: HttpSessions
  readonly streams: LimitedStreams
}

/** Answers a request of a client that has a session, or begins one. `messages` is what a POST has brought. */
export async function answerLegacy(parts: LegacyParts, call: HttpCall, messages: readonly JsonObject[]): Promise<void> {
  const { method } = call.request
  try {
    if (method === 'POST') await post(parts, call, messages)
    else if (method === 'GET') await openStream(parts, call)
    else if (method === 'DELETE') await endSession(parts, call)
    else throw refuse(405, HTTP_ERROR, 'Method not allowed.', { allow: 'GET, POST, DELETE' })
  } catch (error) {
    if (!isStoreError(error)) throw error
    parts.options.onError?.(error as Error)
    throw refuseForNow('total', 'The sessions of this server cannot be reached at the moment. Try again later.')
  }
}

async function post(parts: LegacyParts, call: HttpCall, messages: readonly JsonObject[]): Promise<void> {
  const { request } = call
  checkAccepted(request, 'application/json', 'text/event-stream')
  if (messages.length > MAX_HTTP_BATCH)
    throw refuse(400, INVALID_REQUEST, `Invalid Request: a batch may have at most ${MAX_HTTP_BATCH} messages.`)
  const [first] = messages
  const initialize = messages.find(isInitialize)
  if (request.getHeader(SESSION_ID) === undefined && initialize && initialize === first && messages.length === 1)
    return begin(parts, call, initialize)
  const session = await findSession(parts, call)
  if (initialize) throw refuse(400, INVALID_REQUEST, 'Invalid Request: the session has begun already.')
  await receive(parts, call, session, messages)
}

async function begin({ sessions }: LegacyParts, call: HttpCall, initialize: ValidRequest): Promise<void> {
  const params = getParams(initialize)
  if (typeof params['protocolVersion'] !== 'string') {
    const error = { code: INVALID_PARAMS, message: "'protocolVersion' must say which version the client has." }
    throw new HttpRefusal(400, error, {}, initialize.id)
  }
  const session = await sessions.begin(params, call.caller)
  answer(sessions, call, session, [initialize])
}

async function receive(
  { sessions }: LegacyParts,
  call: HttpCall,
  session: HttpSession,
  messages: readonly JsonObject[],
): Promise<void> {
  const { kept } = session
  sessions.table.ready(session)
  kept?.copy.touch()
  const ids = messages.filter(isValidRequest).map(({ id }) => id)
  if (new Set(ids).size < ids.length || ids.some((id) => session.isAnswering(id)))
    throw refuse(400, INVALID_REQUEST, 'A request with this id is still running.')
  // What runs on another machine is cancelled there.
  for (const message of messages) if (isCancelledElsewhere(message, session)) kept?.mailbox.tellAll(message)
  const own = kept ? kept.mailbox.sort(messages) : messages
  if (!own) throw refuse(413, INVALID_REQUEST, TOO_LONG)
  await kept?.save()
  for (const message of own) if (!isValidRequest(message)) session.receive(message)
  const requests = own.filter(isValidRequest)
  if (requests.length === 0) return call.reply.end(202, {})
  answer(sessions, call, session, requests)
}

function answer(
  { table }: HttpSessions,
  { request, reply }: HttpCall,
  session: HttpSession,
  requests: readonly ValidRequest[],
): void {
  reply.onClose(table.use(session))
  const headers = { get: (name: string) => request.getHeader(name.toLowerCase()) ?? null }
  session.answer(requests, { reply, headers })
}

async function openStream(parts: LegacyParts, call: HttpCall): Promise<void> {
  const { sessions, streams } = parts
  const { request, reply, caller } = call
  checkAccepted(request, 'text/event-stream')
  const session = await findSession(parts, call)
  if (session.isStreaming) throw refuse(409, HTTP_ERROR, 'Conflict: Only one SSE stream is allowed per session')
  streams.take(reply, caller)
  sessions.table.ready(session)
  reply.onClose(sessions.table.use(session))
  const headers = { [SESSION_ID]: session.id }
  const stream = new EventStream(reply, { headers, isSilent: true, maxUnreadBytes: MAX_UNREAD_EVENT_BYTES })
  session.listen(stream, reply)
}

async function endSession(parts: LegacyParts, call: HttpCall): Promise<void> {
  await parts.sessions.end(await findSession(parts, call))
  call.reply.end(200, {})
}

/** @throws HttpRefusal if the caller has no such session. */
async function findSession({ sessions }: LegacyParts, { request, caller }: HttpCall): Promise<HttpSession> {
  const id = request.getHeader(SESSION_ID)
  if (id === undefined) throw refuse(400, HTTP_ERROR, 'Bad Request: Mcp-Session-Id header is required')
  const session = await sessions.find(id, caller)
  if (!session) throw refuse(404, NOT_FOUND, 'Session not found')
  const version = request.getHeader('mcp-protocol-version')
  if (version === undefined || LEGACY_VERSIONS.includes(version)) return session
  const known = LEGACY_VERSIONS.join(', ')
  throw refuse(400, HTTP_ERROR, `Bad Request: Unsupported protocol version: ${version} (supported versions: ${known})`)
}

function checkAccepted(request: HttpRequest, ...types: readonly string[]): void {
  const accepted = request.getHeader('accept') ?? ''
  const missing = types.filter((type) => !accepted.includes(type))
  if (missing.length > 0) throw refuse(406, HTTP_ERROR, `Not Acceptable: Client must accept ${types.join(' and ')}`)
}

function isInitialize(message: JsonObject): message is ValidRequest {
  return isValidRequest(message) && message.method === 'initialize'
}

function isCancelledElsewhere(message: JsonObject, session: HttpSession): boolean {
  if (message['method'] !== 'notifications/cancelled') return false
  const { requestId } = getParams(message)
  return !session.isAnswering(requestId as string)
}

const TOO_LONG =
  'This answer has reached a machine other than the one that asked, and is too long to be passed on. Let your load balancer send the requests of a session to one machine.'
