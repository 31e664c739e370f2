import { createErrorResult } from '../../tools/call-result.ts'
import type { Exposure } from './exposure.ts'
import type { MetaScope, MetaTool } from '../meta-tools/meta-tool.ts'
import { DISCOVER_AND_USE, runTool, getTarget } from '../meta-tools/run-tool.ts'
import { runSearch, searchProperties } from '../meta-tools/search-tools.ts'
import { checkCore, coreEntries, createExposedCatalog, type CoreOptions } from './exposed-catalog.ts'

const INSTRUCTIONS = `Most tools are not listed. When no listed tool fits, call ${DISCOVER_AND_USE}: first with action "search" and what you want to do in query, then with action "execute", the tool_name it found and the tool_args its signature asks for. Search again with other words before you conclude that something cannot be done.`

/** Lists the core tools and `discover_and_use_tool`, one tool that searches and runs. */
export function metaTool(options: CoreOptions = {}): Exposure {
  return Object.freeze({
    name: 'metaTool',
    check: (catalog) => checkCore(catalog, options),
    expose(catalog, client) {
      const scope = { catalog, client, core: () => coreEntries(catalog, options) }
      return createExposedCatalog({
        ...scope,
        exposure: 'metaTool',
        instructions: INSTRUCTIONS,
        entries: scope.core,
        metaTools: [discoverAndUse(scope)],
        hint: `Search with ${DISCOVER_AND_USE} first.`,
      })
    },
  } satisfies Exposure)
}

function discoverAndUse(scope: MetaScope): MetaTool {
  return {
    get listing() {
      return {
        name: DISCOVER_AND_USE,
        description: 'Search for tools by what you want to do, then execute one of them.',
        inputSchema: {
          type: 'object',
          properties: {
            action: { type: 'string', enum: ['search', 'execute'] },
            ...searchProperties(scope.catalog),
            tool_name: { type: 'string', description: 'To execute' },
            tool_args: { type: 'object', description: 'As in its signature' },
          },
          required: ['action'],
        },
        annotations: { title: 'Search and use tools', readOnlyHint: false, destructiveHint: true, openWorldHint: true },
      }
    },
    async call(args, context) {
      const { action, tool_name: name, tool_args: given, ...search } = args
      if (action === 'search') return runSearch(scope, search)
      if (action !== 'execute') return createErrorResult('\'action\' must be "search" or "execute".')
      if (typeof name !== 'string' || name === '') return createErrorResult("Say in 'tool_name' which tool to execute.")
      const hint = 'Use action "search" to discover available tools.'
      return runTool(scope, { name, args: given, through: DISCOVER_AND_USE, hint }, context)
    },
    target: ({ action, tool_name: name, tool_args: given }) =>
      action === 'execute' ? getTarget(scope, name, given) : undefined,
  }
}
