import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const SERVER = join(import.meta.dirname, '../gateway/server.fixtures.mjs')
const BIN = join(import.meta.dirname, '../../bin/foldout.js')

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
  rmSync(folder, { recursive: true, force: true })
})

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

async function connect(...more: readonly string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: getArguments(...more),
    stderr: 'ignore',
  })
  await client.connect(transport)
  closing.push(() => client.close())
  return client
}

/** Starts a gateway over HTTP, as a service does. */
async function serveHttp(): Promise<{ readonly url: string; readonly child: ChildProcess }> {
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
  return { url, child }
}

async function listNames(client: Client): Promise<readonly string[]> {
  return (await client.listTools()).tools.map(({ name }) => name).toSorted()
}

describe('foldout serve', () => {
  it('serves the tools of all servers over stdio, listed or found by a search', async () => {
    writeConfig({ shop: [REFUND], weather: [FORECAST] })
    const client = await connect('--expose', 'hybrid')
    expect(await listNames(client)).toEqual(['search_tools', 'use_tool'])
    const found = await client.callTool({ name: 'search_tools', arguments: { query: 'money back for a customer' } })
    expect(JSON.stringify(found.content)).toContain('refund_order')
    const use = { name: 'refund_order', arguments: { order: 'A-1' } }
    const used = await client.callTool({ name: 'use_tool', arguments: use })
    expect(JSON.stringify(used.content)).toContain('A-1')
  })

  it('serves one preset', async () => {
    writeConfig({ shop: [REFUND], weather: [FORECAST] }, { presets: { sky: { servers: ['weather'], expose: 'all' } } })
    expect(await listNames(await connect('--preset', 'sky'))).toEqual(['get_forecast'])
  })

  it('applies a change of the file, and keeps the old configuration if the new one is bad', async () => {
    writeConfig({ shop: [REFUND] }, { expose: 'all' })
    const client = await connect()
    expect(await listNames(client)).toEqual(['refund_order'])
    writeFileSync(config, '{"mcpServers": {')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(await listNames(client)).toEqual(['refund_order'])
    writeConfig({ shop: [REFUND], weather: [FORECAST] }, { expose: 'all' })
    await vi.waitFor(async () => expect(await listNames(client)).toEqual(['get_forecast', 'refund_order']), {
      timeout: 15_000,
      interval: 200,
    })
  })

  it('serves over HTTP too, also where standard input is empty, until it is told to stop', async () => {
    writeConfig({ shop: [REFUND], weather: [FORECAST] }, { presets: { sky: { servers: ['weather'], expose: 'all' } } })
    const { url, child } = await serveHttp()
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/sky`)))
    expect(await listNames(client)).toEqual(['get_forecast'])
    await client.close()
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
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

  it('fails for tools that are not there and arguments that are not JSON', () => {
    writeConfig({ shop: [REFUND] })
    expect(call('refund', '--args', '{}')).toMatchObject({ status: 1, stdout: expect.stringContaining('refund_order') })
    expect(call('refund_order', '--args', '{')).toMatchObject({ status: 2, stderr: expect.stringContaining('--args') })
    expect(call('refund_order', '--args', '[]')).toMatchObject({ status: 2 })
  })
})

describe('foldout doctor', () => {
  it('says of each server whether it works, and what to do', () => {
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
    expect(status).toBe(1)
    const json = spawnSync(process.execPath, [...args, '--json'], { encoding: 'utf8' })
    expect(JSON.parse(json.stdout)).toMatchObject({ servers: [{ name: 'shop', isWorking: true }, {}, {}] })
  })
})
