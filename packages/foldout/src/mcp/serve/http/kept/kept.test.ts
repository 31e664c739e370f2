import { Client as ModernSdkClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as FirstSdkClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FirstSdkHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { twoPhase } from '../../../../catalog/exposures/two-phase.ts'
import type { CallContext, RawTool } from '../../../../catalog/tool.ts'
import { FoldoutError } from '../../../../core/errors.ts'
import { definePrompt } from '../../../../prompt/prompt.ts'
import { defineSection } from '../../../../prompt/definition/section.ts'
import { createMemoryStore } from '../../../../session/stores/memory-store.ts'
import type { SessionStore } from '../../../../session/stores/store.ts'
import { ok } from '../../../../tools/result.ts'
import { defineTool } from '../../../../tools/tool.ts'
import { manyKinds, text, visits } from '../../catalog.fixtures.ts'
import { legacyKinds, type ClientKind } from '../../clients.fixtures.ts'
import type { ServedClient } from '../../contract/client.ts'
import type { McpFeatures } from '../../contract/features.ts'
import type { ServeMcpOptions } from '../../contract/options.ts'
import { serveMcp } from '../../serve-mcp.ts'
import { waitForAbort } from '../../../../../../../test/turns.ts'
import type { Authorize } from '../../contract/authorize.ts'
import { callVisits, HEADERS, initialize, openSession, openStream, post, rpc, send } from '../raw.fixtures.ts'

const open: { close(): Promise<void> }[] = []
/** What tells the time in sessions. */
const CLOCK = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] as const

afterEach(async () => {
  vi.useRealTimers()
  for (const one of open.splice(0).toReversed()) await one.close()
})

/** The running calls, so a test sees their signals and messages. */
const running: CallContext[] = []

const ask: RawTool = {
  name: 'ask_user',
  description: 'Asks the user for a color.',
  async call(_args, { peer, onProgress }) {
    onProgress?.({ progress: 1, total: 2 })
    const requestedSchema = { type: 'object', properties: { color: { type: 'string' } } }
    const answer = await peer?.ask?.('elicitation/create', { message: 'Which color?', requestedSchema })
    onProgress?.({ progress: 2, total: 2 })
    return text(`The answer is ${JSON.stringify(answer?.['content'])}.`)
  },
}
const hang: RawTool = {
  name: 'hang',
  description: 'Hangs until it is stopped.',
  async call(_args, context) {
    running.push(context)
    return waitForAbort(context.signal as AbortSignal)
  },
}

/** Machines that share a store; each is a separate server. */
async function startMachines(count: number, changes: Partial<ServeMcpOptions> = {}, store = createMemoryStore()) {
  const urls: string[] = []
  const closes: (() => Promise<void>)[] = []
  for (let i = 0; i < count; i++) {
    const served = serveMcp(manyKinds({ more: [ask, hang] }), {
      name: 'home',
      version: '1.0.0',
      expose: twoPhase(),
      ...changes,
      sessions: { store, slices: [visits], ...changes.sessions },
    })
    open.push(served)
    urls.push((await served.http()).url)
    closes.push(() => served.close())
  }
  return { urls, store, closes }
}

/** Sends each request to the next machine that is up, as a load balancer without sticky sessions does. */
function balance(urls: readonly string[], down: ReadonlySet<string> = new Set()): typeof fetch {
  let turn = 0
  return (_url, init) => {
    const up = urls.filter((url) => !down.has(url))
    return fetch(up[turn++ % up.length] as string, init)
  }
}

interface Balanced {
  announced(): number
  list(): Promise<readonly string[]>
  call(name: string, args?: object, onprogress?: (progress: unknown) => void): Promise<string>
  request(method: string, params: object): Promise<unknown>
}

const away = (): FoldoutError => new FoldoutError('store-failed', 'The database is away.')
const COLOR = { action: 'accept' as const, content: { color: 'blue' } }

