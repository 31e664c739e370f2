import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/server'
import type { CallPeer } from '../../../catalog/tool.ts'
import { FoldoutError } from '../../../core/errors.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { findSizeFault } from '../../../core/json/measure.ts'
import { MAX_DEPTH, MAX_CLIENT_BYTES } from '../../limits.ts'
import type { ServeMcpOptions } from '../options.ts'
import type { ClientViews } from '../views.ts'
import type { CallSink } from './call-sink.ts'
import type { Caller } from './endpoint.ts'
import { createSessionKeeper, followSessions, type KeptCopy, type SessionKeeper } from './kept/keeper.ts'
import type { PeerLimits, Refusal } from './peer.ts'
import { httpError, refuseForNow, watchResponse } from './response.ts'
import type { EventStream } from './event-stream.ts'
import { HttpSession, saveSession, type SessionParts } from './session.ts'
import { SessionTable } from './session-table.ts'

const SESSION_ID = 'mcp-session-id'
const CLIENT_LIMITS = { maxBytes: MAX_CLIENT_BYTES, maxDepth: MAX_DEPTH }

/** A request of a client that has sessions. */
export interface SessionRequest {
  readonly request: Request
  /** The parsed body, if any. */
  readonly body: unknown
  readonly caller: Caller
}

/** The sessions of clients before MCP 2026-07-28, over HTTP. */
export interface HttpSessions {
  handle(request: SessionRequest): Promise<Response>
  /** Finds the session of a caller, or says why it is not available now. For other callers, it does not exist. */
  find(id: string, caller: Caller): Found | Promise<Found>
  /** Begins a session without the SDK. Returns nothing if that is not possible; another way may answer then. */
  begin(initialize: JSONRPCRequest, caller: Caller): Begun | undefined
  /** Answers a call without the SDK. */
  call(session: HttpSession, request: JSONRPCRequest, sink: CallSink, headers: CallPeer['headers']): Promise<void>
  /** Answers `ping` and `tools/list` without the SDK. */
  answer(session: HttpSession, request: JSONRPCRequest): JSONRPCMessage
  /** Takes a stream for messages that belong to no request. Call the returned function when it has closed. */
  listen(session: HttpSession, stream: EventStream): () => void
  close(): Promise<void>
}

export interface Begun {
  readonly id: string
  readonly answer: JSONRPCMessage
}

type Found = HttpSession | Response | undefined

export function createHttpSessions(options: ServeMcpOptions, views: ClientViews): HttpSessions {
  return new ServedSessions(options, (parts) => new HttpSession(options, views, parts))
}

class ServedSessions implements HttpSessions {
  readonly #keeper: SessionKeeper | undefined
  readonly #follower: { stop(): void } | undefined
  readonly #report: (error: unknown) => void
  readonly #create: (parts: SessionParts) => HttpSession
  readonly #sessions: SessionTable<HttpSession>
  readonly #rebuilding = new Map<string, Promise<Found>>()

  constructor(options: ServeMcpOptions, create: (parts: SessionParts) => HttpSession) {
    const report = (error: unknown): void => options.onError?.(error as Error)
    this.#report = report
    this.#create = create
    this.#sessions = new SessionTable(options.sessions ?? {}, (session) => void this.#leave(session))
    this.#keeper = createSessionKeeper(options)
    const catchUp = (session: HttpSession): Promise<boolean> => this.#catchUp(session)
    this.#follower = this.#keeper && followSessions(() => this.#sessions.all, { catchUp, report })
  }

