import { MAX_BUCKETS } from '../limits.ts'

/** A bucket of tokens: each call takes one, and it fills up again steadily. */
export interface Bucket {
  /** Tells buckets apart. */
  readonly key: string
  readonly capacity: number
  /** How long an empty bucket takes to be full. */
  readonly refillMs: number
}

export interface Grant {
  readonly granted: number
  /** How long it takes until there is another token. */
  readonly waitMs: number
}

/** The buckets, shared by all gateways of a store. */
export interface QuotaStore {
  /** How many tokens may be taken ahead of the calls that need them, of a bucket with this capacity. */
  getAhead(capacity: number): number
  /**
   * Takes as many tokens as there are, up to a number.
   *
   * @throws Error if that cannot be found out now.
   */
  take(bucket: Bucket, wanted: number): Promise<Grant>
  /** Puts tokens back that were not used. */
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
      // Those that were used last stay.
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
