import type { Searchable } from '../contract.ts'
import { nameKey } from '../text/tool-text.ts'

/** Words with something inside that only identifiers have: an underscore, a slash, a capital after a small letter. */
const IDENTIFIER = /[\p{L}\p{N}]+(?:(?:[_\-/.:]+|(?<=\p{Ll})(?=\p{Lu}))[\p{L}\p{N}]+)+/gu
const QUOTED = /`([^`]+)`|"([^"]+)"|“([^”]+)”|(?<!\p{L})'([^']+)'(?!\p{L})/gu

/** The names of all tools, whatever their case and separators. */
export interface NameIndex {
  add(slot: number, tool: Searchable): void
  remove(slot: number, tool: Searchable): void
  /** The tools that a query names: as a whole, in quotes, or by an identifier within it. */
  namedIn(query: string): ReadonlySet<number>
}

export function createNameIndex(): NameIndex {
  const slotsByKey = new Map<string, Set<number>>()
  return {
    add(slot, tool) {
      for (const key of getKeys(tool)) {
        const slots = slotsByKey.get(key)
        if (slots) slots.add(slot)
        else slotsByKey.set(key, new Set([slot]))
      }
    },
    remove(slot, tool) {
      for (const key of getKeys(tool)) {
        const slots = slotsByKey.get(key)
        slots?.delete(slot)
        if (slots?.size === 0) slotsByKey.delete(key)
      }
    },
    namedIn(query) {
      const named = new Set<number>()
      for (const mention of mentionsIn(query)) {
        for (const slot of slotsByKey.get(nameKey(mention)) ?? []) named.add(slot)
      }
      return named
    },
  }
}

function mentionsIn(query: string): readonly string[] {
  const quoted = [...query.matchAll(QUOTED)].map((match) => match.slice(1).find((text) => text !== undefined)!)
  return [query, ...quoted, ...(query.match(IDENTIFIER) ?? [])]
}

function getKeys({ name, qualified, declared }: Searchable): ReadonlySet<string> {
  // Mostly they are one and the same.
  const names = new Set([name, qualified, declared])
  const keys = new Set(Array.from(names, nameKey))
  keys.delete('')
  return keys
}
