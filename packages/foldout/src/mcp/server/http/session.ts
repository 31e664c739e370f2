import type {
  JSONRPCMessage,
  JSONRPCRequest,
  RequestId,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { MAX_BODY_BYTES, MAX_HTTP_RESULT_BYTES } from '../../limits.ts'
import { NOBODY, readIdentity } from '../client.ts'
import { readCapabilities } from '../legacy/description.ts'
import { LegacyClient } from '../legacy/legacy-client.ts'
import type { ServeMcpOptions } from '../options.ts'
import { loadServerSdk } from '../sdk.ts'
import { createSdkServer } from '../sdk-server.ts'
import { Stops } from '../legacy/stops.ts'
import type { ClientView, ClientViews } from '../views.ts'
import type { CallSink } from './call-sink.ts'
import type { Caller } from './endpoint.ts'
import type { EventStream } from './event-stream.ts'
import type { KeptCopy } from './kept/keeper.ts'
import { Mailbox } from './kept/mailbox.ts'
import type { SessionUse } from './session-table.ts'

export interface KeptParts {
  readonly copy: KeptCopy
  readonly mailbox: Mailbox
  /** Applies another machine's notes about the client. */
  refresh(): void
  /** When this process last checked for changes by others. */
  lookedAt: number
}

/** The SDK's half of a session. */
export interface SdkHalf {
  readonly server: Server
  readonly transport: WebStandardStreamableHTTPServerTransport
}

export interface SessionParts {
  readonly id: string
  readonly caller: Caller
  /** The `initialize` of the client. */
  readonly initialize: JSONRPCRequest
  /** Whether it was answered already, here without the SDK or on another machine. */
  readonly isBegun: boolean
  readonly copy: KeptCopy | undefined
  /** Called when the session has ended on its own. */
  onClose(): void
}

/** A session of a client before MCP 2026-07-28, as this process has it. */
export class HttpSession implements SessionUse {
  readonly id: string
  readonly peer: string
  readonly principal: string | undefined
  readonly client: LegacyClient
  /** The sinks for the answers to calls, by id. */
  readonly sinks = new Map<RequestId, CallSink>()
  /** The ids of the requests that the SDK answers now. It would mix up two with the same id. */
  readonly asked = new Set<RequestId>()
  /** Present if other machines may have the session as well. */
  readonly kept: KeptParts | undefined
  /** The client's stream for messages that belong to no request, if it was opened without the SDK. */
  stream: EventStream | undefined
  /** Whether the client has such a stream from the SDK, or is about to get it. */
  isListening = false
  /** Whether the client has it. */
  isStreaming = false
  readonly startedAt = Date.now()
  usedAt = Date.now()
  busy = 0
  isReady = false
  timer: ReturnType<typeof setTimeout> | undefined
  readonly #options: ServeMcpOptions
  readonly #parts: SessionParts
  readonly #view: ClientView
  #half: SdkHalf | undefined
  #waking: Promise<SdkHalf> | undefined
  #isClosed = false

  constructor(options: ServeMcpOptions, views: ClientViews, parts: SessionParts) {
    const { id, caller, initialize, copy } = parts
    this.#options = options
    this.#parts = parts
    this.id = id
    this.peer = caller.peer
    this.principal = caller.principal
    this.#view = views.legacy(readIdentity(initialize) ?? NOBODY, caller.principal, copy?.client)
    const capabilities = readCapabilities(initialize)
    this.client = new LegacyClient({
      options,
      view: this.#view,
      getCapabilities: () => this.#half?.server.getClientCapabilities() ?? capabilities,
      isReachable: () => !this.#isClosed && (this.stream !== undefined || this.isStreaming),
      maxResultBytes: options.maxResultBytes ?? MAX_HTTP_RESULT_BYTES,
      // Each request over HTTP has one already.
      stops: new Stops(false),
      send: (message, request) => this.#send(message, request),
      wake: async () => (await this.wake()).server,
    })
    this.kept = copy && {
      copy,
      mailbox: new Mailbox(copy),
      refresh: () => void this.client.handlers.refresh().catch(this.report),
      lookedAt: performance.now(),
    }
  }

  readonly report = (error: unknown): void => this.#options.onError?.(error as Error)

  /** The SDK's half, if anything has needed it so far. */
  get half(): SdkHalf | undefined {
    return this.#half
  }

  /** Creates the SDK's half on demand. */
  wake(): Promise<SdkHalf> {
    if (this.#waking) return this.#waking
    this.#waking = this.#createHalf()
    // If creation fails, the next request tries again.
    this.#waking.catch(() => (this.#waking = undefined))
    return this.#waking
  }

  async close(): Promise<void> {
    this.#end()
    const half = await this.#waking?.catch(() => undefined)
    await half?.server.close()
  }

  #end(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.stream?.end()
    this.client.stop()
  }

  async #createHalf(): Promise<SdkHalf> {
    const sdk = await loadServerSdk()
    const { id, initialize, isBegun, onClose } = this.#parts
    const maxRequestBodySize = this.#options.maxBodyBytes ?? MAX_BODY_BYTES
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      maxRequestBodySize,
    })
    const server = createSdkServer({ sdk, options: this.#options, view: this.#view }, this.client.handlers)
    this.#changeSending(transport)
    await server.connect(transport)
    const closed: Pick<Server, 'onclose'> = {
      onclose: () => {
        this.#end()
        onClose()
      },
    }
    Object.assign(server, closed)
    if (isBegun) await repeatHandshake(transport, id, initialize)
    this.#half = { server, transport }
    return this.#half
  }

  /** Sends a message to the client. Without a stream, it has no way to get messages that belong to no request. */
  async #send(message: JSONRPCMessage, request?: RequestId): Promise<void> {
    const { kept } = this
    const half = this.#half
    if (half) return half.transport.send(message, request === undefined ? {} : { relatedRequestId: request })
    const sent = kept?.mailbox.address(message) ?? message
    const sink = request === undefined ? undefined : this.sinks.get(request)
    if (sink) sink.send(sent)
    else this.stream?.send(sent)
  }

  /**
   * Messages of a call that bypasses the SDK go to the same sink as its answer. If a session is kept in a store, an
   * answer waits until its effects are visible to the machine that gets the next request.
   */
  #changeSending(transport: WebStandardStreamableHTTPServerTransport): void {
    const { kept, sinks } = this
    const send = transport.send.bind(transport)
    transport.send = async (given, options) => {
      const isAnswer = !('method' in given)
      if (kept && isAnswer) await saveSession(kept, this.report)
      const message = kept?.mailbox.address(given) ?? given
      const related = options?.relatedRequestId
      const sink = related === undefined ? undefined : sinks.get(related)
      if (sink) sink.send(message)
      else if (related === undefined && !isAnswer && this.stream) this.stream.send(message)
      else await send(message, options)
    }
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

/** Repeats the handshake that the client has made without this transport. */
async function repeatHandshake(
  transport: WebStandardStreamableHTTPServerTransport,
  id: string,
  initialize: JSONRPCRequest,
): Promise<void> {
  const post = async (message: JSONRPCMessage, headers: Readonly<Record<string, string>>): Promise<void> => {
    const request = new Request('http://localhost/', { method: 'POST', headers: { ...HEADERS, ...headers } })
    const response = await transport.handleRequest(request, { parsedBody: message })
    // Its end says that the message was handled.
    await response.text()
    if (!response.ok) throw new Error(`A session could not be restored: HTTP ${response.status}.`)
  }
  await post({ ...initialize, id: 0 }, {})
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, { 'mcp-session-id': id })
}
