import { createErrorResult } from '../../tools/call-result.ts'
import { readText, type GivenArguments, type MetaScope, type MetaTool } from '../meta-tools/meta-tool.ts'
import { DISCOVER_AND_USE, getTarget, readInnerCall, runTool } from '../meta-tools/run-tool.ts'
import { createSearchProperties, runSearch } from '../meta-tools/search-tools.ts'
import { checkCore, getCoreTools, type SearchExposureOptions } from './core.ts'
import { createExposedCatalog } from './exposed-catalog.ts'
import type { Exposure } from '../exposure.ts'

const INSTRUCTIONS = `Most tools are not listed. When no listed tool fits, call ${DISCOVER_AND_USE}: first with action "search" and the function you need in query, in a few English words, one step per search, then with action "execute", the tool_name it found and the tool_args its signature asks for. Search again with other words before you conclude that something cannot be done.`

/**
 * Lists the core tools and `discover_and_use_tool`, a single tool that both searches and runs tools.
 *
 * @example
 * serveMcp(catalog, { name: 'home', version: '1.0.0', expose: metaTool() })
 */
export function metaTool(options: SearchExposureOptions = {}): Exposure {
  return Object.freeze({
    name: 'metaTool',
    check: (catalog) => checkCore(catalog, options),
    expose(catalog, client) {
      const scope = { catalog, client, core: () => getCoreTools(catalog, options) }
      return createExposedCatalog({
        ...scope,
        exposure: 'metaTool',
        instructions: INSTRUCTIONS,
        entries: () => scope.core().entries,
        metaTools: [createDiscoverTool(scope, options)],
        hint: `Search with ${DISCOVER_AND_USE} first.`,
      })
    },
  } satisfies Exposure)
}

function createDiscoverTool(scope: MetaScope, options: SearchExposureOptions): MetaTool {
  return {
    get listing() {
      return {
        name: DISCOVER_AND_USE,
        description: 'Search for tools by what you want to do, then execute one of them.',
        inputSchema: {
          type: 'object',
          properties: {
            action: { type: 'string', enum: ['search', 'execute'] },
            ...createSearchProperties(scope.catalog, options),
            tool_name: { type: 'string', description: 'To execute' },
            tool_args: { type: 'object', description: 'As in its signature' },
          },
        },
        annotations: { title: 'Search and use tools', readOnlyHint: false, destructiveHint: true, openWorldHint: true },
      }
    },
    takesOtherArguments: true,
    async call(args, context) {
      const action = readAction(args)
      if (action === 'search') return runSearch(scope, args, context)
      if (action === undefined) return createErrorResult('\'action\' must be "search" or "execute".')
      const hint = 'Use action "search" to discover available tools.'
      return runTool(scope, { ...readInnerCall(DISCOVER_AND_USE, args), through: DISCOVER_AND_USE, hint }, context)
    },
    target: (args) => {
      if (readAction(args) === 'execute') return getTarget(scope, readInnerCall(DISCOVER_AND_USE, args))
      return undefined
    },
  }
}

/**
 * Determines the model's intended action from `action` or from its other arguments. A tool runs only if it is named.
 */
function readAction(args: GivenArguments): 'search' | 'execute' | undefined {
  const action = readText(args['action'])?.trim().toLowerCase()
  const hasQuery = readText(args['query']) !== undefined
  const hasName = readText(args['tool_name']) !== undefined
  if (action === 'search' || action === 'discover' || action === 'find') return 'search'
  if (action === 'execute' || action === 'use' || action === 'run' || action === 'call') {
    if (!hasName && hasQuery) return 'search'
    return 'execute'
  }
  if (hasName && !hasQuery) return 'execute'
  if (hasQuery) return 'search'
  return undefined
}
