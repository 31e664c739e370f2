import { isObject } from 'foldout-shared/values'
import { MAX_DEPTH } from '../limits.ts'
import type { JsonObject } from './messages.ts'

/** The parameter that names what a modern request is about, which its headers repeat. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/** What a modern request is about, if its headers have to say so. */
export function getNamedParam(method: string, params: JsonObject): string | undefined {
  const field = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined
  const name = field === undefined ? undefined : params[field]
  if (typeof name === 'string') return name
  return undefined
}

/** The headers of a modern request over HTTP: its version, its method, and what it is about. */
export function toRequestHeaders(
  version: string,
  method: string,
  params: JsonObject,
): Readonly<Record<string, string>> {
  const name = getNamedParam(method, params)
  return {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': encodeHeader(name) }),
  }
}

const PREFIX = '=?base64?'
const SUFFIX = '?='
/** With its padding, which `atob` does not require. */
const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/

/** A text as the value of a header, which has no room for line breaks, spaces at its ends, and most letters. */
export function encodeHeader(text: string): string {
  const isEncoded = text.startsWith(PREFIX) && text.endsWith(SUFFIX)
  if (/^[\x21-\x7E](?:[\t\x20-\x7E]*[\x21-\x7E])?$/.test(text) && !isEncoded) return text
  const bytes = new TextEncoder().encode(text)
  return `${PREFIX}${btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(''))}${SUFFIX}`
}

/** Reads such a value. Undefined if it says that it is encoded, and is not. */
export function decodeHeader(value: string): string | undefined {
  if (!value.startsWith(PREFIX) || !value.endsWith(SUFFIX)) return value
  const encoded = value.slice(PREFIX.length, -SUFFIX.length)
  if (!BASE64.test(encoded)) return undefined
  try {
    const bytes = Uint8Array.from(atob(encoded), (byte) => byte.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** An argument that a server wants to see in a header, too. */
interface Mirrored {
  readonly path: readonly string[]
  readonly header: string
}

const MARK = 'x-mcp-header'
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean'])

const known = new WeakMap<object, readonly Mirrored[]>()

/** An argument of a call over HTTP, and the header that repeats it. */
export interface RepeatedArgument {
  readonly path: readonly string[]
  readonly header: string
  readonly value: string | number | boolean
}

/** The arguments of a call that a modern server's input schema wants to see in headers, too. */
export function listRepeated(inputSchema: unknown, args: unknown): readonly RepeatedArgument[] {
  if (!isObject(inputSchema)) return []
  const mirrored = known.get(inputSchema) ?? [...findMirrored(inputSchema, [])]
  known.set(inputSchema, mirrored)
  return mirrored.flatMap(({ path, header }) => {
    const value = getAt(args, path)
    if (isWritable(value)) return [{ path, header: `mcp-param-${header.toLowerCase()}`, value }]
    return []
  })
}

/** The headers that repeat arguments of a call. */
export function toParamHeaders(inputSchema: unknown, args: unknown): Readonly<Record<string, string>> {
  const repeated = listRepeated(inputSchema, args)
  return Object.fromEntries(repeated.map(({ header, value }) => [header, encodeHeader(String(value))]))
}

/** Only properties of properties can be marked. */
function* findMirrored(schema: JsonObject, path: readonly string[]): Generator<Mirrored> {
  const { [MARK]: header, type, properties } = schema
  const isMarked = path.length > 0 && typeof header === 'string' && TOKEN.test(header) && TYPES.has(type)
  if (isMarked) yield { path, header }
  if (!isObject(properties) || path.length >= MAX_DEPTH) return
  for (const [name, property] of Object.entries(properties))
    if (isObject(property)) yield* findMirrored(property, [...path, name])
}

function getAt(value: unknown, path: readonly string[]): unknown {
  let inner = value
  for (const name of path) {
    if (!isObject(inner) || !Object.hasOwn(inner, name)) return undefined
    inner = inner[name]
  }
  return inner
}

function isWritable(value: unknown): value is RepeatedArgument['value'] {
  if (typeof value === 'string' || typeof value === 'boolean') return true
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
}
