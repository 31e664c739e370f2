import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { GatewayDefinition, ServerDefinition } from '../config/definition.ts'
import type { GatewayEvent } from '../model/events.ts'
import { createGateway, type Gateway, type GatewayOptions } from '../gateway.ts'
import { removeFolder } from '../../remove-folder.fixtures.ts'

const SERVER = join(import.meta.dirname, '../server.fixtures.mjs')
export const FULL_SERVER = join(import.meta.dirname, '../serve/full-server.fixtures.mjs')

/** Gateways in a temporary folder. Everything is closed and removed at the end. */
export interface Site {
  readonly folder: string
  readonly data: string
  readonly events: GatewayEvent[]
  create(definition: GatewayDefinition, options?: GatewayOptions): Promise<Gateway>
  connect(url: string, options?: ConnectOptions): Promise<Client>
  close(): Promise<void>
}

export interface ConnectOptions {
  readonly name?: string
  readonly mode?: 'legacy' | 'auto'
  readonly capabilities?: object
  readonly headers?: Readonly<Record<string, string>>
}

export function createSite(): Site {
  const folder = mkdtempSync(join(tmpdir(), 'foldout-policy-'))
  const data = join(folder, 'data')
  const closing: (() => Promise<unknown>)[] = []
  const events: GatewayEvent[] = []
  return {
    folder,
    data,
    events,
    async create(definition, options = {}) {
      const gateway = await createGateway(definition, {
        cache: join(folder, 'cache'),
        data,
        onEvent: (event) => events.push(event),
        ...options,
      })
      closing.push(() => gateway.close())
      await gateway.ready()
      return gateway
    },
    async connect(url, { name = 'test', mode = 'legacy', capabilities = {}, headers = {} } = {}) {
      const client = new Client({ name, version: '1' }, { versionNegotiation: { mode }, capabilities })
      closing.push(() => client.close())
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
      return client
    },
    async close() {
      for (const close of closing.toReversed()) await close()
      await removeFolder(folder)
    },
  }
}

/** A server with these tools. */
export function serveTools(
  tools: readonly object[],
  more: ServerDefinition = {},
  options: object = {},
): ServerDefinition {
  return { command: process.execPath, args: [SERVER, JSON.stringify({ tools, ...options })], ...more }
}

export function getText(result: { readonly content?: unknown }): string {
  const content = Array.isArray(result.content) ? (result.content as readonly { readonly text?: unknown }[]) : []
  return content.map(({ text }) => String(text)).join('\n')
}