async function connect(fetcher: typeof fetch, kind: ClientKind): Promise<Balanced> {
  let announced = 0
  const capabilities = { capabilities: { elicitation: {} } }
  const url = new URL('http://127.0.0.1/mcp')
  const getNames = ({ tools }: { tools: readonly { name: string }[] }): string[] => tools.map(({ name }) => name)
  const getText = (result: object): string => (result as { content: { text: string }[] }).content[0]?.text ?? ''
  if (kind === 'v1 client') {
    const client = new FirstSdkClient({ name: 'first', version: '1.0.0' }, capabilities)
    client.setRequestHandler(ElicitRequestSchema, async () => COLOR)
    client.fallbackNotificationHandler = async ({ method }) => {
      if (method === 'notifications/tools/list_changed') announced++
    }
    await client.connect(new FirstSdkHttp(url, { fetch: fetcher }))
    open.push(client)
    return {
      announced: () => announced,
      list: async () => getNames(await client.listTools()),
      call: async (name, args = {}, onprogress) =>
        getText(await client.callTool({ name, arguments: { ...args } }, undefined, onprogress ? { onprogress } : {})),
      request: (method, params) =>
        client.request({ method, params } as never, { parse: (value: unknown) => value } as never),
    }
  }
  const client = new ModernSdkClient(
    { name: 'second', version: '2.0.0' },
    { ...capabilities, versionNegotiation: { mode: 'legacy' } },
  )
  client.setRequestHandler('elicitation/create', () => COLOR)
  client.setNotificationHandler('notifications/tools/list_changed', () => void announced++)
  await client.connect(new StreamableHTTPClientTransport(url, { fetch: fetcher }))
  open.push(client)
  return {
    announced: () => announced,
    list: async () => getNames(await client.listTools()),
    call: async (name, args = {}, onprogress) =>
      getText(await client.callTool({ name, arguments: { ...args } }, onprogress ? { onprogress } : {})),
    request: (method, params) => client.request({ method, params } as never),
  }
}

describe.each(legacyKinds)('R65 a session on several machines, for a %s', (kind) => {
  it('R65 lists, searches, grows its list and remembers the state of tools, whichever machine answers', async () => {
    const { urls } = await startMachines(3)
    const client = await connect(balance(urls), kind)
    const first = await client.list()
    expect(first).toContain('search_tools')
    expect(await client.call('search_tools', { query: 'light of room_0007' })).toContain('light_room_0007')
    await client.call('get_tool_definition', { name: 'light_room_0007' })
    expect(client.announced()).toBeGreaterThan(0)
    // On all three.
    for (let i = 0; i < 3; i++) expect(await client.list()).toEqual([...first, 'light_room_0007'])
    await client.call('get_tool_definition', { name: 'light_room_0009' })
    for (let i = 0; i < 3; i++) expect(await client.list()).toEqual([...first, 'light_room_0007', 'light_room_0009'])
    expect(await client.call('light_room_0009')).toBe('room_0009')
    for (let i = 1; i <= 6; i++) expect(await client.call('use_tool', { name: 'count_visits' })).toBe(`Visit ${i}.`)
  })

  it('R65 reports progress and asks the user, even if the answer reaches another machine', async () => {
    const { urls } = await startMachines(2)
    const client = await connect(balance(urls), kind)
    for (let i = 0; i < 3; i++) {
      const reports: unknown[] = []
      expect(await client.call('ask_user', {}, (progress) => reports.push(progress))).toBe(
        'The answer is {"color":"blue"}.',
      )
      expect(reports).toHaveLength(2)
    }
  })

  it('R65 asks several questions at the same time, on two machines', async () => {
    const { urls } = await startMachines(2)
    const client = await connect(balance(urls), kind)
    const answers = await Promise.all(Array.from({ length: 6 }, () => client.call('ask_user')))
    expect(answers).toEqual(Array.from({ length: 6 }, () => 'The answer is {"color":"blue"}.'))
  })

  it('R65 survives the loss of machines, and a restart of all of them', async () => {
    const { urls, store, closes } = await startMachines(2)
    const down = new Set<string>()
    const all = [...urls]
    const client = await connect(balance(all, down), kind)
    await client.call('get_tool_definition', { name: 'light_room_0001' })
    down.add(urls[0] as string)
    await closes[0]?.()
    expect(await client.list()).toContain('light_room_0001')
    const { urls: fresh } = await startMachines(1, {}, store)
    all.push(...fresh)
    down.add(urls[1] as string)
    await closes[1]?.()
    expect(await client.list()).toContain('light_room_0001')
    expect(await client.call('use_tool', { name: 'count_visits' })).toBe('Visit 1.')
  })
})

