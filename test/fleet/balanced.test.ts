import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client as ModernClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { query, startPostgres, type PostgresServer } from '../postgres/server.ts'
import { removeFolder } from '../remove-folder.ts'

const LONG = 120_000
const BIN = join(import.meta.dirname, '../../packages/foldout-mcp/bin/foldout.js')
const SERVER = join(import.meta.dirname, 'asking-server.mjs')
let server: PostgresServer
let url: string
let folder: string
let databases = 0
const closes: (() => unknown)[] = []

beforeAll(async () => {
  server = await startPostgres()
}, 300_000)
beforeEach(async () => {
  url = await server.createDatabase(`balanced_${++databases}`)
  folder = mkdtempSync(join(tmpdir(), 'foldout-balanced-'))
  const mcpServers = { lamps: { command: process.execPath, args: [SERVER] } }
  writeFileSync(join(folder, 'servers.json'), JSON.stringify({ mcpServers }))
}, LONG)
afterEach(async () => {
  for (const close of closes.splice(0).toReversed()) await close()
  await removeFolder(folder)
}, LONG)
afterAll(() => server.stop(), LONG)

interface TestGateway {
  readonly url: string
  readonly process: ChildProcess
}

/** A gateway in its own process. */
async function startGateway(...more: readonly string[]): Promise<TestGateway> {
  const config = join(folder, 'servers.json')
  const args = [BIN, 'serve', '--config', config, '--http', '0', '--store', url, '--no-encoder', ...more]
  const env = { ...process.env, HOME: folder, XDG_CACHE_HOME: folder, XDG_DATA_HOME: folder, FOLDOUT_STORE_KEY: '' }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  closes.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  let notes = ''
  for await (const chunk of child.stderr) {
    notes += String(chunk)
    const found = / at (http:\S+)/.exec(notes)?.[1]
    if (found === undefined) continue
    child.stderr.resume()
    return { url: found, process: child }
  }
  throw new Error(`The gateway did not start: ${notes}`)
}

interface Proxy {
  readonly url: string
  /** How many requests each target has received. */
  readonly counts: ReadonlyMap<string, number>
}

