import type { Anthropic } from '@anthropic-ai/sdk'
import { isPlainObject } from '../../core/json/json.ts'
import { importPeer } from '../../core/peer.ts'
import type { OutputSpec } from '../../prompt/output.ts'
import type { ChatRequest } from '../chat.ts'
import { getAddedTools } from '../tool-calls.ts'
import type { AnthropicOptions } from './anthropic.ts'

const INLINE_TOOLS_BETA = 'inline-tools-2026-09-15'
const DEFAULT_MAX_TOKENS = 8192

export type OutputFormat = Anthropic.Beta.Messages.BetaJSONOutputFormat

/** Parts of a request that an endpoint may not support. */
export interface Features {
  readonly inlineTools: boolean
  readonly format: OutputFormat | undefined
}

/** The fields of a request but for its conversation. */
export function getParams(options: AnthropicOptions, request: ChatRequest, { inlineTools, format }: Features) {
  const { model, maxTokens = DEFAULT_MAX_TOKENS, parameters = {} } = options
  const { betas: ownBetas = [], output_config: ownConfig, ...others } = parameters
  // From the first request on, though it adds nothing yet: all requests of a conversation should look alike to the cache.
  const needsBeta = inlineTools && (request.tools.length > 0 || getAddedTools(request).size > 0)
  const betas = needsBeta ? [...new Set([...ownBetas, INLINE_TOOLS_BETA])] : ownBetas
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
