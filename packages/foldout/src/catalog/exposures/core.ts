import { FoldoutError } from '../../core/errors.ts'
import { shorten } from '../../core/text.ts'
import type { Catalog } from '../contract.ts'
import type { SearchDetailOptions } from '../meta-tools/search-tools.ts'
import type { CatalogEntry } from '../tool.ts'
import { createExposureMemory, type ExposureClient } from '../exposure.ts'
import { isUnknown } from '../unknown-tool.ts'
import type { CoreTools } from '../meta-tools/meta-tool.ts'

/**
 * Options that choose which tools an exposure lists from the start.
 *
 * @example
 * ```ts
 * const options: CoreOptions = { core: ['send_mail'] }
 * const listed = twoPhase(options).expose(catalog, { id: 'chat-1', takesListChanges: true }).list()
 * listed[0]?.name // => 'send_mail'
 * ```
 */
export interface CoreOptions {
  /** The tools that are listed from the start, by name. Default: those whose metadata says `core`. */
  readonly core?: readonly string[]
}

/**
 * Options of exposures with a search: which tools are listed from the start, and which arguments a search accepts.
 *
 * @example
 * ```ts
 * const options: SearchExposureOptions = { core: ['send_mail'] }
 * serveMcp(catalog, { name: 'home', version: '1.0.0', expose: hybrid(options) })
 * ```
 */
export interface SearchExposureOptions extends CoreOptions, SearchDetailOptions {}

/** Cached for each state of a catalog and each option, because every list and every search of every client needs them. */
const known = new WeakMap<readonly CatalogEntry[], WeakMap<object, CoreTools>>()
const BY_METADATA = {}

/** Gets the core tools. A tool that was removed since, perhaps with its server, is left out. */
export function getCoreTools(catalog: Catalog, { core }: CoreOptions): CoreTools {
  const { tools } = catalog
  let byOption = known.get(tools)
  if (!byOption) known.set(tools, (byOption = new WeakMap()))
  const key = core ?? BY_METADATA
  let found = byOption.get(key)
  if (!found) byOption.set(key, (found = findCoreTools(catalog, core)))
  return found
}

function findCoreTools(catalog: Catalog, core: readonly string[] | undefined): CoreTools {
  const entries =
    core === undefined ? catalog.tools.filter((tool) => tool.core) : sortByName(findEntries(catalog, core))
  const members = new Set(entries)
  return { entries: Object.freeze(entries), has: (entry) => members.has(entry) }
}

function sortByName(entries: readonly CatalogEntry[]): CatalogEntry[] {
  return [...new Set(entries)].sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** Finds tools by their names, and skips unknown ones. */
function findEntries(catalog: Catalog, names: Iterable<string>): readonly CatalogEntry[] {
  return Array.from(names, (name) => catalog.resolve(name)).filter((found): found is CatalogEntry => !isUnknown(found))
}

/** Throws if a core tool does not exist. */
export function checkCore(catalog: Catalog, { core = [] }: CoreOptions): void {
  for (const name of core) {
    const found = catalog.resolve(name)
    if (!isUnknown(found)) continue
    const { near, isAmbiguous } = found
    const hint = near.length > 0 ? ` ${isAmbiguous ? 'It could be' : 'Nearest'}: ${near.join(', ')}.` : ''
    throw new FoldoutError('core-tool-unknown', `There is no tool '${shorten(name)}' to list as a core tool.${hint}`)
  }
}

/** The tools that are added to one client's list while it is connected, in the order of their addition. */
export interface JoinedTools {
  entries(): readonly CatalogEntry[]
  /** Adds a tool. Returns false if it is already listed. */
  add(entry: CatalogEntry): boolean
}

export function createJoinedTools(
  { catalog, client }: { readonly catalog: Catalog; readonly client: ExposureClient },
  options: CoreOptions,
): JoinedTools {
  const memory = client.memory ?? createExposureMemory(client.joined)
  return {
    entries() {
      const core = getCoreTools(catalog, options)
      return findEntries(catalog, memory.joined).filter((entry) => !core.has(entry))
    },
    add(entry) {
      if (memory.joined.includes(entry.qualified) || getCoreTools(catalog, options).has(entry)) return false
      memory.join(entry.qualified)
      return true
    },
  }
}
