import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { CallResult } from 'foldout/catalog'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { GatewayDefinition, ServerDefinition } from './config/definition.ts'
import type { GatewayEvent } from './model/events.ts'
import { createGateway, type Gateway, type GatewayOptions } from './gateway.ts'
import { removeFolder } from '../remove-folder.fixtures.ts'
import { isRunning, readPids } from './pids.fixtures.ts'

const SERVER = join(import.meta.dirname, 'server.fixtures.mjs')

let folder: string
let open: Gateway[]
let events: GatewayEvent[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-gateway-'))
  open = []
  events = []
})
afterEach(async () => {
  await Promise.all(open.map((gateway) => gateway.close()))
  await removeFolder(folder)
})

const ECHO = { name: 'echo', description: 'Repeats its input.' }

/** The entry of a fixture that records each of its starts in a file. */
function fixture(name: string, options: object = {}, more: ServerDefinition = {}): ServerDefinition {
  const fields = { tools: [ECHO], starts: join(folder, `${name}.starts`), ...options }
  return { command: process.execPath, args: [SERVER, JSON.stringify(fields)], ...more }
}

function countStarts(name: string): number {
  const file = join(folder, `${name}.starts`)
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0
}

async function create(definition: GatewayDefinition, options: GatewayOptions = {}): Promise<Gateway> {
  const gateway = await createGateway(definition, {
    cache: join(folder, 'cache'),
    onEvent: (event) => events.push(event),
    ...options,
  })
  open.push(gateway)
  await gateway.ready()
  return gateway
}

async function call(gateway: Gateway, tool: string, args: object = {}): Promise<CallResult> {
  return (await gateway.getCatalog()).call(tool, args)
}

function getText({ content }: CallResult): string {
  return content.map((piece) => String(piece['text'])).join('\n')
}

async function listNames(gateway: Gateway, preset?: string): Promise<readonly string[]> {
  const catalog = await gateway.getCatalog(preset === undefined ? {} : { preset })
  return catalog.tools.map(({ qualified }) => qualified)
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return client
}

describe('R54 a server that does not answer', () => {
  it('is waited for once, and its tools are announced when they come', async () => {
    const file = join(folder, 'options.json')
    writeFileSync(file, JSON.stringify({ isMute: true }))
    const slow = { command: process.execPath, args: [SERVER, JSON.stringify({ file })] }
    const start = async (): Promise<Gateway> => {
      const options = { cache: join(folder, 'cache'), data: join(folder, 'data'), timeoutMs: 600_000 }
      const gateway = await createGateway({ mcpServers: { a: fixture('a'), slow } }, options)
      open.push(gateway)
      return gateway
    }
    const listMarks = (): readonly string[] =>
      readdirSync(join(folder, 'cache')).filter((name) => name.endsWith('.failed'))
    const first = await start()
    await vi.waitFor(async () => expect(await listNames(first)).toEqual(['a/echo']))
    await first.ready(100)
    await vi.waitFor(() => expect(listMarks()).toHaveLength(1))
    const mark = statSync(join(folder, 'cache', listMarks()[0] ?? ''))
    expect(process.platform === 'win32' || (mark.mode & 0o777) === 0o600).toBe(true)
    await first.close()
    const second = await start()
    await second.ready(600_000)
    expect(second.servers.map(({ name, tools }) => [name, tools])).toEqual([
      ['a', 1],
      ['slow', undefined],
    ])
    await second.close()
    writeFileSync(file, JSON.stringify({ tools: [{ name: 'late' }] }))
    const third = await start()
    await third.ready(600_000)
    await vi.waitFor(async () => expect(await listNames(third)).toEqual(['a/echo', 'slow/late']))
    await vi.waitFor(() => expect(listMarks()).toEqual([]))
  })
})

