import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { CallResult } from 'foldout/catalog'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { GatewayDefinition, ServerDefinition } from './config/definition.ts'
import { createGateway, type Gateway, type GatewayOptions } from './gateway.ts'
import { removeFolder } from '../remove-folder.fixtures.ts'
import { isRunning, readPids } from './pids.fixtures.ts'

const SERVER = join(import.meta.dirname, 'server.fixtures.mjs')
const BIN = join(import.meta.dirname, '../../bin/foldout.js')

let folder: string
let closing: (() => Promise<unknown>)[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-faults-'))
  closing = []
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
  await removeFolder(folder)
})

const ECHO = { name: 'echo', description: 'Repeats its input.' }
const HANG = { name: 'hang', description: 'Waits.', does: 'hang' }

function fixture(options: object, more: ServerDefinition = {}): ServerDefinition {
  return { command: process.execPath, args: [SERVER, JSON.stringify({ tools: [ECHO], ...options })], ...more }
}

async function create(definition: GatewayDefinition, options: GatewayOptions = {}): Promise<Gateway> {
  const gateway = await createGateway(definition, { cache: join(folder, 'cache'), ...options })
  closing.push(() => gateway.close())
  await gateway.ready()
  return gateway
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  closing.push(() => client.close())
  return client
}

function getText({ content }: Pick<CallResult, 'content'>): string {
  return content.map((piece) => String(piece['text'])).join('\n')
}

/** Lists no tools, and then asks endlessly without reading the answers. */
const ASKING = `
  const { createInterface } = require('node:readline')
  const send = (message, then) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n', then)
  const lines = createInterface({ input: process.stdin })
  let id = 0
  const ask = () => send({ id: id++, method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }, ask)
  lines.on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    const serverInfo = { name: 'asking', version: '1' }
    if (method === 'initialize')
      send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } })
    if (method !== 'tools/list') return
    send({ id, result: { tools: [] } })
    process.stdin.removeAllListeners('data').pause()
    for (let asked = 0; asked < 100; asked++) ask()
  })`

