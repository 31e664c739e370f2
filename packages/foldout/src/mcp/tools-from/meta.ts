import type { CallPeer } from '../../catalog/tool.ts'
import { CLIENT_CAPABILITIES, LOG_LEVEL, PROTOCOL_PREFIX } from '../keys.ts'
import type { McpSession } from '../client/session.ts'

type JsonObject = Readonly<Record<string, unknown>>

/**
 * Returns the `_meta` of a request that is passed on. The protocol's own keys are only valid for one connection; a
 * modern server receives the capabilities and the log level of the client behind the request.
 */
export function passMeta(
  { era }: McpSession,
  meta: JsonObject,
  peer: CallPeer | undefined,
): { readonly _meta?: JsonObject } {
  const isOurs = (key: string): boolean => key === 'progressToken' || key.startsWith(PROTOCOL_PREFIX)
  const isTold = peer !== undefined && era === 'modern'
  const keys = Object.keys(meta)
  if (!isTold && !keys.some(isOurs)) {
    if (keys.length > 0) return { _meta: meta }
    return {}
  }
  const kept = Object.entries(meta).filter(([key]) => !isOurs(key))
  if (isTold) {
    kept.push([CLIENT_CAPABILITIES, peer.capabilities])
    if (peer.logLevel !== undefined) kept.push([LOG_LEVEL, peer.logLevel])
  }
  if (kept.length > 0) return { _meta: Object.fromEntries(kept) }
  return {}
}
