import { NO_USAGE, addUsage, type Usage } from '../contract.ts'
import type { SdkModelUsage, SdkUsage } from './sdk.ts'

/** Anthropic counts cached input apart from the rest; here all of it is input. */
export function readUsage(usage: SdkUsage): Usage {
  return total({
    inputTokens: usage.input_tokens ?? 0,
    outputTokens: usage.output_tokens ?? 0,
    cacheReadInputTokens: usage.cache_read_input_tokens ?? 0,
    cacheCreationInputTokens: usage.cache_creation_input_tokens ?? 0,
  })
}

/** A later report of the same reply replaces what it names and leaves the rest. */
export function mergeUsage(earlier: SdkUsage, later: SdkUsage): SdkUsage {
  return { ...earlier, ...Object.fromEntries(Object.entries(later).filter(([, count]) => typeof count === 'number')) }
}

/** What a whole query used, of all its models; it includes requests that are not part of the conversation. */
export function readModelUsage(models: Readonly<Record<string, SdkModelUsage>> | undefined): Usage {
  return Object.values(models ?? {})
    .map(total)
    .reduce(addUsage, NO_USAGE)
}

function total(usage: SdkModelUsage): Usage {
  const { inputTokens = 0, outputTokens = 0, cacheReadInputTokens = 0, cacheCreationInputTokens = 0 } = usage
  return {
    inputTokens: inputTokens + cacheReadInputTokens + cacheCreationInputTokens,
    outputTokens,
    cachedInputTokens: cacheReadInputTokens,
    cacheWriteTokens: cacheCreationInputTokens,
  }
}
