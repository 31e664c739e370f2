import type { MetaScope, MetaTool } from './meta-tool.ts'
import { runTool, getTarget } from './run-tool.ts'

export const USE_TOOL = 'use_tool'
export const SEARCH_FIRST = 'Use search_tools to discover available tools.'

/** Runs any tool of the catalog by its name. */
export function createUseTool(scope: MetaScope): MetaTool {
  return {
    listing: {
      name: USE_TOOL,
      description: 'Run a tool found with search_tools.',
      inputSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', description: "The tool's name" },
          arguments: { type: 'object', description: 'Its arguments, as in its signature' },
        },
        required: ['name'],
      },
      // It may be any tool; a client that asks before a call sees the inner one.
      annotations: { title: 'Use a tool', readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    },
    call: (args, context) =>
      runTool(scope, { name: args['name'], args: args['arguments'], through: USE_TOOL, hint: SEARCH_FIRST }, context),
    target: (args) => getTarget(scope, args['name'], args['arguments']),
  }
}
