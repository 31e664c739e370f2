import type { JsonSchema } from '../core/schema/schema.ts'
import type { TokenCounter } from '../core/tokens/tokens.ts'

/**
 * The definition of a tool that a provider receives, with its fields in a fixed order for counting and hashing.
 *
 * @example
 * ```ts
 * const definition: ToolDefinition = { name: 'look', description: 'Looks around.', inputSchema: { type: 'object' } }
 * ```
 */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
}

export function toolDefinition(tool: ToolDefinition): ToolDefinition {
  return { name: tool.name, description: tool.description, inputSchema: tool.inputSchema }
}

/** Counts the tokens that a tool's definition adds to every request that offers it. */
export function toolTokens(tool: ToolDefinition, counter: TokenCounter): number {
  return counter.count(definitionText(tool))
}

const definitionTexts = new WeakMap<object, string>()

function definitionText(tool: ToolDefinition): string {
  let text = definitionTexts.get(tool)
  if (text === undefined) definitionTexts.set(tool, (text = JSON.stringify(toolDefinition(tool))))
  return text
}
