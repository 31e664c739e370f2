import { createCatalog } from 'foldout/catalog'
import { createFileStore } from '../gateway/store/open.ts'
import { applyOverride } from '../gateway/servers/overrides.ts'
import type { Surroundings } from './support/surroundings.ts'
import { openOwnConfig, type ConfigOptions } from './support/trust.ts'

/** What a shell can complete besides commands and options. */
export type NameKind = 'servers' | 'tools'

/** Shells expand what they complete, so a name could contain a command. */
const PLAIN = /^[\w.:@+/-]{1,200}$/

/**
 * The names of the servers of a configuration that the user trusts, or of the tools that they had when they last ran. Nothing is
 * started: this runs at a press of a key.
 */
export async function listKnownNames(
  kind: NameKind,
  options: ConfigOptions,
  surroundings: Surroundings,
): Promise<readonly string[]> {
  const config = await openOwnConfig(options, surroundings)
  const servers = config?.servers ?? []
  if (kind === 'servers') return servers.map(({ name }) => name).filter((name) => PLAIN.test(name))
  const store = createFileStore({
    env: surroundings.env,
    cache: undefined,
    data: undefined,
    onProblem: () => undefined,
  })
  const tools = servers.map(async (server) => {
    const known = await store.catalogs.read(server)
    const shown = (known?.snapshot.tools ?? []).map((tool) => applyOverride(tool, server.overrides.get(tool.name)))
    return shown.filter((tool) => tool !== undefined).map((tool) => ({ ...tool, source: server.name, call: refuse }))
  })
  const catalog = createCatalog((await Promise.all(tools)).flat())
  return catalog.tools.map(({ name }) => name).filter((name) => PLAIN.test(name))
}

function refuse(): never {
  throw new Error('Completions run no tools.')
}