describe('R65 a kept session', () => {
  const authorize: Authorize = (request) => {
    const token = /^Bearer (\w+)$/.exec(request.headers.get('authorization') ?? '')?.[1]
    return token === undefined ? { status: 401 } : { principal: token }
  }
  const as = (principal: string) => ({ authorization: `Bearer ${principal}` })
  const listOn = (url: string, session: string, headers = {}) =>
    post(url, rpc('tools/list'), { ...headers, 'mcp-session-id': session })

  it('R65 does not exist for others, on any machine', async () => {
    const { urls } = await startMachines(2, { authorize })
    const session = await openSession(urls[0] as string, as('anna'))
    for (const url of urls) {
      expect((await listOn(url, session, as('bob'))).status).toBe(404)
      expect((await send(url, { method: 'DELETE', headers: { ...as('bob'), 'mcp-session-id': session } })).status).toBe(
        404,
      )
      expect((await listOn(url, session, as('anna'))).status).toBe(200)
    }
  })

  it('R65 keeps its id to itself', async () => {
    const { urls, store } = await startMachines(1)
    const session = await openSession(urls[0] as string)
    await callVisits(urls[0] as string, session)
    const ids = await store.list()
    expect(ids).toHaveLength(1)
    expect(JSON.stringify([ids, await store.load(ids[0] as string)])).not.toContain(session)
  })

  it('R65 is another one on a server with another namespace, and unknown ids are unknown', async () => {
    const { urls, store } = await startMachines(1)
    const { urls: others } = await startMachines(1, { sessions: { namespace: 'other' } }, store)
    const session = await openSession(urls[0] as string)
    expect((await listOn(others[0] as string, session)).status).toBe(404)
    for (const id of [crypto.randomUUID(), 'x'.repeat(8000), '../../etc', '__proto__'])
      expect((await listOn(urls[0] as string, id)).status).toBe(404)
  })

  it('R65 ends everywhere when its client ends it, with its streams', async () => {
    const { urls, store } = await startMachines(2)
    const [one = '', other = ''] = urls
    const session = await openSession(one)
    expect((await listOn(other, session)).status).toBe(200)
    const stream = await fetch(other, { headers: { accept: 'text/event-stream', 'mcp-session-id': session } })
    expect((await send(one, { method: 'DELETE', headers: { 'mcp-session-id': session } })).status).toBe(200)
    // The stream on the other machine ends without a request.
    await stream.text()
    for (const url of urls) expect((await listOn(url, session)).status).toBe(404)
    expect(await store.list()).toEqual([])
  })

  it('R65 ends when no machine has used it for a while, and not before', async () => {
    vi.useFakeTimers({ toFake: [...CLOCK] })
    const { urls, store } = await startMachines(2, { sessions: { idleMs: 2000 } })
    const [one = '', other = ''] = urls
    const [idle, used] = [await openSession(one), await openSession(one)]
    expect((await listOn(other, used)).status).toBe(200)
    // Only ever used on one of them, and for longer than either would keep it.
    for (let i = 0; i < 12; i++) {
      await vi.advanceTimersByTimeAsync(250)
      expect((await listOn(other, used)).status).toBe(200)
    }
    const watched = await openStream(one, { 'mcp-session-id': used })
    await expect.poll(async () => (await listOn(other, idle)).status).toBe(404)
    await vi.advanceTimersByTimeAsync(2500)
    expect((await listOn(one, used)).status).toBe(200)
    watched.close()
    await expect.poll(async () => (await vi.advanceTimersByTimeAsync(250), store.list())).toEqual([])
  })

  it('R65 is ended for another one only where nobody uses it', async () => {
    vi.useFakeTimers({ toFake: [...CLOCK] })
    const sessions = { perPeer: 2, keepMs: 0 }
    const { urls, store } = await startMachines(2, { sessions })
    const [one = '', other = ''] = urls
    const [first, second] = [await openSession(one), await openSession(one)]
    // Used since, elsewhere.
    await vi.advanceTimersByTimeAsync(5)
    await callVisits(other, first)
    await openSession(one)
    expect((await listOn(other, first)).status).toBe(200)
    await openSession(one)
    await expect.poll(async () => (await listOn(other, second)).status).toBe(404)
    // A flood is bounded by the limit of each machine.
    await Promise.all(Array.from({ length: 50 }, () => post(one, initialize())))
    expect((await store.list()).length).toBeLessThanOrEqual(8)
  })

  it('R65 stops a call on one machine that is cancelled on another', async () => {
    const { urls } = await startMachines(2)
    const [one = '', other = ''] = urls
    const session = await openSession(one)
    const headers = { ...HEADERS, 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }
    running.length = 0
    const call = fetch(one, { method: 'POST', headers, body: rpc('tools/call', { name: 'hang', arguments: {} }, 77) })
    await expect.poll(() => running.length).toBe(1)
    const told = rpc('notifications/cancelled', { requestId: 77 }, undefined).replace(/"id":1,/, '')
    expect((await post(other, told, { 'mcp-session-id': session })).status).toBe(202)
    await expect.poll(() => running[0]?.signal?.aborted).toBe(true)
    await (await call).text()
  })

  it('R65 has the same sections open on each machine', async () => {
    const tools = [defineTool({ name: 'refund', description: 'Refunds an order.', execute: () => ok('Refunded.') })]
    const folded = { visibility: 'summary', summary: 'How to give money back.' } as const
    const section = defineSection({ key: 'refunds', title: 'Refunds', template: 'Give it back.', tools, ...folded })
    const prompt = definePrompt({ ns: 'shop', key: 'handbook', sections: [section] }).bind()
    const { urls } = await startMachines(2, { prompt })
    const client = await connect(balance(urls), 'v1 client')
    // Both have it before one of them changes it.
    for (let i = 0; i < 2; i++) expect(await client.list()).not.toContain('refund')
    await client.call('read_section', { section_key: 'refunds' })
    for (let i = 0; i < 2; i++) {
      expect(await client.list()).toContain('refund')
      expect(await client.call('refund')).toBe('Refunded.')
      await client.call('get_states')
    }
  })

  it('R65 tells a stream on one machine of what happens on another', async () => {
    const { urls } = await startMachines(2)
    const [one = '', other = ''] = urls
    const session = await openSession(one)
    const stream = await fetch(other, { headers: { accept: 'text/event-stream', 'mcp-session-id': session } })
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
    await post(one, rpc('tools/call', { name: 'get_tool_definition', arguments: { name: 'light_room_0003' } }), {
      'mcp-session-id': session,
    })
    let heard = ''
    while (!heard.includes('notifications/tools/list_changed')) heard += (await reader?.read())?.value ?? ''
    expect(heard).toContain('notifications/tools/list_changed')
    await reader?.cancel()
  })

  it('R65 subscribes to resources and logs on each machine that serves it, and unsubscribes', async () => {
    const asked: string[] = []
    let machine = 0
    const features = ({ era }: ServedClient): McpFeatures => {
      const name = era === 'modern' ? 0 : ++machine
      return {
        capabilities: { resources: { subscribe: true }, logging: {} },
        async request({ method, params }) {
          asked.push(`${name} ${method} ${String(params['uri'] ?? params['level'])}`)
          return {}
        },
      }
    }
    const { urls } = await startMachines(2, { features })
    const [one = '', other = ''] = urls
    const session = await openSession(one)
    const headers = { 'mcp-session-id': session }
    await post(one, rpc('resources/subscribe', { uri: 'file:///a' }), headers)
    await post(one, rpc('logging/setLevel', { level: 'debug' }), headers)
    expect(asked).toEqual(['1 resources/subscribe file:///a', '1 logging/setLevel debug'])
    const stream = await openStream(other, headers)
    await expect.poll(() => asked.slice(2)).toEqual(['2 logging/setLevel debug', '2 resources/subscribe file:///a'])
    await post(one, rpc('resources/unsubscribe', { uri: 'file:///a' }), headers)
    await expect.poll(() => asked.at(-1)).toBe('2 resources/unsubscribe file:///a')
    stream.close()
  })

  it('R65 rejects data that it cannot store, and is rejected while the store is away', async () => {
    const store = createMemoryStore()
    let isAway = false
    const flaky: SessionStore = {
      ...store,
      load: (id) => (isAway ? Promise.reject(away()) : store.load(id)),
      append: (id, events) => (isAway ? Promise.reject(away()) : store.append(id, events)),
    }
    const { urls } = await startMachines(2, {}, flaky)
    const [one = '', other = ''] = urls
    const large = { protocolVersion: '2025-11-25', clientInfo: { name: 'x', version: 'x'.repeat(100_000) } }
    expect((await post(one, rpc('initialize', { ...large, capabilities: {} }))).status).toBe(413)
    const nested = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"experimental":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}},"clientInfo":{"name":"x","version":"1"}}}`
    expect((await post(one, nested)).status).toBe(413)
    const session = await openSession(one)
    const answer = (value: string): string =>
      `{"jsonrpc":"2.0","id":"foldout:${crypto.randomUUID()}:0","result":${value}}`
    const headers = { 'mcp-session-id': session }
    expect((await post(other, answer('{"__proto__":{"a":1},"constructor":2}'), headers)).status).toBe(202)
    expect((await post(other, answer(`{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`), headers)).status).toBe(413)
    expect((await post(other, answer(`{"a":"${'x'.repeat(2_000_000)}"}`), headers)).status).toBe(413)
    for (let i = 0; i < 40; i++) await post(other, answer(`{"n":${i}}`), headers)
    expect(JSON.stringify(await store.load((await store.list())[0] as string)).length).toBeLessThan(20_000)
    isAway = true
    const refused = await listOn(one, session)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('5')
    expect((await post(one, initialize())).status).toBe(503)
    isAway = false
    expect((await listOn(one, session)).status).toBe(200)
  })

  it('R65 begins again where another version of the server has written it', async () => {
    const { urls, store } = await startMachines(2)
    const session = await openSession(urls[0] as string)
    const [id = ''] = await store.list()
    const stored = await store.load(id)
    const slices = { 'mcp-client': { version: 99, state: {} } }
    await store.save(id, { version: 1, slices }, stored?.events.at(-1)?.sequence ?? 0)
    expect((await listOn(urls[1] as string, session)).status).toBe(404)
  })
})
