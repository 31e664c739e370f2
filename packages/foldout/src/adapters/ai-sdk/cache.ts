import type { LanguageModel, ModelMessage } from 'ai'

/** Marks the end of a part that Anthropic should cache. */
export const CACHE_MARK = { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' as const } } } }

/**
 * How many turns end with a mark. Together with the tools and the system text, that makes four marks, the provider's
 * limit.
 */
const MARKED_TURNS = 2

/** Whether a model caches only marked parts, as Anthropic models do on every platform and behind the gateway. */
export function isCachedByMarks(model: LanguageModel): boolean {
  if (typeof model === 'string') return model.startsWith('anthropic/')
  return /(^|\.)anthropic(\.|$)/.test(model.provider) || model.modelId.startsWith('anthropic/')
}

/** Marks the ends of the last turns before a model reply. Messages that only add tools cannot be marked. */
export function markTurns(messages: readonly ModelMessage[]): ModelMessage[] {
  const said = messages.flatMap(({ role }, index) => (role === 'system' ? [] : [{ role, index }]))
  const ends = said.flatMap(({ role, index }, at) => {
    const next = said[at + 1]?.role
    if (role !== 'assistant' && (next === undefined || next === 'assistant')) return [index]
    return []
  })
  const marked = new Set(ends.slice(-MARKED_TURNS))
  return messages.map((message, index) => (marked.has(index) ? { ...message, ...CACHE_MARK } : message))
}
