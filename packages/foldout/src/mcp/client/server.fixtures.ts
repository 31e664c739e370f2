import { Client, type Transport } from '@modelcontextprotocol/client'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import type { McpReceiver, McpTransport, SendOptions } from '../protocol/transport.ts'
import { connectToMcp, type ConnectToMcpOptions } from './connect.ts'
import type { McpSession } from './session.ts'

/** What tools can come from, by their names in tests: two official clients, and our own in both eras. */
export const LINES = ['v1', 'v2', 'our own', 'our own on 2026-07-28'] as const
export type Line = (typeof LINES)[number]

export interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** The behavior of a test server. Its answers are sent unchanged, even if they violate a schema. */
export interface Script {
  readonly name?: string
  readonly capabilities?: Readonly<Record<string, unknown>>
  /** Answers a request with the whole result. Throwing answers with an error. */
  readonly answer?: (request: Required<Message>, server: HandmadeServer) => unknown
  /** Answers a request with these fields instead of a result, if there are any. */
  readonly answerOddly?: (request: Required<Message>) => object | undefined
}

export interface HandmadeServer {
  /** All received messages except the handshake. */
  readonly received: readonly Message[]
  /** Sends a notification. */
  notify(method: string, params?: Readonly<Record<string, unknown>>): void
  /** Ends the client's subscription, if it has one, like a server that restarts. */
  endSubscription(): void
  /** Ends the connection like a server that crashes. */
  die(): void
}

export interface Connection {
  readonly client: Client | LegacyClient | McpSession
  readonly server: HandmadeServer
  /** The transport of the client. A test may change how it sends. */
  readonly transport: HandmadeTransport
}

export class ServerError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

const LASTING = { ttlMs: 0, cacheScope: 'private' }
const serverInfoKey = 'io.modelcontextprotocol/serverInfo'
const opening = new Set(['initialize', 'notifications/initialized', 'server/discover', 'subscriptions/listen'])

/** Connects a client to a handmade server. */
export async function connect(line: Line, script: Script = {}): Promise<Connection> {
  if (line === 'our own' || line === 'our own on 2026-07-28') return connectOwn(line, script)
  if (line === 'v2') return connectSdk(script, 'legacy')
  const { transport, server } = handmade(script, false)
  const client = new LegacyClient({ name: 'test', version: '1' })
  await client.connect(transport as unknown as Transport)
  return { client, server, transport }
}

/** Connects the newer official client in one era. */
export async function connectSdk(
  script: Script,
  era: 'legacy' | 'modern',
): Promise<Connection & { readonly client: Client }> {
  const { transport, server } = handmade(script, era === 'modern')
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' },
    },
  )
  await client.connect(transport as unknown as Transport)
  return { client, server, transport }
}

/** Connects our own client. */
export async function connectOwn(
  line: Line,
  script: Script = {},
  options: Partial<ConnectToMcpOptions> = {},
): Promise<Connection & { readonly client: McpSession }> {
  const { transport, server } = handmade(script, line === 'our own on 2026-07-28')
  const own: McpTransport = {
    get hasRequestStreams() {
      return transport.hasPerRequestStream === true
    },
    async start(receiver: McpReceiver) {
      Object.assign(transport, {
        onmessage: (message) => receiver.receive(message),
        onclose: () => receiver.close(),
      } satisfies Partial<HandmadeTransport>)
    },
    send: (message, sending) => transport.send(message, toSdkOptions(sending)),
    close: () => transport.close(),
  }
  const client = await connectToMcp(own, { name: 'test', version: '1', ...options })
  return { client, server, transport }
}

function toSdkOptions({ onStreamEnd }: SendOptions = {}): { readonly onRequestStreamEnd?: (() => void) | undefined } {
  return { onRequestStreamEnd: onStreamEnd }
}

/** Creates the script of a server with these tools on one page. */
export function having(tools: readonly unknown[], call?: (params: Message['params']) => unknown): Script {
  return {
    answer: ({ method, params }) =>
      method === 'tools/list' ? { tools } : (call?.(params) ?? { content: [{ type: 'text', text: 'done' }] }),
  }
}

export interface HandmadeTransport {
  start(): Promise<void>
  send(message: object, options?: { readonly onRequestStreamEnd?: (() => void) | undefined }): Promise<void>
  close(): Promise<void>
  hasPerRequestStream?: boolean
  onmessage?: (message: never) => void
  onclose?: () => void
}

function handmade(script: Script, isModern: boolean): { transport: HandmadeTransport; server: HandmadeServer } {
  const { name = 'handmade', capabilities = { tools: { listChanged: true } } } = script
  const received: Message[] = []
  let subscription: number | string | undefined
  const toClient = (message: object): void =>
    transport.onmessage?.(JSON.parse(JSON.stringify({ jsonrpc: '2.0', ...message })) as never)
  const serverInfo = { name, version: '1' }
  const open = ({ id, method, params }: Message): void => {
    if (method === 'initialize')
      toClient({ id, result: { protocolVersion: params!['protocolVersion'], capabilities, serverInfo } })
    if (method === 'server/discover')
      toClient(
        isModern
          ? {
              id,
              result: {
                resultType: 'complete',
                ttlMs: 0,
                cacheScope: 'public',
                supportedVersions: ['2026-07-28'],
                capabilities,
                _meta: { [serverInfoKey]: serverInfo },
              },
            }
          : { id, error: { code: -32601, message: 'Method not found' } },
      )
    if (method === 'subscriptions/listen') {
      subscription = id
      server.notify('notifications/subscriptions/acknowledged', { notifications: params!['notifications'] })
    }
  }
  const server: HandmadeServer = {
    received,
    notify(method, params = {}) {
      const meta = subscription === undefined ? {} : { 'io.modelcontextprotocol/subscriptionId': subscription }
      toClient({ method, params: { _meta: meta, ...params } })
    },
    endSubscription: () => toClient({ id: subscription, result: { resultType: 'complete' } }),
    die: () => transport.onclose?.(),
  }
  const reply = async (request: Required<Message>): Promise<void> => {
    const { id, method } = request
    const odd = script.answerOddly?.(request)
    if (odd) return toClient({ id, ...odd })
    const stamp = isModern ? { resultType: 'complete', ...(method === 'tools/list' ? LASTING : {}) } : {}
    try {
      toClient({ id, result: { ...stamp, ...((await script.answer?.(request, server)) as object) } })
    } catch (error) {
      const { code, message, data } = error as ServerError
      toClient({ id, error: { code, message, data } })
    }
  }
  const transport: HandmadeTransport = {
    start: async () => {},
    close: async () => transport.onclose?.(),
    async send(sent) {
      const message = JSON.parse(JSON.stringify(sent)) as Message
      if (opening.has(message.method!)) {
        open(message)
        return
      }
      received.push(message)
      if (message.id !== undefined && message.method !== undefined) void reply(message as Required<Message>)
    },
  }
  return { transport, server }
}
