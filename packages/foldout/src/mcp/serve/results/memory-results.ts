import { MAX_KEPT_CHARACTERS, MAX_KEPT_RESULTS, MAX_READ_CHARACTERS, RESULT_KEPT_MS } from '../../limits.ts'
import type { ResultStore } from '../contract/result-store.ts'

interface Entry {
  readonly owner: string
  readonly text: string
  usedAt: number
}

/** Keeps folded results in memory, for as long as they are read. If there are too many, the owner with the most loses the oldest. */
export function createMemoryResults(): ResultStore {
  /** The least recently used comes first. */
  const entries = new Map<string, Entry>()
  let characters = 0
  const drop = (handle: string): void => {
    characters -= entries.get(handle)?.text.length ?? 0
    entries.delete(handle)
  }
  const dropExpired = (): void => {
    const oldest = Date.now() - RESULT_KEPT_MS
    for (const [handle, { usedAt }] of entries) {
      if (usedAt > oldest) return
      drop(handle)
    }
  }
  return {
    async keep(handle, text, owner) {
      if (text.length > MAX_READ_CHARACTERS) throw new Error('it is too large to be read in parts')
      dropExpired()
      while (entries.size >= MAX_KEPT_RESULTS || characters + text.length > MAX_KEPT_CHARACTERS)
        drop(findOldestOfLargest(entries))
      entries.set(handle, { owner, text, usedAt: Date.now() })
      characters += text.length
    },
    async find(handle, owner) {
      dropExpired()
      const entry = entries.get(handle)
      if (entry?.owner !== owner) return undefined
      entries.delete(handle)
      entries.set(handle, { ...entry, usedAt: Date.now() })
      return entry.text
    },
  }
}

/** Finds the oldest result of the owner who has the most, by characters and by number. */
function findOldestOfLargest(entries: ReadonlyMap<string, Entry>): string {
  const oldest = new Map<string, { readonly handle: string; weight: number }>()
  for (const [handle, { owner, text }] of entries) {
    const known = oldest.get(owner) ?? { handle, weight: 0 }
    known.weight += text.length + MAX_KEPT_CHARACTERS / MAX_KEPT_RESULTS
    oldest.set(owner, known)
  }
  return [...oldest.values()].reduce((one, other) => (other.weight > one.weight ? other : one)).handle
}
