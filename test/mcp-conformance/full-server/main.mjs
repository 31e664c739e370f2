// A server on the official SDK with every feature of the protocol, under the names that the conformance suite expects.
// `node main.mjs [stdio|http] [both|legacy|modern]`; over HTTP it prints its URL.
import { createServer } from 'node:http'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  createMcpHandler,
  createRequestStateCodec,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createFullServer } from './server.mjs'

const [, , transport = 'stdio', era = 'both'] = process.argv

const codec = createRequestStateCodec({ key: new Uint8Array(32).fill(7) })
/** The open servers, which are notified of changes. */
const lasting = new Set()
let notifyListeners
const state = {
  codec,
  tools: new Set(),
  prompts: new Set(),
  /** Calls of `test_wait`, and how many of them were cancelled. */
  waits: 0,
  cancelled: 0,
  /** Of legacy clients. */
  subscriptions: 0,
  resources: new Set(),
  changed(kind) {
    notifyListeners?.(kind)
    for (const server of lasting) void server.announce(kind).catch(() => undefined)
  },
  updated(uri) {
    notifyListeners?.('updated', uri)
    for (const server of lasting) void server.update(uri).catch(() => undefined)
  },
}

const create = (isLasting) => {
  const full = createFullServer(state)
  if (isLasting) {
    lasting.add(full)
    const { onclose } = full.mcp.server
    Object.assign(full.mcp.server, {
      onclose() {
        lasting.delete(full)
        onclose?.()
      },
    })
  }
  return full.mcp
}

if (transport === 'stdio') {
  serveStdio(() => create(true), { legacy: era === 'modern' ? 'reject' : 'serve' })
} else {
  const handler = createMcpHandler(() => create(false), { legacy: 'reject' })
  notifyListeners = (kind, uri) => {
    if (kind === 'tools') handler.notify.toolsChanged()
    if (kind === 'prompts') handler.notify.promptsChanged()
    if (kind === 'resources') handler.notify.resourcesChanged()
    if (kind === 'updated') handler.notify.resourceUpdated(uri)
  }
  const sessions = new Map()

  const serveLegacy = async (request) => {
    const known = sessions.get(request.headers.get('mcp-session-id'))
    if (known) return known.handleRequest(request)
    if (request.headers.has('mcp-session-id')) return new Response('Session not found', { status: 404 })
    const session = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await create(true).connect(session)
    return session.handleRequest(request)
  }
  const answer = async (request) => {
    const refusal = hostHeaderValidationResponse(request, localhostAllowedHostnames())
    if (refusal) return refusal
    const isLegacy = era === 'legacy' || (era === 'both' && (await isLegacyRequest(request)))
    return isLegacy ? serveLegacy(request) : handler.fetch(request)
  }

  const handle = async (incoming, outgoing) => {
    try {
      const gone = new AbortController()
      outgoing.on('close', () => gone.abort())
      const hasBody = incoming.method === 'POST'
      const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
        method: incoming.method,
        headers: Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
        signal: gone.signal,
        ...(hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
      })
      const response = await answer(request)
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      outgoing.flushHeaders()
      if (response.body) for await (const chunk of response.body) outgoing.write(chunk)
      outgoing.end()
    } catch {
      outgoing.destroy()
    }
  }
  const http = createServer((incoming, outgoing) => void handle(incoming, outgoing))
  http.listen(0, '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`)
  })
  // It ends with the process that started it.
  process.stdin.resume()
  process.stdin.on('end', () => process.exit(0))
}
