import { dropUndefined, isObject, type JsonObject } from 'foldout-shared/values'
import { createRequire } from 'node:module'
import { dirname, extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseTree, printParseErrorCode, type ParseError } from 'jsonc-parser'
import { toWords } from '../../shared/fields.ts'
import { KEPT_AUDIT_DAYS, KEPT_AUDITS, MAX_AUDIT_BYTES } from './limits.ts'
import { DEFAULT_CALL_TIMEOUT_MS, IDLE_MS, MAX_CONCURRENT, MAX_PROCESSES } from './limits.ts'
import { UsageError, type GatewayConfig, type InvalidServer, type ServerAuth, type ServerConfig } from './config.ts'
import type { GatewayDefinition } from './definition.ts'
import { convertSettings, readInputs, type Input } from './foreign-variables.ts'
import { describeLoadFailure } from './load-failure.ts'
import { findLostName, findRepeatedNames, toValue } from './names.ts'
import { servesOwnFile } from './own-entry.ts'
import { describeMistake, read } from '../../shared/shapes.ts'
import { findServerKey, SERVER_KEYS } from './server-key.ts'
import { readTextFile } from './text-file.ts'
import { applyTunedFiles } from './tuned-file.ts'
import { runUserCode } from './user-code.ts'
import {
  findDoubts,
  GATEWAY_SETTINGS,
  gatewaySchema,
  hasOnlySettings,
  SERVER_SETTINGS,
  serverSchema,
  type AuthInput,
  type ServerInput,
} from './schema.ts'

const MODULES: ReadonlySet<string> = new Set(['.ts', '.mts', '.js', '.mjs'])

/** Whether a configuration is a program, which has to run to be read. */
export function isCode(file: string): boolean {
  return MODULES.has(extname(file))
}

/**
 * Reads files with an `mcpServers` object. Later files override earlier ones; servers are merged by name.
 *
 * @example
 * const config = await readGatewayConfig(['servers.json'])
 * config.servers.map(({ name }) => name) // => [ 'files' ]
 *
 * @throws UsageError if a file is missing or cannot be understood.
 */
export function readGatewayConfig(files: readonly string[]): Promise<GatewayConfig> {
  return readCheckedConfig(files, async () => undefined)
}

/** Decides about the text of a file before anything in it is used. Throws if it must not be used. */
export type CheckText = (file: string, text: string) => Promise<void>

/** The same for files whose content is checked first: the text that was checked is the one that is read. */
export async function readCheckedConfig(files: readonly string[], check: CheckText): Promise<GatewayConfig> {
  const parts: Part[] = []
  for (const file of files) {
    const folder = dirname(resolve(file))
    const text = await readTextFile(file)
    await check(file, text)
    if (isCode(file)) parts.push(readPart(await loadModule(file), { file, folder }))
    else parts.push(readParsed(parseText(text, file), { file, folder }))
  }
  if (!parts.some(({ hasServers, config }) => hasServers || config.skills.length > 0))
    throw createMissingError(files.join(', '))
  return applyTunedFiles(mergeParts(parts), files)
}

/** A file of JSON. */
interface Parsed {
  readonly value: unknown
  /** Names that an object has twice. */
  readonly repeated: readonly string[]
}

/** One of several files. */
interface Part {
  readonly config: GatewayConfig
  /** Whether the file has a list of servers, which may be empty. */
  readonly hasServers: boolean
  /** Undefined if the file does not say. */
  readonly expose: GatewayDefinition['expose']
  /** The servers that the file turns off, also those of earlier files. */
  readonly off: readonly string[]
}

function readParsed({ value, repeated }: Parsed, origin: DefinitionOrigin): Part {
  const part = readPart(value, origin)
  const doubts = repeated.map((name) => `${origin.file} has "${name}" more than once. Only the last one is used.`)
  return { ...part, config: { ...part.config, doubts: [...part.config.doubts, ...doubts] } }
}

/** Where a definition comes from, for messages and relative paths. */
export interface DefinitionOrigin {
  readonly file: string
  readonly folder: string
}

/** Reads a definition. An invalid server does not affect the others. */
export function readDefinition(definition: unknown, origin: DefinitionOrigin): GatewayConfig {
  return readPart(definition, origin).config
}

