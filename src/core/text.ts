import { distance } from 'fastest-levenshtein'

/** What a key of a section or a segment of a namespace looks like. */
export const KEY_PATTERN = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** The known words most like one that is not known, nearest first; ties in the order given. */
export function nearest(word: string, known: Iterable<string>, limit = 3): string[] {
  const lower = word.toLowerCase()
  return [...known]
    .map((candidate) => ({ candidate, away: distance(lower, candidate.toLowerCase()) }))
    .sort((a, b) => a.away - b.away)
    .slice(0, limit)
    .map(({ candidate }) => candidate)
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)!}`
}

/** The paths a path lies in, outermost first: `a.b.c` → `a`, `a.b`. */
export function ancestorsOf(path: string): string[] {
  const ancestors: string[] = []
  for (let at = path.indexOf('.'); at !== -1; at = path.indexOf('.', at + 1)) ancestors.push(path.slice(0, at))
  return ancestors
}