/** Sends each request to the next gateway that answers, regardless of its session. */
async function startProxy(targets: readonly string[]): Promise<Proxy> {
  const counts = new Map<string, number>()
  let turn = 0
  const pass = (incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse, attempts: number): void => {
    const target = new URL(targets[turn++ % targets.length] as string)
    const headers = { ...incoming.headers, host: target.host }
    const sent = httpRequest(target, { method: incoming.method, headers }, (answer) => {
      counts.set(target.href, (counts.get(target.href) ?? 0) + 1)
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
      answer.on('error', () => outgoing.destroy())
    })
    sent.on('error', () => {
      // No response: the gateway is gone, as a load balancer would notice.
      if (attempts > 1 && !outgoing.headersSent) pass(incoming, body, outgoing, attempts - 1)
      else outgoing.destroy()
    })
    outgoing.on('close', () => sent.destroy())
    sent.end(body)
  }
  const proxy = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => pass(incoming, Buffer.concat(chunks), outgoing, targets.length))
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  closes.push(() => {
    proxy.close()
    proxy.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`, counts }
}

interface AnyClient {
  list(): Promise<readonly string[]>
  call(name: string, args?: Record<string, unknown>, onprogress?: () => void): Promise<string>
  announced(): number
}

const BLUE = { action: 'accept' as const, content: { color: 'blue' } }
const getNames = ({ tools }: { tools: readonly { name: string }[] }): string[] => tools.map(({ name }) => name)
const getText = (result: object): string => (result as { content: { text: string }[] }).content[0]?.text ?? ''

const clients = {
  'v1 client': async (address: string): Promise<AnyClient> => {
    const client = new FirstClient({ name: 'first', version: '1' }, { capabilities: { elicitation: {} } })
    let announced = 0
    client.setRequestHandler(ElicitRequestSchema, async () => BLUE)
    client.fallbackNotificationHandler = async ({ method }) => {
      if (method === 'notifications/tools/list_changed') announced++
    }
    await client.connect(new FirstTransport(new URL(address)))
    closes.push(() => client.close())
    return {
      list: async () => getNames(await client.listTools()),
      call: async (name, args = {}, onprogress) =>
        getText(await client.callTool({ name, arguments: args }, undefined, onprogress ? { onprogress } : {})),
      announced: () => announced,
    }
  },
  'v2 client, legacy': (address: string) => connectSecond(address, 'legacy'),
  'v2 client, modern': (address: string) => connectSecond(address, 'auto'),
}

async function connectSecond(address: string, mode: 'legacy' | 'auto'): Promise<AnyClient> {
  const client = new ModernClient(
    { name: 'second', version: '2' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode } },
  )
  let announced = 0
  client.setRequestHandler('elicitation/create', () => BLUE)
  client.setNotificationHandler('notifications/tools/list_changed', () => void announced++)
  await client.connect(new StreamableHTTPClientTransport(new URL(address)))
  closes.push(() => client.close())
  return {
    list: async () => getNames(await client.listTools()),
    call: async (name, args = {}, onprogress) =>
      getText(await client.callTool({ name, arguments: args }, onprogress ? { onprogress } : {})),
    announced: () => announced,
  }
}

describe.each(['v1 client', 'v2 client, legacy', 'v2 client, modern'] as const)(
  'R65 two gateways behind a round robin, for a %s',
  { timeout: LONG },
  (kind) => {
    it('R65 serve a client like a single gateway, and lose nothing when one of them is killed', async () => {
      const gateways = await Promise.all([0, 1].map(() => startGateway('--expose', 'two-phase')))
      const proxy = await startProxy(gateways.map((gateway) => gateway.url))
      const client = await clients[kind](proxy.url)
      const isModern = kind === 'v2 client, modern'
      const first = await client.list()
      expect(first).toEqual(expect.arrayContaining(['search_tools', 'get_tool_definition', 'use_tool']))
      expect(await client.call('search_tools', { query: 'lamp of room 7' })).toContain('switch_lamp_7')
      expect(await client.call('use_tool', { name: 'switch_lamp_7', arguments: {} })).toBe('switch_lamp_7 is on')
      await client.call('get_tool_definition', { name: 'switch_lamp_8' })
      const grown = isModern ? first : [...first, 'switch_lamp_8']
      expect(client.announced() > 0).toBe(!isModern)
      for (let i = 0; i < 4; i++) expect(await client.list()).toEqual(grown)
      // A modern client answers in another call, while one of the gateways holds the first one.
      for (let i = 0; i < 3; i++) {
        let reports = 0
        const choose = { name: 'choose_color', arguments: {} }
        expect(await client.call('use_tool', choose, () => void reports++)).toBe('The color is blue.')
        expect(reports).toBeGreaterThanOrEqual(isModern ? 0 : 2)
      }
      expect([...proxy.counts.values()].every((count) => count > 1)).toBe(true)
      expect(proxy.counts.size).toBe(2)

      gateways[0]?.process.kill('SIGKILL')
      await once(gateways[0]?.process as ChildProcess, 'exit')
      expect(await client.list()).toEqual(grown)
      expect(await client.call('use_tool', { name: 'switch_lamp_9', arguments: {} })).toBe('switch_lamp_9 is on')
      expect(await client.call('use_tool', { name: 'choose_color', arguments: {} })).toBe('The color is blue.')
      await client.call('get_tool_definition', { name: 'switch_lamp_10' })
      expect(await client.list()).toEqual(isModern ? first : [...grown, 'switch_lamp_10'])
      // Held calls leave nothing behind; a session that has not ended is still there.
      const count = async (): Promise<unknown> =>
        (await query(url, 'SELECT count(*)::int AS n FROM foldout.sessions')).rows[0]
      await expect.poll(count).toEqual({ n: isModern ? 0 : 1 })
    })
  },
)

describe('R65 gateways that share sessions', { timeout: LONG }, () => {
  it('R65 keep a session when all of them restart, and keep presets separate', async () => {
    writeFileSync(
      join(folder, 'servers.json'),
      JSON.stringify({
        mcpServers: { lamps: { command: process.execPath, args: [SERVER] } },
        presets: { few: { include: ['lamps/switch_lamp_1'] } },
      }),
    )
    const before = await startGateway('--expose', 'two-phase')
    const targets = [before.url]
    const proxy = await startProxy(targets)
    const client = await clients['v1 client'](proxy.url)
    await client.call('get_tool_definition', { name: 'switch_lamp_8' })
    before.process.kill('SIGTERM')
    await once(before.process, 'exit')
    const after = await startGateway('--expose', 'two-phase')
    targets[0] = after.url
    expect(await client.list()).toContain('switch_lamp_8')
    // A session of one preset does not exist in another.
    const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const send = (address: string, method: string, params: object, more: object = {}) =>
      fetch(address, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
    const begun = await send(after.url, 'initialize', initialize)
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
    expect((await send(after.url, 'tools/list', {}, session)).status).toBe(200)
    expect((await send(`${after.url}/few`, 'tools/list', {}, session)).status).toBe(404)
  })
})
