import { InMemoryTransport } from '@modelcontextprotocol/server'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createCatalog } from '../../../catalog/live/catalog.ts'
import { all } from '../../../catalog/exposures/all.ts'
import type { FeatureNotification, McpFeatures } from '../contract/features.ts'
import type { ServeMcpOptions } from '../contract/options.ts'
import { serveMcp, type ServedMcp } from '../serve-mcp.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

type Wire = Readonly<Record<string, unknown>>

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'
const ENVELOPE = { [VERSION]: '2026-07-28', [CAPABILITIES]: {} }

interface Served {
  readonly served: ServedMcp
  /** Notifies every client that the features know. */
  tell(notification: FeatureNotification): void
  addTool(): void
}

function serve(options: Partial<ServeMcpOptions> = {}): Served {
  const listeners = new Set<(notification: FeatureNotification) => void>()
  const features: McpFeatures = {
    capabilities: { resources: { subscribe: true, listChanged: true }, logging: {} },
    request: async ({ method, params }, { meta }) =>
      method.startsWith('example/') || method === 'resources/list'
        ? { method, params, meta, resources: [] }
        : undefined,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const catalog = createCatalog([
    {
      name: 'echo',
      description: 'Returns what it was given.',
      call: async (args, { meta }) => ({ content: [], structuredContent: { args, meta }, 'example/kept': [args] }),
    },
  ])
  const served = serveMcp(catalog, {
    name: 'home',
    version: '1.0.0',
    expose: all(),
    features: () => features,
    ...options,
  })
  closing.push(() => served.close())
  return {
    served,
    tell(notification) {
      for (const listener of listeners) listener(notification)
    },
    addTool: () => catalog.add([{ name: 'late', description: 'Late.', call: async () => ({ content: [] }) }]),
  }
}

/** Sends one request, and returns every message up to its answer, and the answer's status. */
type Ask = (message: Wire) => Promise<{ readonly answer: Wire; readonly status: number }>

async function connect({
  served,
}: Served): Promise<{ readonly got: Wire[]; send(message: Wire): Promise<void>; ask: Ask }> {
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  const got: Wire[] = []
  Object.assign(clientSide, { onmessage: (message: Wire) => got.push(message) })
  await clientSide.start()
  const connection = await served.connect(serverSide)
  closing.push(() => connection.close())
  const send = (message: Wire) => clientSide.send({ jsonrpc: '2.0', ...message } as never)
  return {
    got,
    send,
    async ask(message) {
      await send(message)
      return vi.waitFor(() => {
        const answer = got.find(({ id, method }) => id === message['id'] && method === undefined)
        if (!answer) throw new Error('There is no answer yet.')
        return { answer, status: 200 }
      })
    },
  }
}

const toHeaders = ({ method, params }: Wire): Record<string, string> => {
  const { _meta: meta, name } = params as { readonly _meta?: Readonly<Record<string, string>>; readonly name?: string }
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': meta?.[VERSION] ?? '2026-07-28',
    'mcp-method': String(method),
    ...(name === undefined ? {} : { 'mcp-name': name }),
  }
}

function overFetch({ served }: Served): Ask {
  return async (message) => {
    const init = { method: 'POST', headers: toHeaders(message), body: JSON.stringify({ jsonrpc: '2.0', ...message }) }
    const response = await served.fetch(new Request('http://localhost/mcp', init))
    return { answer: (await response.json()) as Wire, status: response.status }
  }
}

const request = (method: string, params: Wire = {}, meta: Wire = ENVELOPE, id: number | string = 7): Wire => ({
  id,
  method,
  params: { ...params, _meta: meta },
})

