import type { Client, Transport } from '@modelcontextprotocol/client'
import type { RawTool } from 'foldout/catalog'
import { toolsFromMcp } from 'foldout/mcp'
import type { FilledHttpServer, FilledServer } from '../config/fill-server.ts'
import { dropUndefined } from '../fields.ts'
import { ChildTransport } from './child-transport.ts'
import { KEPT_STDERR_CHARACTERS } from './limits.ts'
import type { ProcessGuard } from './process-guard.ts'
import { toDefinition, type Snapshot } from './snapshot.ts'

/** A server that is connected. */
export interface Connection {
  readonly client: Client
  /** The tools as they are now, by the names that the server gives them. */
  readonly tools: ReadonlyMap<string, RawTool>
  readonly snapshot: Snapshot
  /** Resolves when the connection has ended, by whichever side. */
  readonly closed: Promise<void>
  /** The end of what the server wrote to standard error. */
  getComplaint(): string
  close(): Promise<void>
}

export interface ConnectionOptions {
  /** How long it may take to start and to list its tools. */
  readonly timeoutMs: number
  /** How long a call may go without an answer or progress. */
  readonly callTimeoutMs: number
  readonly signal: AbortSignal
  /** The version of this program, which servers are told. */
  readonly version: string
  /** The protocol that the server is known to speak. */
  readonly era: Snapshot['era'] | undefined
  readonly guard: ProcessGuard
  /** Called with the connection whenever its tools have changed. */
  readonly onChange: (connection: Connection) => void
  readonly onError: (error: unknown) => void
}

/** Connects to a server and lists its tools. Nothing is left running if it fails. */
export async function openConnection(server: FilledServer, options: ConnectionOptions): Promise<Connection> {
  const timeout = AbortSignal.timeout(options.timeoutMs)
  const signal = AbortSignal.any([options.signal, timeout])
  const attempt = createAttempt(server, { ...options, signal })
  try {
    return await untilAborted(attempt.open(), signal)
  } catch (error) {
    await attempt.close()
    options.signal.throwIfAborted()
    throw describeFailure(timeout.aborted ? toSlowError(options.timeoutMs) : error, attempt.getComplaint())
  }
}

interface Attempt {
  open(): Promise<Connection>
  getComplaint(): string
  close(): Promise<void>
}

function createAttempt(server: FilledServer, options: ConnectionOptions): Attempt {
  const { version, timeoutMs, callTimeoutMs, signal, era, onError } = options
  const ended = new AbortController()
  let transport: Transport | undefined
  let complaint = ''
  let isClosed = false
  const hear = (text: string): void => {
    complaint = `${complaint}${text}`.slice(-KEPT_STDERR_CHARACTERS)
  }
  const close = async (): Promise<void> => {
    isClosed = true
    ended.abort()
    await transport?.close().catch(() => undefined)
  }
  const getComplaint = (): string => complaint.trim()

  async function connectAs(mode: 'auto' | 'legacy'): Promise<Client> {
    const { Client } = await import('@modelcontextprotocol/client')
    const opened = await createTransport(server, { guard: options.guard, onStderr: hear })
    if (isClosed) throw new Error('It was closed before it was connected.')
    transport = opened
    const client = new Client({ name: 'foldout', version }, { versionNegotiation: { mode } })
    await client.connect(opened, { timeout: timeoutMs, signal })
    return client
  }
  async function connect(): Promise<Client> {
    if (server.kind !== 'stdio' || era === 'modern') return connectAs('auto')
    try {
      // Nearly all servers over stdio support the older handshake, and trying the newer one first would start them twice.
      return await connectAs('legacy')
    } catch (error) {
      if (!(await isRefusal(error))) throw error
      await transport?.close()
      return connectAs('auto')
    }
  }
  async function open(): Promise<Connection> {
    const client = await connect()
    const closed = new Promise<void>((resolve) => {
      Object.assign(client, {
        onclose() {
          ended.abort()
          resolve()
        },
      } satisfies Partial<Client>)
    })
    let tools: readonly RawTool[] = []
    const connection: Connection = {
      client,
      closed,
      getComplaint,
      close,
      get tools() {
        return new Map(tools.map((tool) => [tool.name, tool]))
      },
      get snapshot() {
        return takeSnapshot(client, tools)
      },
    }
    tools = await toolsFromMcp(client, {
      server: server.name,
      timeoutMs: callTimeoutMs,
      signal: ended.signal,
      onError,
      onChange(now) {
        tools = now
        options.onChange(connection)
      },
    })
    return connection
  }
  return { open, getComplaint, close }
}

function takeSnapshot(client: Client, tools: readonly RawTool[]): Snapshot {
  const { name, version, title } = client.getServerVersion() ?? {}
  return {
    server: dropUndefined({ name, version, title }),
    capabilities: { ...client.getServerCapabilities() },
    instructions: client.getInstructions(),
    era: client.getProtocolEra?.() === 'modern' ? 'modern' : 'legacy',
    tools: tools.map(toDefinition),
  }
}

/** Whether the server answered and refused: it may support only the newer protocol. */
async function isRefusal(error: unknown): Promise<boolean> {
  const { ProtocolError, UnsupportedProtocolVersionError } = await import('@modelcontextprotocol/client')
  return error instanceof ProtocolError || error instanceof UnsupportedProtocolVersionError
}

async function createTransport(
  server: FilledServer,
  options: ConstructorParameters<typeof ChildTransport>[1],
): Promise<Transport> {
  return server.kind === 'stdio' ? new ChildTransport(server, options) : createHttpTransport(server)
}

async function createHttpTransport({ kind, url, headers }: FilledHttpServer): Promise<Transport> {
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const options = { requestInit: { headers: { ...headers } } }
  return kind === 'sse' ? new SSEClientTransport(url, options) : new StreamableHTTPClientTransport(url, options)
}

/** A server that cannot be used now. The message is for people and for models. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
}

function toSlowError(timeoutMs: number): Error {
  return new Error(`It gave no answer within ${timeoutMs / 1_000} seconds.`)
}

function describeFailure(error: unknown, complaint: string): UpstreamError {
  const message = error instanceof Error ? getRootMessage(error) : String(error)
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
    return new UpstreamError(`Its command was not found: ${message}`, { cause: error })
  return new UpstreamError(complaint === '' ? message : `${message}\n${complaint}`, { cause: error })
}

/** The message "fetch failed" says nothing; its cause says, for example, that nothing listens on the port. */
function getRootMessage(error: Error): string {
  const seen = new Set([error])
  for (const { cause } of seen) if (cause instanceof Error) seen.add(cause)
  return [...seen].at(-1)?.message || error.message
}

/** Stops waiting on abort, because some code waits without observing a signal. */
export async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    if (stop) signal.removeEventListener('abort', stop)
    // It may still reject after the wait is over.
    work.catch(() => {})
  }
}
