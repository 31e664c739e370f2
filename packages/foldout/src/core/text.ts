import { deferPattern } from './defer-pattern.ts'
import { getEditDistance } from 'foldout-shared/edit-distance'

/** The form of a section's key and of each part of a namespace. */
export const KEY_PATTERN = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** The number of leading characters that are compared. Names are no longer than this. */
const MAX_COMPARED = 200

/** The share of letters that may differ between near words. Suggestions beyond that would be misleading. */
const SHARE_OF_CHANGES = 0.4

/** The shortest word that counts as a part of another; shorter ones occur in too many words. */
const MIN_PART = 3

/**
 * Finds the known words that an unknown word may have meant, nearest first; ties keep the given order. A word is near
 * if few letters differ, or if one of the two contains all words of the other. The result may be empty.
 */
export function nearest(word: string, known: Iterable<string>, limit = 3): string[] {
  const lower = word.slice(0, MAX_COMPARED).toLowerCase()
  const words = splitWords(lower)
  const best: { readonly candidate: string; readonly away: number }[] = []
  for (const candidate of known) {
    const worst = best.length < limit ? Infinity : (best.at(-1)?.away ?? 0)
    const away = getAway(lower, words, candidate.slice(0, MAX_COMPARED).toLowerCase())
    if (away >= worst) continue
    if (best.length === limit) best.pop()
    const at = best.findIndex((other) => other.away > away)
    best.splice(at === -1 ? best.length : at, 0, { candidate, away })
  }
  return best.map(({ candidate }) => candidate)
}

/** Returns the distance to a known word, or `Infinity` if it is not near. */
function getAway(lower: string, words: readonly string[], candidate: string): number {
  const most = Math.floor(Math.max(lower.length, candidate.length) * SHARE_OF_CHANGES)
  const away = getEditDistance(lower, candidate, most)
  if (away <= most) return away
  const isPart = hasAll(candidate, words) || hasAll(lower, splitWords(candidate))
  // Ranked after all words with a similar spelling.
  if (isPart) return MAX_COMPARED + Math.abs(lower.length - candidate.length)
  return Infinity
}

function hasAll(text: string, words: readonly string[]): boolean {
  return words.length > 0 && words.every((word) => text.includes(word))
}

const getGaps = deferPattern(String.raw`[^\p{L}\p{N}]+`, 'u')

function splitWords(text: string): readonly string[] {
  return text.split(getGaps()).filter((word) => word.length >= MIN_PART)
}

/** Joins words into a phrase: `a`, `a and b`, `a, b and c`. */
export function joinWords(words: readonly string[]): string {
  const last = words.at(-1)
  if (last === undefined || words.length === 1) return last ?? ''
  return `${words.slice(0, -1).join(', ')} and ${last}`
}

/** Lists the first words and counts the rest: `a, b and 3 more`. */
export function nameSome(words: readonly string[], most: number): string {
  const more = words.length - most
  if (more > 0) return `${words.slice(0, most).join(', ')} and ${more} more`
  return words.join(', ')
}

/** Cuts a text, but never inside a surrogate pair: some providers reject half a pair. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  const last = text.charCodeAt(most - 1)
  const isHalf = last >= 0xd800 && last <= 0xdbff
  return text.slice(0, isHalf ? most - 1 : most)
}

/** Cuts a text and says how much was cut. */
export function cutWithCount(text: string, most: number): string {
  if (text.length <= most) return text
  const shown = cutText(text, most)
  return `${shown}… (${text.length - shown.length} more characters)`
}

/** Formats a count: `3 items`, `1 item`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Shortens foreign text for a message, so it does not crowd out the rest. */
export function shorten(text: string, most = 80): string {
  if (text.length > most) return `${cutText(text, most)}…`
  return text
}

/** Lists the ancestors of a path, outermost first: `a.b.c` → `a`, `a.b`. */
export function getAncestors(path: string): string[] {
  const ancestors: string[] = []
  for (let at = path.indexOf('.'); at !== -1; at = path.indexOf('.', at + 1)) ancestors.push(path.slice(0, at))
  return ancestors
}

/** Decodes a file as text; undefined if it is not text. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (!text.includes('\0')) return text
    return undefined
  } catch {
    return undefined
  }
}

/** Engines copy shorter pieces anyway. */
const SHARED_LENGTH = 13

/** Copies a text, because engines keep a long text in memory as long as a piece cut out of it is used. */
export function toOwnText(text: string): string {
  if (text.length < SHARED_LENGTH) return text
  return ` ${text}`.slice(1)
}
