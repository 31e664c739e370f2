import { basename } from 'node:path'
import type { Skill } from 'foldout/skills'
import * as v from 'valibot'
import { isObject, type JsonObject } from 'foldout-shared/values'
import { isNear } from '../../shared/near.ts'
import {
  above,
  atLeast,
  atMost,
  boolean,
  int,
  list,
  number,
  object,
  oneOf,
  custom,
  positive,
  record,
  shortList,
  strictObject,
  string,
  text,
  union,
} from '../../shared/shapes.ts'
import type { GatewayDefinition, QuotaSubject, RuleAnnotation } from './definition.ts'
import { findServerKey, listIgnoredServerKeys, SERVER_KEYS } from './server-key.ts'

const SCALAR = 'a string, a number, true or false'
const STRING_OR_OBJECT = 'a string or an object'
const scalar = custom<string | number | boolean>(
  (value) => typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value),
  SCALAR,
)
const scalars = record(scalar)
const tokens = v.pipe(int, atLeast(0))
const seconds = v.pipe(number, atLeast(0), atMost(86_400))
const someSeconds = v.pipe(number, above(0), atMost(86_400))

const pin = oneOf(['off', 'flag', 'hold'])

const parameterOverride = strictObject({
  fixed: v.exactOptional(v.unknown()),
  default: v.exactOptional(v.unknown()),
  description: v.exactOptional(string),
})

const toolOverride = strictObject({
  name: v.exactOptional(text),
  description: v.exactOptional(string),
  hide: v.exactOptional(boolean),
  category: v.exactOptional(string),
  tags: v.exactOptional(list(string)),
  core: v.exactOptional(boolean),
  parameters: v.exactOptional(record(parameterOverride)),
  timeoutSeconds: v.exactOptional(someSeconds),
  maxConcurrent: v.exactOptional(positive),
  maxResultBytes: v.exactOptional(positive),
})

