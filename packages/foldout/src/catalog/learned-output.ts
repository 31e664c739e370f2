import { isObject } from 'foldout-shared/values'
import { checkByJsonSchema, type JsonSchema } from '../core/schema/schema.ts'
import type { CallResult, ToolContent } from '../tools/call-result.ts'

/**
 * What the results of a tool have looked like so far. It is no promise of the tool, so MCP clients never get it.
 *
 * @example
 * ```ts
 * const output: LearnedOutput = {
 *   schema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
 *   results: 12,
 *   confidence: 0.875,
 * }
 * const catalog = createCatalog(tools, { outputs: { list_rooms: output } })
 * ```
 */
export interface LearnedOutput {
  /** A schema that all of those results fit. */
  readonly schema: JsonSchema
  /** The number of results that it was learned from. */
  readonly results: number
  /**
   * How likely the next result fits, from 0 to 1. It is estimated from the second half of the results, with a schema of
   * the first half.
   */
  readonly confidence: number
}

interface LearnedTool {
  readonly learnedOutput?: LearnedOutput | undefined
}

/** Gets the value of a result without a declared schema, as programs receive it: `undefined` if it is more than text. */
export function getTextValue({ content, structuredContent }: CallResult): unknown {
  if (!content.every(({ type, text }) => type === 'text' && typeof text === 'string')) return undefined
  if (structuredContent !== undefined) return structuredContent
  return parseJsonOrText(getText(content))
}

export function getText(content: readonly ToolContent[]): string {
  return content.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n')
}

export function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Finds where a result differs from what was learned; `undefined` if it fits, or if nothing was learned. */
export function findUnexpected({ learnedOutput }: LearnedTool, result: CallResult): string | undefined {
  if (!learnedOutput) return undefined
  const { schema } = learnedOutput
  const value = getTextValue(result)
  if (value === undefined) return '$'
  const [issue] = checkByJsonSchema(schema, value)
  if (!issue) return undefined
  let place: unknown = schema
  let path = '$'
  for (const segment of issue.path ?? []) {
    const key = typeof segment === 'object' ? segment.key : segment
    const { properties, items, additionalProperties }: JsonSchema = isObject(place) ? place : {}
    // Other keys are part of what the result says.
    const isKnown = typeof key === 'string' && isObject(properties) && Object.hasOwn(properties, key)
    path += isKnown ? `.${key}` : '[*]'
    place = isKnown ? properties[key] : (items ?? additionalProperties)
  }
  return path
}
