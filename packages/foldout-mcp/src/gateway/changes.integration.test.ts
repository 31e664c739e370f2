import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { GatewayDefinition, ServerDefinition } from './config/definition.ts'
import { readDefinition } from './config/read-config.ts'
import type { Gateway } from './gateway.ts'
import { IdleNames } from './policy/rules/idle-names.ts'
import { createSite, getText, serveTools, type Site } from './policy/gateway.fixtures.ts'
import { createLoopGuard } from './servers/loop-guard.ts'

let site: Site
beforeEach(() => {
  site = createSite()
})
afterEach(() => site.close())

const ECHO = { name: 'echo', description: 'Repeats its input.' }
const HANG = { name: 'hang', description: 'Never answers.', does: 'hang' }

/** A server that records its starts. */
function serve(tools: readonly object[] = [ECHO, HANG], more: ServerDefinition = {}): ServerDefinition {
  return serveTools(tools, more, { starts: join(site.folder, 'starts') })
}

function countStarts(): number {
  const file = join(site.folder, 'starts')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0
}

interface Result {
  readonly tools?: readonly { readonly name: string }[]
  readonly content?: unknown
  readonly instructions?: string
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly result?: Result
}

/** A client over stdio that keeps all messages. */
async function connectStdio(gateway: Gateway, preset?: string) {
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  const messages: Message[] = []
  createInterface({ input: stdout }).on('line', (line) => messages.push(JSON.parse(line) as Message))
  const connection = await gateway.stdio({ stdin, stdout, ...(preset === undefined ? {} : { preset }) })
  let isClosed = false
  void connection.closed.then(() => (isClosed = true))
  let ids = 0
  const send = (method: string, params: object): number => {
    const id = ids++
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return id
  }
  const request = async (method: string, params: object = {}): Promise<Result> => {
    const id = send(method, params)
    return vi.waitFor(() => {
      const answer = messages.find((message) => message.id === id)
      if (!answer?.result) throw new Error(`There is no answer yet: ${JSON.stringify(answer)}`)
      return answer.result
    })
  }
  const { instructions } = await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  })
  stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  const list = async (): Promise<readonly string[]> =>
    ((await request('tools/list')).tools ?? []).map(({ name }) => name)
  const call = async (name: string, args: object = {}): Promise<string> =>
    getText(await request('tools/call', { name, arguments: args }))
  const countChanges = (): number =>
    messages.filter(({ method }) => method === 'notifications/tools/list_changed').length
  return { messages, send, list, call, countChanges, instructions, isClosed: () => isClosed }
}

