import { SERVER_INFO } from '../keys.ts'
import { isModernVersion, MODERN_VERSIONS, UNSUPPORTED_VERSION } from '../protocol/eras.ts'
import { ProtocolError } from '../protocol/errors.ts'
import { asObject, type JsonObject } from '../protocol/messages.ts'

export interface DiscoverOptions {
  /** Whether the older handshake can be used instead. */
  readonly mayFallBack: boolean
  readonly isHttp: boolean
  /** Asks the server in a version of the protocol. */
  ask(method: string, version: string): Promise<JsonObject>
}

/** A server that speaks a modern version. */
export interface Discovered {
  readonly version: string
  readonly info: unknown
  readonly result: JsonObject
}

/**
 * Asks a server which versions it speaks. Undefined if it seems to know only the older handshake.
 *
 * @throws Error if it cannot be reached, or is newer than all versions that are known here.
 */
export async function discover({ mayFallBack, isHttp, ask }: DiscoverOptions): Promise<Discovered | undefined> {
  let [version = ''] = MODERN_VERSIONS
  for (let attempt = 0; ; attempt++) {
    try {
      return readDiscovery(await ask('server/discover', version))
    } catch (error) {
      const refusal = readRefusal(error, isHttp)
      if (!refusal || !mayFallBack) throw error
      const mutual = MODERN_VERSIONS.find((known) => refusal.supported.includes(known))
      // It speaks no older version.
      if (refusal.supported.length > 0 && (mutual === undefined || attempt > 0)) throw error
      if (mutual === undefined) return undefined
      version = mutual
    }
  }
}

function readDiscovery(result: JsonObject): Discovered | undefined {
  const { supportedVersions, _meta: meta, serverInfo } = result
  const versions: readonly unknown[] = Array.isArray(supportedVersions) ? supportedVersions : []
  const version = MODERN_VERSIONS.find((known) => versions.includes(known))
  if (version === undefined) return undefined
  return { version, info: asObject(meta)[SERVER_INFO] ?? serverInfo, result }
}

/** An answer that says that a server did not understand which versions it was asked for. */
interface DiscoveryRefusal {
  /** The modern versions that it says it speaks, if it does. */
  readonly supported: readonly string[]
}

/**
 * Reads a failed `server/discover`. Undefined if it says nothing about the versions: the server cannot be reached, wants a
 * sign-in, or is broken.
 *
 * @param isHttp Over HTTP, a server that is silent is down. Over stdio, some older servers ignore what they do not know.
 */
function readRefusal(error: unknown, isHttp: boolean): DiscoveryRefusal | undefined {
  const { code, data, status, body } = Object(error) as Failure
  if (typeof status === 'number') return readStatus(status, body)
  if (code === 'REQUEST_TIMEOUT' && !isHttp) return NOTHING
  // The reason of a signal may have a number, too.
  if (!(error instanceof ProtocolError) || typeof code !== 'number') return undefined
  return readError(code, data)
}

interface Failure {
  readonly code?: unknown
  readonly data?: unknown
  /** Of an answer over HTTP that is no message. */
  readonly status?: unknown
  readonly body?: unknown
}

const NOTHING: DiscoveryRefusal = { supported: [] }

/** A client error is what older servers answer. A server error, or a sign-in, has nothing to do with versions. */
function readStatus(status: number, body: unknown): DiscoveryRefusal | undefined {
  if (status === 401 || status === 403 || status < 400 || status >= 500) return undefined
  const { code, data } = asObject(parseObject(body)['error'])
  return readError(code, data)
}

function readError(code: unknown, data: unknown): DiscoveryRefusal {
  const { supported } = asObject(data)
  if (code !== UNSUPPORTED_VERSION || !Array.isArray(supported)) return NOTHING
  return { supported: supported.filter(isModernVersion) }
}

function parseObject(text: unknown): JsonObject {
  try {
    return asObject(JSON.parse(String(text)))
  } catch {
    return {}
  }
}
