import { USUAL_CACHE, type PromptCache } from '../../core/price/prompt-cache.ts'

/** Models whose names match a pattern, and what is known about their cache. */
interface KnownCache {
  readonly models: RegExp
  readonly cache: PromptCache
}

const CHECKED = '2026-11-18'
const CLAUDE: PromptCache = { ...USUAL_CACHE, checked: CHECKED }
const OPENAI: PromptCache = { minimum: 1024, read: 0.1, write: 1, ttlMs: 300_000, step: 128, checked: CHECKED }

/** The first match counts. */
const KNOWN: readonly KnownCache[] = [
  { models: /claude-fable-5[-.]1/, cache: { ...CLAUDE, read: 0.025 } },
  { models: /claude-(opus|sonnet)-5[-.]5/, cache: { ...CLAUDE, read: 0.05 } },
  { models: /claude-(opus-4[-.][5-7]|haiku-4[-.]5)/, cache: { ...CLAUDE, minimum: 4096 } },
  { models: /claude-.*haiku/, cache: { ...CLAUDE, minimum: 2048 } },
  { models: /claude/, cache: CLAUDE },
  { models: /\bgpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/, cache: { ...OPENAI, write: 1.25 } },
  { models: /\b(gpt-4\.1|o3|o4)/, cache: { ...OPENAI, read: 0.25, checked: '2025-06-10' } },
  { models: /\b(gpt-4o|o1)/, cache: { ...OPENAI, read: 0.5, checked: '2024-12-17' } },
  { models: /\b(gpt-5|codex)/, cache: OPENAI },
  { models: /\bdeepseek/, cache: { minimum: 64, read: 0.02, write: 1, ttlMs: 3_600_000, step: 64, checked: CHECKED } },
]

const MAX_MODEL_NAME = 500

/**
 * Returns what is known about the cache of a model, by its name, or `undefined`. Adapters know it as `promptCache`, and
 * each accepts your own numbers.
 *
 * @example
 * ```ts
 * findPromptCache('claude-sonnet-5-5')?.read // => 0.05
 * findPromptCache('qwen3') // => undefined
 * ```
 */
export function findPromptCache(model: string): PromptCache | undefined {
  const name = model.slice(0, MAX_MODEL_NAME).toLowerCase()
  return KNOWN.find(({ models }) => models.test(name))?.cache
}

/** Returns the cache of a model with the caller's own numbers, or `undefined` if neither says anything. */
export function getPromptCache(model: string, own: Partial<PromptCache> | undefined): PromptCache | undefined {
  const known = findPromptCache(model)
  if (own === undefined) return known
  return Object.freeze({ ...(known ?? USUAL_CACHE), ...own })
}
