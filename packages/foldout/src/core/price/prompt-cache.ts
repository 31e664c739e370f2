import { checkNumber } from '../check-number.ts'
import type { ErrorCode } from '../errors.ts'

/**
 * How a provider caches the beginning of requests to a model. Prices are multiples of the price of input.
 *
 * @example
 * ```ts
 * const cache: PromptCache = { minimum: 1024, read: 0.1, write: 1.25, ttlMs: 300_000 }
 * const adapter = anthropic({ model: 'claude-sonnet-5-5', promptCache: cache })
 * adapter.promptCache?.write // => 1.25
 * ```
 */
export interface PromptCache {
  /** Requests with fewer tokens are not cached. */
  readonly minimum: number
  /** The price of a token that is read from the cache. */
  readonly read: number
  /** The price of a token that is written to the cache. */
  readonly write: number
  /** How long a beginning stays in the cache after its last use, in milliseconds. */
  readonly ttlMs: number
  /**
   * The number of tokens by which a shared beginning grows. Without it, only whole blocks are shared: the tool list,
   * the system text, each message.
   */
  readonly step?: number
  /** The day on which these facts were last compared with the provider's documentation. */
  readonly checked?: string
}

/** What most providers charge, where a model's own cache is not known. */
export const USUAL_CACHE: PromptCache = Object.freeze({ minimum: 1024, read: 0.1, write: 1.25, ttlMs: 300_000 })

const HOUR_MS = 3_600_000

/** Returns how likely a conversation finds its beginning in the cache, if `perHour` conversations begin alike. */
export function computeWarmth(perHour: number, { ttlMs }: Pick<PromptCache, 'ttlMs'>): number {
  return 1 - Math.exp((-perHour * ttlMs) / HOUR_MS)
}

/** Rejects caches whose numbers would spoil every sum. */
export function checkPromptCache(name: string, cache: Partial<PromptCache> | undefined, code: ErrorCode): void {
  if (cache === undefined) return
  for (const field of ['minimum', 'read', 'write', 'ttlMs'] as const)
    checkNumber(`${name}.${field}`, cache[field], { code })
  checkNumber(`${name}.step`, cache.step, { code, least: 1 })
}
