import type { Exposure } from '../exposure.ts'
import { createSearchTool } from '../meta-tools/search-tools.ts'
import { createDefinitionTool } from '../meta-tools/tool-definition.ts'
import { SEARCH_FIRST, createUseTool } from '../meta-tools/use-tool.ts'
import type { CatalogEntry } from '../tool.ts'
import { checkCore, getCoreTools, createJoinedTools, type SearchExposureOptions } from './core.ts'
import { createExposedCatalog, type ExposedControl } from './exposed-catalog.ts'

const INSTRUCTIONS =
  'Most tools are not listed. When no listed tool fits: 1. call search_tools with the function you need, in a few English words, one step per search; 2. call get_tool_definition with the name of a tool it found; 3. call that tool itself if it is listed now, or use_tool with its name and arguments.'

/**
 * Lists the core tools, `search_tools`, `get_tool_definition` and `use_tool`. A tool whose definition the model asked for is added
 * to the client's list if the list may change. `use_tool` runs it for clients that do not list again.
 *
 * @example
 * serveMcp(catalog, { name: 'home', version: '1.0.0', expose: twoPhase() })
 */
export function twoPhase(options: SearchExposureOptions = {}): Exposure {
  return Object.freeze({
    name: 'twoPhase',
    check: (catalog) => checkCore(catalog, options),
    expose(catalog, client) {
      const scope = { catalog, client, core: () => getCoreTools(catalog, options) }
      const joined = createJoinedTools(scope, options)
      const onDefined = (entry: CatalogEntry): string => {
        const { name } = entry
        if (!client.takesListChanges) return `Run it with use_tool {"name":"${name}","arguments":{…}}.`
        if (joined.add(entry)) control.announce()
        return `It is in the tool list now. If you do not see it there, run it with use_tool {"name":"${name}","arguments":{…}}.`
      }
      const control: ExposedControl = createExposedCatalog({
        ...scope,
        exposure: 'twoPhase',
        instructions: INSTRUCTIONS,
        entries: () => scope.core().entries,
        metaTools: [
          createSearchTool(scope, { ...options, callWith: 'Then get a definition with get_tool_definition.' }),
          createDefinitionTool(scope, { onDefined }),
          createUseTool(scope),
        ],
        joined,
        hint: SEARCH_FIRST,
      })
      return control
    },
  } satisfies Exposure)
}
