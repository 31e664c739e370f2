import { CLIENT_CAPABILITIES, CLIENT_INFO, PROTOCOL_VERSION } from '../keys.ts'
import { asObject, type JsonObject } from './messages.ts'

/**
 * How two programs speak MCP. `legacy`: a connection begins with `initialize`, and servers ask clients with requests.
 * `modern`, from 2026-07-28 on: each request says in `_meta` who sends it, and servers ask with their results.
 */
export type Era = 'legacy' | 'modern'

/** The newest comes first. */
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']
/** The newest comes first. */
export const MODERN_VERSIONS: readonly string[] = ['2026-07-28']

const FIRST_MODERN = '2026-07-28'

/** Versions are dates. */
export function isModernVersion(version: unknown): version is string {
  return typeof version === 'string' && /^\d{4}-\d\d-\d\d$/.test(version) && version >= FIRST_MODERN
}

/** The error for a version of the protocol that the other side does not speak. */
export const UNSUPPORTED_VERSION = -32_022

/** Who sends a modern request. */
export interface Sender {
  readonly version: string
  readonly info: JsonObject
  readonly capabilities: JsonObject
}

/** The parameters of a modern request. What `_meta` says already is kept. */
export function addSender(params: JsonObject, { version, info, capabilities }: Sender): JsonObject {
  const { _meta: meta } = params
  const sender = { [PROTOCOL_VERSION]: version, [CLIENT_INFO]: info, [CLIENT_CAPABILITIES]: capabilities }
  return { ...params, _meta: { ...sender, ...asObject(meta) } }
}

/** The version of the protocol that a message uses according to its `_meta`; undefined for legacy messages. */
export function readVersion({ _meta: meta }: JsonObject): string | undefined {
  const version = asObject(meta)[PROTOCOL_VERSION]
  if (typeof version === 'string') return version
  return undefined
}
