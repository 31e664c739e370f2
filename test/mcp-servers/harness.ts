import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as LegacyStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { installPackages } from '../../tools/install-packages.ts'

export type ServerName = 'everything' | 'filesystem' | 'memory' | 'sequential-thinking'

const folder = join(import.meta.dirname, 'node_modules/@modelcontextprotocol')

/** Installs the servers beside this file if they are missing, because nothing else needs their dependencies. */
export function installServers(): void {
  installPackages(import.meta.dirname)
}

/** Starts a server over stdio, and connects one of the official clients to it. */
export async function startServer(
  line: 'v1' | 'v2',
  server: ServerName,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Client | LegacyClient> {
  const parameters = {
    command: process.execPath,
    args: [join(folder, `server-${server}/dist/index.js`), ...args],
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stderr: 'ignore' as const,
  }
  const info = { name: 'foldout-test', version: '1' }
  // The server lists more tools for clients with these capabilities.
  const capabilities = { roots: {}, elicitation: { form: {} } }
  if (line === 'v1') {
    const client = new LegacyClient(info, { capabilities })
    await client.connect(new LegacyStdioTransport(parameters))
    return client
  }
  const client = new Client(info, { capabilities, versionNegotiation: { mode: 'auto' } })
  await client.connect(new StdioClientTransport(parameters))
  return client
}
