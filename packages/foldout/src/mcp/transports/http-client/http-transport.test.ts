import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, Server, type McpHttpHandler } from '@modelcontextprotocol/server'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { RawTool, ToolProgress } from '../../../catalog/tool.ts'
import { connectToMcp, type ConnectToMcpOptions } from '../../client/connect.ts'
import type { McpSession } from '../../client/session.ts'
import { toolsFromMcp, type ToolsFromMcpOptions } from '../../tools-from/tools-from-mcp.ts'
import { createHttpTransport } from './http-transport.ts'
import type { HttpTransportOptions, McpLoss } from './requests.ts'
import { answerJson, beginEvents, createReceiver, listen, toEvent, type Answer } from './server.fixtures.ts'

const APP = { name: 'app', version: '1.0.0' }
const SESSION = { 'mcp-session-id': 's1' }
const INITIALIZED = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'far', version: '1' } }

/** A legacy server with sessions, and one method. */
const legacy =
  (ask: Answer): Answer =>
  (heard, response) => {
    const { method, message } = heard
    if (method === 'DELETE') return void response.writeHead(200).end()
    if (method === 'GET') return void response.writeHead(405).end()
    const result = (body: unknown): void =>
      answerJson(response, { jsonrpc: '2.0', id: message?.['id'], result: body }, SESSION)
    if (message?.['method'] === 'initialize') return result(INITIALIZED)
    if (message?.['method'] !== 'ask') return void response.writeHead(202).end()
    ask(heard, response)
  }

async function connect(answer: Answer, options: HttpTransportOptions = {}, more: Partial<ConnectToMcpOptions> = {}) {
  const server = await listen(answer)
  const losses: McpLoss[] = []
  const transport = createHttpTransport(server.url, { onLost: (loss) => losses.push(loss), ...options })
  const session = await connectToMcp(transport, { ...APP, era: 'legacy', ...more })
  onTestFinished(() => session.close())
  const posts = (): readonly unknown[] => server.heard.map(({ method, message }) => message?.['method'] ?? method)
  return { ...server, session, losses, posts }
}

