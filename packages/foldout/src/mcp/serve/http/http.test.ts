import { createServer, request as httpRequest } from 'node:http'
import { connect as connectSocket, type AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { hybrid } from '../../../catalog/exposures/hybrid.ts'
import { createSession } from '../../../session/session.ts'
import { manyKinds, visits } from '../catalog.fixtures.ts'
import { allKinds, overHttp, getText } from '../clients.fixtures.ts'
import type { ServeMcpOptions } from '../contract/options.ts'
import { serveMcp, type ServedMcp } from '../serve-mcp.ts'
import {
  beginSession,
  callVisits,
  HEADERS,
  initialize,
  modernRequest,
  openSession,
  post,
  rpc,
  send,
  type Sent,
} from './raw.fixtures.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const one of open.splice(0).toReversed()) await one.close()
})

function serve(options: Partial<ServeMcpOptions> = {}): ServedMcp {
  const served = serveMcp(manyKinds(), {
    name: 'home',
    version: '1.0.0',
    expose: hybrid(),
    session: () => createSession({ slices: [visits] }),
    ...options,
  })
  open.push(served)
  return served
}

describe('streamable HTTP', () => {
  it.each([
    ['by its header and its body', '2026-07-28', true],
    ['by its header alone', '2026-07-28', false],
    ['by its body alone', '2025-11-25', true],
  ])('answers a request that is modern %s as one, even if it names a session', async (_, version, isModernBody) => {
    const { url } = await serve().http()
    const session = await openSession(url)
    const { body, headers } = modernRequest('tools/list')
    const named = { 'mcp-session-id': session, 'mcp-protocol-version': version }
    const legacy = await post(url, rpc('tools/list'), { ...named, 'mcp-protocol-version': '2025-11-25' })
    expect(legacy.session).toBe(session)
    const modern = await post(url, isModernBody ? body : rpc('tools/list'), { ...headers, ...named })
    expect(modern.session).toBeNull()
  })

  it('says where it listens, and answers only there', async () => {
    const { url } = await serve().http()
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
    expect((await post(url.replace('/mcp', '/other'), initialize())).status).toBe(404)
    const elsewhere = await serve().http({ path: '/tools/mcp' })
    expect(elsewhere.url).toMatch(/\/tools\/mcp$/)
    expect((await post(elsewhere.url, initialize())).status).toBe(200)
  })

  it('reports why it cannot listen', async () => {
    const { url } = await serve().http()
    const port = Number(new URL(url).port)
    await expect(serve().http({ port })).rejects.toMatchObject({
      code: 'mcp-listen',
      message: expect.stringMatching(/^The MCP server cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/) as string,
    })
  })

  it.each([
    ['a body that is no JSON', '{"jsonrpc":', {}, 400, -32700],
    ['an empty body', '', {}, 400, -32700],
    ['JSON that is not a message', '{"hello":1}', {}, 400, -32600],
    ['a number', '5', {}, 400, -32600],
    ['null', 'null', {}, 400, -32600],
    ['an empty batch', '[]', {}, 400, -32600],
    ['another content type', initialize(), { 'content-type': 'text/plain' }, 415, -32000],
    ['a client that takes no stream', initialize(), { accept: 'application/json' }, 406, -32000],
    ['a call without a session', rpc('tools/list'), {}, 400, -32000],
    ['a session that there is not', rpc('tools/list'), { 'mcp-session-id': 'none' }, 404, -32001],
  ])('refuses %s', async (_what, body, headers, status, code) => {
    const { url } = await serve().http()
    const answer = await post(url, body, headers)
    expect(answer.status).toBe(status)
    expect(answer.error?.message).toMatch(/\w/)
    expect(answer.error?.code).toBe(code)
    expect((await post(url, initialize())).status).toBe(200)
  })

  it.each(['//', '/mcp/', '/%', '*', '/../mcp'])('handles the path %s', async (path) => {
    const { url } = await serve().http()
    const { hostname, port } = new URL(url)
    const status = await new Promise((resolve, reject) => {
      const request = httpRequest({ hostname, port, path, method: 'POST', headers: HEADERS }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      request.on('error', reject)
      request.end(initialize())
    })
    expect(status).toBe(404)
    expect((await post(`${url}?key=1`, initialize())).status).toBe(200)
  })

  const authorize = () => ({ principal: 'anna' })
  it.each([
    ['a method that the Fetch API forbids', 'TRACE', 'localhost', {}, 405],
    ['a host that is not a name', 'POST', 'a b<>', {}, 200],
    // The hook gets a request of the Fetch API.
    ['a method that no hook can see', 'TRACE', 'localhost', { authorize }, 400],
    ['a host that no hook can see', 'POST', 'a b<>', { authorize }, 400],
  ])('answers a request with %s, and keeps running', async (_what, method, host, options, expected) => {
    const served = serve(options)
    const server = createServer((request, response) => void served.handle(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    open.push({ close: async () => void server.close() })
    const { port } = server.address() as AddressInfo
    const status = await new Promise((resolve, reject) => {
      const request = httpRequest({ port, path: '/', method, headers: { ...HEADERS, host } }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      request.on('error', reject)
      request.end(method === 'POST' ? initialize() : undefined)
    })
    expect(status).toBe(expected)
    expect((await post(`http://127.0.0.1:${port}/`, initialize())).status).toBe(200)
  })

  it('answers with an error when the options fail, and keeps running', async () => {
    const errors: Error[] = []
    let fails = true
    const { url } = await serve({
      onError: (error) => errors.push(error),
      session({ era }) {
        if (fails && era === 'legacy') throw new Error('no room')
        return createSession({ slices: [visits] })
      },
    }).http()
    const answer = await post(url, initialize())
    expect(answer.status).toBe(500)
    expect(answer.error).toEqual({ code: -32603, message: 'Internal server error' })
    expect(errors.map(({ message }) => message)).toContain('no room')
    fails = false
    expect((await post(url, initialize())).status).toBe(200)
  })

  it('reports at once what fails for everyone, and can be retried', async () => {
    let fails = true
    const served = serve({
      session() {
        if (fails) throw new Error('no room')
        return createSession({ slices: [visits] })
      },
    })
    await expect(served.http()).rejects.toThrow('no room')
    fails = false
    expect((await post((await served.http()).url, initialize())).status).toBe(200)
  })

  it('rejects a client that says too much about itself', async () => {
    const { url } = await serve().http()
    const clientInfo = { name: 'raw', version: '1' }
    const begin = (capabilities: string, protocolVersion = '2025-11-25'): Promise<Sent> =>
      post(url, rpc('initialize', { protocolVersion, clientInfo }).replace('}}}', `},"capabilities":${capabilities}}}`))
    const long = `{"experimental":{"a":{"b":"${'x'.repeat(70_000)}"}}}`
    const deep = `{"experimental":{"a":${'{"b":'.repeat(5_000)}1${'}'.repeat(5_000)}}}`
    for (const version of ['2025-11-25', '1999-01-01'])
      for (const capabilities of [long, deep]) expect((await begin(capabilities, version)).status).toBe(413)
    expect((await begin('{"experimental":{"a":{"b":"x"}}}')).status).toBe(200)
  })

  it('rejects other HTTP methods', async () => {
    const { url } = await serve().http()
    expect((await send(url, { method: 'PUT', headers: HEADERS, body: '{}' })).status).toBe(405)
    expect((await send(url, { method: 'GET', headers: HEADERS })).status).toBe(400)
    expect((await send(url, { method: 'DELETE', headers: HEADERS })).status).toBe(400)
  })

  it('rejects a request that is too long, with or without a content length', async () => {
    const { url } = await serve({ maxBodyBytes: 1_000 }).http()
    const long = rpc('initialize', { padding: 'x'.repeat(2_000) })
    expect((await post(url, long)).status).toBe(413)
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(long))
        controller.close()
      },
    })
    const chunked = { method: 'POST', headers: HEADERS, body: stream, duplex: 'half' }
    expect((await send(url, chunked as RequestInit)).status).toBe(413)
    expect((await post(url, initialize())).status).toBe(200)
  })

  it('rejects requests from web pages of other origins, and DNS rebinding', async () => {
    const { url } = await serve().http()
    expect((await post(url, initialize(), { origin: 'https://evil.example' })).status).toBe(403)
    expect((await post(url, initialize(), { origin: 'null' })).status).toBe(403)
    expect((await post(url, initialize(), { origin: 'http://localhost:6274' })).status).toBe(200)
    expect(await statusWithHost(url, 'evil.example')).toBe(403)
    expect(await statusWithHost(url, 'localhost')).toBe(200)
    const named = await serve().http({ allowedHosts: ['tools.example'], allowedOrigins: ['chat.example'] })
    expect(await statusWithHost(named.url, 'tools.example:80')).toBe(200)
    expect(await statusWithHost(named.url, 'localhost')).toBe(403)
  })

  it.each(['localhost/evil', 'localhost?x', 'localhost#x', 'user@localhost', 'localhost:80:80', '[::1', 'local host'])(
    'rejects the invalid host %j, whichever hosts are allowed',
    async (host) => {
      for (const options of [{}, { allowedHosts: ['*'] }]) {
        const { url } = await serve().http(options)
        expect(await sendRaw(url, [`Host: ${host}`])).toMatch(/^HTTP\/1\.1 400 /)
      }
    },
  )

  it('rejects a request with two hosts', async () => {
    const { url } = await serve().http()
    const { host } = new URL(url)
    expect(await sendRaw(url, [`Host: ${host}`])).toMatch(/^HTTP\/1\.1 200 /)
    for (const hosts of [
      [host, 'evil.example'],
      ['evil.example', host],
      [host, host],
    ]) {
      const answer = await sendRaw(url, [`Host: ${hosts[0]}`, `hOST: ${hosts[1]}`])
      expect(answer).toMatch(/^HTTP\/1\.1 400 /)
      expect(answer).toContain('Bad Request: the Host header must name one host.')
    }
  })

  it('does not report requests that their clients broke off or got wrong', async () => {
    const errors: unknown[] = []
    const { url } = await serve({ onError: (error) => errors.push(error) }).http()
    const { port, host } = new URL(url)
    for (let i = 0; i < 3; i++) {
      const socket = connectSocket(Number(port), '127.0.0.1')
      const head = ['POST /mcp HTTP/1.1', `Host: ${host}`, 'Content-Type: application/json', 'Content-Length: 1000']
      await new Promise<void>((resolve) => socket.write(`${head.join('\r\n')}\r\n\r\n{"half": `, () => resolve()))
      socket.destroy()
    }
    expect(await sendRaw(url, [`Host: ${host}`], 'TRACE')).toMatch(/^HTTP\/1\.1 405 /)
    expect((await post(url, initialize())).status).toBe(200)
    expect(errors).toEqual([])
  })

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('speaks %s', async (version) => {
    const { url } = await serve().http()
    expect((await post(url, initialize(version))).text).toContain(`"protocolVersion":"${version}"`)
  })

  it('answers an unknown version with its newest version with sessions', async () => {
    const { url } = await serve().http()
    expect((await post(url, initialize('2027-01-01'))).text).toContain('"protocolVersion":"2025-11-25"')
  })

  it('keeps a session until the client ends it', async () => {
    const { url } = await serve().http()
    const [one, other] = [await beginSession(url), await beginSession(url)]
    expect((await callVisits(url, one)).text).toContain('Visit 1.')
    expect((await callVisits(url, one)).text).toContain('Visit 2.')
    expect((await callVisits(url, other)).text).toContain('Visit 1.')
    expect((await send(url, { method: 'DELETE', headers: { 'mcp-session-id': one } })).status).toBe(200)
    expect((await callVisits(url, one)).status).toBe(404)
    expect((await callVisits(url, other)).text).toContain('Visit 2.')
  })

  it('ends an idle session, but not one with an open stream', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const { url } = await serve({ sessions: { idleMs: 400 } }).http()
    const [idle, listening] = [await beginSession(url), await beginSession(url)]
    const stop = new AbortController()
    const stream = await fetch(url, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': listening },
      signal: stop.signal,
    })
    expect(stream.status).toBe(200)
    await vi.advanceTimersByTimeAsync(1_200)
    expect((await callVisits(url, idle)).status).toBe(404)
    expect((await callVisits(url, listening)).status).toBe(200)
    stop.abort()
    await expect
      .poll(async () => (await vi.advanceTimersByTimeAsync(1_200), callVisits(url, listening)))
      .toMatchObject({ status: 404 })
  })

  it('lets a client reopen its stream right after it was cut', async () => {
    const { url } = await serve().http()
    const session = await beginSession(url)
    const headers = { accept: 'text/event-stream', 'mcp-session-id': session }
    for (let i = 0; i < 3; i++) {
      await expect
        .poll(async () => {
          const cut = new AbortController()
          const { status } = await fetch(url, { headers, signal: cut.signal })
          cut.abort()
          return status
        })
        .toBe(200)
    }
  })

  it('rejects a session if all are in use', async () => {
    const { url } = await serve({ sessions: { max: 1 } }).http()
    const session = await beginSession(url)
    const stop = new AbortController()
    await fetch(url, { headers: { accept: 'text/event-stream', 'mcp-session-id': session }, signal: stop.signal })
    const refused = await post(url, initialize())
    expect(refused.status).toBe(503)
    expect(refused.error?.message).toBe('This server has 1 open sessions, which is the maximum. Try again later.')
    stop.abort()
  })

  it('does not keep a session that its transport rejected', async () => {
    const { url } = await serve({ sessions: { max: 1 } }).http()
    const session = await beginSession(url)
    expect((await post(url, initialize(), { 'mcp-session-id': session })).status).toBe(400)
    expect((await callVisits(url, session)).status).toBe(200)
  })

  it('answers requests of 2026-07-28 without a session', async () => {
    const { url } = await serve().http()
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const modern = (method: string, params: object = {}, headers: Readonly<Record<string, string>> = {}) =>
      post(url, rpc(method, { ...params, _meta: meta }), {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...headers,
      })
    const list = await modern('tools/list')
    expect(list.session).toBeNull()
    expect(JSON.parse(list.text)).toMatchObject({ result: { resultType: 'complete', ttlMs: 60_000 } })
    expect((await modern('example/unknown')).status).toBe(404)
    const call = await modern('tools/call', { name: 'get_states' }, { 'mcp-name': 'get_states' })
    expect(JSON.parse(call.text)).toMatchObject({ result: { content: [{ type: 'text', text: 'All is off.' }] } })
  })

  it.each(allKinds)('serves a %s from your own HTTP server', async (kind) => {
    const served = serve()
    const server = createServer((request, response) => void served.handle(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    open.push({ close: async () => void server.close() })
    const { port } = server.address() as AddressInfo
    const client = await overHttp(`http://127.0.0.1:${port}/anything`, kind)
    open.push(client)
    expect(getText(await client.call('use_tool', { name: 'get_states' }))).toBe('All is off.')
  })

  it('answers requests of the Fetch API', async () => {
    const served = serve()
    const response = await served.fetch(
      new Request('https://tools.example/mcp', { method: 'POST', headers: HEADERS, body: initialize() }),
    )
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('"serverInfo":{"name":"home","version":"1.0.0"}')
  })
})

/** Sends a request with exactly these headers about its host. Returns the answer. */
function sendRaw(url: string, hosts: readonly string[], method = 'POST'): Promise<string> {
  const body = method === 'POST' ? initialize() : ''
  const headers = [...Object.entries(HEADERS).map((pair) => pair.join(': ')), `Content-Length: ${body.length}`]
  return new Promise((resolve, reject) => {
    const socket = connectSocket(Number(new URL(url).port), '127.0.0.1')
    let answer = ''
    socket.on('data', (data) => (answer += data.toString()))
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
    socket.write([`${method} /mcp HTTP/1.1`, ...hosts, ...headers, 'Connection: close', '', body].join('\r\n'))
  })
}

/** `fetch` does not allow a false Host header. */
function statusWithHost(url: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: 'POST', headers: { ...HEADERS, host } }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('error', reject)
    request.end(initialize())
  })
}
