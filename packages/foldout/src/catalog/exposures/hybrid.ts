import type { Exposure } from './exposure.ts'
import { createSearchTool } from '../meta-tools/search-tools.ts'
import { SEARCH_FIRST, createUseTool } from '../meta-tools/use-tool.ts'
import { checkCore, coreEntries, createExposedCatalog, type CoreOptions } from './exposed-catalog.ts'

export const SEARCH_THEN_USE =
  'Most tools are not listed. When no listed tool fits: 1. call search_tools with what you want to do, in your own words; 2. call use_tool with the name of a tool it found and the arguments its signature asks for. Search again with other words before you conclude that something cannot be done.'

/** Lists the core tools, `search_tools` and `use_tool`. */
export function hybrid(options: CoreOptions = {}): Exposure {
  return Object.freeze({
    name: 'hybrid',
    check: (catalog) => checkCore(catalog, options),
    expose(catalog, client) {
      const scope = { catalog, client, core: () => coreEntries(catalog, options) }
      return createExposedCatalog({
        ...scope,
        exposure: 'hybrid',
        instructions: SEARCH_THEN_USE,
        entries: scope.core,
        metaTools: [createSearchTool(scope, { callWith: 'Call what it finds with use_tool.' }), createUseTool(scope)],
        hint: SEARCH_FIRST,
      })
    },
  } satisfies Exposure)
}