describe('a legacy session over HTTP', () => {
  it('sends its version and its session with everything, and ends the session', async () => {
    const { session, heard, posts } = await connect(
      legacy(({ message }, response) =>
        answerJson(response, { jsonrpc: '2.0', id: message?.['id'], result: { a: 1 } }),
      ),
      { headers: { 'x-api-key': 'secret' } },
    )
    expect(await session.request('ask')).toEqual({ a: 1 })
    await vi.waitFor(() => expect(posts()).toContain('GET'))
    await session.close()
    expect(new Set(posts())).toEqual(new Set(['DELETE', 'GET', 'ask', 'initialize', 'notifications/initialized']))
    for (const { headers, message } of heard) {
      expect(headers['x-api-key']).toBe('secret')
      const isFirst = message?.['method'] === 'initialize'
      expect([headers['mcp-session-id'], headers['mcp-protocol-version']]).toEqual(
        isFirst ? [undefined, undefined] : ['s1', '2025-11-25'],
      )
    }
  })

  it('hears what the server sends outside of answers, also after the stream was cut', async () => {
    let streams = 0
    const asked: unknown[] = []
    const heardBySession: unknown[] = []
    const answer = legacy(() => undefined)
    const { heard } = await connect(
      (one, response) => {
        if (one.method !== 'GET') return answer(one, response)
        const number = ++streams
        const note = { jsonrpc: '2.0', method: 'notifications/note', params: { number } }
        beginEvents(response).write(`id: ${number}\nretry: 10\n${toEvent(note)}`)
        if (number === 1) response.end(toEvent({ jsonrpc: '2.0', id: 'q1', method: 'minds/open', params: { a: 1 } }))
      },
      {},
      {
        onNotification: (_, params) => heardBySession.push(params),
        async onRequest(method, params) {
          asked.push([method, params])
          return { open: true }
        },
      },
    )
    await vi.waitFor(() => expect(heardBySession).toEqual([{ number: 1 }, { number: 2 }]))
    expect(asked).toEqual([['minds/open', { a: 1 }]])
    await vi.waitFor(() =>
      expect(heard.find(({ message }) => message?.['id'] === 'q1')?.message).toMatchObject({ result: { open: true } }),
    )
    expect(heard.filter(({ method }) => method === 'GET').map(({ headers }) => headers['last-event-id'])).toEqual([
      undefined,
      '1',
    ])
  })

  it('gets an answer that is an error of the protocol, whatever its status', async () => {
    const { session } = await connect(
      legacy(({ message }, response) =>
        response.writeHead(400).end(
          JSON.stringify({
            jsonrpc: '2.0',
            id: message?.['id'],
            error: { code: -32_099, message: 'No.', data: [1] },
          }),
        ),
      ),
    )
    await expect(session.request('ask')).rejects.toMatchObject({ code: -32_099, message: 'No.', data: [1] })
  })

  it.each<[string, Answer, string]>([
    [
      'HTML',
      (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hi'),
      'content type text/html',
    ],
    [
      'JSON that is none',
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a"'),
      'JSON',
    ],
    ['an error', (_, response) => response.writeHead(503).end('Busy.'), 'It answered with HTTP 503: Busy.'],
    [
      'a redirect to another server',
      (_, response) => response.writeHead(307, { location: 'https://evil.example/mcp?a=1' }).end(),
      'It redirects to https://evil.example/mcp, which was not followed.',
    ],
    [
      'a redirect that changes the request',
      (_, response) => response.writeHead(302, { location: '/other' }).end(),
      'which was not followed',
    ],
    [
      'events that are no messages',
      (_, response) => beginEvents(response).end('data: hello\n\ndata: 5\n\n'),
      'Connection closed',
    ],
    ['no body', (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(), 'JSON'],
  ])('fails a request that is answered with %s', async (_what, ask, text) => {
    const { session } = await connect(legacy(ask))
    await expect(session.request('ask')).rejects.toThrow(text)
  })

  it('follows a redirect within the server', async () => {
    const server = await listen(({ message }, response) => {
      const isOld = response.req.url === '/mcp'
      if (isOld) response.writeHead(308, { location: '/moved' }).end()
      else
        legacy((_, sent) => answerJson(sent, { jsonrpc: '2.0', id: message?.['id'], result: {} }))(
          { method: 'POST', headers: {}, message },
          response,
        )
    })
    const session = await connectToMcp(createHttpTransport(server.url), { ...APP, era: 'legacy' })
    expect(await session.request('ask')).toEqual({})
    await session.close()
  })

  it('reads answers in lists, and other messages next to them', async () => {
    const notes: unknown[] = []
    const { session } = await connect(
      legacy(({ message }, response) =>
        answerJson(response, [
          { jsonrpc: '2.0', method: 'notifications/note', params: { a: 1 } },
          null,
          { jsonrpc: '2.0', id: String(message?.['id']), result: { b: 2 } },
        ]),
      ),
      {},
      { onNotification: (_, params) => notes.push(params) },
    )
    expect(await session.request('ask')).toEqual({ b: 2 })
    expect(notes).toEqual([{ a: 1 }])
  })

  it('does not wait for a body that never ends after a notification', async () => {
    const answer = legacy(() => undefined)
    const { session } = await connect((heard, response) => {
      if (heard.message?.['method'] !== 'notifications/initialized') return answer(heard, response)
      beginEvents(response).write(': nothing\n\n')
    })
    expect(session.isConnected).toBe(true)
  })

  it('asks for a token with each request, and once more after a refusal', async () => {
    let token = 'old'
    const onUnauthorized = vi.fn(async () => void (token = 'new'))
    const answer = legacy(({ message }, response) =>
      answerJson(response, { jsonrpc: '2.0', id: message?.['id'], result: {} }),
    )
    const { session, heard } = await connect(
      (one, response) => {
        if (one.headers.authorization === 'Bearer new') return answer(one, response)
        response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
      },
      { authorization: { token: async () => token, onUnauthorized } },
    )
    expect(await session.request('ask')).toEqual({})
    expect(onUnauthorized).toHaveBeenCalledTimes(1)
    expect(heard[0]?.headers.authorization).toBe('Bearer old')
    const failing = connect(answer, { authorization: { token: () => Promise.reject(new Error('Sign in first.')) } })
    await expect(failing).rejects.toThrow('Sign in first.')
  })

  it('says that a request has not been sent if there is no server, and that the server is down', async () => {
    const gone = createServer()
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve))
    const { port } = gone.address() as AddressInfo
    await new Promise((resolve) => gone.close(resolve))
    const losses: McpLoss[] = []
    const transport = createHttpTransport(`http://127.0.0.1:${port}/`, { onLost: (loss) => losses.push(loss) })
    await transport.start(createReceiver())
    await expect(transport.send({ jsonrpc: '2.0', id: 1, method: 'a' })).rejects.toMatchObject({
      code: 'NOT_CONNECTED',
    })
    expect(losses).toEqual([{ reason: expect.stringContaining('ECONNREFUSED') as string, isDown: true }])
    await transport.close()
    await expect(transport.send({ jsonrpc: '2.0', id: 1, method: 'a' })).rejects.toMatchObject({
      code: 'NOT_CONNECTED',
    })
  })

  it('fails everything that waits when it is closed', async () => {
    const { session } = await connect(legacy(() => undefined))
    const waiting = session.request('ask')
    await session.close()
    await expect(waiting).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
    await session.closed
  })

  it('survives a server that sends its headers slowly, and fails in time', async () => {
    const { session } = await connect(legacy(() => undefined))
    await expect(session.request('ask', {}, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' })
    expect(session.isConnected).toBe(true)
  })
})

const properties = { region: { type: 'string', 'x-mcp-header': 'Region' }, days: { type: 'integer' } }

describe('the official server over HTTP, in MCP 2026-07-28', () => {
  async function open(options: ToolsFromMcpOptions = {}) {
    const requests: Request[] = []
    const definitions: object[] = [{ name: 'forecast', inputSchema: { type: 'object', properties } }]
    const aborted = vi.fn()
    const handler: McpHttpHandler = createMcpHandler(() => {
      const server = new Server(
        { name: 'weather-server', version: '1' },
        { capabilities: { tools: { listChanged: true } } },
      )
      server.setRequestHandler('tools/list', () => ({ tools: definitions as never }))
      server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
        if (params.arguments?.['days'] === 99) {
          await new Promise<void>((resolve) => mcpReq.signal.addEventListener('abort', () => resolve()))
          aborted()
        }
        const { progressToken } = mcpReq['_meta'] ?? {}
        for (const progress of [1, 2])
          await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: progressToken!, progress } })
        return { content: [{ type: 'text', text: JSON.stringify(params.arguments) }], structuredContent: [1, 2] }
      })
      return server
    })
    const transport = createHttpTransport('http://127.0.0.1/mcp', {
      fetch: async (url, init) => {
        const request = new Request(url, init)
        requests.push(request.clone())
        return handler.fetch(request)
      },
    })
    const session: McpSession = await connectToMcp(transport, APP)
    onTestFinished(async () => {
      await session.close()
      await handler.close()
    })
    expect(session.era).toBe('modern')
    const tools: readonly RawTool[] = await toolsFromMcp(session, options)
    return { session, tools, requests, definitions, aborted, handler }
  }

  it('R46 receives the headers that it requires, and answers in full, with progress', async () => {
    const { tools, requests } = await open()
    const seen: ToolProgress[] = []
    expect(tools[0]?.source).toBe('weather')
    const answer = await tools[0]!.call!({ region: 'Köln', days: 2 }, { onProgress: (progress) => seen.push(progress) })
    expect(answer).toMatchObject({ content: [{ text: '{"region":"Köln","days":2}' }], structuredContent: [1, 2] })
    expect(seen.map(({ progress }) => progress)).toEqual([1, 2])
    const { headers } = requests.at(-1)!
    expect(
      ['mcp-param-region', 'mcp-method', 'mcp-name', 'mcp-protocol-version'].map((name) => headers.get(name)),
    ).toEqual(['=?base64?S8O2bG4=?=', 'tools/call', 'forecast', '2026-07-28'])
  })

  it('R46 is notified of a cancelled call', async () => {
    const { tools, requests, aborted } = await open()
    const abort = new AbortController()
    const running = tools[0]!.call!({ days: 99 }, { signal: abort.signal })
    await vi.waitFor(() => expect(requests.at(-1)!.headers.get('mcp-method')).toBe('tools/call'))
    abort.abort(new Error('Enough.'))
    await expect(running).rejects.toThrow('Enough.')
    await vi.waitFor(() => expect(aborted).toHaveBeenCalledTimes(1))
  })

  it('R43 lists its valid tools beside invalid ones', async () => {
    const { session, definitions } = await open()
    definitions.push({ name: 'wrong', inputSchema: { type: 'string' } }, { name: 'bare' })
    expect((await toolsFromMcp(session)).map(({ name }) => name)).toEqual(['forecast', 'wrong', 'bare'])
  })

  it('R43 announces changes to subscribers', async () => {
    const changes: string[][] = []
    const { definitions, handler } = await open({ onChange: (tools) => changes.push(tools.map(({ name }) => name)) })
    definitions.push({ name: 'alerts', inputSchema: { type: 'object' } })
    handler.notify.toolsChanged()
    await vi.waitFor(() => expect(changes).toEqual([['forecast', 'alerts']]))
  })

  it('refuses what it does not know with its own error', async () => {
    const { session } = await open()
    await expect(session.request('minds/read')).rejects.toMatchObject({ code: -32_601 })
  })
})