function readPart(definition: unknown, { file, folder }: DefinitionOrigin): Part {
  const listed = findServers(definition, file)
  const entries = listed ?? {}
  const { data, mistake } = read(gatewaySchema, definition)
  if (mistake) throw new UsageError(`${file}: ${describeMistake(mistake, (field) => `"${field}"`)}`)
  const lost = findLostName(definition as object, GATEWAY_SETTINGS)
  if (lost !== undefined) throw new UsageError(`${file}: "${lost}" cannot have this name. Choose another one.`)
  const config = {
    ...readServers(entries, readInputs(definition), { file, folder }),
    doubts: isObject(definition) ? findDoubts(definition, entries, file) : [],
    expose: data.expose ?? 'auto',
    presets: new Map(Object.entries(data.presets ?? {})),
    instructions: data.instructions,
    foldResults: toFoldTokens(data.foldResults),
    rules: data.rules ?? [],
    quotas: data.quotas ?? [],
    pin: data.pin ?? 'flag',
    http: data.http ?? {},
    audit: readAudit(data.audit, folder),
    store: readStore(data.store, folder),
    skills: (data.skills ?? []).map((skill) => (typeof skill === 'string' ? resolve(folder, skill) : skill)),
  }
  const off = Object.keys(entries).filter((name) => isOff(entries[name]))
  return { config, hasServers: listed !== undefined, expose: data.expose, off }
}

function readServers(
  entries: JsonObject,
  inputs: ReadonlyMap<string, Input>,
  { file, folder }: DefinitionOrigin,
): Pick<GatewayConfig, 'servers' | 'invalid'> {
  const servers: ServerConfig[] = []
  const invalid: InvalidServer[] = []
  for (const [name, entry] of Object.entries(entries)) {
    if (isOff(entry)) continue
    try {
      const server = readServer(name, entry, { folder, inputs })
      if (!servesOwnFile(server, file)) servers.push(server)
    } catch (fault) {
      invalid.push({ name, reason: (fault as Error).message })
    }
  }
  return { servers, invalid }
}

function isOff(entry: unknown): boolean {
  return isObject(entry) && (entry['disabled'] === true || entry['enabled'] === false)
}

function readAudit(given: GatewayDefinition['audit'], folder: string): GatewayConfig['audit'] {
  if (given === undefined || given === false) return undefined
  const definition = typeof given === 'string' ? { file: given } : given
  const { file, maxBytes, keep, keepDays } = definition === true ? {} : definition
  if (file === undefined) return { keepDays: keepDays ?? KEPT_AUDIT_DAYS }
  return { file: resolve(folder, file), maxBytes: maxBytes ?? MAX_AUDIT_BYTES, keep: keep ?? KEPT_AUDITS }
}

function readStore(given: GatewayDefinition['store'], folder: string): GatewayConfig['store'] {
  if (typeof given !== 'object') return given
  return { ...given, ...dropUndefined({ keyFile: toPath(folder, given.keyFile) }) }
}

function mergeParts(given: readonly Part[]): GatewayConfig {
  const parts = given.map(({ config }) => config)
  const servers = new Map<string, ServerConfig | InvalidServer>()
  for (const { config, off } of given) {
    for (const name of off) servers.delete(name)
    for (const server of [...config.servers, ...config.invalid]) servers.set(server.name, server)
  }
  const all = [...servers.values()]
  return {
    servers: all.filter((server) => 'kind' in server),
    invalid: all.flatMap((server) => ('kind' in server ? [] : [server])),
    doubts: parts.flatMap(({ doubts }) => doubts),
    expose: given.findLast(({ expose }) => expose !== undefined)?.expose ?? 'auto',
    presets: new Map(parts.flatMap(({ presets }) => [...presets])),
    instructions: parts.findLast(({ instructions }) => instructions !== undefined)?.instructions,
    foldResults: parts.findLast(({ foldResults }) => foldResults !== undefined)?.foldResults,
    // The first matching rule decides, so the rules of later files come first.
    rules: parts.toReversed().flatMap(({ rules }) => rules),
    quotas: parts.flatMap(({ quotas }) => quotas),
    // The strictest one: a file that says nothing says `flag`.
    pin: (['hold', 'off'] as const).find((mode) => parts.some(({ pin }) => pin === mode)) ?? 'flag',
    http: Object.assign({}, ...parts.map(({ http }) => http)) as GatewayConfig['http'],
    audit: parts.findLast(({ audit }) => audit !== undefined)?.audit,
    store: parts.findLast(({ store }) => store !== undefined)?.store,
    skills: parts.flatMap(({ skills }) => skills),
  }
}

