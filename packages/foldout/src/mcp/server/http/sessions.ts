import type { JSONRPCRequest } from '@modelcontextprotocol/server'
import type { CallPeer } from '../../../catalog/tool.ts'
import { FoldoutError } from '../../../core/errors.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { findSizeFault } from '../../../core/json/measure.ts'
import { MAX_DEPTH, MAX_KEPT_CLIENT_BYTES } from '../../limits.ts'
import type { ServeMcpOptions } from '../options.ts'
import type { ServerSdk } from '../sdk.ts'
import type { CallSink } from './call-sink.ts'
import type { Caller } from './endpoint.ts'
import { createSessionKeeper, followSessions, type KeptCopy, type SessionKeeper } from './kept/keeper.ts'
import type { PeerLimits, Refusal } from './peer.ts'
import { httpError, refuseForNow, watchResponse } from './response.ts'
import {
  createHttpSession,
  repeatHandshake,
  saveSession,
  type HttpSession,
  type MakeServer,
  type SessionParts,
} from './session.ts'
import { SessionTable } from './session-table.ts'

export type { HttpSession }

const SESSION_ID = 'mcp-session-id'

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
  /** Answers a call without the SDK. */
  call(session: HttpSession, request: JSONRPCRequest, sink: CallSink, headers: CallPeer['headers']): Promise<void>
  close(): Promise<void>
}

type Found = HttpSession | Response | undefined

export function createHttpSessions(sdk: ServerSdk, options: ServeMcpOptions, makeServer: MakeServer): HttpSessions {
  return new ServedSessions(options, (parts) => createHttpSession(sdk, options, makeServer, parts))
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
  async #leave({ id, server }: HttpSession): Promise<void> {
    this.#sessions.remove(id)
    await server.close().catch(this.#report)
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

  async #connect(parts: SessionParts): Promise<HttpSession> {
    const session = this.#create(parts)
    const { id, server, transport, calls } = session
    this.#sessions.add(id, session)
    await server.connect(transport)
    const { onclose } = server
    const closed: Pick<typeof server, 'onclose'> = {
      onclose: () => {
        this.#sessions.remove(id)
        calls.stopAll()
        onclose?.()
      },
    }
    Object.assign(server, closed)
    return session
  }

  async #begin(begun: SessionRequest): Promise<Response> {
    const { caller, body: initialize } = begun
    const params = isPlainObject(initialize) && isPlainObject(initialize['params']) ? initialize['params'] : {}
    if (this.#keeper && findSizeFault(params, { maxBytes: MAX_KEPT_CLIENT_BYTES, maxDepth: MAX_DEPTH }))
      return httpError(413, -32_600, `The params of initialize may have at most ${MAX_KEPT_CLIENT_BYTES} bytes.`)
    const refused = this.#makeRoom(caller, (session) => this.#giveUp(session))
    if (refused) return refused
    const id = crypto.randomUUID()
    const copy = this.#keeper?.begin(id, { principal: caller.principal ?? null, initialize: params })
    const session = await this.#connect({ id, caller, initialize, copy })
    try {
      await copy?.shared.save()
      const response = await this.#answer(session, begun)
      // The session was rejected.
      if (session.transport.sessionId === undefined) await this.#end(session)
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
    const initialize = { method: 'initialize', params: copy.getState().initialize }
    const session = await this.#connect({ id, caller, initialize, copy })
    try {
      await repeatHandshake(session)
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
    const { kept, transport, calls } = session
    if (!kept) return true
    kept.lookedAt = performance.now()
    const isChanged = await kept.copy.shared.sync()
    if (kept.copy.shared.isGone) {
      await this.#leave(session)
      return false
    }
    if (!isChanged) return true
    kept.refresh()
    for (const message of kept.mailbox.collect()) if (!calls.cancel(message)) transport.onmessage?.(message as never)
    return true
  }

  async #answer(session: HttpSession, { request, body }: SessionRequest): Promise<Response> {
    const done = this.#sessions.use(session.id, session)
    try {
      const response = await session.transport.handleRequest(request, body === undefined ? {} : { parsedBody: body })
      return watchResponse(response, request, { done, gone: () => cancelRequests(session, body) })
    } catch (error) {
      done()
      throw error
    }
  }

  async #answerIn(session: HttpSession, given: SessionRequest): Promise<Response> {
    session.isReady = true
    const { kept } = session
    const isCancelled = session.calls.cancel(given.body)
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
    const answer = await session.calls.answerUntil(sink.stop, request, headers)
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

/** Cancels the requests of a client that has gone. Otherwise, they would keep running. */
function cancelRequests({ transport }: HttpSession, body: unknown): void {
  for (const message of Array.isArray(body) ? (body as readonly unknown[]) : [body]) {
    if (!isPlainObject(message) || message['method'] === undefined) continue
    const { id: requestId } = message
    if (typeof requestId !== 'string' && typeof requestId !== 'number') continue
    const params = { requestId, reason: 'The client has closed the connection.' }
    transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
  }
}
