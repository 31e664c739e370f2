import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createCatalog } from '../../../catalog/live/catalog.ts'
import { all } from '../../../catalog/exposures/all.ts'
import type { Catalog } from '../../../catalog/contract.ts'
import type { RawTool } from '../../../catalog/tool.ts'
import type { McpFeatures } from '../contract/features.ts'
import { beginSession, HEADERS, openSession, post, rpc, send } from '../http/raw.fixtures.ts'
import { serveMcp, type ServedMcp } from '../serve-mcp.ts'
import { takeTurns } from '../../../../../../test/turns.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

const features: McpFeatures = {
  capabilities: { logging: {}, prompts: {} },
  request: async ({ method, params }) => (method === 'prompts/list' ? { prompts: [], given: params } : undefined),
}

function createTools(): Catalog {
  return createCatalog([
    { name: 'echo', description: 'Repeats.', call: async (args) => toText(JSON.stringify(args)) },
    { name: 'numbers', description: 'Lists.', call: async () => ({ content: [], structuredContent: [1, 2] as never }) },
    {
      name: 'ask',
      description: 'Asks the user.',
      call: async (_args, { peer }) =>
        toText(JSON.stringify(await peer?.ask?.('elicitation/create', { message: '?' }))),
    },
    {
      name: 'log',
      description: 'Logs.',
      async call(_args, { peer }) {
        await peer?.notify('notifications/message', { level: 'info', data: 'working' })
        return toText('logged')
      },
    },
    {
      name: 'wait',
      description: 'Waits until it is cancelled.',
      call: (_args, { signal }) =>
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('cancelled')))),
    },
  ])
}

const toText = (text: string) => ({ content: [{ type: 'text', text }] })

function serve(catalog = createTools(), given: Parameters<typeof serveMcp>[1] | object = {}): ServedMcp {
  const served = serveMcp(catalog, {
    name: 'home',
    version: '1.0.0',
    expose: all(),
    features: () => features,
    ...given,
  })
  open.push(served)
  return served
}

interface RawConnection {
  readonly received: readonly JSONRPCMessage[]
  send(message: object): Promise<void>
  /** Sends a request, and waits for its answer. */
  ask(method: string, params?: object): Promise<Readonly<Record<string, unknown>>>
  close(): Promise<void>
}

async function connect(served: ServedMcp): Promise<RawConnection> {
  const [client, server] = InMemoryTransport.createLinkedPair()
  const received: JSONRPCMessage[] = []
  Object.assign(client, { onmessage: (message: JSONRPCMessage) => received.push(message) })
  await client.start()
  const connection = await served.connect(server)
  let ids = 0
  const sendOne = (message: object): Promise<void> => client.send({ jsonrpc: '2.0', ...message } as JSONRPCMessage)
  return {
    received,
    send: sendOne,
    async ask(method, params = {}) {
      const id = ++ids
      await sendOne({ id, method, params })
      const find = (): JSONRPCMessage | undefined =>
        received.find((one) => 'id' in one && !('method' in one) && one.id === id)
      return vi.waitFor(() => (find() ?? fail(`${method} was not answered`)) as never, { timeout: 5_000 })
    },
    close: () => connection.close(),
  }
}

function fail(message: string): never {
  throw new Error(message)
}

const initialize = (changes: object = {}): object => ({
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
  ...changes,
})