describe('R54 servers with faults', () => {
  it('are ended if they ask endlessly and do not read the answers', async () => {
    const warned = vi.fn()
    process.on('warning', warned)
    closing.push(async () => process.off('warning', warned))
    const asking = { command: process.execPath, args: ['-e', ASKING] }
    const gateway = await create({ mcpServers: { asking, calm: fixture({}) } })
    const catalog = await gateway.getCatalog()
    const getState = () => gateway.servers.find(({ name }) => name === 'asking')?.state
    await vi.waitFor(() => expect(getState()).toMatchObject({ type: 'failed' }), { timeout: 20_000 })
    expect(getState()).toMatchObject({ reason: expect.stringContaining('does not read the answers') })
    expect(getText(await catalog.call('echo', { text: 'still here' }))).toContain('still here')
    expect(warned).not.toHaveBeenCalled()
  }, 40_000)

  it('may list a tool twice and tools without names: the first one is kept, and all others are reported', async () => {
    const tools = [
      { name: 'echo', description: 'The first.' },
      { name: 'echo', description: 'The second.', does: 'hang' },
      { description: 'Nameless.' },
      { description: 'Nameless.' },
      {},
    ]
    const broken: unknown[] = []
    const gateway = await createGateway(
      { mcpServers: { a: fixture({ tools }) } },
      {
        cache: join(folder, 'cache'),
        onEvent: (event) => event.type === 'server/broken' && broken.push(...event.tools),
      },
    )
    closing.push(() => gateway.close())
    await gateway.ready()
    const catalog = await gateway.getCatalog()
    expect(catalog.tools.map(({ description }) => description)).toEqual(['The first.'])
    expect(getText(await catalog.call('echo', { word: 'first' }))).toContain('first')
    const nameless = { source: 'a', name: '?', reason: 'Its definition has no name.' }
    await vi.waitFor(() =>
      expect(broken).toEqual([
        { source: 'a', name: 'echo', reason: "There is another tool 'a/echo'; the first one is kept." },
        nameless,
        nameless,
        nameless,
      ]),
    )
  })

  it('may send several messages at once', async () => {
    const gateway = await create({ mcpServers: { a: fixture({ tools: [{ name: 'batch', does: 'batch' }] }) } })
    expect(getText(await (await gateway.getCatalog()).call('batch', {}))).toBe('in a list')
  })

  it('may flood standard output and standard error without affecting others', async () => {
    const tools = [{ name: 'flood', description: 'Prints much.', does: 'flood' }]
    const gateway = await create({ mcpServers: { loud: fixture({ tools }), calm: fixture({}) } })
    const catalog = await gateway.getCatalog()
    const [flooded, calm] = await Promise.all([
      catalog.call('flood', { bytes: 20_000_000 }),
      catalog.call('echo', { word: 'calm' }),
    ])
    expect(getText(flooded)).toBe('after the flood')
    expect(getText(calm)).toContain('calm')
    expect(gateway.servers.map(({ state }) => state.type)).toEqual(['running', 'running'])
  })

  it.each([
    ['lines that never end', '"y\\n"'],
    ['objects that are not messages', '"{}\\n"'],
    ['one line', '"{ "'],
  ])(
    'that print %s are stopped without affecting others',
    async (_, text) => {
      const flood = `const text = ${text}.repeat(20000); const print = () => process.stdout.write(text, print); print()`
      const endless = { command: process.execPath, args: ['-e', flood] }
      // On a busy machine, a flood takes longer than a start may take otherwise.
      const gateway = await create({ mcpServers: { endless, calm: fixture({}) } }, { timeoutMs: 240_000 })
      expect(gateway.servers[0]?.state).toMatchObject({
        type: 'failed',
        reason: expect.stringMatching(/floods|more than \d+ bytes/),
      })
      expect(getText(await (await gateway.getCatalog()).call('echo', { word: 'calm' }))).toContain('calm')
    },
    240_000,
  )

  it('that end report how, and what they wrote last', async () => {
    const end = (script: string): ServerDefinition => ({ command: process.execPath, args: ['-e', script] })
    const gateway = await create({
      mcpServers: {
        quiet: end('process.exit(3)'),
        talking: end('console.error("line\\n".repeat(500) + "No key"); process.exit(1)'),
        killed: end('process.kill(process.pid, "SIGKILL")'),
      },
    })
    const [quiet = '', talking = '', killed = ''] = gateway.servers.map(({ state }) =>
      state.type === 'failed' ? state.reason : '',
    )
    expect(quiet).toBe('It ended with exit code 3.')
    expect(killed).toBe('It was ended by SIGKILL.')
    expect(talking).toMatch(/^It ended with exit code 1\.\nline\n/)
    expect(talking.split('\n')).toHaveLength(21)
    expect(talking).toMatch(/No key$/)
  })

  it('that end or close their output during a call are started again, even if another process keeps it open', async () => {
    const tools = ['orphan', 'close'].map((does) => ({ name: does, description: does, does }))
    const gateway = await create({ mcpServers: { lost: fixture({ tools: [ECHO, ...tools] }) } })
    const catalog = await gateway.getCatalog()
    const pids = join(folder, 'orphan')
    for (const tool of ['orphan', 'close']) {
      expect(getText(await catalog.call(tool, { pids }))).toMatch(/was lost during the call/)
      expect(getText(await catalog.call('echo', {}))).toContain('"pid"')
    }
    await vi.waitFor(() => expect(readPids(pids).filter(isRunning)).toEqual([]))
  })

  it('may have tools with the same name: each call reaches the right one', async () => {
    const which = (name: string) => fixture({}, { env: { FIXTURE: name } })
    const gateway = await create({ mcpServers: { a: which('first'), b: which('second') }, expose: 'all' })
    const client = await connect((await gateway.http()).url)
    const { tools } = await client.listTools()
    const echoes = tools.filter(({ name }) => name.includes('echo'))
    const answers = await Promise.all(echoes.map(({ name }) => client.callTool({ name, arguments: {} })))
    const served = answers.map((answer) => (JSON.parse(getText(answer as never)) as { env: string }).env)
    expect(served.toSorted()).toEqual(['first', 'second'])
  })

  it('may have ten thousand tools', async () => {
    const gateway = await create({ mcpServers: { many: fixture({ tools: [], many: 10_000 }) }, expose: 'hybrid' })
    const client = await connect((await gateway.http()).url)
    expect(gateway.servers[0]?.tools).toBe(10_000)
    expect((await client.listTools()).tools.length).toBeLessThan(10)
    const used = await client.callTool({ name: 'use_tool', arguments: { name: 'tool_9999', arguments: { a: 1 } } })
    expect(getText(used as never)).toContain('"a":1')
  }, 60_000)

  it('may return 50 MB: a client gets a result that it can handle', async () => {
    const tools = [{ name: 'big', description: 'Gives much.', does: 'big' }, ECHO]
    const gateway = await create({ mcpServers: { a: fixture({ tools }) }, expose: 'all' })
    const client = await connect((await gateway.http()).url)
    const big = getText(await client.callTool({ name: 'big', arguments: { bytes: 50_000_000 } }))
    expect(big.length).toBeGreaterThan(100)
    expect(getText((await client.callTool({ name: 'echo', arguments: { a: 1 } })) as never)).toContain('"a":1')
  }, 60_000)
})

