import { readFile } from 'node:fs/promises'
import { parseEnv } from 'node:util'
import type { HttpServer, ServerConfig, StdioServer } from './config.ts'
import { fillVariables, usesRoot, type Variables } from './variables.ts'

/** A server that is ready to be started. */
export type FilledServer = FilledStdioServer | FilledHttpServer

export interface FilledStdioServer {
  readonly kind: 'stdio'
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
}

export interface FilledHttpServer {
  readonly kind: 'http' | 'sse'
  readonly name: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Fills the variables of a server in, and reads its file of variables.
 *
 * @throws Error that says which one is missing, or what is wrong with the address.
 */
export async function fillServer(server: ServerConfig, variables: Variables): Promise<FilledServer> {
  return server.kind === 'stdio' ? fillStdioServer(server, variables) : fillHttpServer(server, variables)
}

/** Whether the server is another one for each folder that a client works in. */
export function dependsOnRoot(server: ServerConfig): boolean {
  if (server.kind !== 'stdio') return [server.url, ...Object.values(server.headers)].some(usesRoot)
  const { command, args, env, envFile = '', cwd = '' } = server
  return [command, ...args, ...Object.values(env), envFile, cwd].some(usesRoot)
}

async function fillStdioServer(server: StdioServer, variables: Variables): Promise<FilledStdioServer> {
  const { kind, name, envFile, cwd } = server
  const fill = (text: string): string => fillVariables(text, variables)
  const fromFile = envFile === undefined ? {} : await readEnvFile(fill(envFile))
  return {
    kind,
    name,
    command: fill(server.command),
    args: server.args.map(fill),
    env: { ...fromFile, ...fillRecord(server.env, fill) },
    cwd: cwd === undefined ? undefined : fill(cwd),
  }
}

function fillHttpServer({ kind, name, url, headers }: HttpServer, variables: Variables): FilledHttpServer {
  const fill = (text: string): string => fillVariables(text, variables)
  const text = fill(url)
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:')
    throw new Error('Its url must be an address that begins with http:// or https://.')
  return { kind, name, url: parsed, headers: fillRecord(headers, fill) }
}

function fillRecord(record: Readonly<Record<string, string>>, fill: (text: string) => string) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, fill(value)]))
}

async function readEnvFile(file: string): Promise<Readonly<Record<string, string>>> {
  try {
    const variables = parseEnv(await readFile(file, 'utf8'))
    return Object.fromEntries(
      Object.entries(variables).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
    )
  } catch (error) {
    throw new Error(`Its envFile cannot be read: ${(error as Error).message}`, { cause: error })
  }
}
