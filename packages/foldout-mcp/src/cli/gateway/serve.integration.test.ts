import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../remove-folder.fixtures.ts'

const SERVER = join(import.meta.dirname, '../../gateway/server.fixtures.mjs')
const BIN = join(import.meta.dirname, '../../../bin/foldout.js')

let folder: string
let config: string
let closing: (() => Promise<unknown>)[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-serve-'))
  config = join(folder, 'servers.json')
  closing = []
})
afterEach(async () => {
  await Promise.all(closing.map((close) => close()))
  await removeFolder(folder)
})

const WAIT = { timeout: 20_000, interval: 50 }

const REFUND = { name: 'refund_order', description: 'Give a customer the money back.' }
const FORECAST = { name: 'get_forecast', description: 'Weather forecast for a city.' }

function writeConfig(servers: Readonly<Record<string, readonly object[]>>, more: object = {}): void {
  const entries = Object.entries(servers).map(([name, tools]) => [
    name,
    { command: process.execPath, args: [SERVER, JSON.stringify({ tools })] },
  ])
  writeFileSync(config, JSON.stringify({ mcpServers: Object.fromEntries(entries), ...more }))
}

function getArguments(...more: readonly string[]): string[] {
  return [BIN, 'serve', '--config', config, '--cache', join(folder, 'cache'), ...more]
}

/** What the last client's gateway has written to standard error. */
let notes: string

async function connect(...more: readonly string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: getArguments(...more),
    stderr: 'pipe',
  })
  notes = ''
  transport.stderr?.on('data', (chunk: Buffer) => (notes += chunk.toString()))
  await client.connect(transport)
  closing.push(() => client.close())
  return client
}

/** Starts a gateway over HTTP, as a service does. */
async function serveHttp(): Promise<{ readonly url: string; readonly child: ChildProcess; readonly notes: string }> {
  const child = spawn(process.execPath, getArguments('--http', '0'), { stdio: ['ignore', 'ignore', 'pipe'] })
  closing.push(async () => {
    if (child.exitCode === null && child.kill()) await once(child, 'exit')
  })
  let stderr = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString()
      const found = /http:\/\/\S+/.exec(stderr)
      if (found) resolve(found[0])
    })
    child.once('exit', () => reject(new Error(stderr)))
  })
  return { url, child, notes: stderr }
}

async function listNames(client: Client): Promise<readonly string[]> {
  return (await client.listTools()).tools.map(({ name }) => name).toSorted()
}

