import { FoldoutError, getErrorMessage } from '../../../core/errors.ts'
import { sha256Hex } from '../../../core/hash.ts'
import { MAX_VECTOR_CACHE_MS } from '../limits.ts'
import type { VectorCache } from '../encoder.ts'
import { finishWithin } from './encoder-calls.ts'

/** The vectors of tools' texts, in memory and in a cache if there is one. */
export interface KeptVectors {
  get(text: string): Int8Array | undefined
  /** Notes that one more tool has this text. */
  use(text: string): void
  /** Notes that one tool less has it. Its vector is kept until `forgetUnused`, since a tool often comes back at once. */
  release(text: string): void
  /** Loads vectors from the cache. */
  load(texts: ReadonlySet<string>): Promise<void>
  keep(texts: readonly string[], vectors: readonly Int8Array[]): Promise<void>
  forgetUnused(): void
  /** Forgets everything, and does not read the cache again. */
  distrust(): void
}

export interface KeptVectorsOptions {
  readonly model?: string
  readonly cache?: VectorCache | undefined
  readonly onProblem: (error: FoldoutError) => void
}

export function createKeptVectors({ model = '', cache, onProblem }: KeptVectorsOptions): KeptVectors {
  const vectors = new Map<string, Int8Array>()
  const uses = new Map<string, number>()
  /** Texts that the cache was asked for. */
  const asked = new Set<string>()
  let isTrusted = true

  const getKey = (text: string): string => sha256Hex(JSON.stringify([model, text])).slice(0, 32)
  /** A cache that fails is only reported. */
  const tryCache = async (verb: string, work: (cache: VectorCache) => Promise<void>): Promise<void> => {
    if (!cache) return
    try {
      await finishWithin(MAX_VECTOR_CACHE_MS, { keepsAlive: false }, () => work(cache))
    } catch (error) {
      onProblem(
        new FoldoutError(
          'search-cache-failed',
          `Vectors cannot be ${verb} the search's cache: ${getErrorMessage(error)}`,
          { cause: error },
        ),
      )
    }
  }

  return {
    get: (text) => vectors.get(text),
    use: (text) => void uses.set(text, (uses.get(text) ?? 0) + 1),
    release(text) {
      const left = (uses.get(text) ?? 0) - 1
      if (left > 0) uses.set(text, left)
      else uses.delete(text)
    },
    async load(texts) {
      if (!isTrusted) return
      const byKey = new Map<string, string>()
      for (const text of texts) if (!vectors.has(text) && !asked.has(text)) byKey.set(getKey(text), text)
      if (byKey.size === 0) return
      for (const text of byKey.values()) asked.add(text)
      await tryCache('read from', async (cache) => {
        for (const [key, vector] of await cache.read([...byKey.keys()])) {
          const text = byKey.get(key)
          if (text !== undefined && vector instanceof Int8Array && vector.length > 0) vectors.set(text, vector)
        }
      })
    },
    async keep(texts, made) {
      const added = new Map<string, Int8Array>()
      texts.forEach((text, at) => {
        const vector = made[at]
        if (!vector) return
        vectors.set(text, vector)
        added.set(getKey(text), vector)
      })
      await tryCache('written to', (cache) => cache.write(added))
    },
    forgetUnused() {
      for (const text of vectors.keys()) if (!uses.has(text)) vectors.delete(text)
      asked.clear()
    },
    distrust() {
      vectors.clear()
      isTrusted = false
    },
  }
}
