import { isObject } from 'foldout-shared/values'
import { readCount, readUsage, type Usage } from '../usage/usage.ts'

type Fields = Readonly<Record<string, unknown>>

// Compatible servers leave out details, and report their own.

/** Reads the usage of a Chat Completions reply. */
export function readChatUsage(reported: unknown): Usage {
  const usage = toFields(reported)
  const input = toFields(usage['prompt_tokens_details'] ?? usage['prompt_token_details'])
  const inputTokens = readCount(usage['prompt_tokens'])
  // xAI and Gemini do not count reasoning in `completion_tokens`, only in the total.
  const counted = readCount(usage['completion_tokens'])
  const rest = readCount(usage['total_tokens']) - inputTokens
  return readUsage({
    inputTokens,
    outputTokens: Math.max(counted, rest),
    cachedInputTokens: findCount(
      input['cached_tokens'],
      // Kimi, Mistral and DeepSeek.
      usage['cached_tokens'],
      usage['num_cached_tokens'],
      usage['prompt_cache_hit_tokens'],
    ),
    cacheWriteTokens: input['cache_write_tokens'],
    reasoningTokens: toFields(usage['completion_tokens_details'])['reasoning_tokens'],
    costUsd: readCost(usage),
  })
}

/** Finds the usage in a chunk of a Chat Completions stream. Groq reports it in a field of its own. */
export function findChatUsage(chunk: object): Usage | undefined {
  const { usage, x_groq: groq } = chunk as Fields
  const found = usage ?? toFields(groq)['usage']
  if (isObject(found)) return readChatUsage(found)
  return undefined
}

/** Reads the usage of a Responses reply. */
export function readResponseUsage(reported: unknown): Usage {
  const usage = toFields(reported)
  const input = toFields(usage['input_tokens_details'])
  return readUsage({
    inputTokens: usage['input_tokens'],
    outputTokens: usage['output_tokens'],
    cachedInputTokens: input['cached_tokens'],
    cacheWriteTokens: input['cache_write_tokens'],
    reasoningTokens: toFields(usage['output_tokens_details'])['reasoning_tokens'],
    costUsd: readCost(usage),
  })
}

const TICKS_PER_USD = 1e10

/** Reads what the reply cost in US dollars, if the server says it: OpenRouter and xAI do. */
function readCost(usage: Fields): number | undefined {
  const { cost, cost_in_usd_ticks: ticks } = usage
  if (typeof ticks === 'number') return ticks / TICKS_PER_USD
  if (typeof cost !== 'number') return undefined
  // With the user's own key, OpenRouter charges its fee only, and the provider charges the rest.
  const isOwnKey = usage['is_byok'] === true
  if (isOwnKey) return cost + readCount(toFields(usage['cost_details'])['upstream_inference_cost'])
  return cost
}

/** Returns the largest of the counts; a server that reports one of them may report another as 0. */
function findCount(...counts: readonly unknown[]): number {
  return Math.max(...counts.map(readCount))
}

function toFields(value: unknown): Fields {
  if (isObject(value)) return value
  return {}
}
