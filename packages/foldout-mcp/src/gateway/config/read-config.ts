import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { UsageError, type Config, type InvalidServer, type ServerConfig } from './config.ts'

type JsonObject = Readonly<Record<string, unknown>>

export interface ReadOptions {
  readonly env?: NodeJS.ProcessEnv
}

/** Reads files with an `mcpServers` object. If two servers have the same name, the one in the later file wins. */
export async function readConfigs(files: readonly string[], options: ReadOptions = {}): Promise<Config> {
  const servers = new Map<string, ServerConfig | InvalidServer>()
  for (const file of files) {
    for (const server of parseConfig(await readText(file), file, options)) servers.set(server.name, server)
  }
  const all = [...servers.values()]
  return {
    servers: all.flatMap((server) => ('kind' in server ? [server] : [])),
    invalid: all.flatMap((server) => ('kind' in server ? [] : [server])),
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT') throw new UsageError(`There is no file ${file}.`)
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

/** Reads the servers of one file. An invalid entry does not affect the others. */
export function parseConfig(
  text: string,
  file: string,
  { env = process.env }: ReadOptions = {},
): readonly (ServerConfig | InvalidServer)[] {
  const entries = findServers(parseJson(text, file), file)
  return Object.entries(entries).flatMap(([name, entry]): readonly (ServerConfig | InvalidServer)[] => {
    if (isObject(entry) && entry['disabled'] === true) return []
    try {
      return [readServer(name, entry, dirname(resolve(file)), env)]
    } catch (error) {
      return [{ name, reason: (error as Error).message }]
    }
  })
}

function parseJson(text: string, file: string): unknown {
  try {
    // Some editors write a byte order mark.
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new UsageError(`${file} is not valid JSON: ${(error as Error).message}`)
  }
}

function findServers(config: unknown, file: string): JsonObject {
  if (isObject(config)) {
    // VS Code writes `servers`.
    for (const key of ['mcpServers', 'servers']) {
      const servers = config[key]
      if (Object.hasOwn(config, key) && isObject(servers)) return servers
    }
  }
  throw new UsageError(`${file} has no servers. Give it an object "mcpServers" with one entry per server.`)
}

function readServer(name: string, entry: unknown, folder: string, env: NodeJS.ProcessEnv): ServerConfig {
  if (!isObject(entry)) throw new Error('The entry is not an object.')
  const fill = (text: string): string => fillVariables(text, env)
  const url = entry['url'] ?? entry['serverUrl'] ?? entry['httpUrl']
  if (url !== undefined) {
    const kind = entry['type'] === 'sse' ? 'sse' : 'http'
    return { kind, name, url: readUrl(url, fill), headers: readRecord(entry, 'headers', fill) }
  }
  const cwd = readOptionalString(entry, 'cwd', fill)
  return {
    kind: 'stdio',
    name,
    command: readCommand(entry, fill),
    args: readArguments(entry, fill),
    env: readRecord(entry, 'env', fill),
    cwd: cwd === undefined ? undefined : resolve(folder, cwd),
  }
}

type Fill = (text: string) => string

function readUrl(value: unknown, fill: Fill): URL {
  const text = typeof value === 'string' ? fill(value) : ''
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new Error('Its url must be an address that begins with http:// or https://.')
}

function readCommand(entry: JsonObject, fill: Fill): string {
  const command = readOptionalString(entry, 'command', fill)
  if (command === undefined || command.trim() === '') throw new Error('It has neither a command nor a url.')
  return command
}

function readArguments(entry: JsonObject, fill: Fill): readonly string[] {
  const args = entry['args'] ?? []
  if (!Array.isArray(args)) throw new Error('Its args must be a list of strings.')
  return args.map((value: unknown) => fill(readScalar(value, 'args')))
}

function readRecord(entry: JsonObject, field: string, fill: Fill): Readonly<Record<string, string>> {
  const record = entry[field] ?? {}
  if (!isObject(record)) throw new Error(`Its ${field} must be an object of strings.`)
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, fill(readScalar(value, field))]))
}

function readOptionalString(entry: JsonObject, field: string, fill: Fill): string | undefined {
  const value = entry[field]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw new Error(`Its ${field} must be a string.`)
  return fill(value)
}

/** Accepts numbers and booleans too, because people write ports and flags without quotes. */
function readScalar(value: unknown, field: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new Error(`Its ${field} must hold strings only.`)
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `${NAME}` and `${NAME:-default}`. A default cannot contain braces, so that matching takes linear time. */
const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^{}]*))?\}/g

/** Fills in environment variables, as MCP clients do. Throws if one is not set and has no default. */
function fillVariables(text: string, env: NodeJS.ProcessEnv): string {
  return text.replaceAll(VARIABLE, (_, name: string, fallback: string | undefined) => {
    const value = env[name] || fallback
    if (value === undefined) throw new Error(`The environment variable ${name} is not set.`)
    return value
  })
}
