import { toOwnText } from '../../../core/text.ts'

/** What a cache of words may hold. */
export interface WordCacheLimits {
  readonly entries: number
  /** Characters of all keys and values together. */
  readonly characters: number
  /** A longer key is not kept. */
  readonly keyLength: number
}

/** A cache of results for the most recently used words. */
export interface WordCache<Value> {
  readonly size: number
  get(key: string): Value | undefined
  /** Keeps a value and returns it. */
  set(key: string, value: Value): Value
}

/**
 * A cache with two generations: when the young one is full it becomes the old one, and the old one is dropped. An entry that is
 * used again moves back to the young one. So the least recently used words are dropped first, at the cost of one lookup.
 */
export function createWordCache<Value extends string | readonly string[]>(limits: WordCacheLimits): WordCache<Value> {
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()
  let characters = 0

  const keep = (key: string, value: Value): Value => {
    const cost = key.length + countCharacters(value)
    if (young.size >= limits.entries / 2 || characters + cost > limits.characters / 2) {
      old = young
      young = new Map()
      characters = 0
    }
    characters += cost
    young.set(key, value)
    return value
  }

  return {
    get size() {
      return young.size + old.size
    },
    get(key) {
      const value = young.get(key)
      if (value !== undefined) return value
      const older = old.get(key)
      if (older === undefined) return undefined
      old.delete(key)
      return keep(key, older)
    },
    set: (key, value) => {
      if (key.length > limits.keyLength) return value
      return keep(toOwnText(key), value)
    },
  }
}

/** Each word also costs a reference and a header. */
const WORD_OVERHEAD = 12

function countCharacters(value: string | readonly string[]): number {
  if (typeof value === 'string') return value.length
  return value.reduce((sum, word) => sum + word.length + WORD_OVERHEAD, 0)
}
