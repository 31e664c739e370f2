import { Client as ModernSdkClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as FirstSdkClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FirstSdkHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { InMemoryTransport as FirstSdkMemory } from '@modelcontextprotocol/sdk/inMemory.js'
import { InMemoryTransport, type Transport } from '@modelcontextprotocol/server'
import type { CallResult } from '../../catalog/tool.ts'
import type { ServedMcp } from './serve-mcp.ts'

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: unknown) => void
  readonly meta?: Readonly<Record<string, unknown>>
}

/** A client of any SDK, as far as tests use it. */
export interface TestClient {
  readonly name: string
  /** Every announcement of a new list so far. */
  readonly announced: () => number
  list(cursor?: string): Promise<{ readonly tools: readonly ListedWire[]; readonly [field: string]: unknown }>
  call(name: string, args?: unknown, options?: CallOptions): Promise<CallResult>
  instructions(): string | undefined
  request(method: string, params?: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>
  close(): Promise<void>
}

export interface ListedWire {
  readonly name: string
  readonly [field: string]: unknown
}

/** Passes everything through, so a test sees the raw messages rather than what a schema leaves of them. */
const anything = {
  '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) },
  parse: (value: unknown) => value,
  safeParse: (data: unknown) => ({ success: true as const, data }),
}

/** The two SDKs, in each era that they speak. */
export const clientKinds = {
  'v1 client': async (transport) => {
    const client = new FirstSdkClient({ name: 'first', version: '1.0.0' })
    let announced = 0
    client.fallbackNotificationHandler = async ({ method }) => {
      if (method === 'notifications/tools/list_changed') announced++
    }
    await client.connect(transport as never)
    return testClient('v1 client', client as never, () => announced)
  },
  'v2 client, legacy': async (transport) => {
    const client = new ModernSdkClient({ name: 'second', version: '2.0.0' }, { versionNegotiation: { mode: 'legacy' } })
    let announced = 0
    client.setNotificationHandler('notifications/tools/list_changed', () => void announced++)
    await client.connect(transport as Transport)
    return testClient('v2 client, legacy', client as never, () => announced)
  },
  'v2 client, modern': async (transport) => {
    const client = new ModernSdkClient({ name: 'third', version: '2.0.0' }, { versionNegotiation: { mode: 'auto' } })
    let announced = 0
    client.setNotificationHandler('notifications/tools/list_changed', () => void announced++)
    await client.connect(transport as Transport)
    return testClient('v2 client, modern', client as never, () => announced)
  },
} satisfies Readonly<Record<string, (transport: unknown) => Promise<TestClient>>>

export type ClientKind = keyof typeof clientKinds

export const legacyKinds: readonly ClientKind[] = ['v1 client', 'v2 client, legacy']
export const allKinds: readonly ClientKind[] = [...legacyKinds, 'v2 client, modern']

/** Connects a client within this process. */
export async function inMemory(served: ServedMcp, kind: ClientKind): Promise<TestClient> {
  const [clientSide, serverSide] =
    kind === 'v1 client' ? FirstSdkMemory.createLinkedPair() : InMemoryTransport.createLinkedPair()
  await served.connect(serverSide)
  return clientKinds[kind](clientSide)
}

export async function overHttp(url: string, kind: ClientKind): Promise<TestClient> {
  return clientKinds[kind](
    kind === 'v1 client' ? new FirstSdkHttp(new URL(url)) : new StreamableHTTPClientTransport(new URL(url)),
  )
}

interface SdkClient {
  request(message: object, schema: unknown, options?: object): Promise<never>
  getInstructions(): string | undefined
  close(): Promise<void>
}

function testClient(name: string, client: SdkClient, announced: () => number): TestClient {
  const request: TestClient['request'] = (method, params = {}) => client.request({ method, params }, anything)
  return {
    name,
    announced,
    list: (cursor) => request('tools/list', cursor === undefined ? {} : { cursor }) as never,
    call: (tool, args = {}, options = {}) =>
      client.request(
        {
          method: 'tools/call',
          params: { name: tool, arguments: args, ...(options.meta ? { _meta: options.meta } : {}) },
        },
        anything,
        {
          ...(options.signal ? { signal: options.signal } : {}),
          ...(options.onProgress ? { onprogress: options.onProgress } : {}),
        },
      ),
    instructions: () => client.getInstructions(),
    request,
    close: () => client.close(),
  }
}

export function getText(result: CallResult): string {
  return result.content.map((part) => (part.type === 'text' ? String(part['text']) : `<${part.type}>`)).join('\n')
}
