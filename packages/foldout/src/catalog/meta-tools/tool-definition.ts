import { canonicalJson } from '../../core/json/json.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { isUnknown } from '../unknown-tool.ts'
import { answerUnknown } from './run-tool.ts'
import { createErrorResult, createTextResult } from '../../tools/call-result.ts'
import { getListing } from '../listing.ts'
import type { CallResult, CatalogEntry } from '../tool.ts'
import { readText, type MetaScope, type MetaTool } from './meta-tool.ts'
import { isMetaToolName } from '../names.ts'
import { SEARCH_FIRST } from './use-tool.ts'

export const GET_TOOL_DEFINITION = 'get_tool_definition'

export interface ToolDefinitionOptions {
  /** Called with each tool whose definition the model received. Returns a sentence that says how to call it. */
  readonly onDefined: (entry: CatalogEntry) => string
}

/** Creates the tool that returns the full definition of another tool. */
export function createDefinitionTool(scope: MetaScope, options: ToolDefinitionOptions): MetaTool {
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
    async call(args, context) {
      const name = readText(args['name'])
      if (name === undefined) return createErrorResult("Say in 'name' which tool you want to see.")
      if (isMetaToolName(name)) return createErrorResult(`'${name}' is in your tool list, with its whole definition.`)
      const found = scope.catalog.resolve(name)
      if (isUnknown(found)) return answerUnknown(scope.catalog, found, { hint: SEARCH_FIRST, signal: context.signal })
      return define(scope, found, { ...options, request: context.request })
    },
  }
}

function define(
  scope: MetaScope,
  entry: CatalogEntry,
  options: ToolDefinitionOptions & { readonly request: number | undefined },
): CallResult {
  const { name, description, inputSchema, outputSchema, annotations } = getListing(entry)
  const text = canonicalJson({ name, description, inputSchema, outputSchema, annotations })
  scope.catalog.report({
    type: 'tool/defined',
    client: scope.client.id,
    name: entry.qualified,
    tokens: estimatedTokens.count(text),
    request: options.request,
  })
  return createTextResult(`${text}\n${options.onDefined(entry)}`)
}
