import { mkdtempSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { CallResult } from 'foldout/catalog'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../../remove-folder.fixtures.ts'
import type { ServerDefinition } from '../../config/definition.ts'
import { createGateway, type Gateway } from '../../gateway.ts'
import { beginEvents, SessionServer, type Exchange } from './server.fixtures.ts'
import { takeTurns } from '../../../../../../test/turns.ts'

let folder: string
let closing: (() => Promise<unknown>)[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-http-'))
  closing = []
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
  await removeFolder(folder)
})

async function start(answers?: SessionServer['answers']): Promise<SessionServer> {
  const server = await new SessionServer(answers).start()
  closing.push(() => server.stop())
  return server
}

async function create(url: string, more: ServerDefinition = {}): Promise<Gateway> {
  const definition = { mcpServers: { a: { url, ...more } }, expose: 'all' } as const
  const gateway = await createGateway(definition, { cache: join(folder, 'cache') })
  closing.push(() => gateway.close())
  await gateway.ready()
  return gateway
}

async function connect(gateway: Gateway): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL((await gateway.http()).url)))
  closing.push(() => client.close())
  return client
}

async function call(gateway: Gateway, tool: string): Promise<string> {
  return getText(await (await gateway.getCatalog()).call(tool, {}))
}

function getText({ content }: Pick<CallResult, 'content'>): string {
  return content.map((piece) => String(piece['text'])).join('\n')
}

/** A server of the oldest protocol over HTTP: all answers are on one stream, which ends when a tool is called. */
function createStreamServer(refusal = 404): Server {
  const info = { name: 'a', version: '1' }
  const results: Readonly<Record<string, object>> = {
    initialize: { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: info },
    'tools/list': { tools: [{ name: 'slow', description: 'Waits.', inputSchema: { type: 'object' } }] },
  }
  let stream: ServerResponse | undefined
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'GET') {
      stream = response
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      return void response.write('event: endpoint\ndata: /message\n\n')
    }
    if (request.url !== '/message') return void response.writeHead(refusal).end('Cannot POST')
    let body = ''
    for await (const chunk of request) body += String(chunk)
    response.writeHead(202).end()
    const { id, method } = JSON.parse(body) as { readonly id?: number; readonly method: string }
    if (method === 'tools/call') setTimeout(() => stream?.destroy(), 50)
    if (id === undefined || method === 'tools/call') return
    const result = results[method]
    const outcome = result ? { result } : { error: { code: -32_601, message: 'Method not found' } }
    stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n\n`)
  }
  return createServer((request, response) => void answer(request, response))
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`
}

const LOST = "The connection to the server 'a' was lost during the call of 'slow'. It is unknown whether it has run."

describe('R54 a server over HTTP that forgets its session', () => {
  it.each([
    { status: 404, text: 'Session not found' },
    { status: 400, text: '{"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}' },
  ])('gets a new one, and the call is repeated: HTTP $status', async (unknown) => {
    const server = await start()
    server.unknown = unknown
    const gateway = await create(server.url)
    expect(await call(gateway, 'echo')).toBe('echo')
    server.sessions.clear()
    expect([await call(gateway, 'echo'), await call(gateway, 'echo')]).toEqual(['echo', 'echo'])
    expect(server.countOf('POST initialize')).toBe(2)
    expect(gateway.servers[0]?.state.type).toBe('running')
  })

  it('is told about subscriptions and the log level again', async () => {
    const server = await start()
    const client = await connect(await create(server.url))
    await client.subscribeResource({ uri: 'note://a' })
    await client.setLoggingLevel('warning')
    await vi.waitFor(() => expect(server.log).toContain('POST logging/setLevel'))
    server.sessions.clear()
    server.log.length = 0
    await client.readResource({ uri: 'note://a' }).catch(() => undefined)
    expect(server.log).toEqual(expect.arrayContaining(['POST resources/subscribe', 'POST logging/setLevel']))
    expect(server.countOf('POST resources/read')).toBe(2)
  })

  it('still answers the calls that it is running', async () => {
    let finish: (() => void) | undefined
    const server = await start({
      slow: ({ reply }) => void (finish = () => reply({ content: [{ type: 'text', text: 'slow' }] })),
    })
    const gateway = await create(server.url)
    const slow = call(gateway, 'slow')
    await vi.waitFor(() => expect(finish).toBeDefined())
    server.sessions.clear()
    expect(await call(gateway, 'echo')).toBe('echo')
    finish?.()
    expect(await slow).toBe('slow')
  })

  it('is asked only twice if it refuses the call in a new session too', async () => {
    const server = await start({ lost: ({ response }) => void response.writeHead(404).end('No such page.') })
    const gateway = await create(server.url)
    const text = "Tool 'lost' was not run: there is no connection to the server 'a'. HTTP 404 No such page."
    expect(await call(gateway, 'lost')).toBe(text)
    expect(server.countOf('POST tools/call')).toBe(2)
    expect(await call(gateway, 'echo')).toBe('echo')
  })
})