describe.each(['within the process', 'over HTTP'] as const)('R53 a modern client %s', (way) => {
  const isHttp = way === 'over HTTP'
  const open = async (options?: Partial<ServeMcpOptions>): Promise<Ask> => {
    const served = serve(options)
    return isHttp ? overFetch(served) : (await connect(served)).ask
  }

  it('discovers what the server is', async () => {
    const ask = await open({ instructions: 'Be kind.' })
    const { answer } = await ask(request('server/discover'))
    expect(answer['result']).toEqual({
      supportedVersions: ['2026-07-28'],
      capabilities: {
        resources: { subscribe: true, listChanged: true },
        logging: {},
        tools: { listChanged: true },
      },
      instructions: 'Be kind.',
      resultType: 'complete',
      ttlMs: 60_000,
      cacheScope: 'public',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'home', version: '1.0.0' } },
    })
  })

  it('gets methods and fields unchanged that nothing here knows, and its tools get them', async () => {
    const ask = await open()
    const odd = { 'example/field': { deep: [1, null, 'ü'] }, cursor: 7, __proto__: { a: 1 } }
    const meta = { 'example/meta': [true], 'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' } }
    const { answer } = await ask(request('example/invented', odd, { ...ENVELOPE, ...meta }))
    expect(answer['result']).toMatchObject({
      method: 'example/invented',
      params: { 'example/field': { deep: [1, null, 'ü'] }, cursor: 7, _meta: { 'example/meta': [true] } },
      meta: { 'example/meta': [true] },
      resultType: 'complete',
    })
    expect(JSON.stringify(answer)).not.toContain('clientInfo')
    const args = { 'x-invented': { a: [{}] } }
    const called = await ask(
      request('tools/call', { name: 'echo', arguments: args, 'example/odd': 1 }, { ...ENVELOPE, ...meta }, 8),
    )
    expect(called.answer['result']).toMatchObject({
      structuredContent: { args, meta: { 'example/meta': [true] } },
      'example/kept': [args],
    })
  })

  it.each(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'tasks/list', 'roots/list', 'constructor'])(
    'is not answered %s',
    async (method) => {
      const { answer, status } = await (await open())(request(method))
      expect(answer['error']).toEqual({ code: -32_601, message: 'Method not found' })
      expect(status).toBe(isHttp ? 404 : 200)
    },
  )

  it.each([
    ['no capabilities', { [VERSION]: '2026-07-28' }, -32_602, { envelope: { key: CAPABILITIES, problem: 'missing' } }],
    [
      'capabilities that are a text',
      { ...ENVELOPE, [CAPABILITIES]: 'all' },
      -32_602,
      { envelope: { key: CAPABILITIES, problem: 'must be an object' } },
    ],
    [
      'a name that is none',
      { ...ENVELOPE, 'io.modelcontextprotocol/clientInfo': { name: 5 } },
      -32_602,
      {
        envelope: {
          key: 'io.modelcontextprotocol/clientInfo',
          problem: 'must be an object with a name and a version',
        },
      },
    ],
    [
      'another version',
      { ...ENVELOPE, [VERSION]: '2031-01-01' },
      -32_022,
      { supported: ['2026-07-28'], requested: '2031-01-01' },
    ],
  ])('is refused with %s', async (_what, meta, code, data) => {
    const ask = await open()
    const { answer, status } = await ask(request('tools/list', {}, meta))
    expect(answer).toMatchObject({ id: 7, error: { code, data } })
    expect(status).toBe(isHttp ? 400 : 200)
    expect((await ask(request('tools/list', {}, ENVELOPE, 8))).answer['result']).toMatchObject({
      tools: [{ name: 'echo' }],
    })
  })

  it('gets foreign lists without a time for which they may be kept, unless they say one', async () => {
    const ask = await open()
    const { answer } = await ask(request('resources/list'))
    expect(answer['result']).toMatchObject({ resources: [], ttlMs: 0, cacheScope: 'private' })
    const listed = await ask(request('tools/list', {}, ENVELOPE, 8))
    expect(listed.answer['result']).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' })
  })
})

const listen = (filter: Wire, id: string | number = 'sub'): Wire =>
  request('subscriptions/listen', { notifications: filter }, ENVELOPE, id)

describe('R53 a modern client with its own connection', () => {
  it('is notified only of what it listens for, until it stops', async () => {
    const served = serve()
    const { got, send, ask } = await connect(served)
    const filter = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['file:///a', 5] }
    await send(listen(filter))
    await vi.waitFor(() => expect(got).toHaveLength(1))
    // It has no prompts.
    expect(got[0]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: { toolsListChanged: true, resourceSubscriptions: ['file:///a'] },
        _meta: { [SUBSCRIPTION]: 'sub' },
      },
    })
    for (const uri of ['file:///a', 'file:///b'])
      served.tell({ method: 'notifications/resources/updated', params: { uri, 'example/kept': 1 } })
    served.tell({ method: 'notifications/resources/list_changed' })
    served.addTool()
    await ask(request('tools/list'))
    expect(got.slice(1, -1)).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/resources/updated',
        params: { uri: 'file:///a', 'example/kept': 1, _meta: { [SUBSCRIPTION]: 'sub' } },
      },
      {
        jsonrpc: '2.0',
        method: 'notifications/tools/list_changed',
        params: { _meta: { [SUBSCRIPTION]: 'sub' } },
      },
    ])
    await send({ method: 'notifications/cancelled', params: { requestId: 'sub' } })
    served.tell({ method: 'notifications/resources/updated', params: { uri: 'file:///a' } })
    await ask(request('tools/list', {}, ENVELOPE, 8))
    expect(got).toHaveLength(5)
  })

  it('is told at once that there is nothing to listen for, and at the end that there is nothing more', async () => {
    const { served } = serve()
    const { got, ask, send } = await connect({ served } as Served)
    expect((await ask(listen({ promptsListChanged: true }, 1))).answer['result']).toMatchObject({
      resultType: 'complete',
      _meta: { [SUBSCRIPTION]: 1 },
    })
    expect((await ask(request('subscriptions/listen', {}, ENVELOPE, 2))).answer['error']).toMatchObject({
      code: -32_602,
    })
    await send(listen({ toolsListChanged: true }, 3))
    await vi.waitFor(() => expect(got.at(-1)).toMatchObject({ params: { _meta: { [SUBSCRIPTION]: 3 } } }))
    await served.close()
    expect(got.at(-1)).toMatchObject({ id: 3, result: { _meta: { [SUBSCRIPTION]: 3 } } })
  })

  it('may have 1,024 subscriptions', async () => {
    const served = serve()
    const { got, send, ask } = await connect(served)
    for (let i = 0; i < 1_024; i++) await send(listen({ toolsListChanged: true }, i))
    const refused = await ask(listen({ toolsListChanged: true }, 'more'))
    expect(refused.answer['error']).toEqual({ code: -32_603, message: 'Subscription limit reached' })
    served.addTool()
    await vi.waitFor(() => expect(got).toHaveLength(2 * 1_024 + 1))
  })

  it('may turn out to be a legacy one that has asked for the versions first', async () => {
    const { ask, got } = await connect(serve())
    await ask(request('server/discover'))
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
    expect((await ask({ id: 8, method: 'initialize', params })).answer['result']).toMatchObject({
      protocolVersion: '2025-06-18',
    })
    expect((await ask({ id: 9, method: 'ping' })).answer['result']).toEqual({})
    expect(got).toHaveLength(3)
  })
})
