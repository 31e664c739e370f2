import { convertVariables, readInputs, toVariable, type Input } from '../gateway/config/foreign-variables.ts'
import { startsGateway } from '../gateway/config/own-entry.ts'
import { existsSync } from 'node:fs'
import { isAbsolute, resolve, win32 } from 'node:path'
import type { ServerAuthDefinition, ServerDefinition } from '../gateway/config/definition.ts'
import { dropUndefined, isObject } from 'foldout-shared/values'
import { stripShell } from '../system/programs.ts'
import type { ClientDescription, EntryShape, Scope } from './client.ts'
import type { Whereabouts } from './places.ts'

/** How a server is started. */
export interface Launch {
  readonly command: string
  readonly args: readonly string[]
}

/** How clients start the gateway. The version is exact, so that npx does not look for a newer one at every start. */
export function createLaunch(version: string, config: string, platform: NodeJS.Platform): Launch {
  const args = ['-y', `foldout-mcp@${version}`, 'serve', '--config', config]
  // On Windows npx is a script, which cannot be started directly.
  if (platform === 'win32') return { command: 'cmd', args: ['/c', 'npx', ...args] }
  return { command: 'npx', args }
}

/** An entry as a client writes it. */
export function createEntry(
  name: string,
  { command, args }: Launch,
  shape: EntryShape,
): Readonly<Record<string, unknown>> {
  const { command: field = 'command', isCommandList = false, hasName = false, fixed = {} } = shape
  const common = { ...(hasName && { name }), ...fixed }
  if (isCommandList) return { ...common, [field]: [command, ...args] }
  return { ...common, [field]: command, args }
}

/** How a client writes variables. */
interface VariableSyntax {
  /** VS Code's input prompts, by id. */
  readonly inputs: ReadonlyMap<string, Input>
  /** Whether `$NAME` is a variable, as in a shell. */
  readonly hasBareVariables?: boolean
}

/** Where an entry comes from. */
export interface EntryOrigin extends VariableSyntax {
  /** The folder that the client starts the server in; undefined if unknown. */
  readonly folder: string | undefined
}

export type ReadEntry =
  | { readonly definition: ServerDefinition; readonly notes: readonly string[] }
  | { readonly reason: string }

/** Reads an entry of any client. No two clients use a field for different things, so one reader serves all. */
export function readEntry(entry: unknown, origin: EntryOrigin): ReadEntry {
  if (!isObject(entry)) return { reason: 'it is not an object' }
  if (entry['type'] === 'builtin' || entry['type'] === 'platform')
    return { reason: 'it is part of the client, not a server' }
  const notes = new Set<string>()
  const fill = (text: string): string => convertClientVariables(text, origin, (note) => notes.add(note))
  const isDisabled = entry['disabled'] === true || entry['enabled'] === false
  const common = dropUndefined({ disabled: isDisabled || undefined, timeoutSeconds: readTimeout(entry) })
  const url = getString(entry, URL_FIELDS)
  if (url !== undefined) {
    const { requestOptions } = entry
    const headers = {
      ...readRecord(entry, ['headers', 'http_headers'], fill),
      // Continue keeps the headers there.
      ...readRecord(isObject(requestOptions) ? requestOptions : {}, ['headers'], fill),
      ...readTokenHeaders(entry, fill),
    }
    const isSse = (entry['type'] ?? entry['transport']) === 'sse'
    const fields = dropUndefined({
      type: (isSse && 'sse') || undefined,
      url: fill(url),
      headers: omitEmpty(headers),
      auth: readAuth(entry, fill),
    })
    return { definition: { ...fields, ...common }, notes: [...notes] }
  }
  const [command, ...args] = readCommand(entry)
  if (command === undefined || command.trim() === '') return { reason: 'it has neither a command nor a URL' }
  const env = {
    ...readRecord(getCommandFields(entry), ['env'], fill),
    ...readRecord(entry, ['env', 'envs', 'environment'], fill),
    ...readPassedVariables(entry),
    ...readKeptVariables(entry, notes),
  }
  const fields = dropUndefined({
    command: fill(command),
    args: omitEmpty(args.map(fill)),
    env: omitEmpty(env),
    envFile: readPath(entry['envFile'], origin, fill),
    cwd: readPath(entry['cwd'], origin, fill) ?? getFolderNeeded([command, ...args].map(fill), origin.folder),
  })
  return { definition: { ...fields, ...common }, notes: [...notes] }
}

/** Whose file has an entry. */
interface EntryPlace {
  readonly client: ClientDescription
  readonly scope: Scope
  readonly where: Whereabouts
}

/** Where the entries of a file come from. Only servers of a project have a known folder. */
export function getOrigin(root: unknown, { client, scope, where }: EntryPlace): EntryOrigin {
  const { hasBareVariables = false } = client
  return { folder: (scope === 'project' && where.project) || undefined, inputs: readInputs(root), hasBareVariables }
}

