import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { GatewayDefinition, ServerDefinition } from '../../packages/foldout-mcp/src/gateway/config/definition.ts'
import { createGateway } from '../../packages/foldout-mcp/src/gateway/gateway.ts'
import { serveFixture } from './server.ts'
import { removeFolder } from '../remove-folder.ts'

/** A listening server. */
export interface Target {
  readonly url: string
  close(): Promise<unknown>
}

export type Era = 'both' | 'legacy' | 'modern'

const SKILLS = join(import.meta.dirname, 'skills')
const FULL_SERVER = join(import.meta.dirname, 'full-server/main.mjs')

/** The tools of a catalog, served by `serveMcp`. */
export async function openCatalog(): Promise<Target> {
  const served = await serveFixture()
  const { url } = await served.http()
  return { url, close: () => served.close() }
}

/** A server on the official SDK with everything the suite checks. */
export async function openFullServer(era: Era): Promise<Target> {
  const child = spawn(process.execPath, [FULL_SERVER, 'http', era], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`The server ended with ${code} before it listened.`)))
  })
  const close = (): Promise<unknown> => {
    child.stdin.end()
    return ended
  }
  return { url, close }
}

/** The same server as a process that talks over standard input and output. */
export function defineFullServer(era: Era): ServerDefinition {
  return { command: process.execPath, args: [FULL_SERVER, 'stdio', era] }
}

/** A gateway that has skills of its own. */
export function openSkills(): Promise<Target> {
  return open({ skills: [SKILLS] })
}

/** A gateway in front of one server, whose tools it lists as they are. */
export function openGateway(server: ServerDefinition): Promise<Target> {
  return open({ mcpServers: { full: { ...server, required: true } }, expose: 'all' })
}

async function open(definition: GatewayDefinition): Promise<Target> {
  const cache = mkdtempSync(join(tmpdir(), 'foldout-conformance-'))
  const gateway = await createGateway(definition, { cache })
  const { url } = await gateway.http()
  return {
    url,
    async close() {
      await gateway.close()
      await removeFolder(cache)
    },
  }
}