const auth = strictObject({
  type: v.exactOptional(oneOf(['oauth', 'client-credentials', 'private-key-jwt'])),
  clientId: v.exactOptional(text),
  clientSecret: v.exactOptional(text),
  privateKey: v.exactOptional(text),
  privateKeyFile: v.exactOptional(text),
  algorithm: v.exactOptional(oneOf(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'])),
  scopes: v.exactOptional(union([string, list(string)], 'a string or a list of strings')),
  issuer: v.exactOptional(text),
  clientMetadataUrl: v.exactOptional(text),
  redirectPort: v.exactOptional(v.pipe(positive, atMost(65_535))),
  account: v.exactOptional(text),
  // As Cursor writes them.
  CLIENT_ID: v.exactOptional(text),
  CLIENT_SECRET: v.exactOptional(text),
})

export type AuthInput = v.InferOutput<typeof auth>

/** Headers of the client's own connection. A token for the gateway must not reach a server. */
const OWN_HEADERS =
  /^(?:authorization|cookie|host|origin|referer|connection|keep-alive|te|trailer|upgrade|expect|date|accept.*|content-.*|transfer-.*|proxy-.*|sec-.*|mcp-.*|last-event-id)$/i

/** Entries may be shared with other clients, which have their own fields. */
export const serverSchema = object({
  command: v.nullish(string),
  args: v.nullish(list(scalar)),
  env: v.nullish(scalars),
  envFile: v.nullish(string),
  cwd: v.nullish(string),
  url: v.nullish(string),
  serverUrl: v.nullish(string),
  httpUrl: v.nullish(string),
  headers: v.nullish(scalars),
  auth: v.nullish(auth),
  type: v.nullish(string),
  disabled: v.nullish(boolean),
  // As some clients write it.
  enabled: v.nullish(boolean),
  required: v.exactOptional(boolean),
  start: v.exactOptional(oneOf(['lazy', 'eager'])),
  isolate: v.exactOptional(boolean),
  idleSeconds: v.exactOptional(seconds),
  timeoutSeconds: v.exactOptional(someSeconds),
  maxConcurrent: v.exactOptional(positive),
  maxProcesses: v.exactOptional(positive),
  foldResults: v.exactOptional(tokens),
  maxResultBytes: v.exactOptional(positive),
  forwardHeaders: v.exactOptional(
    list(
      custom<string>(
        (name) => typeof name === 'string' && /^[\w-]+$/.test(name) && !OWN_HEADERS.test(name),
        'the name of a custom header, not a protocol header or one that carries credentials for the gateway',
      ),
    ),
  ),
  pin: v.exactOptional(pin),
  description: v.exactOptional(string),
  tools: v.exactOptional(record(toolOverride)),
})

export type ServerInput = v.InferOutput<typeof serverSchema>

const exposure = oneOf(['auto', 'all', 'hybrid', 'meta-tool', 'two-phase', 'code'])

/** One or several. The message completes a sentence with "must be". */
function oneOrMore<Item extends string>(isItem: (text: string) => boolean, message: string) {
  const isGood = (item: unknown): boolean => typeof item === 'string' && isItem(item)
  return custom<Item | readonly Item[]>(
    (given) => (Array.isArray(given) ? given.length > 0 && given.every(isGood) : isGood(given)),
    message,
  )
}

const patterns = oneOrMore((text) => text !== '', 'a pattern or a list of patterns')
const ANNOTATIONS: readonly string[] = ['readOnly', 'destructive', 'openWorld'] satisfies readonly RuleAnnotation[]

const selector = {
  client: v.exactOptional(patterns),
  user: v.exactOptional(patterns),
  preset: v.exactOptional(patterns),
  server: v.exactOptional(patterns),
  tool: v.exactOptional(
    oneOrMore(
      (text) => text === '*' || text.includes('/'),
      'a pattern over server/tool, such as "github/delete_*" or "*/delete_*", or a list of them',
    ),
  ),
  annotation: v.exactOptional(
    oneOrMore<RuleAnnotation>(
      (text) => ANNOTATIONS.includes(text),
      'readOnly, destructive or openWorld, or a list of them',
    ),
  ),
}

const rule = strictObject({
  action: oneOf(['allow', 'deny', 'ask']),
  ...selector,
  reason: v.exactOptional(text),
})

const SUBJECTS: readonly string[] = ['user', 'client', 'preset', 'server', 'tool'] satisfies readonly QuotaSubject[]

const quota = strictObject({
  calls: v.pipe(positive, atMost(1_000_000_000)),
  per: oneOf(['second', 'minute', 'hour', 'day']),
  each: v.exactOptional(
    oneOrMore<QuotaSubject>(
      (text) => SUBJECTS.includes(text),
      'user, client, preset, server or tool, or a list of them',
    ),
  ),
  ...selector,
})

const preset = strictObject({
  servers: v.exactOptional(list(string)),
  include: v.exactOptional(list(string)),
  exclude: v.exactOptional(list(string)),
  expose: v.exactOptional(exposure),
  instructions: v.exactOptional(string),
  rules: v.exactOptional(list(rule)),
})

const http = strictObject({
  host: v.exactOptional(text),
  tokens: v.exactOptional(list(union([text, strictObject({ user: text, token: text })], STRING_OR_OBJECT))),
  allowedHosts: v.exactOptional(list(text)),
  allowedOrigins: v.exactOptional(list(text)),
  publicUrl: v.exactOptional(
    custom<string>(
      (url) => typeof url === 'string' && /^https?:\/\//.test(url) && URL.canParse(url),
      'a URL that begins with http:// or https://',
    ),
  ),
})
const audit = strictObject({
  file: v.exactOptional(text),
  maxBytes: v.exactOptional(v.pipe(int, atLeast(1_000))),
  keep: v.exactOptional(v.pipe(int, atLeast(1), atMost(1_000))),
  keepDays: v.exactOptional(v.pipe(int, atLeast(1), atMost(36_500))),
})

const store = strictObject({
  url: text,
  schema: v.exactOptional(text),
  key: v.exactOptional(text),
  keyFile: v.exactOptional(text),
})

const skill = custom<string | Skill>(
  (given) =>
    (typeof given === 'string' && given !== '') ||
    (isObject(given) && typeof given['key'] === 'string' && typeof given['text'] === 'string'),
  'a folder with skills, or a skill',
)

/** The settings beside the servers, which are read one by one so that a mistake in one does not affect the others. */
export const gatewaySchema = object({
  expose: v.exactOptional(exposure),
  presets: v.exactOptional(record(preset)),
  instructions: v.exactOptional(string),
  foldResults: v.exactOptional(tokens),
  rules: v.exactOptional(list(rule)),
  quotas: v.exactOptional(shortList(quota, 100)),
  pin: v.exactOptional(pin),
  http: v.exactOptional(http),
  audit: v.exactOptional(union([boolean, text, audit], `true, false, ${STRING_OR_OBJECT}`)),
  store: v.exactOptional(union([text, store], STRING_OR_OBJECT)),
  skills: v.exactOptional(list(skill)),
}) satisfies v.GenericSchema<Omit<GatewayDefinition, 'mcpServers'>, unknown>

export const GATEWAY_SETTINGS: readonly string[] = Object.keys(gatewaySchema.entries)
const SETTINGS: readonly string[] = [...SERVER_KEYS, ...GATEWAY_SETTINGS]
export const SERVER_SETTINGS: readonly string[] = Object.keys(serverSchema.entries)
/** Not the gateway's, and welcome in its files. */
const FOREIGN: ReadonlySet<string> = new Set(['$schema', 'inputs'])

/** Whether an object has nothing but settings of the gateway. */
export function hasOnlySettings(definition: JsonObject): boolean {
  return Object.keys(definition).every((key) => SETTINGS.includes(key) || FOREIGN.has(key))
}

/**
 * Finds settings that have no effect but were probably meant to: rules under a misspelled name protect nobody. Other clients' files have
 * settings of their own, so there only near misses of the gateway's settings are reported.
 */
export function findDoubts(definition: JsonObject, servers: JsonObject, file: string): readonly string[] {
  const isOwn = basename(file).startsWith('foldout.config.')
  const doubts = findUnknown(definition, SETTINGS)
    .filter(({ key, near }) => near !== undefined || (isOwn && !FOREIGN.has(key)))
    .map((unknown) => describeUnknown(file, unknown))
  const inServers = Object.entries(servers).flatMap(([name, entry]) =>
    (isObject(entry) ? findUnknown(entry, SERVER_SETTINGS) : [])
      .filter(({ near }) => near !== undefined)
      .map((unknown) => describeUnknown(`The server '${name}' in ${file}`, unknown)),
  )
  return [...findIgnoredServers(definition, file), ...doubts, ...inServers, ...findAmbiguous(servers, file)]
}

function findIgnoredServers(definition: JsonObject, file: string): readonly string[] {
  const used = findServerKey(definition)
  return listIgnoredServerKeys(definition).map(
    (key) => `${file} has both "${used}" and "${key}". Only the servers in "${used}" are used. Move the others there.`,
  )
}

/** A server with two ways to reach it: the url is used. */
function findAmbiguous(servers: JsonObject, file: string): readonly string[] {
  return Object.entries(servers)
    .filter(
      ([, entry]) => isObject(entry) && entry['command'] && (entry['url'] ?? entry['serverUrl'] ?? entry['httpUrl']),
    )
    .map(([name]) => `The server '${name}' in ${file} has a url and a command, which is not used. Remove one of them.`)
}

interface Unknown {
  readonly key: string
  /** Suggests what was probably meant. */
  readonly near: string | undefined
}

function findUnknown(object: JsonObject, known: readonly string[]): readonly Unknown[] {
  return Object.keys(object)
    .filter((key) => !known.includes(key))
    .map((key) => ({ key, near: known.find((setting) => isNear(key, setting)) }))
}

function describeUnknown(where: string, { key, near }: Unknown): string {
  const meant = near === undefined ? '' : ` Did you mean "${near}"?`
  return `${where} has a setting "${key}", which has no effect.${meant}`
}
