import { canonicalJson } from '../../core/json/json.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { isUnknown, unknownToolMessage } from '../catalog.ts'
import { failure } from '../entry.ts'
import { getListing } from '../listing.ts'
import type { CallResult, CatalogEntry } from '../tool.ts'
import { textResult, type MetaScope, type MetaTool } from './meta-tool.ts'
import { SEARCH_FIRST } from './use-tool.ts'

export const GET_TOOL_DEFINITION = 'get_tool_definition'

export interface ToolDefinitionOptions {
  /** Called with each tool whose definition was given. Says what the model may do now. */
  readonly onDefined: (entry: CatalogEntry) => string
}

/** Gives one tool's whole definition. */
export function getToolDefinition(scope: MetaScope, options: ToolDefinitionOptions): MetaTool {
  return {
    listing: {
      name: GET_TOOL_DEFINITION,
      description: "Get a tool's whole definition before you call it.",
      inputSchema: {
        type: 'object',
        properties: { name: { type: 'string', description: 'As search_tools shows it' } },
        required: ['name'],
      },
      annotations: { title: 'Get a tool definition', readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    async call(args) {
      const { name } = args
      if (typeof name !== 'string' || name === '') return failure("Say in 'name' which tool you want to see.")
      const found = scope.catalog.resolve(name)
      return isUnknown(found) ? failure(unknownToolMessage(found, SEARCH_FIRST)) : define(scope, found, options)
    },
  }
}

function define(scope: MetaScope, entry: CatalogEntry, options: ToolDefinitionOptions): CallResult {
  const { name, description, inputSchema, outputSchema, annotations } = getListing(entry)
  const text = canonicalJson({ name, description, inputSchema, outputSchema, annotations })
  scope.catalog.report({
    type: 'tool/defined',
    client: scope.client.id,
    name: entry.qualified,
    tokens: estimatedTokens.count(text),
  })
  return textResult(`${text}\n${options.onDefined(entry)}`)
}
