import { isAbsolute, resolve } from 'node:path'
import type { ServerDefinition } from '../gateway/config/definition.ts'
import { dropUndefined } from '../gateway/fields.ts'
import type { EntryShape } from './client.ts'
import { isObject } from './documents/document.ts'
import { convertVariables, type Input } from './variables.ts'

/** How a server is started. */
export interface Launch {
  readonly command: string
  readonly args: readonly string[]
}

/** How clients start the gateway. The version is exact, because another one would be asked for at every start. */
export function createLaunch(version: string, config: string, platform: NodeJS.Platform): Launch {
  const args = ['-y', `foldout-mcp@${version}`, 'serve', '--config', config]
  // Windows cannot start npx itself, which is a script there.
  return platform === 'win32' ? { command: 'cmd', args: ['/c', 'npx', ...args] } : { command: 'npx', args }
}

/** An entry as a client writes it. */
export function createEntry(
  name: string,
  { command, args }: Launch,
  shape: EntryShape,
): Readonly<Record<string, unknown>> {
  const { command: field = 'command', isCommandList = false, hasName = false, fixed = {} } = shape
  const launch = isCommandList ? { [field]: [command, ...args] } : { [field]: command, args }
  return { ...(hasName ? { name } : {}), ...fixed, ...launch }
}

/** Where an entry comes from. */
export interface EntryOrigin {
  /** The folder that relative paths start from; undefined if that is not known. */
  readonly folder: string | undefined
  /** The questions of VS Code, by their id. */
  readonly inputs: ReadonlyMap<string, Input>
}

export type ReadEntry =
  | { readonly definition: ServerDefinition; readonly notes: readonly string[] }
  | { readonly reason: string }

/** Reads an entry of any client. The names of fields do not contradict each other, so all are read the same way. */
export function readEntry(entry: unknown, origin: EntryOrigin): ReadEntry {
  if (!isObject(entry)) return { reason: 'it is not an object' }
  if (entry['type'] === 'builtin' || entry['type'] === 'platform')
    return { reason: 'it is a part of the client, not a server' }
  const notes = new Set<string>()
  const fill = (text: string): string => convertVariables(text, origin.inputs, (note) => notes.add(note))
  const isDisabled = entry['disabled'] === true || entry['enabled'] === false
  const common = dropUndefined({ disabled: isDisabled || undefined, timeoutSeconds: readTimeout(entry) })
  const url = getString(entry, ['url', 'serverUrl', 'httpUrl', 'uri'])
  if (url !== undefined) {
    const headers = { ...readRecord(entry, ['headers', 'http_headers'], fill), ...readTokenHeaders(entry) }
    const isSse = (entry['type'] ?? entry['transport']) === 'sse'
    const fields = dropUndefined({ type: isSse ? 'sse' : undefined, url: fill(url), headers: omitEmpty(headers) })
    return { definition: { ...fields, ...common }, notes: [...notes] }
  }
  const [command, ...args] = readCommand(entry)
  if (command === undefined || command.trim() === '') return { reason: 'it has neither a command nor an address' }
  const env = { ...readRecord(entry, ['env', 'envs', 'environment'], fill), ...readKeptVariables(entry, notes) }
  const fields = dropUndefined({
    command: fill(command),
    args: args.length === 0 ? undefined : args.map(fill),
    env: omitEmpty(env),
    envFile: readPath(entry['envFile'], origin, fill),
    cwd: readPath(entry['cwd'], origin, fill) ?? getFolderNeeded([command, ...args], origin),
  })
  return { definition: { ...fields, ...common }, notes: [...notes] }
}

/** Whether a server is the gateway itself. */
export function isFoldout({ command = '', args = [] }: ServerDefinition): boolean {
  const words = [command, ...args.map(String)]
  if (words.some((word) => /^foldout-mcp(?:@.*)?$/.test(word))) return true
  const isProgram = words.some((word) => /(?:^|[/\\])foldout(?:\.(?:m?js|cmd|exe))?$/.test(word))
  return isProgram && words.includes('serve')
}

type Fields = Readonly<Record<string, unknown>>
type Fill = (text: string) => string

function readCommand(entry: Fields): readonly string[] {
  const command = entry['command'] ?? entry['cmd']
  const args = Array.isArray(entry['args']) ? entry['args'] : []
  const words: readonly unknown[] = Array.isArray(command) ? [...command, ...args] : [command, ...args]
  return words.flatMap((word) => (isScalar(word) ? [String(word)] : []))
}

function readRecord(entry: Fields, names: readonly string[], fill: Fill): Readonly<Record<string, string>> {
  const records = names.map((name) => entry[name]).filter(isObject)
  const pairs = records.flatMap((record) => Object.entries(record))
  return Object.fromEntries(pairs.flatMap(([key, value]) => (isScalar(value) ? [[key, fill(String(value))]] : [])))
}

/** Codex names variables that hold tokens, instead of the headers they are sent in. */
function readTokenHeaders(entry: Fields): Readonly<Record<string, string>> {
  const token = entry['bearer_token_env_var']
  const named = isObject(entry['env_http_headers']) ? entry['env_http_headers'] : {}
  const headers = Object.entries(named).map(([header, variable]) => [header, `\${${String(variable)}}`] as const)
  return {
    ...(typeof token === 'string' ? { Authorization: `Bearer \${${token}}` } : {}),
    ...Object.fromEntries(headers),
  }
}

/** Goose keeps some values in the keychain of the system, where nobody else can read them. */
function readKeptVariables(entry: Fields, notes: Set<string>): Readonly<Record<string, string>> {
  const keys = Array.isArray(entry['env_keys']) ? entry['env_keys'] : []
  const names = keys.filter((key): key is string => typeof key === 'string' && /^[A-Za-z_]\w*$/.test(key))
  for (const name of names) notes.add(`set the environment variable ${name}, whose value the client keeps elsewhere`)
  return Object.fromEntries(names.map((name) => [name, `\${${name}}`]))
}

function readTimeout(entry: Fields): number | undefined {
  const seconds = entry['tool_timeout_sec']
  if (typeof seconds === 'number' && seconds > 0) return seconds
  const milliseconds = entry['toolTimeoutMs'] ?? entry['requestTimeoutMs']
  return typeof milliseconds === 'number' && milliseconds > 0 ? milliseconds / 1_000 : undefined
}

function readPath(value: unknown, { folder }: EntryOrigin, fill: Fill): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  const path = fill(value)
  return folder === undefined || path.startsWith('${') || isAbsolute(path) ? path : resolve(folder, path)
}

/** A server that is started by a relative path has to be started where that path is. */
function getFolderNeeded(words: readonly string[], { folder }: EntryOrigin): string | undefined {
  return words.some((word) => /^\.\.?[/\\]/.test(word)) ? folder : undefined
}

function getString(entry: Fields, names: readonly string[]): string | undefined {
  return names.map((name) => entry[name]).find((value): value is string => typeof value === 'string' && value !== '')
}

function omitEmpty(record: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined {
  return Object.keys(record).length === 0 ? undefined : record
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