/** Whether this user may mount a disk. */
const hasDisk = spawnSync('unshare', ['-rm', 'true']).status === 0

describe.runIf(hasDisk)('R54 a disk that is full', () => {
  it('loses only what would be stored there', () => {
    const config = join(folder, 'config.json')
    writeFileSync(config, JSON.stringify({ mcpServers: { a: fixture({}) } }))
    const disk = join(folder, 'disk')
    mkdirSync(disk)
    const full = `mount -t tmpfs -o size=4k tmpfs '${disk}' && { head -c 9000 /dev/zero > '${disk}/fill' 2> /dev/null; exec "$@"; }`
    const call = ['call', 'echo', '--config', config, '--args', '{"word": "hello"}']
    const { status, stdout, stderr } = spawnSync(
      'unshare',
      ['-rm', 'sh', '-c', full, 'sh', process.execPath, BIN, ...call],
      { encoding: 'utf8', env: { ...process.env, XDG_CACHE_HOME: disk, XDG_DATA_HOME: disk, FOLDOUT_KEYCHAIN: 'off' } },
    )
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('hello') as string })
    expect(stderr).toMatch(/^foldout: Tools cannot be cached: ENOSPC/m)
    expect(stderr).toMatch(/^foldout: Definitions of tools cannot be pinned: ENOSPC/m)
  }, 60_000)
})

/** A message of a legacy client. */
const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
const INITIALIZE = line({
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
})

interface Running {
  readonly child: ChildProcess
  readonly answers: unknown[]
}

/** A gateway started by a client over stdio, with a server that is already running. */
async function startServe(options: object): Promise<Running> {
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify({ mcpServers: { a: fixture(options) }, expose: 'all' }))
  const args = [BIN, 'serve', '--config', config, '--cache', join(folder, 'cache')]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  closing.push(async () => {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await once(child, 'exit')
  })
  const answers: unknown[] = []
  createInterface({ input: child.stdout }).on('line', (text) => answers.push(JSON.parse(text)))
  child.stdin.on('error', () => undefined)
  child.stdin.write(INITIALIZE)
  await vi.waitFor(() => expect(answers).toHaveLength(1), { timeout: 30_000 })
  return { child, answers }
}

const callHang = line({ id: 1, method: 'tools/call', params: { name: 'hang', arguments: {} } })