/** Whether an entry of a client is the gateway itself. */
export function startsFoldout(entry: unknown): boolean {
  const read = readEntry(entry, { folder: undefined, inputs: new Map() })
  return 'definition' in read && isFoldout(read.definition)
}

/** Whether a server is the gateway itself. */
export function isFoldout({ command = '', args = [] }: ServerDefinition): boolean {
  return startsGateway([command, ...args.map(String)])
}

type Fields = Readonly<Record<string, unknown>>
type Fill = (text: string) => string

/** Windsurf, Gemini CLI, Goose and mcporter have their own names for the URL. */
const URL_FIELDS = ['url', 'serverUrl', 'httpUrl', 'uri', 'baseUrl', 'base_url', 'server_url']

function readCommand(entry: Fields): readonly string[] {
  const { path, args } = getCommandFields(entry)
  const command = path ?? entry['command'] ?? entry['cmd'] ?? entry['executable']
  const words: readonly unknown[] = [command, args, entry['args']].flat()
  return words.filter(isScalar).map(String)
}

/** Zed used to keep the path, the arguments and the variables in one field. */
function getCommandFields({ command }: Fields): Fields {
  if (isObject(command)) return command
  return {}
}

function readRecord(entry: Fields, names: readonly string[], fill: Fill): Readonly<Record<string, string>> {
  const records = names.map((name) => entry[name]).filter(isObject)
  const pairs = records.flatMap((record) => Object.entries(record))
  return Object.fromEntries(
    pairs.filter(([, value]) => isScalar(value)).map(([key, value]) => [key, fill(String(value))]),
  )
}

/** Codex, Continue, Pi and mcporter name tokens or the variables that hold them, instead of the headers that carry them. */
function readTokenHeaders(entry: Fields, fill: Fill): Readonly<Record<string, string>> {
  const token = getString(entry, ['bearer_token_env_var', 'bearerTokenEnv', 'bearer_token_env'])
  const value = getString(entry, ['bearerToken', 'bearer_token', 'apiKey'])
  const headers = Object.entries(entry['env_http_headers'] ?? {}).map(
    ([header, variable]) => [header, `\${${String(variable)}}`] as const,
  )
  return {
    ...(value !== undefined && { Authorization: fill(`Bearer ${value}`) }),
    ...(token !== undefined && { Authorization: `Bearer \${${token}}` }),
    ...Object.fromEntries(headers),
  }
}

/** The OAuth client for an HTTP server: `auth` in Cursor and the gateway, `oauth` in Gemini CLI. */
function readAuth(entry: Fields, fill: Fill): ServerAuthDefinition | undefined {
  const auth = [entry['auth'], entry['oauth']].find(isObject) ?? {}
  const { scopes } = auth
  const fields = dropUndefined({
    clientId: getString(auth, ['clientId', 'CLIENT_ID']),
    clientSecret: getString(auth, ['clientSecret', 'CLIENT_SECRET']),
    scopes: Array.isArray(scopes) ? scopes.filter(isScalar).map(String) : undefined,
  })
  return omitEmpty({
    ...fields,
    ...(fields.clientId !== undefined && { clientId: fill(fields.clientId) }),
    ...(fields.clientSecret !== undefined && { clientSecret: fill(fields.clientSecret) }),
  })
}

/** Goose keeps some values in the system keychain, where other programs cannot read them. */
function readKeptVariables(entry: Fields, notes: Set<string>): Readonly<Record<string, string>> {
  const names = readNames(entry['env_keys'])
  for (const name of names) notes.add(describeKept(name))
  return Object.fromEntries(names.map((name) => [name, `\${${name}}`]))
}

/** Codex passes on the variables of its own environment that are named here. They need not be set. */
function readPassedVariables(entry: Fields): Readonly<Record<string, string>> {
  return Object.fromEntries(readNames(entry['env_vars']).map((name) => [name, `\${${name}:-}`]))
}

function readNames(value: unknown): readonly string[] {
  const names: readonly unknown[] = [value].flat().map((one) => (isObject(one) ? one['name'] : one))
  return names.filter((name): name is string => typeof name === 'string' && /^[A-Za-z_]\w*$/.test(name))
}

function readTimeout(entry: Fields): number | undefined {
  const seconds = entry['tool_timeout_sec']
  if (typeof seconds === 'number' && seconds > 0) return seconds
  const milliseconds = entry['toolTimeoutMs'] ?? entry['requestTimeoutMs']
  if (typeof milliseconds === 'number' && milliseconds > 0) return milliseconds / 1_000
  return undefined
}

function readPath(value: unknown, { folder }: EntryOrigin, fill: Fill): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  const path = fill(value)
  if (folder === undefined || path.startsWith('${') || isAbsolute(path)) return path
  return resolve(folder, path)
}

/** Programs that download a package and start it. */
const PACKAGE_RUNNERS: ReadonlySet<string> = new Set(['npx', 'bunx', 'pnpx', 'uvx', 'dnx', 'docker', 'podman'])

