import type { Searchable } from '../contract.ts'
import { MAX_SHORT_FIELD_CHARACTERS } from '../limits.ts'
import { cutText } from '../../../core/text.ts'
import { STOP_WORDS } from '../text/stop-words.ts'
import { toNameKey } from '../text/tool-text.ts'

/** Letters and digits, in one or in several parts with separators between them. */
const CHAIN = /[\p{L}\p{N}]+(?:[_\-/.:]+[\p{L}\p{N}]+)*/gu
/** What only identifiers contain: an underscore, a slash, a capital after a small letter. */
const JOINT = /[_\-/.:]|\p{Ll}\p{Lu}/u
/** No alternative looks past the next quotation mark of its kind, so many unclosed ones cost no more than one. */
const QUOTED = /`([^`]+)`|"([^"]+)"|“([^“”]+)”|(?<!\p{L})'([^']+)'(?!\p{L})/gu

/** An index of all tool names, without case and separators. */
export interface NameIndex {
  /** Adds a slot under the keys from `getNameKeys`. */
  add(slot: number, keys: Iterable<string>): void
  remove(slot: number): void
  /** Finds the tools that a query names: as a whole, in quotes, or by an identifier inside it. */
  findNamed(query: string): ReadonlySet<number>
}

export function createNameIndex(): NameIndex {
  // Most names belong to one tool, and a set for each would take much memory.
  const slotsByKey = new Map<string, number | Set<number>>()
  const keysBySlot: (readonly string[])[] = []
  return {
    add(slot, keys) {
      const added = [...keys]
      keysBySlot[slot] = added
      for (const key of added) {
        const slots = slotsByKey.get(key)
        if (slots === undefined) slotsByKey.set(key, slot)
        else if (typeof slots === 'number') slotsByKey.set(key, new Set([slots, slot]))
        else slots.add(slot)
      }
    },
    remove(slot) {
      for (const key of keysBySlot[slot] ?? []) {
        const slots = slotsByKey.get(key)
        if (typeof slots === 'object') slots.delete(slot)
        if (slots === slot || (typeof slots === 'object' && slots.size === 0)) slotsByKey.delete(key)
      }
      keysBySlot[slot] = []
    },
    findNamed(query) {
      const named = new Set<number>()
      for (const mention of getMentions(query)) {
        const slots = slotsByKey.get(toNameKey(mention)) ?? []
        for (const slot of typeof slots === 'number' ? [slots] : slots) named.add(slot)
      }
      return named
    },
  }
}

function getMentions(query: string): readonly string[] {
  const mentions = [query]
  for (const [, ...texts] of query.matchAll(QUOTED)) {
    const quoted = texts.find((text) => text !== undefined)
    if (quoted !== undefined) mentions.push(quoted)
  }
  const chains = Array.from(query.matchAll(CHAIN), ([chain]) => chain)
  // A query without a telling word can only mean names.
  const isName = chains.every((chain) => STOP_WORDS.has(chain.toLowerCase()))
  for (const chain of chains) if (isName || JOINT.test(chain)) mentions.push(chain)
  return mentions
}

/** Gets the names of a tool, without case and separators. */
export function getNameKeys({ name, qualified, declared }: Searchable): ReadonlySet<string> {
  // They are usually the same.
  const names = new Set([name, qualified, declared])
  const keys = new Set(Array.from(names, (text) => toNameKey(cutText(text, MAX_SHORT_FIELD_CHARACTERS))))
  keys.delete('')
  return keys
}
