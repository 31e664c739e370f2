import type { MetaScope, MetaTool } from './meta-tool.ts'
import { getTarget, readInnerCall, runTool, USE_TOOL } from './run-tool.ts'

export const SEARCH_FIRST = 'Use search_tools to discover available tools.'

/** Creates the tool that runs any tool of the catalog by its name. */
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
      // It may run any tool. A client that asks before a call sees the inner tool.
      annotations: { title: 'Use a tool', readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    },
    takesOtherArguments: true,
    call: (args, context) =>
      runTool(scope, { through: USE_TOOL, hint: SEARCH_FIRST, ...readInnerCall(USE_TOOL, args) }, context),
    target: (args) => getTarget(scope, readInnerCall(USE_TOOL, args)),
  }
}
