import { createHash, randomUUID } from 'node:crypto'
import type { CallContext } from 'foldout/catalog'
import type { ServerConfig } from '../config/config.ts'

/** Headers of a client that are passed on to a server. */
export interface Forwarded {
  /** Equal for clients that send the same values, which it does not reveal. */
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
}

/** The client of a call, with the headers of its request. */
type Caller = { readonly [Key in 'peer' | 'client']?: CallContext[Key] | undefined }

const SALT = randomUUID()

/** The headers that a client sends for a server; undefined if it sends none. */
export function readForwarded(server: ServerConfig, { peer, client }: Caller): Forwarded | undefined {
  if (server.kind === 'stdio' || server.forwardHeaders.length === 0 || !peer?.headers) return undefined
  const { headers } = peer
  const sent = server.forwardHeaders.flatMap((name) => {
    const value = headers.get(name)
    if (value === null) return []
    return [[name, value] as const]
  })
  if (sent.length === 0) return undefined
  const identity = JSON.stringify([SALT, client?.principal ?? null, sent])
  return { key: `user:${createHash('sha256').update(identity).digest('hex')}`, headers: Object.fromEntries(sent) }
}

/** The configured headers, overridden by the client's. */
export function mergeHeaders(
  own: Readonly<Record<string, string>>,
  forwarded: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const kept = Object.entries(own).filter(([name]) => !Object.hasOwn(forwarded, name.toLowerCase()))
  return { ...Object.fromEntries(kept), ...forwarded }
}
