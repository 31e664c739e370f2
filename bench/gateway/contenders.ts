import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { progress } from '../report.ts'
import { connectOverHttp, connectOverSse, connectOverStdio, type RawClient } from './client.ts'
import { installPackages } from '../../tools/install-packages.ts'

export type Transport = 'stdio' | 'http'

/** A gateway between a client and servers, or the server itself. */
export interface Contender {
  readonly name: string
  readonly transport: Transport
  /** The relay does nothing but pass messages on, which is the least that any gateway can do. */
  readonly kind: 'direct' | 'relay' | 'foldout' | 'peer'
  /** Whether it supports any number of servers. Bridges support one. */
  readonly takesMany: boolean
  /** Starts it. It keeps its files in the folder. */
  start(servers: readonly Server[], folder: string): Promise<Started>
  /** The tool to call, and its arguments. */
  toCall(server: string, tool: string, args: object): { readonly name: string; readonly arguments: object }
}

export interface Server {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
}

export interface Started {
  readonly process: ChildProcess
  /** Connects a client. Over HTTP, it retries until the port is open. */
  connect(): Promise<RawClient>
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const PEERS = here('../peers')
const SERVER = here('../memory-server.mjs')
const FOLDOUT = here('../../packages/foldout-mcp/bin/foldout.js')
const RELAY = here('relay.mjs')
const getPeer = (path: string): string => join(PEERS, 'node_modules', path)

export function createServers(count: number): readonly Server[] {
  return Array.from({ length: count }, (_, i) => ({
    name: `s${i}`,
    command: process.execPath,
    args: [SERVER, 'sdk', 'stdio', `s${i}_`],
  }))
}

/** Installs the peers on first use, because together they are larger than everything else in the repository. */
export function installPeers(): void {
  installPackages(PEERS, { onInstall: () => progress('installing other gateways in bench/peers ...') })
}

const toCommand = (server: Server | undefined): readonly string[] => [server?.command ?? '', ...(server?.args ?? [])]

const byName: Contender['toCall'] = (_server, name, args) => ({ name, arguments: args })

export const CONTENDERS: readonly Contender[] = [
  {
    name: 'direct',
    transport: 'stdio',
    kind: 'direct',
    takesMany: false,
    start: async ([server]) => startStdio(server?.command ?? '', server?.args ?? []),
    toCall: byName,
  },
  {
    name: 'bare relay',
    transport: 'stdio',
    kind: 'relay',
    takesMany: false,
    start: async ([server]) => startStdio(process.execPath, [RELAY, 'stdio', ...toCommand(server)]),
    toCall: byName,
  },
  createFoldout('foldout', 'stdio', 'hybrid'),
  createFoldout('foldout, listed', 'stdio', 'all'),
  {
    name: 'ratel',
    transport: 'stdio',
    kind: 'peer',
    takesMany: true,
    start: async (servers, folder) => startStdio(process.execPath, [here('ratel.mjs'), writeConfig(servers, folder)]),
    toCall: (server, tool, args) => ({ name: 'invoke_tool', arguments: { toolId: `${server}__${tool}`, args } }),
  },
  {
    name: 'mcp-broker',
    transport: 'stdio',
    kind: 'peer',
    takesMany: true,
    async start(servers, folder) {
      writeConfig(servers, folder)
      return startStdio(process.execPath, [getPeer('mcp-broker/dist/index.js'), 'serve'], { MCP_BROKER_HOME: folder })
    },
    toCall: (server, tool, args) => ({
      name: 'call_tools',
      arguments: { invocations: [{ server_name: server, tool_name: tool, arguments: args }] },
    }),
  },
  { name: 'direct', transport: 'http', kind: 'direct', takesMany: false, start: startDirectHttp, toCall: byName },
  {
    name: 'bare relay',
    transport: 'http',
    kind: 'relay',
    takesMany: false,
    start: ([server], folder) => startHttp(folder, (port) => [RELAY, String(port), ...toCommand(server)]),
    toCall: byName,
  },
  createFoldout('foldout', 'http', 'hybrid'),
  createFoldout('foldout, listed', 'http', 'all'),
  {
    name: 'mcp-hub',
    transport: 'http',
    kind: 'peer',
    takesMany: true,
    start: (servers, folder) =>
      startHttp(
        folder,
        (port) => [getPeer('mcp-hub/dist/cli.js'), '--port', String(port), '--config', writeConfig(servers, folder)],
        connectOverSse,
      ),
    toCall: (server, tool, args) => ({ name: `${server}__${tool}`, arguments: args }),
  },
  {
    name: 'mcp-proxy',
    transport: 'http',
    kind: 'peer',
    takesMany: false,
    start: ([server], folder) =>
      startHttp(folder, (port) => [
        getPeer('mcp-proxy/dist/bin/mcp-proxy.mjs'),
        '--port',
        String(port),
        '--host',
        '127.0.0.1',
        '--',
        ...toCommand(server),
      ]),
    toCall: byName,
  },
  {
    name: 'supergateway',
    transport: 'http',
    kind: 'peer',
    takesMany: false,
    start: ([server], folder) =>
      startHttp(folder, (port) => [
        getPeer('supergateway/dist/index.js'),
        '--stdio',
        toCommand(server).join(' '),
        '--outputTransport',
        'streamableHttp',
        '--stateful',
        '--logLevel',
        'none',
        '--port',
        String(port),
      ]),
    toCall: byName,
  },
]

function createFoldout(name: string, transport: Transport, expose: 'hybrid' | 'all'): Contender {
  return {
    name,
    transport,
    kind: 'foldout',
    takesMany: true,
    start(servers, folder) {
      const config = writeConfig(servers, folder)
      const args = [FOLDOUT, 'serve', '--config', config, '--cache', join(folder, 'cache'), '--expose', expose]
      if (transport === 'stdio') return Promise.resolve(startStdio(process.execPath, args))
      return startHttp(folder, (port) => [...args, '--http', String(port)])
    },
    toCall: (_server, tool, args) =>
      expose === 'all'
        ? { name: tool, arguments: args }
        : { name: 'use_tool', arguments: { name: tool, arguments: args } },
  }
}

function writeConfig(servers: readonly Server[], folder: string): string {
  const file = join(folder, 'servers.json')
  const mcpServers = Object.fromEntries(servers.map(({ name, command, args }) => [name, { command, args }]))
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, JSON.stringify({ mcpServers }))
  return file
}

function startStdio(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, ...env } })
  return { process: child, connect: () => connectOverStdio(child) }
}

async function startHttp(
  folder: string,
  toArguments: (port: number) => readonly string[],
  connect: (url: string) => Promise<RawClient> = connectOverHttp,
): Promise<Started> {
  const port = await findPort()
  // They keep settings and logs in the home folder.
  const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder, XDG_DATA_HOME: folder }
  const child = spawn(process.execPath, toArguments(port), { stdio: 'ignore', env })
  return { process: child, connect: () => connectWhenOpen(() => connect(`http://127.0.0.1:${port}/mcp`), child) }
}

async function startDirectHttp(): Promise<Started> {
  const args = [SERVER, 'sdk', 'http', 's0_']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [{ url }] = (await once(child, 'message')) as [{ readonly url: string }]
  return { process: child, connect: () => connectOverHttp(url) }
}

const TRY_EVERY_MS = 5

async function connectWhenOpen(connect: () => Promise<RawClient>, child: ChildProcess): Promise<RawClient> {
  for (;;) {
    if (child.exitCode !== null) throw new Error('The gateway has ended.')
    try {
      return await connect()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, TRY_EVERY_MS))
    }
  }
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
