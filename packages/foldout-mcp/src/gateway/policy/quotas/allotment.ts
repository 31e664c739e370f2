import type { Bucket, QuotaStore } from './quota-store.ts'

interface Waiting {
  resolve(answer: Taken): void
  reject(error: unknown): void
}

export type Taken = 'taken' | { readonly waitMs: number }

/**
 * One process's share of a bucket. Calls that wait at the same time are requested together, and a few tokens are taken in advance,
 * so that most calls cost no round trip. Unused tokens soon go back.
 */
export class Allotment {
  readonly #store: QuotaStore
  readonly #bucket: Bucket
  readonly #waiting: Waiting[] = []
  /** Tokens taken in advance. */
  #ahead = 0
  #isUsed = false
  #isAsking = false
  #emptyUntil = -Infinity

  constructor(store: QuotaStore, bucket: Bucket) {
    this.#store = store
    this.#bucket = bucket
  }

  get isIdle(): boolean {
    return !this.#isAsking && this.#ahead === 0
  }

  /**
   * Takes a token.
   *
   * @throws Error if the store cannot be asked.
   */
  take(): Promise<Taken> {
    this.#isUsed = true
    if (this.#ahead > 0) {
      this.#ahead--
      return Promise.resolve('taken')
    }
    const waitMs = this.#emptyUntil - performance.now()
    // The bucket was empty a moment ago, and cannot have a token before this time.
    if (waitMs > 0) return Promise.resolve({ waitMs })
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      if (!this.#isAsking) void this.#ask()
    })
  }

  /** Returns a token that is not needed after all. */
  putBack(): void {
    this.#ahead++
  }

  /** Gives back the tokens taken in advance, unless calls have come in since the last time. */
  giveBackIdle(): void {
    if (!this.#isUsed) void this.giveBackAll()
    this.#isUsed = false
  }

  async giveBackAll(): Promise<void> {
    const tokens = this.#ahead
    this.#ahead = 0
    if (tokens > 0) await this.#store.giveBack(this.#bucket, tokens)
  }

  async #ask(): Promise<void> {
    this.#isAsking = true
    while (this.#waiting.length > 0) {
      const wanted = this.#waiting.length + this.#store.getAhead(this.#bucket.capacity)
      try {
        const { granted, waitMs } = await this.#store.take(this.#bucket, wanted)
        const served = this.#waiting.splice(0, granted)
        for (const { resolve } of served) resolve('taken')
        this.#ahead += granted - served.length
        if (granted >= wanted) continue
        this.#emptyUntil = performance.now() + waitMs
        for (const { resolve } of this.#waiting.splice(0)) resolve({ waitMs })
      } catch (error) {
        for (const { reject } of this.#waiting.splice(0)) reject(error)
      }
    }
    this.#isAsking = false
  }
}