describe('R51 a change of the configuration, for a client over stdio', () => {
  it.each([
    ['expose', { expose: 'hybrid' }],
    ['instructions', { instructions: 'Speak softly.' }],
    ['foldResults', { foldResults: 0 }],
    ['http', { http: { allowedHosts: ['tools.example'] } }],
    ['a preset', { presets: { other: { expose: 'all' } } }],
    ['overrides', { mcpServers: { a: { tools: { echo: { description: 'Says it again.' } } } } }],
  ] as const)('of %s ends neither the connection nor a running call', async (_, change: GatewayDefinition) => {
    const gateway = await site.create({ mcpServers: { a: serve() }, expose: 'all' })
    const client = await connectStdio(gateway)
    const running = client.send('tools/call', { name: 'hang', arguments: {} })
    const overrides = change.mcpServers?.['a'] ?? {}
    await gateway.update({ expose: 'all', ...change, mcpServers: { a: { ...serve(), ...overrides } } })
    expect(await client.call('echo', { word: 'still here' })).toContain('still here')
    expect(client.isClosed()).toBe(false)
    // It is still running, and was not answered with an error.
    expect(client.messages.filter(({ id }) => id === running)).toEqual([])
    expect(countStarts()).toBe(1)
  })

  it('applies another exposure, announces the list, and keeps the meta tools callable that the client has', async () => {
    const gateway = await site.create({ mcpServers: { a: serve([ECHO]) }, expose: 'hybrid' })
    const client = await connectStdio(gateway)
    expect(await client.list()).toEqual(['read_result', 'search_tools', 'use_tool'])
    await gateway.update({ mcpServers: { a: serve([ECHO]) }, expose: 'all' })
    await vi.waitFor(() => expect(client.countChanges()).toBe(1))
    // A client that ignores the announcement goes on.
    expect(await client.call('use_tool', { name: 'echo', arguments: { word: 'old way' } })).toContain('old way')
    expect(await client.list()).toEqual(['read_result', 'echo'])
    await gateway.update({ mcpServers: { a: serve([ECHO]) }, expose: 'two-phase', foldResults: 0 })
    await vi.waitFor(() => expect(client.countChanges()).toBe(2))
    expect(await client.list()).toEqual(['search_tools', 'get_tool_definition', 'use_tool'])
    expect(await client.call('echo', { word: 'hidden now' })).toContain('hidden now')
  })

  it('asks a server for its tools again if the value of a variable changes, also between two starts', async () => {
    const options = join(site.folder, 'options.json')
    writeFileSync(options, JSON.stringify({ tools: [ECHO] }))
    const [program = ''] = serve().args ?? []
    const define = (level: string): GatewayDefinition => ({
      mcpServers: {
        a: { command: process.execPath, args: [program, JSON.stringify({ file: options })], env: { FIXTURE: level } },
      },
      expose: 'all',
      foldResults: 0,
    })
    const gateway = await site.create(define('few'))
    const client = await connectStdio(gateway)
    expect(await client.list()).toEqual(['echo'])
    writeFileSync(options, JSON.stringify({ tools: [ECHO, HANG] }))
    await gateway.update(define('many'))
    await vi.waitFor(async () => expect(await client.list()).toEqual(['echo', 'hang']))
    await gateway.close()
    writeFileSync(options, JSON.stringify({ tools: [HANG] }))
    expect(await (await connectStdio(await site.create(define('many')))).list()).toEqual(['echo', 'hang'])
    const changed = await connectStdio(await site.create(define('one')))
    await vi.waitFor(async () => expect(await changed.list()).toEqual(['hang']))
    writeFileSync(options, JSON.stringify({ tools: [ECHO, HANG] }))
    const waiting = await site.create(define('many'))
    await waiting.ready()
    expect(waiting.servers.map(({ tools }) => tools)).toEqual([2])
  })

  it('applies another filter of its preset, and refuses to remove the preset', async () => {
    const tools = [ECHO, { name: 'delete_all', description: 'Deletes.' }]
    const definition = { mcpServers: { a: serve(tools) }, expose: 'all', foldResults: 0 } as const
    const gateway = await site.create({ ...definition, presets: { safe: {} } })
    const client = await connectStdio(gateway, 'safe')
    expect(await client.list()).toEqual(['delete_all', 'echo'])
    await gateway.update({ ...definition, presets: { safe: { exclude: ['a/delete_all'] } } })
    await vi.waitFor(() => expect(client.countChanges()).toBe(1))
    expect(await client.list()).toEqual(['echo'])
    await expect(gateway.update(definition)).rejects.toThrow(
      "The preset 'safe' cannot be removed while a client uses it. Restart the gateway.",
    )
    expect(await client.list()).toEqual(['echo'])
    expect(client.isClosed()).toBe(false)
  })

  it('logs denied calls as soon as there is an audit log', async () => {
    const rules = [{ action: 'deny', tool: 'a/echo' }] as const
    const gateway = await site.create({ mcpServers: { a: serve() }, expose: 'all', rules })
    const client = await connectStdio(gateway)
    const audit = join(site.folder, 'audit.jsonl')
    await gateway.update({ mcpServers: { a: serve() }, expose: 'all', rules, audit })
    expect(await client.call('echo')).toContain('not found')
    await vi.waitFor(() => expect(readFileSync(audit, 'utf8')).toMatch(/"tool":"a\/echo".*"outcome":"denied"/))
  })

  it('tells the next client the new instructions', async () => {
    const gateway = await site.create({ mcpServers: { a: serve([ECHO]) }, instructions: 'Old.' })
    expect((await connectStdio(gateway)).instructions).toMatch(/^Old\./)
    await gateway.update({ mcpServers: { a: serve([ECHO]) }, instructions: 'New.' })
    expect((await connectStdio(gateway)).instructions).toMatch(/^New\.(?!.*Old)/s)
  })
})

