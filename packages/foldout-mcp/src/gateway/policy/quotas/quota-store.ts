import { MAX_BUCKETS } from './limits.ts'

/** A token bucket: each call takes one token, and the bucket refills steadily. */
export interface Bucket {
  /** Identifies the bucket. */
  readonly key: string
  readonly capacity: number
  /** How long an empty bucket takes to refill. */
  readonly refillMs: number
}

export interface Grant {
  readonly granted: number
  /** How long until the next token. */
  readonly waitMs: number
}

/** The buckets, shared by all gateways of a store. */
export interface QuotaStore {
  /** How many tokens may be taken in advance from a bucket with this capacity. */
  getAhead(capacity: number): number
  /**
   * Takes up to this many tokens.
   *
   * @throws Error if the store cannot be reached now.
   */
  take(bucket: Bucket, wanted: number): Promise<Grant>
  /** Puts unused tokens back. */
  giveBack(bucket: Bucket, tokens: number): Promise<void>
}

interface Level {
  readonly tokens: number
  readonly at: number
}

/** Buckets of one process. */
export function createMemoryQuotas(now: () => number = () => performance.now()): QuotaStore {
  const levels = new Map<string, Level>()
  return {
    getAhead: () => 0,
    async take({ key, capacity, refillMs }, wanted) {
      const at = now()
      const { tokens, at: before } = levels.get(key) ?? { tokens: capacity, at }
      const rate = capacity / refillMs
      const available = Math.min(capacity, tokens + (at - before) * rate)
      const granted = Math.min(wanted, Math.floor(available))
      const left = available - granted
      // Keep the most recently used.
      levels.delete(key)
      levels.set(key, { tokens: left, at })
      for (const [oldest] of levels) {
        if (levels.size <= MAX_BUCKETS) break
        levels.delete(oldest)
      }
      return { granted, waitMs: left >= 1 ? 0 : (1 - left) / rate }
    },
    async giveBack({ key, capacity }, tokens) {
      const level = levels.get(key)
      if (level) levels.set(key, { ...level, tokens: Math.min(capacity, level.tokens + tokens) })
    },
  }
}