/**
 * The folder that a server must be started in: the given one, unless its command line plainly does not depend on it. That
 * is so for a program with an absolute path or URL and nothing but options otherwise, and for a package (`npx`, `uvx`)
 * whose arguments do not look like relative paths and are not the names of files in the folder.
 */
export function getFolderNeeded(words: readonly string[], folder: string | undefined): string | undefined {
  if (folder === undefined) return undefined
  const [program = '', ...args] = stripShell(words)
  const values = args.map(getValue).map(getDefault)
  if (PACKAGE_RUNNERS.has(program.replace(/\.(?:cmd|exe)$/i, ''))) {
    const isIndependent = values.every((value) => isFixed(value) || isPlainWord(value, folder))
    if (isIndependent) return undefined
    return folder
  }
  const isOnPath = /^[^/\\]+$/.test(program)
  const rest = isOnPath ? values : [getDefault(program), ...values]
  // Without any, the server may be about the folder that it is started in.
  const hasPlace = rest.some((value) => isFixed(value) && !isOption(value))
  if (hasPlace && rest.every(isFixed)) return undefined
  return folder
}

/** The value of `--option=value`, or the word itself. */
function getValue(word: string): string {
  return /^--?[\w-]+=(.*)$/s.exec(word)?.[1] ?? word
}

/** What a word is if its variable is not set: `server.py` for `${FILE:-server.py}`. */
function getDefault(word: string): string {
  const [, fallback = '', end = ''] = /^\$\{[^{}:]*:-([^{}]*)\}(.*)$/s.exec(word) ?? []
  return `${fallback}${end}` || word
}

/** Whether a word means the same in every folder: an option, an absolute path, a URL or a variable. */
function isFixed(word: string): boolean {
  return isOption(word) || /^[a-z][a-z0-9+.-]*:\/\/|^\$\{/i.test(word) || win32.isAbsolute(word)
}

function isOption(word: string): boolean {
  return /^--?[\w-]+$/.test(word)
}

const PACKAGE = /^(?:@[\w.-]+\/)?[\w-]+(?:[@:=]+[\w.+-]+)?$/
/** Names of .NET packages have dots: `Contoso.Server@1.0`. */
const VERSIONED_PACKAGE = /^[a-z0-9][\w.-]*@\d[\w.+-]*$/i
/** An image with a tag or a digest: `ghcr.io/a/b:1.0`. */
const IMAGE = /^[a-z0-9][\w.-]*(?::\d+)?(?:\/[a-z0-9][\w.-]*)*(?::\w[\w.-]*|@sha256:[0-9a-f]+)$/i

/** Whether a word is not a path: it is not written like one, and there is no such file in the folder. */
function isPlainWord(word: string, folder: string): boolean {
  return [PACKAGE, VERSIONED_PACKAGE, IMAGE].some((form) => form.test(word)) && !existsSync(resolve(folder, word))
}

function getString(entry: Fields, names: readonly string[]): string | undefined {
  return names.map((name) => entry[name]).find((value): value is string => typeof value === 'string' && value !== '')
}

/** Leaves out empty fields. */
export function omitEmpty<Value extends object>(value: Value): Value | undefined {
  if (Object.keys(value).length === 0) return undefined
  return value
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** opencode writes `{env:NAME}`. */
const OPENCODE_REFERENCE = /(?<!\$)\{env:([A-Za-z_]\w*)\}/g
/** mcporter writes `$env:NAME`. In the middle of a text, that is a program for PowerShell. */
const MCPORTER_REFERENCE = /^(Bearer )?\$env:([A-Za-z_]\w*)$/
/** Continue writes `${{ secrets.NAME }}`, also with the names of an owner and a package before it. */
const CONTINUE_REFERENCE = /\$\{\{\s*(?:secrets|inputs)\.(?:[\w.-]+\/)*([\w-]+)\s*\}\}/g
/** Other text with a dollar sign is more often a password than a variable. */
const BARE_REFERENCE = /\$([A-Z_][A-Z0-9_]*)(?!\w)/g

/** Rewrites other clients' variables in the gateway's syntax: `${NAME}`, `${NAME:-default}` and `${ROOT}`. */
function convertClientVariables(
  text: string,
  { inputs, hasBareVariables = false }: VariableSyntax,
  onNote: (note: string) => void,
): string {
  const braced = text
    .replace(MCPORTER_REFERENCE, '$1$${$2}')
    .replaceAll(OPENCODE_REFERENCE, '$${$1}')
    .replaceAll(CONTINUE_REFERENCE, (_whole, id: string) => {
      const name = toVariable(id)
      onNote(describeKept(name))
      return `\${${name}}`
    })
  const converted = convertVariables(braced, inputs, onNote)
  if (hasBareVariables) return converted.replaceAll(BARE_REFERENCE, '$${$1}')
  return converted
}

/** A note about a variable whose value other programs cannot read. */
function describeKept(name: string): string {
  return `set the environment variable ${name}, whose value the client keeps elsewhere`
}
