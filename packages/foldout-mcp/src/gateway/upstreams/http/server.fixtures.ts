import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A message that a server has received. */
export interface Heard {
  readonly id?: number | string
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: unknown
  readonly error?: unknown
}

export interface Exchange {
  readonly message: Heard
  readonly response: ServerResponse
  /** Answers with JSON. */
  reply(result: object): void
}

const CAPABILITIES = { tools: {}, resources: { subscribe: true }, logging: {} }

/** A legacy server over HTTP, with sessions that it can forget. Its tools are the keys of `answers`. */
export class SessionServer {
  readonly sessions = new Set<string>()
  /** The HTTP method and the method of every request, in order. */
  readonly log: string[] = []
  readonly heard: Heard[] = []
  readonly answers: Record<string, (exchange: Exchange) => void>
  /** The streams for events outside of answers. */
  readonly streams = new Set<ServerResponse>()
  /** How it answers a request for an unknown session. */
  unknown = { status: 404, text: 'Session not found' }
  /** How it answers a request to end a session. */
  onDelete = (_: string, response: ServerResponse): void => void response.writeHead(200).end()
  /** How it takes an answer to one of its own questions. */
  onAnswer = (response: ServerResponse): void => void response.writeHead(202).end()
  /** Whether it sends events outside of answers. */
  hasStreams = true
  #count = 0
  #server: Server | undefined
  #port = 0

  constructor(answers: SessionServer['answers'] = {}) {
    this.answers = { echo: ({ reply }) => reply({ content: [{ type: 'text', text: 'echo' }] }), ...answers }
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`
  }

  /** Listens, at the same port as before. */
  async start(): Promise<this> {
    const server = createServer((request, response) => void this.#answer(request, response))
    this.#server = server
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve))
    this.#port = (server.address() as AddressInfo).port
    return this
  }

  /** Ends like a killed process: all connections and sessions are lost. */
  async stop(): Promise<void> {
    this.sessions.clear()
    const server = this.#server
    this.#server = undefined
    if (!server) return
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }

  countOf(entry: string): number {
    return this.log.filter((one) => one === entry).length
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const message = (body === '' ? {} : JSON.parse(body)) as Heard
    this.log.push([request.method, message.method ?? []].flat().join(' '))
    this.heard.push(message)
    const reply = (result: object, headers: object = {}): void => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
    }
    const session = String(request.headers['mcp-session-id'])
    if (message.method === 'initialize') {
      const id = `session-${++this.#count}`
      this.sessions.add(id)
      const result = {
        protocolVersion: '2025-11-25',
        capabilities: CAPABILITIES,
        serverInfo: { name: 'a', version: '1' },
      }
      return reply(result, { 'mcp-session-id': id })
    }
    if (!this.sessions.has(session)) return void response.writeHead(this.unknown.status).end(this.unknown.text)
    if (request.method === 'DELETE') {
      this.sessions.delete(session)
      return this.onDelete(session, response)
    }
    if (request.method === 'GET' && !this.hasStreams) return void response.writeHead(405).end()
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      const last = request.headers['last-event-id']
      if (last === undefined) return void this.streams.add(response)
      return this.answers[`resume ${String(last)}`]?.({ message, response, reply })
    }
    if (message.id === undefined) return void response.writeHead(202).end()
    if (message.method === undefined) return this.onAnswer(response)
    this.#answerRequest({ message, response, reply })
  }

  #answerRequest(exchange: Exchange): void {
    const { message, reply } = exchange
    const { method, params } = message
    const tools = Object.keys(this.answers).map((name) => ({
      name,
      description: name,
      inputSchema: { type: 'object' },
    }))
    if (method === 'tools/list') return reply({ tools })
    if (method === 'resources/list') return reply({ resources: [{ uri: 'note://a', name: 'a' }] })
    if (method === 'resources/templates/list') return reply({ resourceTemplates: [] })
    const own = this.answers[method === 'tools/call' ? String(params?.['name']) : String(method)]
    if (own) own(exchange)
    else reply({})
  }
}

/** Begins a stream of events as an answer, and returns what writes an event. */
export function beginEvents(response: ServerResponse): (message: object | undefined, id?: string) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  return (message, id) => {
    const data = message ? JSON.stringify({ jsonrpc: '2.0', ...message }) : ''
    response.write(`${id === undefined ? '' : `id: ${id}\nretry: 10\n`}data: ${data}\n\n`)
  }
}
