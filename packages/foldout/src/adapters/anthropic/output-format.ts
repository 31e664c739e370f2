import type { Anthropic } from '@anthropic-ai/sdk'
import { isPlainObject } from '../../core/json/json.ts'
import { importPeer } from '../../core/peer.ts'
import type { OutputSpec } from '../../prompt/output.ts'

export type OutputFormat = Anthropic.Beta.Messages.BetaJSONOutputFormat

/**
 * The output as the provider can hold a model to it, or undefined where its form of schema cannot say it: a list at the
 * top, objects with free keys, values of any type. Such answers are read from what the model writes all the same.
 */
export async function outputFormat(output: OutputSpec<unknown> | undefined): Promise<OutputFormat | undefined> {
  if (output?.container !== 'object' || hasFreeKeys(output.jsonSchema)) return undefined
  const { jsonSchemaOutputFormat } = await importPeer(
    '@anthropic-ai/sdk',
    () => import('@anthropic-ai/sdk/helpers/json-schema'),
  )
  const { $schema: _, ...schema } = output.jsonSchema
  try {
    const format = jsonSchemaOutputFormat(schema as { type: 'object' })
    return { type: 'json_schema', schema: format.schema }
  } catch {
    return undefined
  }
}

/** The provider closes every object, so that one with free keys could only ever be empty. */
function hasFreeKeys(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasFreeKeys)
  if (!isPlainObject(schema)) return false
  const { additionalProperties: more, patternProperties } = schema
  if (patternProperties !== undefined || more === true || isPlainObject(more)) return true
  return Object.values(schema).some(hasFreeKeys)
}