  find(id: string, caller: Caller): Found | Promise<Found> {
    if (this.#keeper) return this.#findKept(id, caller)
    const session = this.#sessions.get(id)
    return session?.principal === caller.principal ? session : undefined
  }

  call(session: HttpSession, request: JSONRPCRequest, sink: CallSink, headers: CallPeer['headers']): Promise<void> {
    const use = { done: this.#sessions.use(session.id, session), report: this.#report }
    return answerCall(session, use, request, sink, headers)
  }

  begin(initialize: JSONRPCRequest, caller: Caller): Begun | undefined {
    if (this.#keeper || findSizeFault(initialize.params, CLIENT_LIMITS)) return undefined
    if (this.#sessions.makeRoom(caller.peer, (session) => this.#giveUp(session))) return undefined
    const id = crypto.randomUUID()
    const session = this.#add({ id, caller, initialize, isBegun: true, copy: undefined })
    const done = this.#sessions.use(id, session)
    const answer = session.client.answer(initialize)
    done()
    return { id, answer }
  }

  answer(session: HttpSession, request: JSONRPCRequest): JSONRPCMessage {
    const done = this.#sessions.use(session.id, session)
    session.isReady = true
    const answer = session.client.answer(request)
    done()
    return answer
  }

  listen(session: HttpSession, stream: EventStream): () => void {
    const done = this.#sessions.use(session.id, session)
    session.isReady = true
    session.stream = stream
    return () => {
      if (session.stream === stream) session.stream = undefined
      done()
    }
  }

  async handle(given: SessionRequest): Promise<Response> {
    try {
      return await this.#handle(given)
    } catch (error) {
      if (!isStoreError(error)) throw error
      this.#report(error)
      return refuseForNow('total', 'The sessions of this server cannot be reached at the moment. Try again later.')
    }
  }

  async close(): Promise<void> {
    this.#follower?.stop()
    this.#keeper?.close()
    await Promise.all(Array.from(this.#sessions.all, (session) => this.#leave(session)))
  }

  async #handle(given: SessionRequest): Promise<Response> {
    const { request, body, caller } = given
    const id = request.headers.get(SESSION_ID)
    if (id !== null) {
      const session = await this.find(id, caller)
      if (session instanceof Response) return session
      return session ? this.#answerIn(session, given) : httpError(404, -32_001, 'Session not found')
    }
    if (request.method === 'POST' && isPlainObject(body) && body['method'] === 'initialize') return this.#begin(given)
    return refuseWithoutSession(request)
  }

  /**
   * Ends a session in this process. If it is kept in a store, it continues on another machine, or here when it is
   * needed again.
   */
  async #leave(session: HttpSession): Promise<void> {
    this.#sessions.remove(session.id)
    await session.close().catch(this.#report)
  }

  /** Ends a session everywhere. */
  async #end(session: HttpSession): Promise<void> {
    await this.#leave(session)
    await this.#keeper?.end(session.id).catch(this.#report)
  }

  /** Ends a session for another one. */
  #giveUp(session: HttpSession): void {
    void this.#leave(session)
    if (session.kept) this.#keeper?.endIfUnused(session.id, session.kept.copy).catch(this.#report)
  }

  #add(parts: Omit<SessionParts, 'onClose'>): HttpSession {
    const session = this.#create({ ...parts, onClose: () => this.#sessions.remove(parts.id) })
    this.#sessions.add(parts.id, session)
    return session
  }

  async #begin(begun: SessionRequest): Promise<Response> {
    const { caller, body } = begun
    const params = isPlainObject(body) && isPlainObject(body['params']) ? body['params'] : {}
    if (findSizeFault(params, CLIENT_LIMITS))
      return httpError(413, -32_600, `The params of initialize may have at most ${MAX_CLIENT_BYTES} bytes.`)
    const refused = this.#makeRoom(caller, (session) => this.#giveUp(session))
    if (refused) return refused
    const id = crypto.randomUUID()
    const copy = this.#keeper?.begin(id, { principal: caller.principal ?? null, initialize: params })
    const session = this.#add({ id, caller, initialize: toInitialize(params), isBegun: false, copy })
    try {
      const { transport } = await session.wake()
      await copy?.shared.save()
      const response = await this.#answer(session, begun)
      // The session was rejected.
      if (transport.sessionId === undefined) await this.#end(session)
      return response
    } catch (error) {
      await this.#end(session)
      throw error
    }
  }

  /** Creates a local copy of another machine's session. */
  async #rebuild(id: string, caller: Caller): Promise<Found> {
    const copy = await this.#keeper?.load(id)
    if (!copy || !isOwner(copy, caller)) return undefined
    const refused = this.#makeRoom(caller)
    if (refused) return refused
    const session = this.#add({ id, caller, initialize: toInitialize(copy.getState().initialize), isBegun: true, copy })
    try {
      await session.wake()
      session.kept?.refresh()
      return session
    } catch (error) {
      await this.#leave(session)
      throw error
    }
  }

  /** Makes room for a session, or returns the response that says why there is none. */
  #makeRoom({ peer }: Caller, end?: (session: HttpSession) => void): Response | undefined {
    const refusal = this.#sessions.makeRoom(peer, end)
    return refusal && refuseForNow(refusal, describeRefusal(refusal, this.#sessions.limits))
  }

  async #findKept(id: string, caller: Caller): Promise<Found> {
    const known = this.#rebuilding.has(id) ? undefined : this.#sessions.get(id)
    if (known) return known.principal === caller.principal && (await this.#catchUp(known)) ? known : undefined
    const job = this.#rebuilding.get(id) ?? this.#rebuild(id, caller).finally(() => this.#rebuilding.delete(id))
    this.#rebuilding.set(id, job)
    const found = await job
    return !found || found instanceof Response || found.principal === caller.principal ? found : undefined
  }

  /** Applies the changes of other machines. Returns false if one of them has ended the session. */
  async #catchUp(session: HttpSession): Promise<boolean> {
    const { kept, client } = session
    if (!kept) return true
    kept.lookedAt = performance.now()
    const isChanged = await kept.copy.shared.sync()
    if (kept.copy.shared.isGone) {
      await this.#leave(session)
      return false
    }
    if (!isChanged) return true
    kept.refresh()
    for (const message of kept.mailbox.collect())
      if (!client.calls.cancel(message)) session.half?.transport.onmessage?.(message as never)
    return true
  }