describe('foldout serve', () => {
  it('serves the tools of all servers over stdio, listed or found by a search', async () => {
    writeConfig({ shop: [REFUND], weather: [FORECAST] })
    const client = await connect('--expose', 'hybrid')
    expect(await listNames(client)).toEqual(['read_result', 'search_tools', 'use_tool'])
    const found = await client.callTool({ name: 'search_tools', arguments: { query: 'money back for a customer' } })
    expect(JSON.stringify(found.content)).toContain('refund_order')
    const use = { name: 'refund_order', arguments: { order: 'A-1' } }
    const used = await client.callTool({ name: 'use_tool', arguments: use })
    expect(JSON.stringify(used.content)).toContain('A-1')
  })

  it('serves one preset', async () => {
    writeConfig({ shop: [REFUND], weather: [FORECAST] }, { presets: { sky: { servers: ['weather'], expose: 'all' } } })
    expect(await listNames(await connect('--preset', 'sky'))).toEqual(['get_forecast', 'read_result'])
  })

  it('applies a change to the file, and keeps the old configuration if the new one is bad', async () => {
    writeConfig({ shop: [REFUND] }, { expose: 'all' })
    const client = await connect()
    expect(await listNames(client)).toEqual(['read_result', 'refund_order'])
    writeFileSync(config, '{"mcpServers": {')
    await vi.waitFor(() => expect(notes).toMatch(/The new configuration was rejected, .* is not valid JSON/), WAIT)
    expect(await listNames(client)).toEqual(['read_result', 'refund_order'])
    writeConfig({ shop: [REFUND], weather: [FORECAST] }, { expose: 'all' })
    await vi.waitFor(
      async () => expect(await listNames(client)).toEqual(['get_forecast', 'read_result', 'refund_order']),
      WAIT,
    )
    await vi.waitFor(() => expect(notes).toContain('The new configuration is in use.'), WAIT)
  })

  it('continues when nobody reads its reports', async () => {
    writeConfig({ shop: [REFUND] }, { expose: 'all' })
    const child = spawn(process.execPath, getArguments())
    closing.push(async () => {
      if (child.exitCode === null && child.kill()) await once(child, 'exit')
    })
    const client = new Client({ name: 'test', version: '1' })
    const transport = new StdioServerTransport(child.stdout, child.stdin)
    await client.connect(transport)
    child.stderr.destroy()
    // Each change is reported.
    writeConfig({ weather: [FORECAST] }, { expose: 'all' })
    await vi.waitFor(async () => expect(await listNames(client)).toEqual(['get_forecast', 'read_result']), WAIT)
    writeConfig({ shop: [REFUND] }, { expose: 'all' })
    await vi.waitFor(async () => expect(await listNames(client)).toEqual(['read_result', 'refund_order']), WAIT)
    expect(child.exitCode).toBeNull()
  })

  it('stops when it is told to, even if its client has stopped reading', async () => {
    writeConfig({ shop: [{ ...REFUND, description: 'Refunds. '.repeat(10_000) }] }, { expose: 'all' })
    const child = spawn(process.execPath, getArguments())
    closing.push(async () => {
      if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit')
    })
    const send = (id: number, method: string, params: object = {}): void =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const clientInfo = { name: 'raw', version: '1' }
    send(0, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    await once(child.stdout, 'data')
    child.stdout.pause()
    for (let id = 1; id <= 30; id++) send(id, 'tools/list')
    child.stdin.end()
    // What fits into the pipe has come, and the rest waits for its reader.
    await vi.waitFor(() =>
      expect(child.stdout.readableLength).toBeGreaterThanOrEqual(child.stdout.readableHighWaterMark),
    )
    expect(child.exitCode).toBeNull()
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it('also serves over HTTP, even with empty standard input, until it is told to stop', async () => {
    writeConfig({ shop: [REFUND], weather: [FORECAST] }, { presets: { sky: { servers: ['weather'], expose: 'all' } } })
    const { url, child, notes } = await serveHttp()
    expect(notes).toMatch(/^Serving 2 tools of 2 servers at http:\S+\/mcp\nPreset sky: http:\S+\/mcp\/sky\n$/)
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/sky`)))
    expect(await listNames(client)).toEqual(['get_forecast', 'read_result'])
    await client.close()
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it.each(['stdio', 'http'] as const)('--inspect shows the catalog and its approvals beside %s', async (transport) => {
    writeConfig({ shop: [REFUND] }, { expose: 'all', rules: [{ action: 'ask' }] })
    const http = transport === 'http' ? ['--http', '0'] : []
    const child = spawn(process.execPath, getArguments('--inspect', ...http), {
      env: { ...process.env, XDG_DATA_HOME: join(folder, 'data') },
    })
    closing.push(async () => {
      if (child.exitCode === null && child.kill()) await once(child, 'exit')
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    const page = await vi.waitFor(() => {
      const [, url] = /^Inspector: (\S+)$/m.exec(stderr) ?? []
      if (url === undefined) throw new Error(stderr)
      return url
    }, WAIT)
    const ask = async (action: string, body: object): Promise<unknown> => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${page}api/${action}`, { method: 'POST', headers, body: JSON.stringify(body) })
      return response.json()
    }
    const send = (id: number, method: string, params: object): void =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    send(1, 'initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    })
    child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    const refund = { name: 'refund_order', arguments: { order: 'A-1' } }
    send(2, 'tools/call', refund)
    await vi.waitFor(() => expect(stdout).toContain('the user has to approve it'), WAIT)
    const [waiting] = (await ask('approvals/list', {})) as readonly { id: string; seen: string; client: string }[]
    expect(waiting).toMatchObject({ tool: 'shop/refund_order', client: 'raw' })
    const { id, seen } = waiting ?? { id: '', seen: '' }
    const wrong = { id, seen: seen.replace(/^./, (first) => (first === '0' ? '1' : '0')), isApproved: true }
    expect(await ask('approvals/answer', wrong)).toMatchObject({ error: expect.stringContaining('no longer waiting') })
    expect(await ask('approvals/answer', { id, seen, isApproved: true })).toEqual({})
    expect(await ask('approvals/answer', { id, seen, isApproved: true })).toHaveProperty('error')
    send(3, 'tools/call', refund)
    await vi.waitFor(() => expect(stdout).toContain('A-1'), WAIT)
    // Standard output belongs to the client: every line of it is a message.
    for (const line of stdout.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('jsonrpc')
  })

  it.each([
    [['--expose', 'some'], /'some' is invalid. Allowed choices are auto, all/],
    [['--preset', 'none'], /Unknown preset 'none'\. The configuration has none\./],
    [['--http', '99999'], /It must be a port from 0 to 65535/],
  ])('refuses %j', (more, message) => {
    writeConfig({ shop: [REFUND] })
    const { status, stderr, stdout } = spawnSync(process.execPath, getArguments(...more), {
      encoding: 'utf8',
      input: '',
    })
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })
})

describe('foldout serve with a required server', () => {
  it('fails if the server does not start, which is not a usage error', () => {
    const shop = { command: process.execPath, args: ['-e', 'console.error("No key"); process.exit(1)'], required: true }
    writeFileSync(config, JSON.stringify({ mcpServers: { shop } }))
    const { status, stderr, stdout } = spawnSync(process.execPath, getArguments(), { encoding: 'utf8', input: '' })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(
      /^The server 'shop' is required and cannot be started\. It ended with exit code 1\. No key$/m,
    )
  })
})

describe('foldout serve --http --json', () => {
  it('prints the addresses as soon as it listens, and no messages', async () => {
    writeConfig({ shop: [REFUND] }, { presets: { 'my sky': { servers: [] } } })
    const child = spawn(process.execPath, getArguments('--http', '0', '--json'), { stdio: ['pipe', 'pipe', 'ignore'] })
    closing.push(async () => {
      if (child.exitCode === null && child.kill()) await once(child, 'exit')
    })
    let stdout = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    await vi.waitFor(() => expect(stdout).toMatch(/^\}\n$/m), WAIT)
    const { url, presets } = JSON.parse(stdout) as { url: string; presets: object }
    expect(presets).toEqual({ 'my sky': `${url}/my%20sky` })
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    expect(await listNames(client)).toContain('refund_order')
    await client.close()
  })
})

describe('foldout call', () => {
  const call = (...more: readonly string[]): ReturnType<typeof spawnSync> =>
    spawnSync(process.execPath, [BIN, 'call', '--config', config, '--cache', join(folder, 'cache'), ...more], {
      encoding: 'utf8',
    })

  it('runs a tool and prints its result', () => {
    writeConfig({ shop: [REFUND] })
    const { status, stdout } = call('refund_order', '--args', '{"order": "A-1"}')
    expect(stdout).toContain('{"args":{"order":"A-1"}')
    expect(status).toBe(0)
    const json = call('refund_order', '--json', '--args', '{"order": "A-1"}')
    expect(JSON.parse(String(json.stdout))).toMatchObject({ content: [{ type: 'text' }] })
  })

  it('waits no longer than --timeout for a tool that never answers', () => {
    writeConfig({ shop: [{ ...REFUND, does: 'hang' }] })
    const { status, stderr } = call('refund_order', '--timeout', '3')
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(
        /^The tool 'refund_order' did not answer within its limit of 3 seconds\. It is not known whether it has run\.\n$/,
      ),
    })
  })

  it('fails for tools that do not exist and arguments that are not JSON', () => {
    writeConfig({ shop: [REFUND] })
    const message = "Tool 'refund' not found. Nearest: refund_order."
    expect(call('refund', '--args', '{}')).toMatchObject({ status: 2, stdout: '', stderr: `${message}\n` })
    const json = call('refund', '--args', '{}', '--json')
    expect([json.status, JSON.parse(String(json.stdout))]).toEqual([2, { error: { message, exitCode: 2 } }])
    expect(call('refund_order', '--args', '{')).toMatchObject({ status: 2, stderr: expect.stringContaining('--args') })
    expect(call('refund_order', '--args', '[]')).toMatchObject({ status: 2 })
  })
})

