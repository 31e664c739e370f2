import { spawn } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as FirstStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as FirstHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importSdk, installSdk, startProvider } from '../claude-agent/harness.ts'
import { BIN, installClients, IS_ALL, load, startGateway, type TestGateway } from './harness.ts'

let gateway: TestGateway
beforeAll(async () => {
  if (IS_ALL) {
    installClients()
    installSdk()
  }
  gateway = await startGateway()
}, 400_000)
afterAll(() => gateway.close())

const OPENCODE = join(import.meta.dirname, `node_modules/opencode-${process.platform}-${process.arch}/bin/opencode`)
const CLAUDE = join(
  import.meta.dirname,
  `../claude-agent/node_modules/@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`,
)

const USE = { name: 'echo', arguments: { word: 'hello' } }
const TOOLS = ['search_tools', 'use_tool']
const TRANSPORTS = ['stdio', 'http'] as const
type TransportName = (typeof TRANSPORTS)[number]

describe.each(TRANSPORTS)('R53 clients of the official SDKs over %s', (transport) => {
  it('version 1: list and call', async () => {
    const client = new FirstClient({ name: 'test', version: '1' })
    const { command, args, url } = gateway
    const wire =
      transport === 'stdio' ? new FirstStdio({ command, args, stderr: 'ignore' }) : new FirstHttp(new URL(url))
    await client.connect(wire)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(expect.arrayContaining(TOOLS))
    expect(JSON.stringify(await client.callTool({ name: 'use_tool', arguments: USE }))).toContain('hello')
    await client.close()
  })

  it.each(['legacy', 'modern'] as const)('version 2: list and call, as %s clients', async (era) => {
    const mode = era === 'modern' ? 'auto' : 'legacy'
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    const { command, args, url } = gateway
    const wire =
      transport === 'stdio'
        ? new StdioClientTransport({ command, args, stderr: 'ignore' })
        : new StreamableHTTPClientTransport(new URL(url))
    await client.connect(wire)
    expect(client.getProtocolEra()).toBe(era)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(expect.arrayContaining(TOOLS))
    expect(JSON.stringify(await client.callTool({ name: 'use_tool', arguments: USE }))).toContain('hello')
    await client.close()
  })
})

/** The parts of the AI SDK's client that are used. */
interface AiSdk {
  createMCPClient(options: { readonly transport: unknown }): Promise<{
    tools(): Promise<Readonly<Record<string, { execute(args: object, options: object): Promise<unknown> }>>>
    close(): Promise<void>
  }>
}
interface AiSdkStdio {
  readonly Experimental_StdioMCPTransport: new (options: object) => unknown
}

describe.runIf(IS_ALL).each(TRANSPORTS)('R53 clients of others over %s', (transport) => {
  it('the client of the AI SDK', async () => {
    const { createMCPClient } = await load<AiSdk>('@ai-sdk/mcp')
    const { Experimental_StdioMCPTransport: Stdio } = await load<AiSdkStdio>('@ai-sdk/mcp/mcp-stdio')
    const { command, args, url } = gateway
    const wire = transport === 'stdio' ? new Stdio({ command, args, stderr: 'ignore' }) : { type: 'http', url }
    const client = await createMCPClient({ transport: wire })
    const tools = await client.tools()
    expect(Object.keys(tools)).toEqual(expect.arrayContaining(TOOLS))
    const answer = await tools['use_tool']?.execute(USE, { toolCallId: '1', messages: [] })
    expect(JSON.stringify(answer)).toContain('hello')
    await client.close()
  }, 60_000)

  it('the command line of the inspector', async () => {
    const file = join(gateway.folder, `inspector-${transport}.json`)
    writeFileSync(file, JSON.stringify({ mcpServers: { gateway: toEntry(transport) } }))
    const bin = join(
      import.meta.dirname,
      'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
    )
    const inspect = (...more: readonly string[]): Promise<string> =>
      run([process.execPath, bin, '--cli', '--config', file, '--server', 'gateway', ...more])
    expect(await inspect('--method', 'tools/list')).toContain('"search_tools"')
    const find = ['--method', 'tools/call', '--tool-name', 'search_tools', '--tool-arg', 'query=repeat what I say']
    expect(await inspect(...find)).toContain('echo')
  }, 90_000)

  it('claude mcp list', async () => {
    const home = join(gateway.folder, `claude-${transport}`)
    mkdirSync(home)
    const claude = (...args: readonly string[]): Promise<string> =>
      run([CLAUDE, 'mcp', ...args], getClaudeVariables(home), home)
    await claude('add-json', '-s', 'user', 'gateway', JSON.stringify(toEntry(transport)))
    expect(await claude('list')).toMatch(/gateway: .*Connected/)
  }, 90_000)

  it('opencode mcp list', async () => {
    const home = join(gateway.folder, `opencode-${transport}`)
    mkdirSync(home)
    const { command, args, url } = gateway
    const entry = transport === 'stdio' ? { type: 'local', command: [command, ...args] } : { type: 'remote', url }
    writeFileSync(join(home, 'opencode.json'), JSON.stringify({ mcp: { gateway: { ...entry, enabled: true } } }))
    expect(await run([OPENCODE, 'mcp', 'list'], getHomeVariables(home), home)).toMatch(/✓ gateway .*connected/)
  }, 90_000)

  it('the Claude Agent SDK', async () => {
    const provider = await startProvider()
    const hasResult = ({ messages }: { readonly messages: readonly { readonly role: string }[] }): boolean =>
      messages.some(({ role }) => role === 'tool')
    provider.mock.on({ predicate: hasResult }, { content: 'It said hello.' })
    provider.mock.on({}, { toolCalls: [{ name: 'mcp__gateway__use_tool', arguments: USE }] })
    const { query } = (await importSdk()) as unknown as {
      query(given: object): AsyncIterable<{ readonly type: string; readonly result?: string }>
    }
    const options = {
      model: 'claude-sonnet-4-5',
      env: provider.env,
      cwd: provider.home,
      settingSources: [],
      tools: [],
      mcpServers: { gateway: toEntry(transport) },
      permissionMode: 'bypassPermissions',
      allowDangerouslySkipPermissions: true,
    }
    let result: string | undefined
    for await (const message of query({ prompt: 'Say hello.', options })) result = message.result ?? result
    expect(result).toBe('It said hello.')
    const [first, ...later] = provider.requests.filter(({ tools = [] }) => tools.length > 0)
    expect(first?.tools?.map(({ name }) => name)).toEqual(expect.arrayContaining(['mcp__gateway__use_tool']))
    expect(JSON.stringify(later.at(-1)?.messages)).toContain('hello')
    await provider.stop()
  }, 90_000)
})

