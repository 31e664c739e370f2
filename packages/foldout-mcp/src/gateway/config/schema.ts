import { basename } from 'node:path'
import { z } from 'zod'
import { isObject, type JsonObject } from '../fields.ts'
import type { GatewayDefinition, QuotaSubject, RuleAnnotation } from './definition.ts'

const scalar = z.union([z.string(), z.number(), z.boolean()])
const scalars = z.record(z.string(), scalar)
const tokens = z.int().nonnegative()
const seconds = z.number().nonnegative().max(86_400)

const pin = z.enum(['off', 'flag', 'hold'])

const parameterOverride = z.strictObject({
  fixed: z.unknown().exactOptional(),
  default: z.unknown().exactOptional(),
  description: z.string().exactOptional(),
})

const toolOverride = z.strictObject({
  name: z.string().min(1).exactOptional(),
  description: z.string().exactOptional(),
  hide: z.boolean().exactOptional(),
  category: z.string().exactOptional(),
  tags: z.array(z.string()).exactOptional(),
  core: z.boolean().exactOptional(),
  parameters: z.record(z.string(), parameterOverride).exactOptional(),
  timeoutSeconds: seconds.positive().exactOptional(),
  maxConcurrent: z.int().positive().exactOptional(),
  maxResultBytes: z.int().positive().exactOptional(),
})

const text = z.string().min(1)