const FOREIGN_FORMATS: ReadonlySet<string> = new Set(['.toml', '.yaml', '.yml'])
const IMPORT = 'If it belongs to another MCP client, import its servers: foldout import.'

/** Accepts comments and trailing commas, which several clients write. */
function parseText(text: string, file: string): Parsed {
  const errors: ParseError[] = []
  const parsed = parseTolerantly(text, errors, file)
  const [first] = errors
  if (!first) return parsed
  if (FOREIGN_FORMATS.has(extname(file))) throw new UsageError(`${file} is not JSON. ${IMPORT}`)
  const line = text.slice(0, first.offset).split('\n').length
  throw new UsageError(`${file} is not valid JSON: ${toWords(printParseErrorCode(first.error))} in line ${line}.`)
}

function parseTolerantly(text: string, errors: ParseError[], file: string): Parsed {
  try {
    const root = parseTree(text, errors, { allowTrailingComma: true })
    return { value: root && toValue(root), repeated: root ? findRepeatedNames(root) : [] }
  } catch (error) {
    // The parser is recursive.
    if (!(error instanceof RangeError)) throw error
    throw new UsageError(`${file} is nested too deeply to be a configuration.`, { cause: error })
  }
}

/** Compiles TypeScript itself, because Node.js before 22.18 cannot import it. */
async function loadModule(file: string): Promise<unknown> {
  const path = resolve(file)
  try {
    const { createJiti } = await import('jiti')
    // Started by npx or from a global installation, the package is not in the folder of the configuration.
    const alias = { 'foldout-mcp': createRequire(import.meta.url).resolve('foldout-mcp') }
    const jiti = createJiti(pathToFileURL(path).href, { moduleCache: false, alias })
    return await runUserCode(() => jiti.import(path, { default: true }))
  } catch (error) {
    throw new UsageError(`${file} cannot be loaded. ${describeLoadFailure(path, error)}`, { cause: error })
  }
}

/** Where other clients keep their servers: Zed, opencode and Kilo Code. */
const FOREIGN_KEYS = ['context_servers', 'mcp']

/** Undefined if the file has only other settings. One of several files may. */
function findServers(definition: unknown, file: string): JsonObject | undefined {
  if (isObject(definition)) {
    const used = findServerKey(definition)
    const servers = used && definition[used]
    if (isObject(servers)) return servers
    const hasKey = SERVER_KEYS.some((key) => Object.hasOwn(definition, key))
    if (!hasKey && hasOnlySettings(definition)) return undefined
    const foreign = FOREIGN_KEYS.find((key) => isObject(definition[key]))
    if (foreign !== undefined) throw new UsageError(`${file} has "${foreign}" instead of "mcpServers". ${IMPORT}`)
  }
  throw createMissingError(file)
}

function createMissingError(file: string): UsageError {
  return new UsageError(`${file} has no servers. Give it an object "mcpServers" with one entry per server.`)
}

interface ServerOrigin {
  readonly folder: string
  /** VS Code's input prompts, by id. */
  readonly inputs: ReadonlyMap<string, Input>
}

