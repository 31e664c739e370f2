import { isObject } from 'foldout-shared/values'
import { CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROTOCOL_VERSION, SERVER_INFO } from '../../keys.ts'
import { LEGACY_VERSIONS, MODERN_VERSIONS, UNSUPPORTED_VERSION } from '../../protocol/eras.ts'
import { INVALID_PARAMS } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/messages.ts'
import type { Handler } from '../requests/request.ts'
import { createInvalid, NOT_FOUND, RequestError } from '../requests/request-error.ts'
import type { ServerDescription } from '../views/description.ts'

/** The methods of later versions. */
export const LATER_METHODS: ReadonlySet<string> = new Set(['server/discover', 'subscriptions/listen'])

/** Chooses the version of a conversation: the one that the client wants if there is such a version, or the newest. */
export function chooseVersion({ protocolVersion }: JsonObject): string {
  const [newest = ''] = LEGACY_VERSIONS
  return LEGACY_VERSIONS.find((version) => version === protocolVersion) ?? newest
}

/** Answers the `initialize` of a legacy client. */
export function answerInitialize(
  protocolVersion: string,
  { info, capabilities, instructions }: ServerDescription,
): JsonObject {
  return { protocolVersion, capabilities, serverInfo: info, ...(instructions !== '' && { instructions }) }
}

/** What a client can do. Before there were two kinds of questions, it declared one without naming it. */
export function readCapabilities({ capabilities: given }: JsonObject): JsonObject {
  const capabilities = isObject(given) ? given : {}
  const { elicitation } = capabilities
  const isUnnamed = isObject(elicitation) && Object.keys(elicitation).length === 0
  if (isUnnamed) return { ...capabilities, elicitation: { form: {} } }
  return capabilities
}

/** The methods of earlier versions. Two more have another meaning in the extension for tasks. */
export const REMOVED_METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/list',
  'tasks/result',
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
])

/** Whether a request says in `_meta` which version it follows, as every modern request does. */
export function hasEnvelope(meta: JsonObject): boolean {
  return PROTOCOL_VERSION in meta
}

/** What is wrong with what a request says about itself. */
interface EnvelopeFault {
  readonly key: string
  readonly problem: string
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isInfo = (value: unknown): boolean => isObject(value) && isText(value['name']) && isText(value['version'])

const FIELDS: readonly {
  readonly key: string
  readonly isRequired: boolean
  readonly type: string
  is(value: unknown): boolean
}[] = [
  { key: PROTOCOL_VERSION, isRequired: true, type: 'a string', is: isText },
  { key: CLIENT_CAPABILITIES, isRequired: true, type: 'an object', is: isObject },
  { key: CLIENT_INFO, isRequired: false, type: 'an object with a name and a version', is: isInfo },
  { key: LOG_LEVEL, isRequired: false, type: 'a string', is: isText },
]

function findEnvelopeFaults(meta: JsonObject): readonly EnvelopeFault[] {
  return FIELDS.flatMap(({ key, isRequired, type, is }) => {
    if (!(key in meta)) {
      if (isRequired) return [{ key, problem: 'missing' }]
      return []
    }
    if (is(meta[key])) return []
    return [{ key, problem: `must be ${type}` }]
  })
}

/** Throws if a request does not say about itself what a modern request must say. */
export function checkEnvelope(meta: JsonObject): void {
  const [fault] = findEnvelopeFaults(meta)
  if (fault) throw createInvalid(`Invalid _meta of the request: ${fault.key}: ${fault.problem}`, { envelope: fault })
}

/** Throws if a request follows a version that this server does not have. */
export function checkVersion({ [PROTOCOL_VERSION]: requested }: JsonObject): void {
  if (MODERN_VERSIONS.includes(String(requested))) return
  const data = { supported: MODERN_VERSIONS, requested }
  throw new RequestError(UNSUPPORTED_VERSION, `Unsupported protocol version: ${String(requested)}`, data)
}

export function createDiscoverHandler({ capabilities, instructions }: ServerDescription): Handler {
  return () => ({ supportedVersions: MODERN_VERSIONS, capabilities, ...(instructions !== '' && { instructions }) })
}

/** The methods whose results say how long they may be cached. */
const CACHEABLE: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/directory/read',
  'skills/list',
  'skills/get',
])
const NOT_CACHED = { ttlMs: 0, cacheScope: 'private' } as const

/** Adds what every modern result has: its type, its server, and how long it may be cached. */
export function toModernResult(
  method: string,
  result: JsonObject,
  { info, cache, isCached }: ServerDescription,
): JsonObject {
  const { resultType = 'complete', _meta: meta = {} } = result
  const caching =
    resultType === 'complete' && CACHEABLE.has(method) && toCaching(result, isCached(method) ? cache : NOT_CACHED)
  const stamped = isObject(meta) && meta[SERVER_INFO] === undefined ? { ...meta, [SERVER_INFO]: info } : meta
  return { ...result, resultType, ...caching, _meta: stamped }
}

function toCaching({ ttlMs, cacheScope }: JsonObject, fallback: ServerDescription['cache']): JsonObject {
  const isTime = typeof ttlMs === 'number' && Number.isSafeInteger(ttlMs) && ttlMs >= 0
  const isScope = cacheScope === 'public' || cacheScope === 'private'
  return { ttlMs: isTime ? ttlMs : fallback.ttlMs, cacheScope: isScope ? cacheScope : fallback.cacheScope }
}

/** The code for a missing resource is another one since 2026-07-28. */
export function toModernError(error: unknown): unknown {
  const { code, message, data } = error as Partial<RequestError>
  if (code === NOT_FOUND) return new RequestError(INVALID_PARAMS, String(message), data)
  return error
}
