import { afterEach, describe, expect, it, vi } from 'vitest'
import { createCatalog } from '../../../catalog/live/catalog.ts'
import { all } from '../../../catalog/exposures/all.ts'
import type { McpFeatures } from '../contract/features.ts'
import { serveMcp, type ServedMcp } from '../serve-mcp.ts'
import { HEADERS, initialize, modernRequest, openSession, rpc } from './raw.fixtures.ts'

const open: ServedMcp[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

const add = async () => ({ content: [] })

function serve(features?: McpFeatures): ServedMcp {
  const properties = {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    place: { type: 'object', properties: { floor: { type: 'integer', 'x-mcp-header': 'Floor' } } },
  }
  const invalid = { list: { type: 'array', items: { type: 'string', 'x-mcp-header': 'Item' } } }
  const catalog = createCatalog([
    { name: 'find', description: 'Finds.', inputSchema: { type: 'object', properties }, call: add },
    { name: 'odd', description: 'Odd.', inputSchema: { type: 'object', properties: invalid }, call: add },
  ])
  const served = serveMcp(catalog, {
    name: 'home',
    version: '1.0.0',
    expose: all(),
    ...(features ? { features: () => features } : {}),
  })
  open.push(served)
  return served
}

interface Sent {
  readonly status: number
  readonly code: unknown
  readonly message: unknown
}

async function call(
  served: ServedMcp,
  params: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, string | undefined>> = {},
): Promise<Sent> {
  const { body, headers } = modernRequest('tools/call', params)
  const sent = Object.entries({ ...HEADERS, ...headers, ...changes }).filter(([, value]) => value !== undefined)
  const init = { method: 'POST', headers: sent, body }
  const response = await served.fetch(new Request('http://localhost/mcp', init))
  const { error } = (await response.json()) as { error?: { code: number; message: string } }
  return { status: response.status, code: error?.code, message: error?.message }
}

const find = (args: object) => ({ name: 'find', arguments: args })

describe('R53 the headers of a modern request', () => {
  it.each<[string, Readonly<Record<string, string | undefined>>, number]>([
    ['agree', {}, 200],
    ['agree, with spaces around them', { 'mcp-name': '  find ' }, 200],
    ['agree, in Base64', { 'mcp-name': '=?base64?ZmluZA==?=' }, 200],
    ['have no version', { 'mcp-protocol-version': undefined }, 400],
    ['have another version', { 'mcp-protocol-version': '2025-11-25' }, 400],
    ['have no method', { 'mcp-method': undefined }, 400],
    ['have another method', { 'mcp-method': 'tools/list' }, 400],
    ['have a method in other letters', { 'mcp-method': 'Tools/Call' }, 400],
    ['have no name', { 'mcp-name': undefined }, 400],
    ['have another name', { 'mcp-name': 'odd' }, 400],
    ['have a name in Base64 without its padding', { 'mcp-name': '=?base64?ZmluZA?=' }, 400],
    ['have a name in no Base64', { 'mcp-name': '=?base64?Zm!!ZA==?=' }, 400],
  ])('%s', async (_what, changes, status) => {
    const sent = await call(serve(), find({}), changes)
    expect(sent.status).toBe(status)
    expect(sent.code).toBe(status === 200 ? undefined : -32_020)
  })

  it.each<[string, object, Readonly<Record<string, string>>, number]>([
    ['are not needed without the arguments', {}, { 'mcp-param-region': 'any' }, 200],
    ['repeat an argument', { region: 'us' }, { 'mcp-param-region': 'us' }, 200],
    ['repeat it in Base64', { region: 'ü' }, { 'mcp-param-region': '=?base64?w7w=?=' }, 200],
    ['repeat a number as another text', { place: { floor: 2 } }, { 'mcp-param-floor': '2.0' }, 200],
    ['lack an argument', { region: 'us' }, {}, 400],
    ['lack an inner argument', { place: { floor: 0 } }, {}, 400],
    ['have another value', { region: 'us' }, { 'mcp-param-region': 'eu' }, 400],
    ['have another number', { place: { floor: 2 } }, { 'mcp-param-floor': '3' }, 400],
    ['cannot be read', { region: 'us' }, { 'mcp-param-region': '=?base64?dXM?=' }, 400],
  ])('%s', async (_what, args, changes, status) => {
    const sent = await call(serve(), find(args), changes)
    expect(sent.status).toBe(status)
    expect(sent.code).toBe(status === 200 ? undefined : -32_020)
  })

  it('are not checked by a definition that is invalid', async () => {
    expect(await call(serve(), { name: 'odd', arguments: { list: ['a'] } })).toMatchObject({ status: 200 })
  })
})

describe('R44 a request of the Fetch API', () => {
  const post = (served: ServedMcp, body: string, headers: object, signal?: AbortSignal): Promise<Response> =>
    served.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { ...HEADERS, ...headers },
        body,
        ...(signal ? { signal } : {}),
      }),
    )

  it('listens until its client goes', async () => {
    const stopped = vi.fn()
    const watched: unknown[] = []
    let tell: (uri: string) => void = () => undefined
    const served = serve({
      capabilities: { resources: { subscribe: true } },
      request: async () => undefined,
      listen: (uris) => (watched.push(uris), stopped),
      subscribe(listener) {
        tell = (uri) => listener({ method: 'notifications/resources/updated', params: { uri } })
        return () => undefined
      },
    })
    const { body, headers } = modernRequest('subscriptions/listen', {
      notifications: { resourceSubscriptions: ['file:///a'] },
    })
    const stop = new AbortController()
    const response = await post(served, body, headers, stop.signal)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toContain('notifications/subscriptions/acknowledged')
    expect(watched).toEqual([['file:///a']])
    tell('file:///b')
    tell('file:///a')
    expect((await reader?.read())?.value).toContain('"uri":"file:///a"')
    expect(stopped).not.toHaveBeenCalled()
    stop.abort()
    await vi.waitFor(() => expect(stopped).toHaveBeenCalledTimes(1))
  })

  it('is answered at the end when the server closes', async () => {
    const served = serve()
    const { body, headers } = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const response = await post(served, body, headers)
    // Not read before the server is closed.
    const late = post(served, body, headers)
    await served.close()
    expect((await response.text()).match(/event: message/g)).toHaveLength(2)
    expect((await late).status).toBe(503)
  })

  it('may have gone before it is answered', async () => {
    const { body, headers } = modernRequest('tools/list')
    const response = await post(serve(), body, headers, AbortSignal.abort())
    expect(response.status).toBe(499)
  })

  it('opens one stream of a session, and ends the session', async () => {
    const served = serve()
    const session = (await post(served, initialize(), {})).headers.get('mcp-session-id') ?? ''
    const named = { 'mcp-session-id': session, accept: 'text/event-stream' }
    const get = () => served.fetch(new Request('http://localhost/mcp', { headers: named }))
    const stream = await get()
    expect(stream.status).toBe(200)
    expect((await get()).status).toBe(409)
    await stream.body?.cancel()
    const again = await get()
    expect(again.status).toBe(200)
    const end = await served.fetch(new Request('http://localhost/mcp', { method: 'DELETE', headers: named }))
    expect(end.status).toBe(200)
    expect(await again.text()).toBe(': open\n\n')
    expect((await post(served, rpc('ping'), { 'mcp-session-id': session })).status).toBe(404)
  })

  it('may be a notification, which the features get unless it is about a request', async () => {
    const heard: unknown[] = []
    const served = serve({
      capabilities: {},
      request: async () => undefined,
      hear: (notification) => heard.push(notification),
    })
    const headers = { 'mcp-protocol-version': '2026-07-28' }
    for (const method of ['notifications/cancelled', 'example/invented']) {
      const body = JSON.stringify({ jsonrpc: '2.0', method, params: { 'example/kept': [1] } })
      expect((await post(served, body, headers)).status).toBe(202)
    }
    expect(heard).toEqual([{ method: 'example/invented', params: { 'example/kept': [1] } }])
  })

  it('is refused with a body that is too long', async () => {
    const served = serveMcp(createCatalog([]), { name: 'home', version: '1.0.0', maxBodyBytes: 100 })
    open.push(served)
    expect((await post(served, initialize(), {})).status).toBe(413)
  })
})

describe('R53 a question to a client that has gone', () => {
  it('fails, because nobody would answer it', async () => {
    const asked: Promise<unknown>[] = []
    const ask = {
      name: 'ask',
      description: 'Asks later.',
      async call(
        _args: unknown,
        { peer }: { readonly peer?: { ask?(method: string, params: object): Promise<unknown> } },
      ) {
        setTimeout(() => asked.push(peer?.ask?.('roots/list', {}).catch((error: Error) => error.message) as never))
        return { content: [] }
      },
    }
    const served = serveMcp(createCatalog([ask]), { name: 'home', version: '1.0.0', expose: all() })
    open.push(served)
    const { url } = await served.http()
    const session = await openSession(url)
    const init = {
      method: 'POST',
      headers: { ...HEADERS, 'mcp-session-id': session },
      body: rpc('tools/call', { name: 'ask' }),
    }
    await (await fetch(url, init)).text()
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    expect(await asked[0]).toBe('The client has no open event stream.')
  })
})
