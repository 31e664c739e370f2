import { existsSync } from 'node:fs'
import type { Client, Transport } from '@modelcontextprotocol/client'
import type { HttpServer, ServerConfig, StdioServer } from '../config/config.ts'
import { KEPT_STDERR_CHARACTERS } from './limits.ts'

export interface ConnectOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly version: string
}

/** Everything that was opened for one server, even if the connection failed. */
export interface Attempt {
  connect(): Promise<Client>
  /** The end of what the server wrote to standard error. */
  getComplaint(): string
  close(): Promise<void>
}

export function createAttempt(server: ServerConfig, options: ConnectOptions): Attempt {
  const opened: Transport[] = []
  let complaint = ''
  const hear = (chunk: Buffer): void => {
    complaint = `${complaint}${chunk.toString('utf8')}`.slice(-KEPT_STDERR_CHARACTERS)
  }
  let isClosed = false
  const closeOpened = async (): Promise<void> => {
    await Promise.allSettled(opened.splice(0).map((transport) => transport.close()))
  }
  const connectAs = async (mode: 'auto' | 'legacy'): Promise<Client> => {
    const { Client } = await import('@modelcontextprotocol/client')
    const transport = await createTransport(server, hear)
    if (isClosed) throw new Error('It was closed before it was connected.')
    opened.push(transport)
    const client = new Client({ name: 'foldout', version: options.version }, { versionNegotiation: { mode } })
    await client.connect(transport, { timeout: options.timeoutMs, signal: options.signal })
    return client
  }
  return {
    getComplaint: () => complaint.trim(),
    close() {
      isClosed = true
      return closeOpened()
    },
    async connect() {
      if (server.kind !== 'stdio') return connectAs('auto')
      try {
        // Nearly all servers over stdio support the older handshake, and trying the newer one first would start them twice.
        return await connectAs('legacy')
      } catch (error) {
        if (!(await isAnswer(error))) throw error
        await closeOpened()
        return connectAs('auto')
      }
    },
  }
}

/** Whether the server answered and refused: it may support only the newer protocol. */
async function isAnswer(error: unknown): Promise<boolean> {
  const { ProtocolError, UnsupportedProtocolVersionError } = await import('@modelcontextprotocol/client')
  return error instanceof ProtocolError || error instanceof UnsupportedProtocolVersionError
}

async function createTransport(server: ServerConfig, onStderr: (chunk: Buffer) => void): Promise<Transport> {
  return server.kind === 'stdio' ? createStdioTransport(server, onStderr) : createHttpTransport(server)
}

async function createStdioTransport(server: StdioServer, onStderr: (chunk: Buffer) => void): Promise<Transport> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  const { command, args, env, cwd } = server
  // Otherwise the error would say that the command is missing.
  if (cwd !== undefined && !existsSync(cwd)) throw new Error(`Its folder ${cwd} does not exist.`)
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...env },
    stderr: 'pipe',
    ...(cwd === undefined ? {} : { cwd }),
  })
  transport.stderr?.on('data', onStderr)
  return transport
}

async function createHttpTransport({ kind, url, headers }: HttpServer): Promise<Transport> {
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const options = { requestInit: { headers: { ...headers } } }
  return kind === 'sse' ? new SSEClientTransport(url, options) : new StreamableHTTPClientTransport(url, options)
}