const auth = z.strictObject({
  type: z.enum(['oauth', 'client-credentials', 'private-key-jwt']).exactOptional(),
  clientId: text.exactOptional(),
  clientSecret: text.exactOptional(),
  privateKey: text.exactOptional(),
  privateKeyFile: text.exactOptional(),
  algorithm: z.enum(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512']).exactOptional(),
  scopes: z.union([z.string(), z.array(z.string())]).exactOptional(),
  issuer: text.exactOptional(),
  clientMetadataUrl: text.exactOptional(),
  redirectPort: z.int().positive().max(65_535).exactOptional(),
  account: text.exactOptional(),
  // As Cursor writes them.
  CLIENT_ID: text.exactOptional(),
  CLIENT_SECRET: text.exactOptional(),
})

export type AuthInput = z.output<typeof auth>

/** Headers of the client's own connection. A token for the gateway must not reach a server. */
const OWN_HEADERS =
  /^(?:authorization|cookie|host|origin|referer|connection|keep-alive|te|trailer|upgrade|expect|date|accept.*|content-.*|transfer-.*|proxy-.*|sec-.*|mcp-.*|last-event-id)$/i

/** Entries may be shared with other clients, which have their own fields. */
export const serverSchema = z.looseObject({
  command: z.string().nullish(),
  args: z.array(scalar).nullish(),
  env: scalars.nullish(),
  envFile: z.string().nullish(),
  cwd: z.string().nullish(),
  url: z.string().nullish(),
  serverUrl: z.string().nullish(),
  httpUrl: z.string().nullish(),
  headers: scalars.nullish(),
  auth: auth.nullish(),
  type: z.string().nullish(),
  disabled: z.boolean().nullish(),
  required: z.boolean().exactOptional(),
  start: z.enum(['lazy', 'eager']).exactOptional(),
  isolate: z.boolean().exactOptional(),
  idleSeconds: seconds.exactOptional(),
  timeoutSeconds: seconds.positive().exactOptional(),
  maxConcurrent: z.int().positive().exactOptional(),
  maxProcesses: z.int().positive().exactOptional(),
  foldResults: tokens.exactOptional(),
  maxResultBytes: z.int().positive().exactOptional(),
  forwardHeaders: z
    .array(
      z.custom<string>(
        (name) => typeof name === 'string' && /^[\w-]+$/.test(name) && !OWN_HEADERS.test(name),
        'the name of a custom header, not a protocol header or one that carries credentials for the gateway',
      ),
    )
    .exactOptional(),
  pin: pin.exactOptional(),
  description: z.string().exactOptional(),
  tools: z.record(z.string(), toolOverride).exactOptional(),
})

export type ServerInput = z.output<typeof serverSchema>

const exposure = z.enum(['auto', 'all', 'hybrid', 'meta-tool', 'two-phase', 'code'])

/** One or several. The message completes a sentence with "must be". */
function oneOrMore<Item extends string>(isItem: (text: string) => boolean, message: string) {
  const isGood = (item: unknown): boolean => typeof item === 'string' && isItem(item)
  return z.custom<Item | readonly Item[]>(
    (given) => (Array.isArray(given) ? given.length > 0 && given.every(isGood) : isGood(given)),
    { error: message },
  )
}

const patterns = oneOrMore((text) => text !== '', 'a pattern or a list of patterns')
const ANNOTATIONS: readonly string[] = ['readOnly', 'destructive', 'openWorld'] satisfies readonly RuleAnnotation[]

const selector = {
  client: patterns.exactOptional(),
  user: patterns.exactOptional(),
  preset: patterns.exactOptional(),
  server: patterns.exactOptional(),
  tool: oneOrMore(
    (text) => text === '*' || text.includes('/'),
    'a pattern over server/tool, such as "github/delete_*" or "*/delete_*", or a list of them',
  ).exactOptional(),
  annotation: oneOrMore<RuleAnnotation>(
    (text) => ANNOTATIONS.includes(text),
    'readOnly, destructive or openWorld, or a list of them',
  ).exactOptional(),
}

const rule = z.strictObject({
  action: z.enum(['allow', 'deny', 'ask']),
  ...selector,
  reason: z.string().min(1).exactOptional(),
})

const SUBJECTS: readonly string[] = ['user', 'client', 'preset', 'server', 'tool'] satisfies readonly QuotaSubject[]

const quota = z.strictObject({
  calls: z.int().positive().max(1_000_000_000),
  per: z.enum(['second', 'minute', 'hour', 'day']),
  each: oneOrMore<QuotaSubject>(
    (text) => SUBJECTS.includes(text),
    'user, client, preset, server or tool, or a list of them',
  ).exactOptional(),
  ...selector,
})

const preset = z.strictObject({
  servers: z.array(z.string()).exactOptional(),
  include: z.array(z.string()).exactOptional(),
  exclude: z.array(z.string()).exactOptional(),
  expose: exposure.exactOptional(),
  instructions: z.string().exactOptional(),
  rules: z.array(rule).exactOptional(),
})

const http = z.strictObject({
  host: z.string().min(1).exactOptional(),
  tokens: z
    .array(z.union([z.string().min(1), z.strictObject({ user: z.string().min(1), token: z.string().min(1) })]))
    .exactOptional(),
  allowedHosts: z.array(z.string().min(1)).exactOptional(),
  allowedOrigins: z.array(z.string().min(1)).exactOptional(),
  publicUrl: z
    .custom<string>(
      (url) => typeof url === 'string' && /^https?:\/\//.test(url) && URL.canParse(url),
      'a URL that begins with http:// or https://',
    )
    .exactOptional(),
})
const audit = z.strictObject({
  file: z.string().min(1).exactOptional(),
  maxBytes: z.int().min(1_000).exactOptional(),
  keep: z.int().min(1).max(1_000).exactOptional(),
  keepDays: z.int().min(1).max(36_500).exactOptional(),
})

const store = z.strictObject({
  url: text,
  schema: text.exactOptional(),
  key: text.exactOptional(),
  keyFile: text.exactOptional(),
})

/** The settings beside the servers, which are read one by one so that a mistake in one does not affect the others. */
export const gatewaySchema = z.looseObject({
  expose: exposure.exactOptional(),
  presets: z.record(z.string(), preset).exactOptional(),
  instructions: z.string().exactOptional(),
  foldResults: tokens.exactOptional(),
  rules: z.array(rule).exactOptional(),
  quotas: z.array(quota).max(100).exactOptional(),
  pin: pin.exactOptional(),
  http: http.exactOptional(),
  audit: z.union([z.boolean(), z.string().min(1), audit]).exactOptional(),
  store: z.union([text, store]).exactOptional(),
}) satisfies z.ZodType<unknown, Omit<GatewayDefinition, 'mcpServers'>>

/** Describes the first mistake in a value, in one sentence. */
export function describeMistake(error: z.ZodError, subject: (field: string) => string): string {
  const [issue] = error.issues
  if (!issue) return 'It is not valid.'
  const field = issue.path.map(String).join('.')
  const start = field === '' ? 'The entry' : subject(field)
  if (issue.code === 'custom') return `${start} must be ${issue.message}.`
  if (issue.code === 'invalid_type' || issue.code === 'invalid_union') return `${start} must be ${describeKind(issue)}.`
  if (issue.code === 'invalid_value') return `${start} must be one of ${issue.values.map(String).join(', ')}.`
  if (issue.code === 'unrecognized_keys') return `${start} has no setting called ${issue.keys.join(', ')}.`
  return `${start}: ${issue.message}.`
}

function describeKind(issue: z.core.$ZodIssue): string {
  const expected = 'expected' in issue ? issue.expected : undefined
  if (expected === undefined) return describeUnion(issue)
  const kinds: ReadonlyMap<string, string> = new Map([
    ['array', 'a list'],
    ['object', 'an object'],
    ['record', 'an object'],
    ['boolean', 'true or false'],
    ['int', 'a whole number'],
  ])
  return kinds.get(expected) ?? `a ${expected}`
}

/** The only unions are of plain values, and of a string and an object. */
function describeUnion(issue: z.core.$ZodIssue): string {
  return ['audit', 'http', 'store'].includes(String(issue.path[0]))
    ? 'a string or an object'
    : 'a string, a number, true or false'
}

export const GATEWAY_SETTINGS: readonly string[] = Object.keys(gatewaySchema.shape)
const SETTINGS: readonly string[] = ['mcpServers', 'servers', ...GATEWAY_SETTINGS]
export const SERVER_SETTINGS: readonly string[] = Object.keys(serverSchema.shape)
/** Not the gateway's, and welcome in its files. */
const FOREIGN: ReadonlySet<string> = new Set(['$schema', 'inputs'])

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
  return [...doubts, ...inServers, ...findAmbiguous(servers, file)]
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

/** Whether two names differ by a letter or two. Short names may differ by one, because many short words are close. */
function isNear(one: string, other: string): boolean {
  const most = Math.min(one.length, other.length) > 5 ? 2 : 1
  if (Math.abs(one.length - other.length) > most) return false
  return countEdits(one.toLowerCase(), other.toLowerCase()) <= most
}

/** How many letters must be added, removed or replaced to turn one text into the other. */
function countEdits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      const [left = 0, above = 0, diagonal = 0] = [next[j - 1], row[j], row[j - 1]]
      next.push(Math.min(left + 1, above + 1, diagonal + (isSame ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
