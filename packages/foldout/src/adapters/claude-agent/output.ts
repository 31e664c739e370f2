import type { OutputSpec } from '../../prompt/definition/output.ts'
import { toWellFormed } from '../../core/well-formed.ts'
import type { AssistantMessage } from '../contract.ts'
import { toToolParameters } from '../tool-schemas.ts'

/** The executable's own tool for structured answers. */
const OUTPUT_TOOL = 'StructuredOutput'

/**
 * Returns the options that enforce a schema. The executable turns the schema into a tool, so the answer must be an
 * object.
 */
export function getOutputOptions(output: OutputSpec<unknown> | undefined): Record<string, unknown> {
  if (output?.container !== 'object') return {}
  // The executable's validator does not know every dialect that `$schema` may name.
  const { $schema: _, ...schema } = toWellFormed(toToolParameters(output.jsonSchema, 'anthropic'))
  return { outputFormat: { type: 'json_schema', schema } }
}

export function isOutputTool(name: string): boolean {
  return name === OUTPUT_TOOL
}

/** Returns a reply without its structured answer, which is part of the query's result. */
export function withoutOutputCall(message: AssistantMessage): AssistantMessage {
  return { ...message, toolCalls: message.toolCalls.filter(({ name }) => !isOutputTool(name)) }
}

export function hasOutputCall({ toolCalls }: AssistantMessage): boolean {
  return toolCalls.some(({ name }) => isOutputTool(name))
}