describe('R54 servers', () => {
  it('are started once for all calls, and not at all while the cache knows their tools', async () => {
    const servers = { mcpServers: { a: fixture('a') } }
    const first = await create(servers)
    expect(await listNames(first)).toEqual(['a/echo'])
    await Promise.all([call(first, 'echo'), call(first, 'echo')])
    expect(countStarts('a')).toBe(1)
    await first.close()

    const second = await create(servers)
    expect(await listNames(second)).toEqual(['a/echo'])
    expect(second.servers).toEqual([{ name: 'a', state: { type: 'stopped' }, tools: 1 }])
    const { hits } = await (await second.getCatalog()).search('repeat')
    expect(hits.map(({ tool }) => tool.name)).toEqual(['echo'])
    expect(countStarts('a')).toBe(1)
    expect(getText(await call(second, 'echo', { word: 'hi' }))).toContain('"args":{"word":"hi"}')
    expect(countStarts('a')).toBe(2)
  })

  it('start again after a crash, and the call that was running says that its outcome is unknown', async () => {
    const tools = [ECHO, { name: 'crash', description: 'Ends.', does: 'crash' }]
    const gateway = await create({ mcpServers: { a: fixture('a', { tools }) } })
    expect(getText(await call(gateway, 'crash'))).toBe(
      "The connection to the server 'a' was lost during the call of 'crash'. It is unknown whether it has run.",
    )
    await vi.waitFor(() => expect(gateway.servers[0]?.state.type).toBe('failed'))
    expect((await call(gateway, 'echo')).isError).toBeUndefined()
    expect(countStarts('a')).toBe(2)
  })

  it('are left alone for a while if they fail to start, with a reason that a model can read', async () => {
    const gateway = await create({
      mcpServers: { a: fixture('a'), bad: fixture('bad', { crashes: true, says: 'No key' }) },
    })
    const catalog = await gateway.getCatalog()
    expect(catalog.tools.map(({ name }) => name)).toEqual(['echo'])
    expect(gateway.servers[1]?.state).toMatchObject({ type: 'failed', reason: expect.stringContaining('No key') })
  })

  it('do not slow each other down: one that hangs does not affect the others', async () => {
    const tools = [{ name: 'hang', description: 'Waits.', does: 'hang' }]
    const gateway = await create({
      mcpServers: { slow: fixture('slow', { tools }, { maxConcurrent: 1 }), a: fixture('a') },
    })
    const stop = new AbortController()
    const hung = (await gateway.getCatalog()).call('hang', {}, { signal: stop.signal })
    const waiting = (await gateway.getCatalog()).call('hang', {}, { signal: stop.signal })
    expect((await call(gateway, 'echo')).isError).toBeUndefined()
    stop.abort()
    await expect(hung).rejects.toThrow(/aborted/)
    await expect(waiting).rejects.toThrow(/aborted/)
  })

  it('are restarted when they stop answering', async () => {
    const tools = [ECHO, { name: 'hang', description: 'Waits.', does: 'hang' }]
    const gateway = await create({ mcpServers: { a: fixture('a', { tools }, { timeoutSeconds: 0.05 }) } })
    for (let i = 0; i < 3; i++) expect((await call(gateway, 'hang')).isError).toBe(true)
    expect(gateway.servers[0]?.state.type).toBe('failed')
    expect(getText(await call(gateway, 'echo'))).toMatch(
      /^Tool 'echo' was not run: the server 'a' cannot be started\. It did not answer 3 calls in a row\. It will be retried in \d+ s at the earliest\.$/,
    )
  })

  it('stop when nobody has called them for a while, and start again', async () => {
    const gateway = await create({ mcpServers: { a: fixture('a', {}, { idleSeconds: 0.1 }) } })
    await call(gateway, 'echo')
    await vi.waitFor(() => expect(gateway.servers[0]?.state.type).toBe('stopped'))
    expect((await call(gateway, 'echo')).isError).toBeUndefined()
    expect(countStarts('a')).toBe(2)
  })

  it('may print garbage between their messages', async () => {
    const tools = [{ name: 'garbage', description: 'Prints.', does: 'garbage' }]
    const gateway = await create({ mcpServers: { a: fixture('a', { tools }) } })
    expect(getText(await call(gateway, 'garbage'))).toBe('after garbage')
    expect(getText(await call(gateway, 'garbage'))).toBe('after garbage')
  })

  it('may return very large results', async () => {
    const tools = [{ name: 'big', description: 'Gives much.', does: 'big' }]
    const gateway = await create({ mcpServers: { a: fixture('a', { tools }) } })
    expect(getText(await call(gateway, 'big', { bytes: 50_000_000 })).length).toBe(50_000_000)
  })

  it('may change their tools while they run, and the cache follows', async () => {
    const tools = [{ name: 'grow', description: 'Adds a tool.', does: 'grow' }]
    const servers = { mcpServers: { a: fixture('a', { tools }) } }
    const gateway = await create(servers)
    await call(gateway, 'grow')
    await vi.waitFor(async () => expect(await listNames(gateway)).toEqual(['a/grow', 'a/grown_1']))
    expect(events).toContainEqual({
      type: 'server/tools',
      server: 'a',
      tools: 2,
      change: { added: ['grown_1'], removed: [], changed: [] },
    })
    await vi.waitFor(() => expect(readCache()).toContain('grown_1'))
    await gateway.close()
    expect(await listNames(await create(servers))).toEqual(['a/grow', 'a/grown_1'])
  })

  it('that are slow to start for the first time are searched as soon as they run', async () => {
    const gate = join(folder, 'gate')
    const script = `const timer = setInterval(() => {
      if (!require('node:fs').existsSync(${JSON.stringify(gate)})) return
      clearInterval(timer)
      import(${JSON.stringify(SERVER)})
    }, 10)`
    const args = ['-e', script, 'server', JSON.stringify({ tools: [ECHO] })]
    const slow = { command: process.execPath, args }
    const gateway = await createGateway(
      { mcpServers: { slow, a: fixture('a', { tools: [{ name: 'look', description: 'Looks.' }] }) } },
      { cache: join(folder, 'cache') },
    )
    open.push(gateway)
    await vi.waitFor(() => expect(gateway.servers[1]?.tools).toBe(1))
    const client = await connect((await gateway.http()).url)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      'read_result',
      'search_tools',
      'use_tool',
    ])
    // A known tool does not wait.
    const known = { name: 'use_tool', arguments: { name: 'look', arguments: { word: 'hi' } } }
    expect(JSON.stringify(await client.callTool(known))).toContain('hi')
    const search = client.callTool({ name: 'search_tools', arguments: { query: 'repeat what I say' } })
    const use = client.callTool({ name: 'use_tool', arguments: { name: 'echo', arguments: { word: 'hello' } } })
    writeFileSync(gate, '')
    expect(JSON.stringify(await search)).toContain('echo')
    expect(JSON.stringify(await use)).toContain('hello')
    await client.close()
  })

  it('may keep announcing changed tools: clients are notified only of real changes', async () => {
    const tools = [
      { name: 'stir', description: 'Says so.', does: 'stir' },
      { name: 'grow', description: 'Adds a tool.', does: 'grow' },
    ]
    const gateway = await create({ mcpServers: { a: fixture('a', { tools }) }, expose: 'all' })
    const client = await connect((await gateway.http()).url)
    const told = vi.fn()
    client.setNotificationHandler('notifications/tools/list_changed', told)
    await client.listTools()
    await client.callTool({ name: 'stir', arguments: {} })
    await client.callTool({ name: 'grow', arguments: {} })
    await vi.waitFor(() => expect(told).toHaveBeenCalled())
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('grown_2')
    expect(told).toHaveBeenCalledOnce()
    await client.close()
  })

  it('must start if they are required', async () => {
    const definition = { mcpServers: { a: fixture('a'), bad: fixture('bad', { crashes: true }, { required: true }) } }
    await expect(create(definition)).rejects.toThrow(/^The server 'bad' is required and cannot be started\. /)
  })

  it('have one process per client if they are isolated', async () => {
    const gateway = await create({ mcpServers: { a: fixture('a', {}, { isolate: true }) } })
    const { url } = await gateway.http()
    const clients = await Promise.all([connect(url), connect(url)])
    const results = await Promise.all(clients.map((client) => client.callTool({ name: 'echo', arguments: {} })))
    const pids = results.map(({ content }) => JSON.parse((content as { text: string }[])[0]?.text ?? '').pid as number)
    expect(new Set(pids).size).toBe(2)
    await Promise.all(clients.map((client) => client.close()))
  })
})