describe('R51 a change of overrides', () => {
  it('applies without a restart of the server', async () => {
    const gateway = await site.create({ mcpServers: { a: serve([ECHO, HANG]) }, expose: 'all', foldResults: 0 })
    const client = await connectStdio(gateway)
    await client.call('echo')
    await gateway.update({
      mcpServers: { a: serve([ECHO, HANG], { tools: { hang: { hide: true }, echo: { name: 'say' } } }) },
      expose: 'all',
      foldResults: 0,
    })
    await vi.waitFor(async () => expect(await client.list()).toEqual(['say']))
    expect(await client.call('say', { word: 'renamed' })).toContain('renamed')
    expect(countStarts()).toBe(1)
  })
})

function listProblems(): readonly string[] {
  return site.events.flatMap((event) => (event.type === 'problem' ? [event.message] : []))
}

describe('R51 settings that have no effect', () => {
  it('are reported once: tools, parameters and servers that do not exist', async () => {
    const inputSchema = { type: 'object', properties: { team: { type: 'string' } } }
    const tools = [{ name: 'send_mail', inputSchema }, { name: 'delete_all' }]
    const overrides = { 'delete-all': { hide: true }, send_mail: { parameters: { teem: { fixed: 'x' } } } }
    const definition: GatewayDefinition = {
      mcpServers: { a: serve(tools, { tools: overrides }) },
      presets: { p: { servers: ['typo'], exclude: ['a/delete-all', 'a/delete_all', 'a/*x*'] } },
      rules: [{ action: 'deny', tool: ['a/send_mial', 'a/send_mail'] }],
    }
    const gateway = await site.create(definition)
    await gateway.update({ ...definition, expose: 'all' })
    const expected = [
      "The preset 'p' names the server 'typo', which matches nothing in the configuration.",
      "The preset 'p' names the tool 'a/delete-all'. The server 'a' has no tool 'delete-all'.",
      "A rule names the tool 'a/send_mial'. The server 'a' has no tool 'send_mial'.",
      `Its "tools" name 'delete-all'. The server 'a' has no tool 'delete-all'.`,
      `Its "tools" name the parameter 'teem' of 'send_mail', which the tool does not have. It has: team.`,
    ]
    // Once for each configuration.
    expect(listProblems().toSorted()).toEqual([...expected, ...expected].toSorted())
  })
})

describe('R51 a setting that has no effect', () => {
  it('is reported once, briefly, however often and however long its server redefines the tool', async () => {
    const definition: GatewayDefinition = {
      mcpServers: { a: { command: 'x', tools: { t: { parameters: { no: {} } } } } },
    }
    const config = readDefinition(definition, { file: 'servers.json', folder: site.folder })
    const [server] = config.servers
    if (!server) throw new Error('There is no server.')
    const idle = new IdleNames(config)
    const define = (prefix: string) => {
      const names = Array.from({ length: 1_000 }, (_, i) => `${prefix}${i}`.repeat(1_000))
      const properties = Object.fromEntries(names.map((name) => [name, {}]))
      return { config: server, tools: [{ name: 't', inputSchema: { type: 'object', properties } }] }
    }
    const [message = ''] = idle.findNew(define('a'))
    expect(message).toMatch(
      /^Its "tools" name the parameter 'no' of 't', which the tool does not have\. It has: a0a0.*, …$/,
    )
    expect(message.length).toBeLessThan(1_000)
    for (let i = 0; i < 20; i++) expect(idle.findNew(define(`b${i}`))).toEqual([])
  })
})

