import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { HEARTBEAT_MS, MAX_PAGES, MAX_REQUEST_BYTES, MAX_WAITING_BYTES } from './limits.ts'
import type { ServerEvent } from '../protocol/protocol.ts'
import { findRefusal, PAGE_HEADERS, readPath } from './guard.ts'
import { getErrorMessage } from '../../shared/errors.ts'

export interface PageServerOptions {
  /** Default: any free port. */
  readonly port?: number | undefined
  /** What a page gets when it connects. */
  getHello(): ServerEvent
  /** Answers an action. The page shows the message of an error it throws. */
  act(name: string, body: unknown): Promise<unknown>
  /** Answers requests of MCP clients, at `mcp`. */
  readonly mcp?: AnswerMcp | undefined
  /** Files that are made when they are asked for. */
  download(path: string, assets: Assets): Promise<Download | undefined>
}

export type AnswerMcp = (request: IncomingMessage, response: ServerResponse) => Promise<void>

export interface Asset {
  readonly type: string
  readonly bytes: Buffer
}

/** The files of the page, by name. */
export type Assets = ReadonlyMap<string, Asset>

/** A file that is made while it is sent. */
export interface Download {
  readonly name: string
  readonly type: string
  readonly parts: AsyncIterable<string>
}

export interface PageServer {
  /** The URL, with the required token. */
  readonly url: string
  tell(event: ServerEvent): void
  close(): Promise<void>
}

/** Serves the page on loopback. Every request needs the token, which only this process and its user know. */
export async function listenForPages(options: PageServerOptions): Promise<PageServer> {
  const token = randomBytes(24).toString('base64url')
  const assets = await readAssets()
  const followers = createFollowers()
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refusal = findRefusal(request)
    if (refusal) return send(response, refusal.status, toText(refusal.message))
    const path = readPath(request.url ?? '/', token)
    if (path === undefined) return send(response, 404, toText('Open the URL that foldout printed, with its token.'))
    if (path === 'mcp' && options.mcp) return options.mcp(request, response)
    if (request.method === 'POST' && path.startsWith('api/'))
      return act(request, response, (body) => options.act(path.slice('api/'.length), body))
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, 405, toText('Use GET or POST.'))
    if (path === 'api/events') {
      response.writeHead(200, { ...PAGE_HEADERS, 'content-type': 'text/event-stream' })
      if (!followers.add(response, options.getHello())) response.end()
      return
    }
    const asset = assets.get(path === '' ? 'index.html' : path)
    if (asset) return send(response, 200, asset)
    const file = await options.download(path, assets)
    if (!file) return send(response, 404, toText('There is nothing here.'))
    await sendFile(response, file)
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  const { port } = await listen(server, options.port ?? 0)
  return {
    url: `http://127.0.0.1:${port}/${token}/`,
    tell: (event) => followers.tell(event),
    close: () =>
      new Promise((resolve) => {
        followers.close()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function listen(server: Server, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server.address() as AddressInfo))
  })
}

async function act(
  request: IncomingMessage,
  response: ServerResponse,
  run: (body: unknown) => Promise<unknown>,
): Promise<void> {
  // Another page's form cannot send this type without a preflight request.
  if (!/^application\/(x-nd)?json\b/.test(request.headers['content-type'] ?? ''))
    return send(response, 415, toText('Send JSON.'))
  const text = await readBody(request)
  if (text === undefined) return send(response, 413, toJson({ error: 'The request is too long.' }))
  try {
    const body: unknown = JSON.parse(text)
    send(response, 200, toJson(await run(body)))
  } catch (error) {
    send(response, 400, toJson({ error: getErrorMessage(error) }))
  }
}

/** The body of a request; undefined if it is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= MAX_REQUEST_BYTES) chunks.push(chunk)
  }
  if (size > MAX_REQUEST_BYTES) return undefined
  return Buffer.concat(chunks).toString('utf8')
}

function send(response: ServerResponse, status: number, { type, bytes }: Asset): void {
  response.writeHead(status, { ...PAGE_HEADERS, 'content-type': type, 'content-length': bytes.length })
  response.end(bytes)
}

/** Sends a file as fast as it is taken. If it cannot be made, the browser is told by the broken connection. */
async function sendFile(response: ServerResponse, { name, type, parts }: Download): Promise<void> {
  const disposition = `attachment; filename="${name}"`
  response.writeHead(200, { ...PAGE_HEADERS, 'content-disposition': disposition, 'content-type': type })
  await pipeline(Readable.from(parts), response)
}

function toText(text: string): Asset {
  return { type: 'text/plain; charset=utf-8', bytes: Buffer.from(`${text}\n`) }
}

function toJson(value: unknown): Asset {
  return { type: 'application/json', bytes: Buffer.from(JSON.stringify(value ?? null)) }
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** The files of the built page, by name. Nothing else is ever read from the disk for a request. */
async function readAssets(): Promise<Assets> {
  const folder = findFolder()
  const names = await readdir(folder)
  const assets = await Promise.all(
    names.map(async (name): Promise<[string, Asset]> => {
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
      return [name, { type, bytes: await readFile(join(folder, name)) }]
    }),
  )
  return new Map(assets)
}

/** Beside the program, or in `dist` if this runs from the sources. */
function findFolder(): string {
  const places = ['./page/', '../../../dist/page/'].map((place) => fileURLToPath(new URL(place, import.meta.url)))
  const found = places.find((place) => existsSync(join(place, 'index.html')))
  if (found === undefined) throw new Error("The inspector's page is not built. Run: npm run build")
  return found
}

/** The connected pages, over server-sent events. */
interface Followers {
  /** Adds a page; false if there are too many. */
  add(response: ServerResponse, first: ServerEvent): boolean
  tell(event: ServerEvent): void
  close(): void
}

function createFollowers(): Followers {
  const responses = new Set<ServerResponse>()
  const send = (response: ServerResponse, text: string): void => {
    response.write(text)
    // A page that does not read must not fill the memory. It reconnects and gets the state at that time.
    if (response.writableLength > MAX_WAITING_BYTES) response.destroy()
  }
  const heartbeat = setInterval(() => {
    for (const response of responses) send(response, ': here\n\n')
  }, HEARTBEAT_MS)
  heartbeat.unref()
  return {
    add(response, first) {
      if (responses.size >= MAX_PAGES) return false
      responses.add(response)
      response.on('close', () => responses.delete(response))
      response.on('error', () => responses.delete(response))
      send(response, formatEvent(first))
      return true
    },
    tell(event) {
      const text = formatEvent(event)
      for (const response of responses) send(response, text)
    },
    close() {
      clearInterval(heartbeat)
      for (const response of responses) response.end()
      responses.clear()
    },
  }
}

/** JSON has no line breaks outside of strings, and escapes those inside, so that one event is one line. */
function formatEvent(event: ServerEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`
}
