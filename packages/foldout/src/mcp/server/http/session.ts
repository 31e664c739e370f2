import type {
  JSONRPCMessage,
  RequestId,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { MAX_BODY_BYTES } from '../../limits.ts'
import { NOBODY, readIdentity, type ClientIdentity } from '../client.ts'
import { DirectCalls } from '../direct-calls.ts'
import type { KeptClient } from '../memory.ts'
import type { ServeMcpOptions } from '../options.ts'
import type { ClientServer } from '../requests.ts'
import type { ServerSdk } from '../sdk.ts'
import { Stops } from '../stops.ts'
import type { CallSink } from './call-sink.ts'
import type { Caller } from './endpoint.ts'
import type { KeptCopy } from './kept/keeper.ts'
import { Mailbox } from './kept/mailbox.ts'
import type { SessionUse } from './session-table.ts'

/** A session of a client before MCP 2026-07-28, as this process has it. */
export interface HttpSession extends SessionUse {
  readonly id: string
  readonly principal: string | undefined
  readonly server: Server
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly calls: DirectCalls
  /** The sinks for the answers to calls, by id. */
  readonly sinks: Map<RequestId, CallSink>
  /** Present if other machines may have the session as well. */
  readonly kept: KeptParts | undefined
}

export interface KeptParts {
  readonly copy: KeptCopy
  readonly mailbox: Mailbox
  /** Applies another machine's notes about the client. */
  refresh(): void
  /** When this process last checked for changes by others. */
  lookedAt: number
}

export type MakeServer = (
  identity: ClientIdentity,
  principal: string | undefined,
  kept: KeptClient | undefined,
) => ClientServer

export interface SessionParts {
  readonly id: string
  readonly caller: Caller
  /** The `initialize` of the client. */
  readonly initialize: unknown
  readonly copy: KeptCopy | undefined
}

/** Makes a session that is not connected yet. */
export function createHttpSession(
  sdk: ServerSdk,
  options: ServeMcpOptions,
  makeServer: MakeServer,
  { id, caller: { peer, principal }, initialize, copy }: SessionParts,
): HttpSession {
  const maxRequestBodySize = options.maxBodyBytes ?? MAX_BODY_BYTES
  const transport = new sdk.WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    maxRequestBodySize,
  })
  const { server, refresh } = makeServer(readIdentity(initialize) ?? NOBODY, principal, copy?.client)
  const sinks = new Map<RequestId, CallSink>()
  const report = (error: unknown): void => options.onError?.(error as Error)
  const kept = copy && {
    copy,
    mailbox: new Mailbox(copy),
    refresh: () => void refresh().catch(report),
    lookedAt: performance.now(),
  }
  const now = Date.now()
  const use = { startedAt: now, usedAt: now, busy: 0, isReady: false, timer: undefined }
  const session: HttpSession = {
    id,
    peer,
    principal,
    server,
    transport,
    // Each request over HTTP has one already.
    calls: new DirectCalls(server, new Stops(false)),
    sinks,
    kept,
    ...use,
  }
  changeSending(session, report)
  return session
}

/**
 * Messages of a call that bypasses the SDK go to the same sink as its answer. If a session is kept in a store, an
 * answer waits until its effects are visible to the machine that gets the next request.
 */
function changeSending({ transport, sinks, kept }: HttpSession, report: (error: unknown) => void): void {
  const send = transport.send.bind(transport)
  transport.send = async (given, options) => {
    if (kept && !('method' in given)) await saveSession(kept, report)
    const message = kept?.mailbox.address(given) ?? given
    const related = options?.relatedRequestId
    const sink = related === undefined ? undefined : sinks.get(related)
    if (!sink) return send(message, options)
    sink.send(message)
  }
}

/** Saves the changes. A call that has run is answered in any case; changes that could not be saved are saved later. */
export async function saveSession({ copy }: KeptParts, report: (error: unknown) => void): Promise<void> {
  try {
    await copy.shared.save()
  } catch (error) {
    if (!copy.shared.isGone) report(error)
  }
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** Repeats the handshake that the client made on another machine. */
export async function repeatHandshake({ id, transport, kept }: HttpSession): Promise<void> {
  const post = async (message: JSONRPCMessage, headers: Readonly<Record<string, string>>): Promise<void> => {
    const request = new Request('http://localhost/', { method: 'POST', headers: { ...HEADERS, ...headers } })
    const response = await transport.handleRequest(request, { parsedBody: message })
    // Its end says that the message was handled.
    await response.text()
    if (!response.ok) throw new Error(`A session could not be restored: HTTP ${response.status}.`)
  }
  const params = { ...kept?.copy.getState().initialize }
  await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, {})
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, { 'mcp-session-id': id })
}