describe('R54 a server that does not start at first', () => {
  it('is started again until its tools are known, although nobody can call it', async () => {
    const options = join(site.folder, 'options.json')
    const starts = join(site.folder, 'starts')
    writeFileSync(options, JSON.stringify({ crashes: true, starts }))
    const server = {
      command: process.execPath,
      args: [...(serve().args ?? []).slice(0, 1), JSON.stringify({ file: options })],
    }
    const gateway = await site.create({ mcpServers: { a: server } })
    expect(gateway.servers[0]?.state.type).toBe('failed')
    writeFileSync(options, JSON.stringify({ tools: [ECHO], starts }))
    await vi.waitFor(() => expect(gateway.servers[0]?.tools).toBe(1), { timeout: 10_000 })
  })

  it('does not keep others waiting: the answer to a search names it', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const mute = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] }
      const gateway = await site.create({ mcpServers: { a: serve([ECHO]) }, expose: 'hybrid' })
      const client = await connectStdio(gateway)
      void gateway.update({ mcpServers: { a: serve([ECHO]), mute }, expose: 'hybrid' })
      await vi.waitFor(() => expect(gateway.servers).toHaveLength(2))
      vi.advanceTimersByTime(60_000)
      const answer = await client.call('search_tools', { query: 'repeat what I say' })
      expect(answer).toMatch(/^echo\(/)
      expect(answer).toContain(
        "The server 'mute' is still starting, so its tools are not known yet. If you need one of them, try again in a few seconds.",
      )
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('R54 a server that cannot be started', () => {
  const NOTE =
    'The tool may be on a server that is unavailable. Cannot be started: crash, dead (ask the user to run "foldout doctor").'
  const broken = {
    crash: { command: process.execPath, args: ['-e', 'process.exit(3)'] },
    dead: { command: '/nonexistent/server' },
  }

  it('is named if a search or a call finds no tool, and only then', async () => {
    const gateway = await site.create({ mcpServers: { a: serve([ECHO]), ...broken }, expose: 'hybrid' })
    const client = await connectStdio(gateway)
    expect(await client.call('search_tools', { query: 'zzzqqq' })).toMatch(/^Nothing fits "zzzqqq"/)
    for (const args of [{ query: 'zzzqqq' }, { query: 'zzzqqq' }])
      expect((await client.call('search_tools', args)).endsWith(`\n${NOTE}`)).toBe(true)
    expect(await client.call('use_tool', { name: 'dead/thing' })).toMatch(/^Tool 'dead\/thing' not found\./)
    expect(await client.call('use_tool', { name: 'dead/thing' })).toContain(NOTE)
    expect(await client.call('thing', {})).toContain(NOTE)
    expect(await client.call('search_tools', { query: 'repeat my input' })).not.toContain('unavailable')
    expect(await client.call('use_tool', { name: 'echo', arguments: {} })).not.toContain('unavailable')
  })

  it('is not named to clients that may not use it', async () => {
    const presets = { few: { servers: ['a', 'dead'] } }
    const gateway = await site.create({ mcpServers: { a: serve([ECHO]), ...broken }, presets, expose: 'all' })
    const client = await connectStdio(gateway, 'few')
    expect(await client.call('thing', {})).toContain('Cannot be started: dead (')
  })
})

describe('R54 a gateway that is one of its own servers', () => {
  it('leaves out the entry that it was started by, through however many other programs', async () => {
    const servers = { a: serve([ECHO]), b: serve([ECHO, HANG]) }
    const [started] = readDefinition({ mcpServers: servers }, { file: 'servers.json', folder: site.folder }).servers
    if (!started) throw new Error('There is no server.')
    const outer = createLoopGuard({}).mark(started)
    const env = createLoopGuard(outer).mark({ ...started, name: 'between' })
    const gateway = await site.create({ mcpServers: servers }, { env })
    expect(gateway.servers.map(({ name }) => name)).toEqual(['b'])
    expect(site.events).toContainEqual({
      type: 'problem',
      server: 'a',
      message: 'It starts this gateway itself, so it is left out.',
    })
  })
})
