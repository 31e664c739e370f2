import { getEditDistance } from './edit-distance.ts'

/** What a key of a section or a segment of a namespace looks like. */
export const KEY_PATTERN = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** A word is compared by its beginning: what is longer than any name is not worth the time. */
const MAX_COMPARED = 200

/** The known words most like one that is not known, nearest first; ties in the order given. */
export function nearest(word: string, known: Iterable<string>, limit = 3): string[] {
  const lower = word.slice(0, MAX_COMPARED).toLowerCase()
  const best: { readonly candidate: string; readonly away: number }[] = []
  for (const candidate of known) {
    const worst = best.length < limit ? Infinity : (best.at(-1)?.away ?? 0)
    // No two words are nearer than their lengths: most of a long list is passed over.
    if (Math.abs(Math.min(candidate.length, MAX_COMPARED) - lower.length) >= worst) continue
    const away = getEditDistance(lower, candidate.slice(0, MAX_COMPARED).toLowerCase(), worst)
    if (away >= worst) continue
    if (best.length === limit) best.pop()
    const at = best.findIndex((other) => other.away > away)
    best.splice(at === -1 ? best.length : at, 0, { candidate, away })
  }
  return best.map(({ candidate }) => candidate)
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