describe('a failed foldout call --json', () => {
  it('prints the answer if there is one, or else the error', () => {
    const call = (tool: string, given = '{}') =>
      spawnSync(
        process.execPath,
        [BIN, 'call', '--config', config, '--cache', join(folder, 'cache'), '--json', tool, '--args', given],
        { encoding: 'utf8' },
      )
    const inputSchema = { type: 'object', properties: { order: { type: 'string' } } }
    writeConfig({
      shop: [
        { ...REFUND, inputSchema },
        { ...FORECAST, does: 'crash' },
      ],
    })
    const wrong = call('refund_order', '{"order": 7}')
    expect([wrong.status, JSON.parse(wrong.stdout)]).toMatchObject([
      1,
      { isError: true, content: [{ text: expect.stringContaining('Nothing was run.') }] },
    ])
    const crashed = call('get_forecast')
    expect([crashed.status, JSON.parse(crashed.stdout)]).toMatchObject([1, { isError: true }])
    writeFileSync(config, JSON.stringify({ mcpServers: { gone: { command: 'this-is-not-a-command' } } }))
    const unknown = call('gone/refund')
    const message = "Tool 'gone/refund' not found."
    expect([unknown.status, JSON.parse(unknown.stdout)]).toEqual([1, { error: { message, exitCode: 1 } }])
  })
})

