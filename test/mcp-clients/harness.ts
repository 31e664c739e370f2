import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { installPackages } from '../../tools/install-packages.ts'
import { removeFolder } from '../remove-folder.ts'

export const BIN = join(import.meta.dirname, '../../packages/foldout-mcp/bin/foldout.js')
const SERVER = join(import.meta.dirname, '../../packages/foldout-mcp/src/gateway/server.fixtures.mjs')

/** Whether to try clients that take a while to install or run: `npm run clients`. */
const { env } = import.meta as ImportMeta & { readonly env: { readonly MODE: string } }
export const IS_ALL = env.MODE === 'all-clients'

/** Installs the clients beside this file if they are missing, because nothing else needs them. */
export function installClients(): void {
  installPackages(import.meta.dirname)
}

/** A module of a package that is installed beside this file. */
export async function load<Module>(name: string): Promise<Module> {
  return (await import(pathToFileURL(createRequire(import.meta.url).resolve(name)).href)) as Module
}

export interface TestGateway {
  readonly folder: string
  /** How a client starts the gateway over stdio. */
  readonly command: string
  readonly args: string[]
  /** Where the gateway listens over HTTP. */
  readonly url: string
  close(): Promise<void>
}

/** A gateway in front of one server, both as a command and over HTTP. */
export async function startGateway(): Promise<TestGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'foldout-clients-'))
  const config = join(folder, 'servers.json')
  const tools = [{ name: 'echo', description: 'Repeats its input.' }]
  const mcpServers = { a: { command: process.execPath, args: [SERVER, JSON.stringify({ tools })] } }
  writeFileSync(config, JSON.stringify({ mcpServers, expose: 'hybrid' }))
  const args = [BIN, 'serve', '--config', config, '--cache', join(folder, 'cache')]
  const child = spawn(process.execPath, [...args, '--http', '0'], { stdio: ['ignore', 'ignore', 'pipe'] })
  const [notes] = (await once(child.stderr, 'data')) as [Buffer]
  const url = /http:\S+/.exec(notes.toString())?.[0]
  if (url === undefined) throw new Error(`The gateway does not listen: ${notes.toString()}`)
  return {
    folder,
    command: process.execPath,
    args,
    url,
    async close() {
      if (child.kill()) await once(child, 'exit')
      await removeFolder(folder)
    },
  }
}