  async #answer(session: HttpSession, { request, body }: SessionRequest): Promise<Response> {
    const isStream = request.method === 'GET'
    if (isStream && (session.stream || session.isListening))
      return httpError(409, -32_000, 'Conflict: Only one SSE stream is allowed per session')
    // From now on, and not from the answer on: the next request may come before that.
    session.isListening ||= isStream
    const ids = readIds(body)
    if (ids.some((id) => session.asked.has(id)))
      return httpError(400, -32_600, 'A request with this id is still running.')
    for (const id of ids) session.asked.add(id)
    const done = this.#sessions.use(session.id, session)
    const finish = (): void => {
      if (isStream) session.isListening = session.isStreaming = false
      for (const id of ids) session.asked.delete(id)
      done()
    }
    try {
      const { transport } = await session.wake()
      const response = await transport.handleRequest(request, body === undefined ? {} : { parsedBody: body })
      session.isStreaming ||= isStream && response.ok
      return watchResponse(response, request, { done: finish, gone: () => cancelRequests(session, body) })
    } catch (error) {
      finish()
      throw error
    }
  }

  async #answerIn(session: HttpSession, given: SessionRequest): Promise<Response> {
    session.isReady = true
    const { kept } = session
    const isCancelled = session.client.calls.cancel(given.body)
    if (!kept) return this.#answer(session, given)
    kept.copy.touch()
    if (!isCancelled && isCancelNotice(given.body)) kept.mailbox.tellAll(given.body)
    const { own, isForwarded, isTooLong } = kept.mailbox.sort(given.body)
    if (isTooLong) return httpError(413, -32_600, TOO_LONG)
    await saveSession(kept, this.#report)
    if (isForwarded) return new Response(null, { status: 202 })
    const response = await this.#answer(session, { ...given, body: own })
    if (given.request.method === 'DELETE' && response.ok) await this.#end(session)
    return response
  }
}

function toInitialize(params: Readonly<Record<string, unknown>>): JSONRPCRequest {
  return { jsonrpc: '2.0', id: 0, method: 'initialize', params: { ...params } }
}

const TOO_LONG =
  'This answer has reached a machine other than the one that asked, and is too long to be passed on. Let your load balancer send the requests of a session to one machine.'

function isOwner(copy: KeptCopy, { principal }: Caller): boolean {
  return copy.getState().principal === (principal ?? null)
}

function isStoreError(error: unknown): boolean {
  return error instanceof FoldoutError && error.code.startsWith('store-')
}

function isCancelNotice(body: unknown): boolean {
  return isPlainObject(body) && body['method'] === 'notifications/cancelled'
}

/** Answers a call without the SDK. */
async function answerCall(
  session: HttpSession,
  { done, report }: { readonly done: () => void; report(error: unknown): void },
  request: JSONRPCRequest,
  sink: CallSink,
  headers: CallPeer['headers'],
): Promise<void> {
  const { kept } = session
  session.isReady = true
  session.sinks.set(request.id, sink)
  kept?.copy.touch()
  try {
    const answer = await session.client.calls.answer(request, { stop: sink.stop, headers })
    if (kept) await saveSession(kept, report)
    sink.end(answer)
  } finally {
    session.sinks.delete(request.id)
    done()
  }
}

function refuseWithoutSession({ method }: Request): Response {
  return ['POST', 'GET', 'DELETE'].includes(method)
    ? httpError(400, -32_000, 'Bad Request: Mcp-Session-Id header is required')
    : httpError(405, -32_000, 'Method not allowed.', { allow: 'GET, POST, DELETE' })
}

function describeRefusal(refusal: Refusal, { max, perPeer }: PeerLimits): string {
  if (refusal === 'total') return `This server has ${max} open sessions, which is the maximum. Try again later.`
  return `You have ${perPeer} open sessions, which is the maximum for one client. End one, or try again later.`
}

/** The ids of the requests in a body. */
function readIds(body: unknown): readonly RequestId[] {
  return (Array.isArray(body) ? (body as readonly unknown[]) : [body]).flatMap((message) => {
    const { method, id } = isPlainObject(message) ? message : {}
    return method !== undefined && (typeof id === 'string' || typeof id === 'number') ? [id] : []
  })
}

/** Cancels the requests of a client that has gone. Otherwise, they would keep running. */
function cancelRequests({ half }: HttpSession, body: unknown): void {
  for (const requestId of readIds(body)) {
    const params = { requestId, reason: 'The client has closed the connection.' }
    half?.transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
  }
}