function readCache(): string {
  const cache = join(folder, 'cache')
  return readdirSync(cache)
    .map((file) => readFileSync(join(cache, file), 'utf8'))
    .join('\n')
}

describe('R54 the cache', () => {
  it('holds no secrets', async () => {
    const secret = 'sk-secret-value'
    await create({ mcpServers: { a: fixture('a', {}, { env: { FIXTURE: secret } }) } })
    await vi.waitFor(() => expect(readCache()).toContain('echo'))
    expect(readCache()).not.toContain(secret)
  })

  it('is ignored if it is damaged, and rewritten', async () => {
    const servers = { mcpServers: { a: fixture('a') } }
    await (await create(servers)).close()
    const cache = join(folder, 'cache')
    for (const file of readdirSync(cache)) writeFileSync(join(cache, file), '{"format": 1, "snapshot"')
    expect(await listNames(await create(servers))).toEqual(['a/echo'])
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'problem', message: expect.stringContaining('is ignored') }),
    )
    await vi.waitFor(() => expect(readCache()).toContain('"echo"'))
  })

  it('is not trusted if its content does not match its hash', async () => {
    const servers = { mcpServers: { a: fixture('a') } }
    await (await create(servers)).close()
    const cache = join(folder, 'cache')
    for (const file of readdirSync(cache))
      writeFileSync(join(cache, file), readFileSync(join(cache, file), 'utf8').replaceAll('"echo"', '"evil"'))
    expect(await listNames(await create(servers))).toEqual(['a/echo'])
  })

  it('may be read-only', async () => {
    writeFileSync(join(folder, 'file'), '')
    const mcpServers = { a: fixture('a'), b: fixture('b') }
    const unwritable = { cache: join(folder, 'file', 'cache'), data: join(folder, 'file', 'data') }
    const gateway = await create({ mcpServers }, unwritable)
    expect(await listNames(gateway)).toEqual(['a/echo', 'b/echo'])
    await gateway.close()
    // Not for each server.
    const problems = events.flatMap((event) => (event.type === 'problem' ? event.message.replace(/:.*/s, '') : []))
    expect(problems.toSorted()).toEqual(['Definitions of tools cannot be pinned', 'Tools cannot be cached'])
  })

  it('serves two gateways at once', async () => {
    const servers = { mcpServers: { a: fixture('a'), b: fixture('b') } }
    mkdirSync(join(folder, 'cache'))
    const gateways = await Promise.all([create(servers), create(servers), create(servers)])
    for (const gateway of gateways) expect(await listNames(gateway)).toEqual(['a/echo', 'b/echo'])
    // The last gateway may still be writing.
    await vi.waitFor(() =>
      expect(readdirSync(join(folder, 'cache')).filter((file) => file.endsWith('.tmp'))).toEqual([]),
    )
  })
})

