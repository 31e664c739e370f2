import { decodeUrlPart } from 'foldout-shared/url-text'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { parseEnv } from 'node:util'
import { SECRET_NAME } from '../../../shared/secret-text.ts'
import type { GatewayConfig, ServerAuth, ServerConfig } from '../../config/config.ts'
import type { FilledServer } from '../../config/fill-server.ts'
import { fillVariables, listVariables, type Variables } from '../../config/variables.ts'
import { MAX_ENV_FILE_BYTES } from './limits.ts'

/** Harmless values that often appear where secrets do. */
const ORDINARY: ReadonlySet<string> = new Set(
  'production development localhost 127.0.0.1 disabled enabled standard application/json text/event-stream'.split(' '),
)

/** The shell's current and previous folder, whose names (`PWD`) look like passwords. */
const WORKING_FOLDERS: ReadonlySet<string> = new Set(['PWD', 'OLDPWD'])

/** Variables that describe a machine or its user. */
const MACHINE: ReadonlySet<string> = new Set(
  'ROOT HOME USER USERNAME LOGNAME USERPROFILE SHELL PATH PWD OLDPWD LANG TERM TMPDIR TMP TEMP HOSTNAME'.split(' '),
)

/** Whether a value is certainly not a secret: hiding it would only make messages hard to read. */
function isOrdinary(name: string, value: string): boolean {
  // A file's content may be secret, but its path is not.
  if (isAbsolute(value) && existsSync(value)) return true
  if (SECRET_NAME.test(name)) return false
  if (ORDINARY.has(value.toLowerCase())) return true
  if (!URL.canParse(value)) return false
  const { protocol, username, password, search, hash, pathname } = new URL(value)
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '' && pathname.length <= 1
}

/** The secrets of a server that is about to be started. */
export function findServerSecrets(server: FilledServer): readonly string[] {
  if (server.kind === 'stdio') return [...findValues(server.env), ...findInArguments(server.args)]
  return [...findValues(server.headers), ...findInAuth(server.auth), ...findInUrl(server.url.href)]
}

/** The secrets of the environment and of a configuration, as far as they are known before servers start. */
export function findConfigSecrets(config: GatewayConfig, variables: Variables): readonly string[] {
  const ambient = Object.entries(variables.env).flatMap(([name, value = '']) =>
    SECRET_NAME.test(name) && !WORKING_FOLDERS.has(name) && !isOrdinary(name, value) ? [value] : [],
  )
  return [...config.servers.flatMap((server) => findKnown(server, variables)), ...ambient]
}

function findKnown(server: ServerConfig, given: Variables): readonly string[] {
  const fromFile = server.kind === 'stdio' ? readEnvFile(server.envFile, given) : {}
  const variables = { ...given, env: { ...fromFile, ...given.env } }
  const fill = (text: string): string => tryFill(text, variables)
  const fillAll = (record: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, fill(value)]))
  const used = listTexts(server).flatMap((text) => findUsed(text, variables))
  if (server.kind === 'stdio')
    return [...used, ...findValues({ ...fromFile, ...fillAll(server.env) }), ...findInArguments(server.args.map(fill))]
  const auth = findInAuth(server.auth).map(fill)
  return [...used, ...findValues(fillAll(server.headers)), ...auth, ...findInUrl(fill(server.url))]
}

function tryFill(text: string, variables: Variables): string {
  try {
    return fillVariables(text, variables)
  } catch {
    // The variable is not set, so there is nothing to hide.
    return ''
  }
}

/** The texts of a server that may refer to variables. */
function listTexts(server: ServerConfig): readonly string[] {
  if (server.kind === 'stdio') {
    const { command, args, env, cwd = '' } = server
    return [command, ...args, ...Object.values(env), cwd]
  }
  const auth = Object.values(server.auth ?? {}).filter((value) => typeof value === 'string')
  return [server.url, ...Object.values(server.headers), ...auth]
}

/** The values of the variables that a text refers to. A default is part of the configuration, like any other text of it. */
function findUsed(text: string, variables: Variables): readonly string[] {
  return listVariables(text, variables).flatMap(({ name, value, isDefault }) => {
    const isKnown = MACHINE.has(name) || (isDefault && !SECRET_NAME.test(name))
    if (isKnown) return []
    return findValues({ [name]: value })
  })
}

/** The variables of a file, before the server that gets them starts. If it cannot be read, the start says why. */
function readEnvFile(file: string | undefined, variables: Variables): Readonly<Record<string, string>> {
  try {
    const path = tryFill(file ?? '', variables)
    const stats = path === '' ? undefined : statSync(path)
    // A pipe can be read only once.
    if (!stats?.isFile() || stats.size > MAX_ENV_FILE_BYTES) return {}
    const found = Object.entries(parseEnv(readFileSync(path, 'utf8')))
    return Object.fromEntries(found.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  } catch {
    return {}
  }
}

function findInAuth(auth: ServerAuth | undefined): readonly string[] {
  return [auth?.clientSecret, auth?.privateKey].filter((value) => value !== undefined)
}

function findValues(record: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(record)
    .filter(([name, value]) => !isOrdinary(name, value))
    .flatMap(([, value]) => [value, ...splitScheme(value), ...findInUrl(value), ...findInPairs(value)])
}

/** In a header, the secret follows the scheme (`Bearer …`) or is encoded (`Basic …`). */
function splitScheme(value: string): readonly string[] {
  const [, scheme = '', rest = ''] = /^(\w+) +(\S+)$/.exec(value) ?? []
  if (scheme.toLowerCase() !== 'basic') {
    if (rest === '') return []
    return [rest]
  }
  const decoded = Buffer.from(rest, 'base64').toString()
  return [rest, decoded, decoded.slice(decoded.indexOf(':') + 1)]
}

/** Finds `--token x`, `--token=x`, and URLs with credentials. */
function findInArguments(args: readonly string[]): readonly string[] {
  return args.flatMap((arg, i) => {
    const before = args[i - 1] ?? ''
    const [, name = '', value = ''] = /^-{0,2}([\w.-]+)=(.*)$/s.exec(arg) ?? []
    if (SECRET_NAME.test(name)) return [value]
    // A secret may begin with a hyphen, but hardly looks like an option.
    if (/^-+[\w.-]+$/.test(before) && SECRET_NAME.test(before) && !/^--?[a-z][a-z0-9-]*(?:=|$)/.test(arg)) return [arg]
    return findInUrl(arg)
  })
}

function findInUrl(text: string): readonly string[] {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return []
  const { username, password, searchParams } = new URL(text)
  const named = [...searchParams].flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []))
  const user = password === '' ? [username] : []
  return [password, ...user].flatMap((part) => [part, decodeUrlPart(part)]).concat(named)
}

/** Finds the secrets of a connection string such as `Server=db;Password=x`. */
function findInPairs(text: string): readonly string[] {
  return text.split(/[\s;&,]/).flatMap((pair) => {
    const end = pair.indexOf('=')
    if (end !== -1 && SECRET_NAME.test(pair.slice(0, end))) return [pair.slice(end + 1).replaceAll(/^["']|["']$/g, '')]
    return []
  })
}