describe('R54 a server over HTTP that is restarted', () => {
  it('is reported while it is down, and used again when it is back', async () => {
    const server = await start()
    const gateway = await create(server.url)
    expect(await call(gateway, 'echo')).toBe('echo')
    await server.stop()
    // The gateway notices that its idle sockets are closed.
    await takeTurns()
    const { port } = new URL(server.url)
    const down = `Tool 'echo' was not run: the server 'a' cannot be started. connect ECONNREFUSED 127.0.0.1:${port} It will be retried in 1 s at the earliest.`
    expect(await call(gateway, 'echo')).toBe(down)
    expect(gateway.servers[0]?.state.type).toBe('failed')
    await server.start()
    await vi.waitFor(async () => expect(await call(gateway, 'echo')).toBe('echo'), { timeout: 10_000, interval: 200 })
  })
})

describe('R54 a call over HTTP whose stream ends', () => {
  const drop = ({ response }: Exchange): void => {
    beginEvents(response)
    setTimeout(() => response.destroy(), 50)
  }

  it('without an answer fails at once', async () => {
    const server = await start({ slow: drop })
    expect(await call(await create(server.url), 'slow')).toBe(LOST)
  })

  it('fails at once if the server dies', async () => {
    const server = await start({ slow: ({ response }) => void beginEvents(response) })
    const gateway = await create(server.url)
    const slow = call(gateway, 'slow')
    await vi.waitFor(() => expect(server.log).toContain('POST tools/call'))
    await takeTurns()
    await server.stop()
    expect(await slow).toBe(LOST)
  })

  it('fails at once for other requests too', async () => {
    const server = await start({ 'resources/read': drop })
    const client = await connect(await create(server.url))
    await expect(client.readResource({ uri: 'note://a' })).rejects.toThrow(
      'The connection to the server was lost during the request.',
    )
  })

  it('is resumed if the server gives its events ids', async () => {
    let id: unknown
    const server = await start({
      slow({ message, response }) {
        id = message.id
        beginEvents(response)(undefined, 'first')
        setTimeout(() => response.end(), 50)
      },
      'resume first'({ response }) {
        const content = [{ type: 'text', text: 'resumed' }]
        response.end(`id: second\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content } })}\n\n`)
      },
    })
    expect(await call(await create(server.url), 'slow')).toBe('resumed')
    expect(server.countOf('POST tools/call')).toBe(1)
  })

  it('fails at once on a server with one stream for all answers', async () => {
    const gateway = await create(await listen(createStreamServer()), { type: 'sse' })
    expect(await call(gateway, 'slow')).toBe(LOST)
  })
})

describe('R54 a server over HTTP whose type is not configured', () => {
  it.each([400, 404, 405])('may have the older transport, and answer requests with %s', async (refusal) => {
    const gateway = await create(await listen(createStreamServer(refusal)))
    expect(gateway.servers).toMatchObject([{ tools: 1, state: { type: 'running' } }])
  })

  it.each([
    [404, '<!DOCTYPE html>\n<html><head><title>Error</title></head><body><pre>Cannot POST /sse</pre></body></html>'],
    [400, 'Cannot POST\n/sse'],
    [500, 'Cannot POST /sse'],
  ])('is reported with its answer, %s', async (status, text) => {
    const methods = new Set<string | undefined>()
    const server = createServer((request, response) => {
      methods.add(request.method)
      response.writeHead(status).end(text)
    })
    const { servers } = await create(await listen(server))
    expect(servers[0]?.state).toMatchObject({
      type: 'failed',
      reason: `It answered with HTTP ${status}: Cannot POST /sse`,
    })
    expect(methods.has('GET')).toBe(status !== 500)
  })
})