describe('R51 a configuration', () => {
  it('changes tools: other names and descriptions, fixed and default parameters, hidden tools', async () => {
    const inputSchema = {
      type: 'object',
      properties: { owner: { type: 'string' }, limit: { type: 'number' }, title: { type: 'string' } },
      required: ['owner', 'limit', 'title'],
    }
    const tools = [{ ...ECHO, inputSchema }, { name: 'secret' }]
    const override = {
      echo: {
        name: 'create_issue',
        description: 'Creates an issue.',
        core: true,
        category: 'work',
        parameters: { owner: { fixed: 'acme' }, limit: { default: 5 } },
      },
      secret: { hide: true },
    }
    const gateway = await create({ mcpServers: { a: fixture('a', { tools }, { tools: override }) } })
    const catalog = await gateway.getCatalog()
    expect(catalog.tools).toMatchObject([
      {
        name: 'create_issue',
        description: 'Creates an issue.',
        core: true,
        category: 'work',
        inputSchema: { properties: { limit: { default: 5 }, title: {} }, required: ['title'] },
      },
    ])
    expect(catalog.tools[0]?.inputSchema['properties']).not.toHaveProperty('owner')
    const result = JSON.parse(getText(await catalog.call('create_issue', { title: 'Lamp' }))) as { args: object }
    expect(result.args).toEqual({ owner: 'acme', limit: 5, title: 'Lamp' })
    expect((await catalog.call('secret', {})).isError).toBe(true)
  })

  it('has presets, each with its own servers, tools and URL', async () => {
    const tools = [ECHO, { name: 'delete_all', description: 'Deletes.' }]
    const gateway = await create({
      mcpServers: { a: fixture('a', { tools }), b: fixture('b') },
      presets: { safe: { servers: ['a'], exclude: ['*/delete_*'], expose: 'all' } },
    })
    expect((await listNames(gateway)).toSorted()).toEqual(['a/delete_all', 'a/echo', 'b/echo'])
    expect(await listNames(gateway, 'safe')).toEqual(['a/echo'])
    const { url } = await gateway.http()
    const client = await connect(`${url}/safe`)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['read_result', 'echo'])
    await client.close()
    await expect(connect(`${url}/other`)).rejects.toThrow(/404|The MCP server is at/)
    await expect(gateway.getCatalog({ preset: 'other' })).rejects.toThrow("Unknown preset 'other'. Choose from: safe.")
  })

  it('can change while the gateway runs: servers come, change and go, and clients are notified', async () => {
    const gateway = await create({ mcpServers: { a: fixture('a'), b: fixture('b') }, expose: 'all' })
    const { url } = await gateway.http()
    const client = await connect(url)
    expect((await client.listTools()).tools).toHaveLength(3)
    const told = vi.fn()
    client.setNotificationHandler('notifications/tools/list_changed', told)
    await gateway.update({
      mcpServers: { a: fixture('a'), c: fixture('c', { tools: [{ name: 'count', description: 'Counts.' }] }) },
      expose: 'all',
    })
    await vi.waitFor(async () =>
      expect((await client.listTools()).tools.map(({ name }) => name).sort()).toEqual(['count', 'echo', 'read_result']),
    )
    await vi.waitFor(() => expect(told).toHaveBeenCalled())
    expect(countStarts('a')).toBe(1)
    await client.close()
  })

  it('stays in use if a new one is invalid', async () => {
    const gateway = await create({ mcpServers: { a: fixture('a') } })
    const bad = { mcpServers: { b: fixture('b', { crashes: true }, { required: true }) } }
    await expect(gateway.update(bad)).rejects.toThrow(/required/)
    expect(await listNames(gateway)).toEqual(['a/echo'])
    expect((await call(gateway, 'echo')).isError).toBeUndefined()
  })
})