describe('R54 clients that vanish', () => {
  it('over HTTP in the middle of a call: the server gets a cancellation', async () => {
    const cancels = join(folder, 'cancels')
    const gateway = await create({ mcpServers: { a: fixture({ tools: [ECHO, HANG], cancels }) }, expose: 'all' })
    const client = await connect((await gateway.http()).url)
    const hung = client.callTool({ name: 'hang', arguments: {} })
    hung.catch(() => undefined)
    await vi.waitFor(() => expect(gateway.servers[0]?.state).toEqual({ type: 'running', calls: 1 }))
    await client.close()
    await vi.waitFor(() => expect(existsSync(cancels) && readFileSync(cancels, 'utf8')).toBe('cancelled\n'))
    expect(gateway.servers[0]?.state).toEqual({ type: 'running', calls: 0 })
  })

  it.each(['SIGINT', 'SIGHUP', 'the end of its input'])(
    'over stdio, or a gateway that gets %s: no process is left',
    async (how) => {
      const pids = join(folder, 'pids')
      const { child } = await startServe({ tools: [ECHO, HANG], pids })
      child.stdin?.write(callHang)
      await vi.waitFor(() => expect(readPids(pids)).toHaveLength(2))
      if (how.startsWith('SIG')) child.kill(how as NodeJS.Signals)
      else child.stdin?.end()
      await once(child, 'exit')
      await vi.waitFor(() => expect(readPids(pids).filter(isRunning)).toEqual([]))
    },
    60_000,
  )

  it('get an answer to every call, even if the server dies during it', async () => {
    const pids = join(folder, 'pids')
    const { child, answers } = await startServe({ tools: [ECHO, HANG], pids })
    child.stdin?.write(callHang)
    await vi.waitFor(() => expect(readPids(pids)).toHaveLength(2))
    // The server has the call, because it answers one that came later.
    child.stdin?.write(line({ id: 2, method: 'tools/call', params: { name: 'echo', arguments: {} } }))
    await vi.waitFor(() => expect(answers).toHaveLength(2))
    process.kill(readPids(pids)[0] ?? 0, 'SIGKILL')
    await vi.waitFor(() => expect(answers).toHaveLength(3))
    expect(answers[2]).toMatchObject({ id: 1, result: { isError: true } })
  }, 60_000)
})

/** A minimal client session, because there are many. */
async function openRaw(url: string): Promise<{ call(id: number, word: string): Promise<string>; close(): void }> {
  const agent = new Agent({ keepAlive: true })
  let session = ''
  const post = (message: object): Promise<{ readonly session: string; readonly text: string }> =>
    new Promise((resolve, reject) => {
      const named = session === '' ? {} : { 'mcp-session-id': session, 'mcp-protocol-version': '2025-06-18' }
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...named }
      const sent = request(url, { method: 'POST', agent, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (text += chunk))
        response.on('end', () => resolve({ session: String(response.headers['mcp-session-id'] ?? ''), text }))
        response.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(JSON.stringify({ jsonrpc: '2.0', ...message }))
    })
  session = (await post(JSON.parse(INITIALIZE) as object)).session
  await post({ method: 'notifications/initialized' })
  return {
    call: async (id, word) =>
      (await post({ id, method: 'tools/call', params: { name: 'echo', arguments: { word } } })).text,
    close: () => agent.destroy(),
  }
}

describe('R54 many clients', () => {
  it('at once over HTTP lose no call', async () => {
    const config = join(folder, 'config.json')
    writeFileSync(config, JSON.stringify({ mcpServers: { a: fixture({}) }, expose: 'all' }))
    const args = [BIN, 'serve', '--config', config, '--cache', join(folder, 'cache'), '--http', '0']
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    closing.push(async () => {
      if (child.kill()) await once(child, 'exit')
    })
    const [notes] = (await once(child.stderr, 'data')) as [Buffer]
    const url = /http:\S+/.exec(notes.toString())?.[0] ?? ''
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => openRaw(url)))
    const answers = await Promise.all(
      clients.flatMap(({ call }, i) => Array.from({ length: CALLS }, (_, k) => call(k + 1, `${i}/${k}`))),
    )
    for (const { close } of clients) close()
    const isOwn = (answer: string, i: number): boolean =>
      answer.includes(`\\"word\\":\\"${Math.floor(i / CALLS)}/${i % CALLS}\\"`)
    expect(answers.filter((answer, i) => !isOwn(answer, i))).toEqual([])
  }, 120_000)
})

const CLIENTS = 200
/** All of them take a minute on two cores. */
const { env } = import.meta as ImportMeta & { readonly env: { readonly MODE: string } }
const CALLS = env.MODE === 'all-clients' ? 32 : 2
