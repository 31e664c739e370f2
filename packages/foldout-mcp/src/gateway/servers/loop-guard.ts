import { identifyServer } from '../upstreams/catalog-cache.ts'
import type { ServerConfig } from '../config/config.ts'

const VARIABLE = 'FOLDOUT_WITHIN'

/** Keeps a gateway from starting itself, which happens when it reads a file that also lists the gateway. */
export interface LoopGuard {
  /** Whether a server is the entry that this gateway was started by, directly or through other gateways. */
  includes(server: ServerConfig): boolean
  /** Tells a server, which may be a gateway, what it was started by. */
  mark(server: ServerConfig): Readonly<Record<string, string>>
}

export function createLoopGuard(env: Readonly<Record<string, string | undefined>>): LoopGuard {
  const within = (env[VARIABLE] ?? '').split(' ').filter((id) => id !== '')
  return {
    includes: (server) => within.length > 0 && within.includes(identifyServer(server)),
    mark: (server) => ({ [VARIABLE]: [...within, identifyServer(server)].join(' ') }),
  }
}