describe('a legacy client', () => {
  it('is answered by the table of handlers', async () => {
    const client = await connect(serve())
    await client.ask('initialize', initialize({ capabilities: { roots: { listChanged: true }, sampling: {} } }))
    await client.send({ method: 'notifications/initialized' })
    expect(await client.ask('ping')).toMatchObject({ result: {} })
    expect(await client.ask('tools/list')).toMatchObject({ result: { tools: [{ name: 'ask' }, {}, {}, {}, {}] } })
    const called = await client.ask('tools/call', { name: 'echo', arguments: { a: 1 } })
    expect(called['result']).toEqual(toText('{"a":1}'))
    await client.ask('tools/call', { name: 'log' })
    expect(client.received.at(-2)).toMatchObject({ method: 'notifications/message', params: { data: 'working' } })
    const answers = await Promise.all([
      client.ask('prompts/list', { a: 1 }),
      client.ask('tools/call', { name: 'echo', arguments: {} }),
      client.ask('resources/list'),
      client.ask('prompts/list', { a: 2 }),
    ])
    expect(answers.map((answer) => answer['result'] ?? answer['error'])).toEqual([
      { prompts: [], given: { a: 1 } },
      toText('{}'),
      { code: -32_601, message: 'Method not found' },
      { prompts: [], given: { a: 2 } },
    ])
  })

  it('R53 gets the progress of a task after the answer that names the task, marked with it', async () => {
    const RELATED = 'io.modelcontextprotocol/related-task'
    const begin: RawTool = {
      name: 'begin',
      description: 'Begins.',
      async call(_args, { onProgress }) {
        const report = (progress: number): void =>
          onProgress?.({ progress, _meta: { own: 1, [RELATED]: { taskId: 'of the server' } } })
        onProgress?.({ progress: 1 })
        report(2)
        setTimeout(() => report(3))
        return { content: [], task: { taskId: 'of the client' } }
      },
    }
    const client = await connect(serve(createCatalog([begin])))
    await client.ask('initialize', initialize())
    const { result } = await client.ask('tools/call', { name: 'begin', _meta: { progressToken: 'p' } })
    const findReports = (): readonly unknown[] =>
      client.received.flatMap((message) => ('method' in message ? [message.params] : []))
    await vi.waitFor(() => expect(findReports()).toHaveLength(3))
    const mark = { own: 1, [RELATED]: { taskId: 'of the client' } }
    expect(findReports()).toEqual([
      { progress: 1, progressToken: 'p' },
      { progress: 2, progressToken: 'p', _meta: mark },
      { progress: 3, progressToken: 'p', _meta: mark },
    ])
    const answeredAt = client.received.findIndex((message) => 'result' in message && message.result === result)
    expect(client.received.slice(answeredAt + 1)).toHaveLength(2)
  })

  it.each([
    ['2024-11-05', '2024-11-05'],
    ['1999-01-01', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
    [5, '2025-11-25'],
  ])('that asks for the version %j gets %j', async (protocolVersion, expected) => {
    const client = await connect(serve())
    const { result } = await client.ask('initialize', initialize({ protocolVersion }))
    expect(result).toMatchObject({ protocolVersion: expected })
  })

  it('may begin without a handshake, and does not get methods of later versions', async () => {
    const client = await connect(serve())
    expect(await client.ask('ping')).toMatchObject({ result: {} })
    for (const method of ['server/discover', 'subscriptions/listen'])
      expect(await client.ask(method)).toMatchObject({ error: { code: -32_601, message: 'Method not found' } })
    expect(await client.ask('initialize', initialize())).toMatchObject({ result: { protocolVersion: '2025-06-18' } })
  })

  it('can be asked by its first call', async () => {
    const client = await connect(serve())
    await client.ask('initialize', initialize({ capabilities: { elicitation: {} } }))
    const called = client.ask('tools/call', { name: 'ask' })
    const isQuestion = (one: JSONRPCMessage): boolean => 'method' in one && one.method === 'elicitation/create'
    const question = await vi.waitFor(() => client.received.find(isQuestion) ?? fail('The client was not asked'))
    await client.send({ id: (question as { id: number }).id, result: { action: 'accept', content: { ok: true } } })
    expect((await called)['result']).toEqual(toText('{"action":"accept","content":{"ok":true}}'))
  })

  it('cancels a call', async () => {
    const client = await connect(serve())
    await client.ask('initialize', initialize())
    for (const id of ['one', 'other']) {
      await client.send({ id, method: 'tools/call', params: { name: 'wait' } })
      await client.send({ method: 'notifications/cancelled', params: { requestId: id } })
      await client.ask('prompts/list')
    }
    expect(client.received.some((one) => 'id' in one && typeof one.id === 'string')).toBe(false)
  })

  it('is announced a changed list', async () => {
    const catalog = createTools()
    const client = await connect(serve(catalog))
    await client.ask('initialize', initialize())
    await client.ask('tools/list')
    catalog.add([{ name: 'late', description: 'Came later.', call: async () => toText('') }])
    await vi.waitFor(() => expect(client.received.at(-1)).toMatchObject({ method: 'notifications/tools/list_changed' }))
  })

  it('gets an error if an option fails, and the next client is served', async () => {
    const errors: Error[] = []
    let fails = true
    const given = {
      onError: (error: Error) => errors.push(error),
      features() {
        if (fails) throw new Error('no room')
        return features
      },
    }
    const served = serve(createTools(), given)
    const client = await connect(served)
    const failed = await client.ask('initialize', initialize())
    expect(failed).toMatchObject({ error: { code: -32_603, message: 'Internal server error' } })
    expect(errors.map(({ message }) => message)).toEqual(['no room'])
    fails = false
    expect(await client.ask('initialize', initialize())).toMatchObject({ result: { protocolVersion: '2025-06-18' } })
    expect(await (await connect(served)).ask('initialize', initialize())).toMatchObject({ result: {} })
  })
})

const VERSIONED = { 'mcp-protocol-version': '2025-06-18' }
const INITIALIZED = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })

/** Reads events of a stream. */
async function listen(url: string, headers: Readonly<Record<string, string>>) {
  const stop = new AbortController()
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: stop.signal })
  let text = ''
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array)
  }
  const ended = response.ok ? read().catch(() => undefined) : Promise.resolve()
  return { status: response.status, getText: () => text, ended, close: () => stop.abort() }
}

describe('a legacy client over HTTP', () => {
  it('gets events, and a stream for those that belong to no request', async () => {
    const catalog = createTools()
    const { url } = await serve(catalog).http()
    const session = await beginSession(url)
    const headers = { ...VERSIONED, 'mcp-session-id': session }
    expect(await post(url, INITIALIZED, headers)).toMatchObject({ status: 202, text: '' })
    const stream = await listen(url, headers)
    expect(stream.status).toBe(200)
    const listed = await post(url, rpc('tools/list'), headers)
    expect(listed).toMatchObject({ status: 200, session })
    expect(listed.headers.get('content-type')).toBe('text/event-stream')
    expect((await post(url, rpc('ping'), headers)).text).toBe(
      'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
    )
    const logged = await post(url, rpc('tools/call', { name: 'log' }), headers)
    expect(logged.text).toMatch(/^event: message\ndata: .*"working".*\n\nevent: message\ndata: .*logged/)
    catalog.add([{ name: 'late', description: 'Came later.', call: async () => toText('') }])
    await vi.waitFor(() => expect(stream.getText()).toContain('notifications/tools/list_changed'))
    stream.close()
  })

  it('keeps its stream, and has only one', async () => {
    const catalog = createTools()
    const { url } = await serve(catalog).http()
    const headers = { ...VERSIONED, 'mcp-session-id': await openSession(url, VERSIONED) }
    const stream = await listen(url, headers)
    await post(url, rpc('tools/list'), headers)
    expect((await post(url, rpc('prompts/list'), headers)).text).toContain('"prompts":[]')
    expect((await listen(url, headers)).status).toBe(409)
    catalog.add([{ name: 'late', description: 'Came later.', call: async () => toText('') }])
    await vi.waitFor(() => expect(stream.getText()).toContain('notifications/tools/list_changed'))
    stream.close()
    await stream.ended
    const again = await vi.waitFor(async () => {
      const next = await listen(url, headers)
      expect(next.status).toBe(200)
      return next
    })
    expect((await send(url, { method: 'DELETE', headers: { ...HEADERS, ...headers } })).status).toBe(200)
    await again.ended
    expect((await post(url, rpc('ping'), headers)).status).toBe(404)
  })

  it('has only one stream, also if it asks for two together', async () => {
    const { url } = await serve().http()
    const headers = { ...VERSIONED, 'mcp-session-id': await openSession(url, VERSIONED) }
    const both = await Promise.all([listen(url, headers), listen(url, headers)])
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 409]))
    for (const one of both) one.close()
    await vi.waitFor(async () => {
      const next = await listen(url, headers)
      expect(next.status).toBe(200)
      next.close()
    })
  })

  it('ends its stream if it does not read', async () => {
    const catalog = createTools()
    let notify: (notification: { method: string; params: Record<string, unknown> }) => void = () => undefined
    const noisy = { ...features, subscribe: (listener: typeof notify) => ((notify = listener), () => undefined) }
    const { url } = await serve(catalog, { features: () => noisy }).http()
    const headers = { ...VERSIONED, 'mcp-session-id': await openSession(url, VERSIONED) }
    const stop = new AbortController()
    const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: stop.signal })
    expect(response.status).toBe(200)
    const data = 'x'.repeat(1_000_000)
    for (let i = 0; i < 40; i++) {
      notify({ method: 'notifications/message', params: { level: 'info', data } })
      await takeTurns(10)
    }
    const next = await listen(url, headers)
    expect(next.status).toBe(200)
    next.close()
    stop.abort()
  })

  it('of another principal cannot use a session', async () => {
    const authorize = (request: Request) => ({ principal: request.headers.get('x-user') ?? '' })
    const { url } = await serve(createTools(), { authorize }).http()
    const session = await openSession(url, { ...VERSIONED, 'x-user': 'anna' })
    const headers = { ...VERSIONED, 'mcp-session-id': session }
    expect((await post(url, rpc('tools/list'), { ...headers, 'x-user': 'anna' })).status).toBe(200)
    for (const body of [rpc('tools/list'), rpc('ping'), rpc('tools/call', { name: 'echo' }), INITIALIZED])
      expect((await post(url, body, { ...headers, 'x-user': 'ben' })).status).toBe(404)
    expect((await listen(url, { ...headers, 'x-user': 'ben' })).status).toBe(404)
  })
})
