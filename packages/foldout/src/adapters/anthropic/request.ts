import type { Anthropic } from '@anthropic-ai/sdk'
import { isObject } from 'foldout-shared/values'
import { importPeer } from '../../core/peer.ts'
import type { OutputSpec } from '../../prompt/definition/output.ts'
import type { ChatRequest } from '../contract.ts'
import { getAddedTools } from '../tool-calls.ts'
import type { AnthropicOptions } from './options.ts'

/**
 * How tools that are added during a conversation are sent: `inline` defines them where they were added; `reference`
 * names them there, and defines them in the tool list without loading them; `result` names them in the results that add
 * them, for models that refuse system messages; `plain` appends them to the tool list.
 */
export type Additions = 'inline' | 'reference' | 'result' | 'plain'

/** The betas that are required to add tools. */
export const BETAS = {
  inline: 'inline-tools-2026-09-15',
  reference: 'mid-conversation-tool-changes-2026-07-01',
  /** Required to show what the model says between its calls. */
  updates: 'thinking-display-updates-2026-08-18',
  diagnostics: 'cache-diagnosis-2026-04-07',
} as const

export type OutputFormat = Anthropic.Beta.Messages.BetaJSONOutputFormat

/** Parts of a request that an endpoint may not support. */
export interface Features {
  readonly additions: Additions
  readonly format: OutputFormat | undefined
  readonly maxTokens: number
  /** Whether the model shows short updates while it thinks. Otherwise, the newest models say nothing between calls. */
  readonly hasUpdates: boolean
  /** Whether the provider is asked why its cache missed. */
  readonly hasDiagnostics: boolean
  /** Whether the container of the provider's own tools is named. */
  readonly hasContainer: boolean
}

/** Returns the fields of a request except its conversation. */
export function getParams(options: AnthropicOptions, request: ChatRequest, features: Features) {
  const { model, parameters = {} } = options
  const { additions, format, maxTokens, hasUpdates, hasDiagnostics } = features
  const { betas: ownBetas = [], output_config: ownConfig, ...others } = parameters
  // Sent from the first request on, even if it adds nothing yet: to the cache, all requests of a conversation should
  // look alike.
  const mayAdd = request.tools.length > 0 || getAddedTools(request).size > 0
  const isInMessages = additions === 'inline' || additions === 'reference'
  const additionBetas = isInMessages && mayAdd ? [BETAS[additions]] : []
  const otherBetas = [...(hasUpdates ? [BETAS.updates] : []), ...(hasDiagnostics ? [BETAS.diagnostics] : [])]
  const betas = [...new Set([...ownBetas, ...additionBetas, ...otherBetas])]
  const outputConfig = format ? { ...ownConfig, format } : ownConfig
  return {
    model,
    max_tokens: maxTokens,
    ...(hasUpdates && { thinking: { type: 'adaptive', display: 'updates' } as const }),
    ...others,
    ...(outputConfig !== undefined && { output_config: outputConfig }),
    ...(betas.length > 0 && { betas }),
    stream: true as const,
  }
}

/**
 * Returns the output schema in the form that the provider enforces, or undefined if that form cannot express it: a list
 * at the top level, objects with arbitrary keys, values of any type. Such answers are parsed from the model's text.
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

/** The provider closes every object, so an object with arbitrary keys would always be empty. */
function hasFreeKeys(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasFreeKeys)
  if (!isObject(schema)) return false
  const { additionalProperties: more, patternProperties } = schema
  if (patternProperties !== undefined || more === true || isObject(more)) return true
  return Object.values(schema).some(hasFreeKeys)
}