describe('foldout doctor', () => {
  it('distinguishes a server that prints other text from a slow one', () => {
    const print = (text: string): object => ({
      command: process.execPath,
      args: ['-e', `process.stdout.write(${JSON.stringify(text)}); setInterval(() => {}, 1000)`],
    })
    const both = { command: 'a', url: 'http://127.0.0.1:9/mcp' }
    writeFileSync(
      config,
      JSON.stringify({ mcpServers: { chatty: print('Listening on port 3000\n'), mute: print(''), both } }),
    )
    const args = [BIN, 'doctor', '--config', config, '--cache', join(folder, 'cache'), '--timeout', '3']
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(stdout).toMatch(
      /^chatty: does not work\n {2}It gave no answer within 3 seconds, but printed text that is not an MCP message on standard output:\n {2}Listening on port 3000\n {2}Check that the command starts an MCP server/m,
    )
    expect(stdout).toMatch(/^mute: does not work\n {2}It gave no answer within 3 seconds\.\n {2}Try a longer/m)
    expect(stdout).toContain("  The server 'both' in")
  })

  it('is named by a gateway that has tried all its servers, some of which do not work', async () => {
    writeFileSync(config, JSON.stringify({ mcpServers: { gone: { command: 'this-is-not-a-command' }, bad: {} } }))
    await connect()
    await vi.waitFor(
      () => expect(notes).toMatch(/0 of 2 servers work\. For more about the others: foldout doctor --config \S+\n/),
      WAIT,
    )
  })

  it('says whether each server works, and what to do if not', () => {
    writeConfig({ shop: [REFUND, { name: 'odd', inputSchema: { type: 'object', properties: 7 } }] })
    writeFileSync(
      config,
      JSON.stringify({
        mcpServers: {
          shop: { command: process.execPath, args: [SERVER, JSON.stringify({ tools: [REFUND] })] },
          gone: { command: 'this-is-not-a-command' },
          secret: { command: 'a', args: ['${NOT_SET_ANYWHERE}'] },
        },
      }),
    )
    const args = [BIN, 'doctor', '--config', config, '--cache', join(folder, 'cache')]
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(stdout).toMatch(/^shop: works, 1 tool, started in \d+ ms$/m)
    expect(stdout).toMatch(/^gone: does not work\n {2}Its command was not found.*\n {2}Install it/m)
    expect(stdout).toMatch(
      /^secret: does not work\n {2}The environment variable NOT_SET_ANYWHERE is not set\.\n {2}Set it/m,
    )
    expect(stdout).toMatch(/\n1 of 3 servers work\.\n$/)
    expect(status).toBe(1)
    const list = [BIN, 'tools', '--config', config, '--cache', join(folder, 'cache')]
    expect(spawnSync(process.execPath, list, { encoding: 'utf8' }).stdout).toMatch(/\n1 of 3 servers work\.\n$/)
    const json = spawnSync(process.execPath, [...args, '--json'], { encoding: 'utf8' })
    expect(JSON.parse(json.stdout)).toMatchObject({ servers: [{ name: 'shop', isWorking: true }, {}, {}] })
  })
})
