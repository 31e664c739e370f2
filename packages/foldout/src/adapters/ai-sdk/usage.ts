import { isObject } from 'foldout-shared/values'
import { readUsage, type Usage } from '../usage/usage.ts'

/** The parts of a usage that are read. Older versions report the cached input and the reasoning beside the totals. */
interface StepUsage {
  readonly inputTokens?: number | undefined
  readonly inputTokenDetails?: {
    readonly cacheReadTokens?: number | undefined
    readonly cacheWriteTokens?: number | undefined
  }
  readonly outputTokens?: number | undefined
  readonly outputTokenDetails?: { readonly reasoningTokens?: number | undefined }
  readonly cachedInputTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
  /** What the provider reports. */
  readonly raw?: unknown
}

/** Reads the usage of a step, with the details that only the provider's own report has. */
export function readStepUsage(usage: StepUsage, providerMetadata?: unknown): Usage {
  const { inputTokenDetails: input, outputTokenDetails: output } = usage
  return readUsage({
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cachedInputTokens: input?.cacheReadTokens ?? usage.cachedInputTokens,
    cacheWriteTokens: input?.cacheWriteTokens,
    // Bedrock and other providers of Claude report it in the same place.
    cacheWriteTokens1h: find(usage.raw, 'cache_creation', 'ephemeral_1h_input_tokens'),
    reasoningTokens: output?.reasoningTokens ?? usage.reasoningTokens,
    costUsd: readCost(usage.raw, providerMetadata),
  })
}

/** Reads what a step cost in US dollars, if OpenRouter or the AI Gateway say it. */
function readCost(raw: unknown, providerMetadata: unknown): number | undefined {
  const cost =
    find(providerMetadata, 'openrouter', 'usage', 'cost') ??
    find(providerMetadata, 'gateway', 'cost') ??
    find(raw, 'cost')
  // The gateway writes a decimal number as text.
  if (typeof cost === 'string' && cost.trim() !== '') return Number(cost)
  return typeof cost === 'number' ? cost : undefined
}

function find(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value)
}
