import type { IncomingHttpHeaders } from 'node:http'
import type { JSONRPCRequest } from '@modelcontextprotocol/server'
import type { CallPeer } from '../../../catalog/tool.ts'
import { isInitialized, isPlainCall, isPlainInitialize, isPlainQuestion } from '../legacy/messages.ts'
import type { CallSink } from './call-sink.ts'
import type { Caller } from './endpoint.ts'
import type { EventStream } from './event-stream.ts'
import type { HttpSession } from './session.ts'
import type { HttpSessions } from './sessions.ts'
import type { LimitedStreams } from './streams.ts'

/** A request of `node:http`. */
export interface NodeCall {
  readonly method: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly address: string | undefined
  readonly text: string
  /** Creates the request on demand. */
  toRequest(): Request
  createSink(session: string): CallSink
  /** Answers with a stream. Calls back when it has closed. */
  createStream(session: string, onClose: () => void): EventStream
  /** Answers that a notification was received. */
  accept(): void
}

/** At once, if nobody has to be asked. */
export type Identify = (getRequest: () => Request, address: string | undefined) => Caller | Promise<Caller | Response>

export interface DirectParts {
  readonly sessions: HttpSessions
  readonly streams: LimitedStreams
  readonly identify: Identify
}

/**
 * Answers the requests that almost every legacy client sends, without the SDK. Any other request, and any request that
 * cannot be answered, takes the usual path, which reports what is wrong. Returns whether the request was answered.
 */
export async function answerDirectly(asked: NodeCall, parts: DirectParts): Promise<boolean> {
  const { method, headers, text } = asked
  const id = headers['mcp-session-id']
  if (Array.isArray(id) || !isUsual(method, headers)) return false
  const body: unknown = method === 'GET' ? undefined : parse(text)
  const isBegin = id === undefined
  if (method === 'POST' && !(isBegin ? isPlainInitialize(body) : isUsualMessage(body))) return false
  const caller = await identify(asked, parts)
  if (!caller) return false
  if (isBegin) return begin(asked, parts.sessions, body as JSONRPCRequest, caller)
  const found = parts.sessions.find(id, caller)
  const session = found instanceof Promise ? await found.catch(() => undefined) : found
  if (!session || isRefusal(session)) return false
  return method === 'GET' ? openStream(asked, parts, session, caller) : answerIn(asked, parts.sessions, session, body)
}

/** Nobody, if the usual path has to say why. */
async function identify({ toRequest, address }: NodeCall, parts: DirectParts): Promise<Caller | undefined> {
  try {
    const identified = parts.identify(toRequest, address)
    const caller = identified instanceof Promise ? await identified : identified
    return isRefusal(caller) ? undefined : caller
  } catch {
    return undefined
  }
}

function begin({ createSink }: NodeCall, sessions: HttpSessions, initialize: JSONRPCRequest, caller: Caller): boolean {
  let begun
  try {
    begun = sessions.begin(initialize, caller)
  } catch {
    // An option has failed. The usual path fails too, and reports it.
  }
  if (!begun) return false
  createSink(begun.id).endWithEvent(begun.answer)
  return true
}

async function answerIn(
  { headers, createSink, accept }: NodeCall,
  sessions: HttpSessions,
  session: HttpSession,
  body: unknown,
): Promise<boolean> {
  if (isPlainCall(body)) {
    if (session.sinks.has(body.id) || session.asked.has(body.id)) return false
    await sessions.call(session, body, createSink(session.id), toHeaders(headers))
    return true
  }
  // What other machines have to hear of takes the usual path.
  if (session.kept) return false
  if (isPlainQuestion(body)) createSink(session.id).endWithEvent(sessions.answer(session, body))
  else if (session.half) return false
  else {
    session.isReady = true
    accept()
  }
  return true
}

function openStream(
  { createStream }: NodeCall,
  { sessions, streams }: DirectParts,
  session: HttpSession,
  caller: Caller,
): boolean {
  if (session.kept || session.stream || session.isListening) return false
  const leave = streams.take(caller)
  if (typeof leave !== 'function') return false
  let stop: (() => void) | undefined
  const stream = createStream(session.id, () => {
    leave()
    stop?.()
  })
  stop = sessions.listen(session, stream)
  return true
}

/** Not with `instanceof`: the first use of `Response` loads the Fetch API, which takes 20 ms of a start. */
function isRefusal(value: object): value is Response {
  return 'statusText' in value
}

function isUsualMessage(body: unknown): boolean {
  return isPlainCall(body) || isPlainQuestion(body) || isInitialized(body)
}

/** The versions that clients name in a header. */
const VERSIONS: ReadonlySet<unknown> = new Set(['2025-03-26', '2025-06-18', '2025-11-25'])

/** A name or an address. The Fetch API rejects others. */
const HOST = /^[\w.:[\]-]*$/

/** Whether the headers of a request are those that a legacy client must send. */
function isUsual(method: string | undefined, headers: IncomingHttpHeaders): boolean {
  const { accept = '', 'content-type': type = '', 'mcp-session-id': id, 'mcp-protocol-version': version } = headers
  const isVersion = VERSIONS.has(version) || (id === undefined && version === undefined)
  if (!isVersion || !HOST.test(headers.host ?? '') || !accept.includes('text/event-stream')) return false
  if (method === 'GET') return id !== undefined && headers['last-event-id'] === undefined
  const isJson = accept.includes('application/json') && /^application\/json\s*(?:;|$)/i.test(type)
  return method === 'POST' && isJson
}

/** Creates the headers of a call, without a Fetch `Headers` object for each request. */
function toHeaders(headers: IncomingHttpHeaders): CallPeer['headers'] {
  return {
    get(name) {
      const value = Object.hasOwn(headers, name.toLowerCase()) ? headers[name.toLowerCase()] : undefined
      return Array.isArray(value) ? value.join(', ') : (value ?? null)
    },
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
