import type { Anthropic } from '@anthropic-ai/sdk'
import { isPlainObject } from '../../core/json/json.ts'
import { importPeer } from '../../core/peer.ts'
import type { OutputSpec } from '../../prompt/output.ts'
import type { ChatRequest } from '../chat.ts'
import { getAddedTools } from '../tool-calls.ts'
import type { AnthropicOptions } from './anthropic.ts'

/**
 * How the tools that a conversation adds are sent: `inline` defines them where they were added; `reference` names them
 * there, and defines them in the tool list without loading them; `plain` appends them to the tool list.
 */
export type Additions = 'inline' | 'reference' | 'plain'

/** The betas that the ways to add tools need. */
export const BETAS = {
  inline: 'inline-tools-2026-09-15',
  reference: 'mid-conversation-tool-changes-2026-07-01',
} as const

export type OutputFormat = Anthropic.Beta.Messages.BetaJSONOutputFormat

/** Parts of a request that an endpoint may not support. */
export interface Features {
  readonly additions: Additions
  readonly format: OutputFormat | undefined
  readonly maxTokens: number
}

/** The fields of a request but for its conversation. */
export function getParams(options: AnthropicOptions, request: ChatRequest, features: Features) {
  const { model, parameters = {} } = options
  const { additions, format, maxTokens } = features
  const { betas: ownBetas = [], output_config: ownConfig, ...others } = parameters
  // From the first request on, though it adds nothing yet: all requests of a conversation should look alike to the cache.
  const mayAdd = request.tools.length > 0 || getAddedTools(request).size > 0
  const betas = additions !== 'plain' && mayAdd ? [...new Set([...ownBetas, BETAS[additions]])] : ownBetas
  const outputConfig = format ? { ...ownConfig, format } : ownConfig
  return {
    model,
    max_tokens: maxTokens,
    ...others,
    ...(outputConfig === undefined ? {} : { output_config: outputConfig }),
    ...(betas.length === 0 ? {} : { betas }),
    stream: true as const,
  }
}

/**
 * The output schema in the form that the provider enforces, or undefined if that form cannot express it: a list at the
 * top, objects with free keys, values of any type. Such answers are read from what the model writes.
 */
export async function toOutputFormat(output: OutputSpec<unknown> | undefined): Promise<OutputFormat | undefined> {
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

/** The provider closes every object, so one with free keys could only ever be empty. */
function hasFreeKeys(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasFreeKeys)
  if (!isPlainObject(schema)) return false
  const { additionalProperties: more, patternProperties } = schema
  if (patternProperties !== undefined || more === true || isPlainObject(more)) return true
  return Object.values(schema).some(hasFreeKeys)
}
