import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { HIDDEN, SECRET_NAME } from '../../clients/redact.ts'
import type { GatewayConfig, ServerAuth, ServerConfig } from '../config/config.ts'
import type { FilledServer } from '../config/fill-server.ts'
import { fillVariables, type Variables } from '../config/variables.ts'
import { isObject } from '../fields.ts'
import { MAX_LATE_SECRETS, MIN_SECRET_LENGTH } from './limits.ts'

/** The secrets that the gateway knows: values from its configuration, and others it learned later. */
export interface Secrets {
  /** Hides these from now on. */
  add(values: readonly string[]): void
  /** Removes the secrets from a text. */
  hide(text: string): string
  /** Removes the secrets from the values and keys of JSON. Returns the same object if it has none. */
  hideIn<Value>(value: Value): Value
}

/** Values nested deeper than this are hidden as a whole. */
const MAX_DEPTH = 200

export function createSecrets(values: readonly string[] = []): Secrets {
  /** The texts to look for, each with the secret it is a form of. */
  const known = new Map<string, readonly string[]>()
  let needles: readonly string[] = []

  const add = (added: readonly string[]): void => {
    const fresh = added.filter((value) => value.length >= MIN_SECRET_LENGTH && !known.has(value))
    if (fresh.length === 0) return
    for (const value of fresh) known.set(value, listForms(value))
    for (const [oldest] of known) {
      if (known.size <= MAX_LATE_SECRETS) break
      known.delete(oldest)
    }
    needles = [...new Set([...known.values()].flat())]
  }
  const hide = (text: string): string => {
    const found = needles.flatMap((needle) => findAll(text, needle))
    return found.length === 0 ? text : cutOut(text, found)
  }
  const hideDeep = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return hide(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth > MAX_DEPTH) return HIDDEN
    if (Array.isArray(value)) return value.map((item) => hideDeep(item, depth + 1))
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [hide(name), hideDeep(item, depth + 1)]))
  }
  add(values)
  return {
    add,
    hide,
    hideIn(value) {
      if (needles.length === 0) return value
      // Most texts have no secrets, and searching one long text is faster than searching many short ones.
      const text = toJson(value)
      const isClean = text !== undefined && !needles.some((needle) => text.includes(needle))
      return isClean ? value : (hideDeep(value, 0) as typeof value)
    },
  }
}

function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return undefined
  }
}

/** The forms in which a secret may appear: plain, in JSON, in a URL, and encoded. */
function listForms(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1)
  const address = encodeAddress(value)
  const forms = [
    value,
    json,
    address,
    address.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    address.replaceAll('%20', '+'),
    ...[0, 1, 2].flatMap((offset) => listBase64(value, offset)),
  ]
  return forms.filter(({ length }) => length >= MIN_SECRET_LENGTH)
}

function encodeAddress(value: string): string {
  // A lone surrogate cannot be encoded.
  return encodeURIComponent(value.replaceAll(/\p{Surrogate}/gu, '\uFFFD'))
}

/** The base64 of a secret inside a longer text, for each of the three offsets at which it may begin. */
function listBase64(value: string, offset: number): readonly string[] {
  const bytes = Buffer.from(value)
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replaceAll('=', '')
  // The characters at the ends also depend on the text next to the secret.
  const start = Math.ceil((offset * 8) / 6)
  const end = Math.floor(((offset + bytes.length) * 8) / 6)
  const core = encoded.slice(start, end)
  return [core, core.replaceAll('+', '-').replaceAll('/', '_')]
}

interface Range {
  readonly start: number
  readonly end: number
}

function findAll(text: string, needle: string): readonly Range[] {
  const found: Range[] = []
  for (let start = text.indexOf(needle); start !== -1; start = text.indexOf(needle, start + needle.length))
    found.push({ start, end: start + needle.length })
  return found
}

/** Replaces each range in a text. Overlapping ranges are merged. */
function cutOut(text: string, ranges: readonly Range[]): string {
  const kept: string[] = []
  let from = 0
  let isOpen = false
  for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
    if (start > from || !isOpen) kept.push(text.slice(from, start), HIDDEN)
    isOpen = true
    from = Math.max(from, end)
  }
  return `${kept.join('')}${text.slice(from)}`
}

/** Harmless values that often appear where secrets do. */
const ORDINARY: ReadonlySet<string> = new Set(
  'production development localhost 127.0.0.1 disabled enabled standard application/json text/event-stream'.split(' '),
)

/** The shell's current and previous folder, whose names (`PWD`) look like passwords. */
const WORKING_FOLDERS: ReadonlySet<string> = new Set(['PWD', 'OLDPWD'])

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

function findKnown(server: ServerConfig, variables: Variables): readonly string[] {
  const fill = (text: string): string => {
    try {
      return fillVariables(text, variables)
    } catch {
      // The variable is not set, so there is nothing to hide.
      return ''
    }
  }
  const fillAll = (record: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, fill(value)]))
  if (server.kind === 'stdio') return [...findValues(fillAll(server.env)), ...findInArguments(server.args.map(fill))]
  const auth = findInAuth(server.auth).map(fill)
  return [...findValues(fillAll(server.headers)), ...auth, ...findInUrl(fill(server.url))]
}

function findInAuth(auth: ServerAuth | undefined): readonly string[] {
  return [auth?.clientSecret, auth?.privateKey].filter((value) => value !== undefined)
}

function findValues(record: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(record)
    .filter(([name, value]) => !isOrdinary(name, value))
    .flatMap(([, value]) => [value, ...splitScheme(value)])
}

/** In a header, the secret follows the scheme (`Bearer …`) or is encoded (`Basic …`). */
function splitScheme(value: string): readonly string[] {
  const [, scheme = '', rest = ''] = /^(\w+) +(\S+)$/.exec(value) ?? []
  if (scheme.toLowerCase() !== 'basic') return rest === '' ? [] : [rest]
  const decoded = Buffer.from(rest, 'base64').toString()
  return [rest, decoded, decoded.slice(decoded.indexOf(':') + 1)]
}

/** Finds `--token x`, `--token=x`, and URLs with credentials. */
function findInArguments(args: readonly string[]): readonly string[] {
  return args.flatMap((arg, i) => {
    const before = args[i - 1] ?? ''
    const [, name = '', value = ''] = /^-{0,2}([\w.-]+)=(.*)$/s.exec(arg) ?? []
    if (SECRET_NAME.test(name)) return [value]
    if (/^-+[\w.-]+$/.test(before) && SECRET_NAME.test(before) && !arg.startsWith('-')) return [arg]
    return findInUrl(arg)
  })
}

function findInUrl(text: string): readonly string[] {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return []
  const { username, password, searchParams } = new URL(text)
  const named = [...searchParams].flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []))
  return [decode(password), ...(password === '' ? [decode(username)] : []), ...named]
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