/** Reads one server. Variables are filled in when it is started, because some depend on the client. */
function readServer(name: string, entry: unknown, { folder, inputs }: ServerOrigin): ServerConfig {
  if (!isObject(entry)) throw new Error('The entry is not an object.')
  // Copilot keeps a list of tools in this field.
  const { tools, ...fields } = entry
  const { data: written, mistake } = read(serverSchema, Array.isArray(tools) ? fields : entry)
  if (mistake) throw new Error(describeMistake(mistake, (field) => `Its ${field}`))
  const lost = findLostName(entry, SERVER_SETTINGS)
  if (lost !== undefined) throw new Error(`Its ${lost} cannot have this name. Choose another one.`)
  const data = convertSettings(written, inputs)
  const common = readCommon(name, data)
  const url = data.url ?? data.serverUrl ?? data.httpUrl
  if (url !== undefined && url !== null)
    return {
      ...common,
      kind: data.type === 'sse' ? 'sse' : 'http',
      url,
      headers: toStrings(data.headers),
      forwardHeaders: (data.forwardHeaders ?? []).map((header) => header.toLowerCase()),
      auth: data.auth ? readAuth(data.auth, toStrings(data.headers), folder) : undefined,
    }
  const { command, args, env, envFile, cwd } = data
  if (!command?.trim()) throw new Error('It has neither a command nor a url.')
  if (data.forwardHeaders) throw new Error('Its forwardHeaders need a url, because a command gets no headers.')
  return {
    ...common,
    kind: 'stdio',
    command,
    args: (args ?? []).map(String),
    env: toStrings(env),
    envFile: toPath(folder, envFile),
    cwd: toPath(folder, cwd),
  }
}

/** @throws Error that says what is missing from the sign-in. */
function readAuth(input: AuthInput, headers: Readonly<Record<string, string>>, folder: string): ServerAuth {
  const { type = 'oauth', CLIENT_ID, CLIENT_SECRET, scopes, privateKeyFile, ...others } = input
  const { clientId = CLIENT_ID, clientSecret = CLIENT_SECRET, privateKey } = others
  const hasHeader = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  if (hasHeader) throw new Error('It has both auth and an Authorization header. Remove one of them.')
  if (type !== 'oauth' && clientId === undefined) throw new Error(`Its auth of type ${type} needs a clientId.`)
  if (type === 'client-credentials' && clientSecret === undefined)
    throw new Error('Its auth of type client-credentials needs a clientSecret.')
  if (type === 'private-key-jwt' && privateKey === undefined && privateKeyFile === undefined)
    throw new Error('Its auth of type private-key-jwt needs a privateKey or a privateKeyFile.')
  if (clientSecret !== undefined && clientId === undefined)
    throw new Error('Its auth has a clientSecret but no clientId.')
  return {
    type,
    clientId,
    clientSecret,
    privateKey,
    privateKeyFile: toPath(folder, privateKeyFile),
    algorithm: others.algorithm,
    scope: Array.isArray(scopes) ? scopes.join(' ') : scopes,
    issuer: others.issuer,
    clientMetadataUrl: others.clientMetadataUrl,
    redirectPort: others.redirectPort,
    account: others.account,
  }
}

/** A path relative to the configuration file, unless it begins with a variable. */
function toPath(folder: string, path: string | null | undefined): string | undefined {
  if (path === undefined || path === null) return undefined
  if (path.startsWith('${')) return path
  return resolve(folder, path)
}

function readCommon(name: string, data: ServerInput) {
  const { idleSeconds, timeoutSeconds, tools = {} } = data
  return {
    name,
    description: data.description,
    isRequired: data.required ?? false,
    start: data.start ?? 'lazy',
    isIsolated: data.isolate ?? false,
    idleMs: idleSeconds === undefined ? IDLE_MS : idleSeconds * 1_000 || Infinity,
    timeoutMs: timeoutSeconds === undefined ? DEFAULT_CALL_TIMEOUT_MS : timeoutSeconds * 1_000,
    maxConcurrent: data.maxConcurrent ?? MAX_CONCURRENT,
    maxProcesses: data.maxProcesses ?? MAX_PROCESSES,
    foldResults: toFoldTokens(data.foldResults),
    maxResultBytes: data.maxResultBytes ?? Infinity,
    pin: data.pin,
    overrides: new Map(Object.entries(tools)),
  } as const
}

/** 0 means no limit. */
function toFoldTokens(tokens: number | undefined): number | undefined {
  if (tokens === 0) return Infinity
  return tokens
}

/** People write ports and flags without quotes. */
function toStrings(record: Readonly<Record<string, unknown>> | null | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(record ?? {}).map(([key, value]) => [key, String(value)]))
}

/** Reads a definition that was written in code; a configuration that was read before stays as it is. */
export function toConfig(definition: GatewayDefinition | GatewayConfig): GatewayConfig {
  if ('servers' in definition && Array.isArray(definition.servers)) return definition
  return readDefinition(definition, { file: 'The configuration', folder: process.cwd() })
}