describe('R54 a session over HTTP', () => {
  it('is ended with the gateway', async () => {
    const server = await start()
    const gateway = await create(server.url)
    await call(gateway, 'echo')
    await gateway.close()
    expect([...server.sessions]).toEqual([])
    expect(server.countOf('DELETE')).toBe(1)
  })

  it('is ended when the server is idle, and begun again', async () => {
    const server = await start()
    const gateway = await create(server.url, { idleSeconds: 1 })
    await call(gateway, 'echo')
    await vi.waitFor(() => expect(server.log).toContain('DELETE'), { timeout: 5_000 })
    expect(await call(gateway, 'echo')).toBe('echo')
    expect(server.countOf('POST initialize')).toBe(2)
  })

  it.each([
    ['refuses to end it', (_: string, response: ServerResponse) => void response.writeHead(405).end()],
    ['never answers', () => undefined],
  ])('does not keep the gateway from closing if the server %s', async (_, onDelete) => {
    const server = await start()
    server.onDelete = onDelete
    const gateway = await create(server.url)
    await call(gateway, 'echo')
    await gateway.close()
    expect(server.countOf('DELETE')).toBe(1)
  })
})

describe('R54 a server over HTTP that does not answer in its response', () => {
  const answerAnother = ({ response }: Exchange): void => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 'another', result: { content: [] } }))
  }
  const accept = ({ response }: Exchange): void => void response.writeHead(202).end()
  const NOBODY_KNOWS = 'It is unknown whether the request has had an effect.'

  it.each([
    ['accepts the call', accept, 'The server accepted the request and sent no answer (HTTP 202).'],
    ['answers another call', answerAnother, 'The server sent the answer to another request.'],
  ])('makes the call fail at once if it %s', async (_, odd, why) => {
    const server = new SessionServer({ odd })
    server.hasStreams = false
    await server.start()
    closing.push(() => server.stop())
    const gateway = await create(server.url)
    expect(await call(gateway, 'odd')).toBe(`The call of 'odd' on the server 'a' failed: ${why} ${NOBODY_KNOWS}`)
    expect(await call(gateway, 'echo')).toBe('echo')
  })

  it('may answer on its stream of events', async () => {
    const server = await start({
      odd({ message: { id }, response }) {
        accept({ response } as Exchange)
        const answer = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'later' }] } }
        for (const stream of server.streams) stream.write(`event: message\ndata: ${JSON.stringify(answer)}\n\n`)
      },
    })
    const gateway = await create(server.url)
    await vi.waitFor(() => expect(server.streams.size).toBe(1))
    expect(await call(gateway, 'odd')).toBe('later')
  })
})

describe('R54 a server over HTTP that asks endlessly', () => {
  const askOn = (stream: { write(text: string): void }, from: number, times: number): void => {
    for (let id = from; id < from + times; id++) {
      const question = { jsonrpc: '2.0', id, method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }
      stream.write(`event: message\ndata: ${JSON.stringify(question)}\n\n`)
    }
  }

  it('gets a few answers at a time, and all of them', async () => {
    const server = await start()
    let open = 0
    let most = 0
    let taken = 0
    server.onAnswer = (response) => {
      most = Math.max(most, ++open)
      setTimeout(() => {
        open--
        taken++
        response.writeHead(202).end()
      }, 5)
    }
    const gateway = await create(server.url)
    await connect(gateway)
    const [stream] = await vi.waitFor(() => {
      expect(server.streams.size).toBe(1)
      return [...server.streams]
    })
    if (stream) askOn(stream, 0, 500)
    await vi.waitFor(() => expect(taken).toBe(500), { timeout: 10_000 })
    expect(most).toBeLessThanOrEqual(16)
  })

  it('loses its connection if it does not take the answers', async () => {
    const server = await start()
    server.onAnswer = () => undefined
    const gateway = await create(server.url)
    await connect(gateway)
    const [stream] = await vi.waitFor(() => {
      expect(server.streams.size).toBe(1)
      return [...server.streams]
    })
    if (stream) askOn(stream, 0, 12_000)
    await vi.waitFor(() => expect(gateway.servers[0]?.state.type).not.toBe('running'), { timeout: 20_000 })
    await vi.waitFor(async () => expect(await call(gateway, 'echo')).toBe('echo'), { timeout: 10_000 })
  }, 40_000)
})
