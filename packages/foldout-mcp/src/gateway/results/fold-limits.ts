import type { ServerConfig } from '../config/config.ts'
import { FOLD_TOKENS } from './limits.ts'
import type { ResultLimits } from './results.ts'

/** The limits of a gateway as its configuration sets them at any time, for all servers and for each of them. */
export function createFoldLimits(
  getDefault: () => number | undefined,
  servers: ReadonlyMap<string, { readonly config: Pick<ServerConfig, 'foldResults'> }>,
): ResultLimits {
  const getLimit = (server?: string): number =>
    servers.get(server ?? '')?.config.foldResults ?? getDefault() ?? FOLD_TOKENS
  return { getLimit, getLeast: () => Math.min(getLimit(), ...Array.from(servers.keys(), getLimit)) }
}