describe('R51 a change that makes a server unusable', () => {
  const valid = (): ServerDefinition => fixture('a')

  it.each([
    ['a command that is not a text', { command: 5 }, /'a' cannot be used\. Its command must be/],
    ['an empty entry', {}, /'a' cannot be used\. /],
    ['wrong arguments', { command: 'node', args: 'x' }, /'a' cannot be used\. Its args must be/],
    ['an entry that is not an object', 'node', /'a' cannot be used\. The entry is not an object/],
    ['a missing variable', { command: '${FOLDOUT_MISSING}' }, /'a' cannot be used\. .*FOLDOUT_MISSING/],
  ])('is rejected, and the old one stays in use: %s', async (_, entry, why) => {
    const gateway = await create({ mcpServers: { a: valid() } })
    const change = { mcpServers: { a: entry, b: fixture('b') } } as GatewayDefinition
    await expect(gateway.update(change)).rejects.toThrow(why)
    expect(await listNames(gateway)).toEqual(['a/echo'])
    expect((await call(gateway, 'echo')).isError).toBeUndefined()
  })

  it('is accepted if the server was unusable before, for the same reason', async () => {
    const mcpServers = { a: valid(), bad: {}, unset: { command: '${FOLDOUT_MISSING}' } }
    const gateway = await create({ mcpServers })
    const unset = { ...mcpServers.unset, args: ['more'] }
    await gateway.update({ mcpServers: { ...mcpServers, unset, b: fixture('b') } })
    await gateway.ready()
    expect(await listNames(gateway)).toEqual(['a/echo', 'b/echo'])
  })
})

