import type { ChildProcess } from 'node:child_process'
import { Agent, get, request as startRequest, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'

/** A client that only sends and receives, so that the other side is what is measured. */
export interface RawClient {
  request(method: string, params: object): Promise<Answer>
  close(): void
}

export interface Answer {
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

const VERSION = '2025-06-18'
const INITIALIZE = { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: 'bench', version: '1' } }
const write = (method: string, params: object, id?: number): string =>
  JSON.stringify({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), method, params })

export async function connectOverStdio(child: ChildProcess): Promise<RawClient> {
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('The server has no standard streams.')
  stdin.on('error', () => undefined)
  const exchange = createExchange((text) => void stdin.write(`${text}\n`))
  // Some servers print notes there.
  createInterface({ input: stdout }).on('line', (line) => line.startsWith('{') && exchange.receive(line))
  child.once('exit', () => exchange.end())
  await exchange.open()
  return { request: exchange.request, close: () => stdin.end() }
}

/** The transport before streamable HTTP: requests are posted, and responses arrive as events of one stream. */
export async function connectOverSse(url: string): Promise<RawClient> {
  const agent = new Agent({ keepAlive: true })
  const stream = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: { accept: 'text/event-stream' } }, resolve).on('error', reject)
  })
  let target: URL | undefined
  const exchange = createExchange((text) => {
    const headers = { 'content-type': 'application/json' }
    const sent = startRequest(target ?? url, { method: 'POST', agent, headers }, (response) => response.resume())
    sent.on('error', () => exchange.end())
    sent.end(text)
  })
  const lines = createInterface({ input: stream })
  await new Promise<void>((resolve, reject) => {
    stream.once('close', () => {
      reject(new Error('The stream has ended.'))
      exchange.end()
    })
    lines.on('line', (line) => {
      if (!line.startsWith('data: ')) return
      const data = line.slice('data: '.length)
      if (target) return exchange.receive(data)
      target = new URL(data, url)
      resolve()
    })
  })
  await exchange.open()
  const close = (): void => {
    stream.destroy()
    agent.destroy()
  }
  return { request: exchange.request, close }
}

interface Exchange {
  readonly request: RawClient['request']
  open(): Promise<void>
  receive(text: string): void
  end(): void
}

/** Matches responses, which arrive in any order, to their requests. */
function createExchange(send: (text: string) => void): Exchange {
  const waiting = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>()
  let ids = 0
  const request: Exchange['request'] = (method, params) =>
    new Promise((resolve, reject) => {
      const id = ids++
      waiting.set(id, { resolve, reject })
      send(write(method, params, id))
    })
  return {
    request,
    async open() {
      await request('initialize', INITIALIZE)
      send(write('notifications/initialized', {}))
    },
    receive(text) {
      const { id, ...answer } = JSON.parse(text) as Answer & { readonly id: number }
      waiting.get(id)?.resolve(answer)
      waiting.delete(id)
    },
    end() {
      for (const { reject } of waiting.values()) reject(new Error('The server has ended.'))
    },
  }
}

interface Posted {
  readonly session: string
  readonly text: string
}

export async function connectOverHttp(url: string): Promise<RawClient> {
  const agent = new Agent({ keepAlive: true })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  let session = ''
  let ids = 0
  const post = (body: string): Promise<Posted> =>
    new Promise((resolve, reject) => {
      const named = session === '' ? {} : { 'mcp-session-id': session }
      const version = ids > 1 ? { 'mcp-protocol-version': VERSION } : {}
      const options = { method: 'POST', agent, headers: { ...headers, ...named, ...version } }
      const sent = startRequest(url, options, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (text += chunk))
        response.on('end', () => resolve({ session: String(response.headers['mcp-session-id'] ?? ''), text }))
        response.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(body)
    })
  const request = async (method: string, params: object): Promise<Answer> =>
    readAnswer((await post(write(method, params, ids++))).text)
  const opened = await post(write('initialize', INITIALIZE, ids++))
  session = opened.session
  ids++
  await post(write('notifications/initialized', {}))
  return { request, close: () => agent.destroy() }
}

/** The last message of a response, which is JSON or a stream of events. */
function readAnswer(text: string): Answer {
  if (text.startsWith('{')) return JSON.parse(text) as Answer
  const data = text.split('\n').findLast((line) => line.startsWith('data: {'))
  if (data === undefined) throw new Error(`There is no answer in: ${text.slice(0, 200)}`)
  return JSON.parse(data.slice('data: '.length)) as Answer
}
