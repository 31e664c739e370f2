import { createSearchTool } from '../meta-tools/search-tools.ts'
import { createUseTool, SEARCH_FIRST } from '../meta-tools/use-tool.ts'
import { checkCore, getCoreTools, type SearchExposureOptions } from './core.ts'
import { createExposedCatalog } from './exposed-catalog.ts'
import type { Exposure } from '../exposure.ts'

export const SEARCH_THEN_USE =
  'Most tools are not listed. When no listed tool fits: 1. call search_tools with the function you need, in a few English words, one step per search; 2. call use_tool with the name of a tool it found and the arguments its signature asks for. Search again with other words before you conclude that something cannot be done.'

export const CALL_WITH_USE_TOOL = 'Call what it finds with use_tool.'

/**
 * Lists the core tools, `search_tools` and `use_tool`.
 *
 * @example
 * serveMcp(catalog, { name: 'home', version: '1.0.0', expose: hybrid({ core: ['list_rooms'] }) })
 */
export function hybrid(options: SearchExposureOptions = {}): Exposure {
  return Object.freeze({
    name: 'hybrid',
    check: (catalog) => checkCore(catalog, options),
    expose(catalog, client) {
      const scope = { catalog, client, core: () => getCoreTools(catalog, options) }
      return createExposedCatalog({
        ...scope,
        exposure: 'hybrid',
        instructions: SEARCH_THEN_USE,
        entries: () => scope.core().entries,
        metaTools: [createSearchTool(scope, { ...options, callWith: CALL_WITH_USE_TOOL }), createUseTool(scope)],
        hint: SEARCH_FIRST,
      })
    },
  } satisfies Exposure)
}
