import type { OutputSpec } from '../../prompt/output.ts'
import type { AssistantMessage } from '../contract.ts'
import { toToolParameters } from '../tool-schemas.ts'

/** The tool by which the executable has the model give a structured answer, and which it runs itself. */
const OUTPUT_TOOL = 'StructuredOutput'

/** The option that holds the answer to a schema. The executable makes a tool of it, so the answer must be an object. */
export function getOutputOptions(output: OutputSpec<unknown> | undefined): Record<string, unknown> {
  if (output?.container !== 'object') return {}
  // The executable's validator does not know every dialect that may be named here.
  const { $schema: _, ...schema } = toToolParameters(output.jsonSchema, 'anthropic')
  return { outputFormat: { type: 'json_schema', schema } }
}

/** A reply without its structured answer, which the result of the query has. */
export function withoutOutputCall(message: AssistantMessage): AssistantMessage {
  return { ...message, toolCalls: message.toolCalls.filter(({ name }) => name !== OUTPUT_TOOL) }
}

export function hasOutputCall({ toolCalls }: AssistantMessage): boolean {
  return toolCalls.some(({ name }) => name === OUTPUT_TOOL)
}