describe('R54 processes', () => {
  it('end with the gateway, together with everything they started', async () => {
    const pids = join(folder, 'pids')
    const gateway = await create({ mcpServers: { a: fixture('a', { pids, isStubborn: true, isDetached: true }) } })
    await gateway.close()
    await vi.waitFor(() => expect(readPids(pids).filter(isRunning)).toEqual([]))
  })

  it.skipIf(process.platform === 'win32')('end with their server, even if they have become daemons', async () => {
    const [first, second] = [join(folder, 'first'), join(folder, 'second')]
    const mcpServers = { a: fixture('a', { daemon: first }), b: fixture('b', { daemon: second }) }
    const gateway = await create({ mcpServers })
    const daemons = [...readPids(first), ...readPids(second)]
    expect(daemons.filter(isRunning)).toHaveLength(2)
    await gateway.update({ mcpServers: { b: mcpServers.b } })
    // A killed process takes a moment to end.
    await vi.waitFor(() => expect(daemons.map(isRunning)).toEqual([false, true]))
    await gateway.close()
    await vi.waitFor(() => expect(daemons.map(isRunning)).toEqual([false, false]))
  })

  it.skipIf(process.platform === 'win32')('end with a server that ends by itself', async () => {
    const daemon = join(folder, 'daemon')
    const gateway = await create({
      mcpServers: { a: fixture('a', { daemon, tools: [{ name: 'crash', does: 'crash' }] }) },
    })
    const daemons = readPids(daemon)
    expect(daemons.map(isRunning)).toEqual([true])
    await call(gateway, 'crash')
    await vi.waitFor(() => expect(daemons.map(isRunning)).toEqual([false]))
  })

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'end when the gateway gets %s',
    async (signal) => {
      const pids = join(folder, 'pids')
      const config = join(folder, 'config.json')
      writeFileSync(config, JSON.stringify({ mcpServers: { a: fixture('a', { pids, isStubborn: true }) } }))
      const bin = join(import.meta.dirname, '../../bin/foldout.js')
      const args = [bin, 'serve', '--config', config, '--cache', join(folder, 'cache')]
      const gateway = spawn(process.execPath, args, { stdio: ['pipe', 'ignore', 'inherit'] })
      await vi.waitFor(() => expect(readPids(pids)).toHaveLength(2))
      gateway.kill(signal)
      await once(gateway, 'exit')
      await vi.waitFor(() => expect(readPids(pids).filter(isRunning)).toEqual([]))
    },
    60_000,
  )

  it('end when the gateway is killed at any moment while they start', async () => {
    const starts = join(folder, 'starts')
    const config = join(folder, 'config.json')
    const servers = ['a', 'b', 'c', 'd'].map((name) => [
      name,
      fixture(name, { starts, isMute: true, isStubborn: true }),
    ])
    writeFileSync(config, JSON.stringify({ mcpServers: Object.fromEntries(servers) }))
    const args = [join(import.meta.dirname, '../../bin/foldout.js'), 'serve', '--config', config]
    const kill = async (afterStarts: number): Promise<void> => {
      const gateway = spawn(process.execPath, [...args, '--cache', join(folder, 'cache')], { stdio: 'pipe' })
      const before = listStarts(starts).length
      await vi.waitFor(() => expect(listStarts(starts).length).toBeGreaterThanOrEqual(before + afterStarts), {
        interval: 1,
      })
      gateway.kill('SIGKILL')
      await once(gateway, 'exit')
    }
    // As soon as the first one runs, and as soon as all of them run.
    for (const afterStarts of [1, 1, 2, 3, 4]) await kill(afterStarts)
    await vi.waitFor(() => expect(listStarts(starts).filter(isRunning)).toEqual([]))
  }, 120_000)
})

function listStarts(file: string): readonly number[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : []
}
