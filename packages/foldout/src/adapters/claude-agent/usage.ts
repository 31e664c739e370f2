import { NO_USAGE, addUsage, type Usage } from '../contract.ts'
import type { SdkModelUsage, SdkUsage } from './sdk.ts'

/** Anthropic counts cached input separately; here, all of it counts as input. */
export function readUsage(usage: SdkUsage): Usage {
  return toUsage({
    inputTokens: usage.input_tokens ?? 0,
    outputTokens: usage.output_tokens ?? 0,
    cacheReadInputTokens: usage.cache_read_input_tokens ?? 0,
    cacheCreationInputTokens: usage.cache_creation_input_tokens ?? 0,
  })
}

/** Merges two reports about the same reply; the later one replaces the counts that it includes. */
export function mergeUsage(earlier: SdkUsage, later: SdkUsage): SdkUsage {
  return { ...earlier, ...Object.fromEntries(Object.entries(later).filter(([, count]) => typeof count === 'number')) }
}

/** Returns the usage of a whole query across all its models, including requests outside the conversation. */
export function readModelUsage(models: Readonly<Record<string, SdkModelUsage>> | undefined): Usage {
  return Object.values(models ?? {})
    .map(toUsage)
    .reduce(addUsage, NO_USAGE)
}

function toUsage(usage: SdkModelUsage): Usage {
  const { inputTokens = 0, outputTokens = 0, cacheReadInputTokens = 0, cacheCreationInputTokens = 0 } = usage
  return {
    inputTokens: inputTokens + cacheReadInputTokens + cacheCreationInputTokens,
    outputTokens,
    cachedInputTokens: cacheReadInputTokens,
    cacheWriteTokens: cacheCreationInputTokens,
  }
}
