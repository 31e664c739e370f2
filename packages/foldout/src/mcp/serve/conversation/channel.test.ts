import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createCatalog } from '../../../catalog/live/catalog.ts'
import { createMemoryStore } from '../../../session/stores/memory-store.ts'
import type { ClientChannel } from '../contract/features.ts'
import { initialize, openSession } from '../http/raw.fixtures.ts'
import type { ServeMcpOptions } from '../contract/options.ts'
import { serveMcp, type ServedMcp } from '../serve-mcp.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const close of closing.splice(0).toReversed()) await close()
})

interface Opened {
  readonly served: ServedMcp
  /** The channels of the clients that are connected. */
  readonly channels: Set<ClientChannel>
}

function serve(options: Partial<ServeMcpOptions> = {}): Opened {
  const channels = new Set<ClientChannel>()
  const served = serveMcp(createCatalog([]), {
    name: 'home',
    version: '1.0.0',
    features: () => ({
      capabilities: {},
      request: async () => undefined,
      subscribe(_listener, channel) {
        channels.add(channel)
        return () => channels.delete(channel)
      },
    }),
    ...options,
  })
  closing.push(() => served.close())
  return { served, channels }
}

const WAYS = ['within the process', 'over HTTP', 'over HTTP, with sessions in a store'] as const

interface Asked extends Opened {
  readonly client: Client
  readonly channel: ClientChannel
}

async function open(way: (typeof WAYS)[number], mode: 'legacy' | 'auto' = 'legacy'): Promise<Asked> {
  const opened = serve(way === WAYS[2] ? { sessions: { store: createMemoryStore() } } : {})
  const { served, channels } = opened
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode }, capabilities: { roots: {}, elicitation: {} } },
  )
  client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///one' }] }))
  if (way === 'within the process') {
    const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
    await served.connect(serverSide)
    await client.connect(clientSide)
  } else await client.connect(new StreamableHTTPClientTransport(new URL((await served.http()).url)))
  closing.push(() => client.close())
  const [channel] = channels
  if (!channel) throw new Error('No client is connected.')
  await vi.waitFor(() => expect(channel.isOpen).toBe(mode === 'legacy'))
  return { ...opened, client, channel }
}

const FORM = { message: 'Which?', requestedSchema: { type: 'object', properties: {} } }

describe.each(WAYS)('R53 a legacy client %s', (way) => {
  it('is asked outside of its requests', async () => {
    const { channel } = await open(way)
    expect(await channel.ask('roots/list', {})).toEqual({ roots: [{ uri: 'file:///one' }] })
    await expect(channel.ask('sampling/createMessage', {})).rejects.toMatchObject({ code: -32_601 })
  })

  it('learns that it need not answer any longer', async () => {
    const { client, channel } = await open(way)
    const withdrawn = vi.fn()
    const stop = new AbortController()
    client.setRequestHandler('elicitation/create', (_request, { mcpReq }) => {
      mcpReq.signal.addEventListener('abort', withdrawn)
      setTimeout(() => stop.abort(new Error('Never mind.')), 20)
      return new Promise(() => {})
    })
    await expect(channel.ask('elicitation/create', FORM, stop.signal)).rejects.toThrow('Never mind.')
    await vi.waitFor(() => expect(withdrawn).toHaveBeenCalled())
  })

  it('gets a limited number of questions at a time', async () => {
    const { client, channel } = await open(way)
    const answers: (() => void)[] = []
    client.setRequestHandler('elicitation/create', () => {
      return new Promise((resolve) => answers.push(() => resolve({ action: 'decline' })))
    })
    const asked = Array.from({ length: 70 }, () => channel.ask('elicitation/create', FORM))
    const settled = Promise.allSettled(asked)
    await vi.waitFor(() => expect(answers).toHaveLength(64))
    for (const answer of answers) answer()
    const results = await settled
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(64)
    await expect(asked.at(-1)).rejects.toThrow('The client has 64 questions to answer already.')
    expect(await channel.ask('roots/list', {})).toEqual({ roots: [{ uri: 'file:///one' }] })
  })

  it('leaves no question open when the server closes', async () => {
    const { client, channel, served, channels } = await open(way)
    const asked = vi.fn(() => new Promise<never>(() => {}))
    client.setRequestHandler('elicitation/create', asked)
    const answer = channel.ask('elicitation/create', FORM).catch((error: Error) => error.message)
    await vi.waitFor(() => expect(asked).toHaveBeenCalled())
    await served.close()
    expect(await answer).toContain('closed')
    expect(channels.size).toBe(0)
    expect(channel.isOpen).toBe(false)
  })
})

describe('R53 a client that cannot be asked outside of its requests', () => {
  it('is a modern one', async () => {
    const { channel } = await open('within the process', 'auto')
    expect(channel.isOpen).toBe(false)
    await expect(channel.ask('roots/list', {})).rejects.toThrow('in the result of a request')
  })

  it('has not completed the handshake', async () => {
    const { served, channels } = serve()
    const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
    await served.connect(serverSide)
    const got: JSONRPCMessage[] = []
    Object.assign(clientSide, { onmessage: (message: JSONRPCMessage) => void got.push(message) })
    await clientSide.start()
    await clientSide.send(JSON.parse(initialize()) as JSONRPCMessage)
    await vi.waitFor(() => expect(got).toHaveLength(1))
    const [channel] = channels
    expect(channel?.isOpen).toBe(false)
    await clientSide.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    await vi.waitFor(() => expect(channel?.isOpen).toBe(true))
  })

  it('has no event stream', async () => {
    const { served, channels } = serve()
    await openSession((await served.http()).url)
    const [channel] = channels
    expect(channel?.isOpen).toBe(false)
    await expect(channel?.ask('roots/list', {})).rejects.toThrow('no open event stream')
  })

  it('has gone', async () => {
    const { client, channel } = await open('within the process')
    const asked = vi.fn(() => new Promise<never>(() => {}))
    client.setRequestHandler('elicitation/create', asked)
    const answer = channel.ask('elicitation/create', FORM).catch((error: Error) => error.message)
    await vi.waitFor(() => expect(asked).toHaveBeenCalled())
    await client.close()
    expect(await answer).toContain('closed')
  })

  it('has lost its event stream, and opens no other', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const { client, channel } = await open('over HTTP')
    const asked = vi.fn(() => new Promise<never>(() => {}))
    client.setRequestHandler('elicitation/create', asked)
    const answer = channel.ask('elicitation/create', FORM).catch((error: Error) => error.message)
    await vi.waitFor(() => expect(asked).toHaveBeenCalled())
    await client.close()
    await vi.waitFor(() => expect(channel.isOpen).toBe(false))
    vi.advanceTimersByTime(10_000)
    expect(await answer).toBe('The client has disconnected.')
  })
})
