import { ignore } from '../../core/promises.ts'
import type { CatalogOptions } from '../contract.ts'
import { MAX_REMEMBERED_SEARCHES } from '../limits.ts'
import type { Searchable, SearchIndex, SearchOptions, SearchOutcome } from '../search/contract.ts'
import type { EngineOptions } from '../search/engine/engine.ts'
import { MAX_QUERY_CHARACTERS } from '../search/limits.ts'
import { hurry, pause } from '../search/slices.ts'
import { readQuery, refuseEmptyQuery } from '../search/text/read-query.ts'

/**
 * The part of an index that a catalog uses. The catalog calls `wake` whenever its tools change, possibly before they
 * are added or removed.
 */
export type CatalogIndex<Tool extends Searchable> = Pick<
  SearchIndex<Tool>,
  'add' | 'remove' | 'wake' | 'ready' | 'search' | 'explain'
>

/**
 * Creates an index that caches searches until its tools change. Its code is loaded by the first search, or in a pause
 * after the first tool is added: it is a large part of a catalog's code, and a program that has just started has other
 * things to do.
 */
export function createCatalogIndex<Tool extends Searchable>(
  options: EngineOptions,
  when: NonNullable<CatalogOptions['index']> = 'ahead',
): CatalogIndex<Tool> {
  /** The tools that were added before the code was loaded, by qualified name. */
  const waiting = new Map<string, Tool>()
  const searches = new Map<string, Promise<SearchOutcome<Tool>>>()
  let index: SearchIndex<Tool> | undefined
  let loading: Promise<SearchIndex<Tool>> | undefined
  let isAhead = false

  const create = async (): Promise<SearchIndex<Tool>> => {
    const { createSearchIndex } = await import('../search/engine/search-index.ts')
    // Its code just ran for the first time, which is enough work for one turn.
    await pause()
    index = createSearchIndex<Tool>(options)
    for (const tool of waiting.values()) index.add(tool)
    waiting.clear()
    index.wake()
    return index
  }
  const load = (): Promise<SearchIndex<Tool>> => {
    loading ??= create().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
  const beginAhead = (): void => {
    if (isAhead || when === 'search') return
    isAhead = true
    // If this fails, the next search fails the same way and reports it.
    void ignore(pause().then(load), 'the next search fails the same way and reports it')
  }

  return {
    add(tool) {
      if (index) return index.add(tool)
      waiting.delete(tool.qualified)
      waiting.set(tool.qualified, tool)
    },
    remove: (qualified) => {
      if (index) return index.remove(qualified)
      return waiting.delete(qualified)
    },
    wake() {
      searches.clear()
      if (index) index.wake()
      else beginAhead()
    },
    async search(query, search = {}) {
      refuseEmptyQuery(query)
      const key = getSearchKey(query, search)
      const known = searches.get(key)
      if (known) return known
      const outcome = hurry(load).then((loaded) => loaded.search(query, search))
      const { value: oldest } = searches.keys().next()
      if (oldest !== undefined && searches.size >= MAX_REMEMBERED_SEARCHES) searches.delete(oldest)
      searches.set(key, outcome)
      const forget = (): void => {
        if (searches.get(key) === outcome) searches.delete(key)
      }
      // An encoder that did not take part may do so next time.
      outcome.then(({ withoutEncoder }) => withoutEncoder !== undefined && forget(), forget)
      return outcome
    },
    ready: async () => (await hurry(load)).ready(),
    explain: async (query, qualified) => (await hurry(load)).explain(query, qualified),
  }
}

/** Identifies a search. Only the part of a query that is read counts, so a long query does not make a long key. */
function getSearchKey(query: string, { category, limit }: SearchOptions): string {
  const { text, ignoredCharacters } = readQuery(query)
  return JSON.stringify([text, ignoredCharacters, category?.slice(0, MAX_QUERY_CHARACTERS).toLowerCase(), limit])
}
