import { getEditDistance } from './edit-distance.ts'

/** What a key of a section or a segment of a namespace looks like. */
export const KEY_PATTERN = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** A word is compared by its beginning: what is longer than any name is not worth the time. */
const MAX_COMPARED = 200

/** How many of a word's letters may be wrong for another word to be near: beyond that a name would only mislead. */
const SHARE_OF_CHANGES = 0.4

/** Shorter words are part of too many others. */
const MIN_PART = 3

/**
 * The known words that somebody may have meant by one that is not known, nearest first; ties in the order given. Near is a word
 * with few letters to change, and one that has all words of the other. There may be none.
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

/** How far a known word is away, or `Infinity` if it is not near. */
function getAway(lower: string, words: readonly string[], candidate: string): number {
  const most = Math.floor(Math.max(lower.length, candidate.length) * SHARE_OF_CHANGES)
  const away = getEditDistance(lower, candidate, most)
  if (away <= most) return away
  const isPart = hasAll(candidate, words) || hasAll(lower, splitWords(candidate))
  // Behind all that are spelled alike.
  return isPart ? MAX_COMPARED + Math.abs(lower.length - candidate.length) : Infinity
}

function hasAll(text: string, words: readonly string[]): boolean {
  return words.length > 0 && words.every((word) => text.includes(word))
}

function splitWords(text: string): readonly string[] {
  return text.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length >= MIN_PART)
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)!}`
}

/** Some words, and how many more there are: `a, b and 3 more`. */
export function namedSome(words: readonly string[], most: number): string {
  const more = words.length - most
  return more > 0 ? `${words.slice(0, most).join(', ')} and ${more} more` : words.join(', ')
}

/** A text that somebody gave, for a message in which it must not take all the room. */
export function shortened(text: string, most = 80): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}

/** The paths a path lies in, outermost first: `a.b.c` → `a`, `a.b`. */
export function getAncestors(path: string): string[] {
  const ancestors: string[] = []
  for (let at = path.indexOf('.'); at !== -1; at = path.indexOf('.', at + 1)) ancestors.push(path.slice(0, at))
  return ancestors
}