describe.runIf(IS_ALL)('R52 clients with the gateway installed', () => {
  /** Links to the programs, and an `npx` that starts this gateway, because its version may not be published yet. */
  function createPath(home: string, programs: Readonly<Record<string, string>>, before = ''): string {
    const folder = join(home, 'bin')
    mkdirSync(folder, { recursive: true })
    for (const [name, file] of Object.entries(programs)) symlinkSync(file, join(folder, name))
    const npx = `#!/bin/sh\n${before}\n[ "$1" = -y ] && shift\nshift\nexec "${process.execPath}" "${BIN}" "$@"\n`
    writeFileSync(join(folder, 'npx'), npx, { mode: 0o755 })
    return [folder, process.env['PATH']].join(delimiter)
  }

  it.each([
    { client: 'claude-code', program: 'claude', bin: CLAUDE, sees: /foldout: .*Connected/ },
    { client: 'opencode', program: 'opencode', bin: OPENCODE, sees: /✓ foldout .*connected/ },
  ])(
    '$client connects, and has no trace of the gateway after uninstalling',
    async ({ client, program, bin, sees }) => {
      const home = join(gateway.folder, `installed-${client}`)
      const PATH = createPath(home, { [program]: bin })
      const variables = { ...getHomeVariables(home), ...(program === 'claude' ? getClaudeVariables(home) : {}), PATH }
      const foldout = (...args: readonly string[]): Promise<string> =>
        run([process.execPath, BIN, ...args], variables, home)
      const list = (): Promise<string> => run([bin, 'mcp', 'list'], variables, home)
      const config = gateway.args[gateway.args.indexOf('--config') + 1] ?? ''
      expect(await foldout('install', client, '--config', config)).toMatch(/^Foldout is installed in /)
      expect(await list()).toMatch(sees)
      expect(await foldout('uninstall', client)).toMatch(/^Foldout was removed from /)
      expect(await list()).not.toContain('foldout')
    },
    120_000,
  )

  // With its search for tools, it waits at its start only for servers whose entry says so.
  it('claude-code sends the tools of the gateway with its first request', async () => {
    const provider = await startProvider()
    provider.mock.on({}, { content: 'Hello.' })
    // The real one asks the registry.
    const PATH = createPath(provider.home, { claude: CLAUDE }, 'sleep 3')
    const variables = { ...provider.env, PATH, ENABLE_TOOL_SEARCH: 'true' }
    const config = gateway.args[gateway.args.indexOf('--config') + 1] ?? ''
    await run([process.execPath, BIN, 'install', 'claude-code', '--config', config], variables, provider.home)
    await run([CLAUDE, '-p', 'Say hello.', '--model', 'claude-sonnet-4-5'], variables, provider.home)
    const first = provider.requests.find(({ tools = [] }) => tools.length > 0)
    const names = first?.tools?.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(TOOLS.map((name) => `mcp__foldout__${name}`)))
    await provider.stop()
  }, 120_000)
})

/** A private home folder for a program that keeps files there. */
function getHomeVariables(home: string): NodeJS.ProcessEnv {
  const [config, data, cache, state] = ['config', 'data', 'cache', 'state'].map((name) => join(home, name))
  return { HOME: home, XDG_CONFIG_HOME: config, XDG_DATA_HOME: data, XDG_CACHE_HOME: cache, XDG_STATE_HOME: state }
}

function getClaudeVariables(home: string): NodeJS.ProcessEnv {
  const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1' }
  return { HOME: home, CLAUDE_CONFIG_DIR: home, ANTHROPIC_API_KEY: 'none', ...quiet }
}

/** The servers as clients write them in their configurations. */
function toEntry(transport: TransportName): object {
  const { command, args, url } = gateway
  return transport === 'stdio' ? { type: 'stdio', command, args } : { type: 'http', url }
}

async function run(line: readonly string[], variables: NodeJS.ProcessEnv = {}, cwd = gateway.folder): Promise<string> {
  const [command = '', ...args] = line
  const env = { PATH: process.env['PATH'], HOME: gateway.folder, ...variables }
  const child = spawn(command, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return `${stdout}${stderr}`
}
