import { distance } from 'fastest-levenshtein'

const SHORTEST = 4
const LONG = 8

/** Known words, by the letters they begin with, so that a wrong spelling is compared with few of them. */
export interface Spellings {
  add(term: string): void
  remove(term: string): void
  /** The known word that a word most likely stands for: one slip away, two in a long word. */
  nearest(word: string, computeFrequency: (term: string) => number): string | undefined
}

export function createSpellings(): Spellings {
  const byStart = new Map<string, Set<string>>()
  return {
    add(term) {
      if (term.length < SHORTEST - 1) return
      const start = term[0]!
      const known = byStart.get(start)
      if (known) known.add(term)
      else byStart.set(start, new Set([term]))
    },
    remove(term) {
      byStart.get(term[0] ?? '')?.delete(term)
    },
    nearest(word, computeFrequency) {
      if (word.length < SHORTEST || !/^\p{L}+$/u.test(word)) return undefined
      let best: { readonly term: string; readonly away: number; readonly frequency: number } | undefined
      // The second letter too: the first two may be swapped, or the first one too many.
      for (const start of new Set([word[0]!, word[1]!])) {
        for (const term of byStart.get(start) ?? []) {
          const away = slips(word, term)
          if (away === undefined) continue
          const frequency = computeFrequency(term)
          if (!best || isBetter({ term, away, frequency }, best)) best = { term, away, frequency }
        }
      }
      return best?.term
    },
  }
}

interface Candidate {
  readonly term: string
  readonly away: number
  readonly frequency: number
}

function isBetter(a: Candidate, b: Candidate): boolean {
  if (a.away !== b.away) return a.away < b.away
  return a.frequency === b.frequency ? a.term < b.term : a.frequency > b.frequency
}

/** How many slips make one word of another, if they are few enough for its length. Two swapped letters are one slip. */
function slips(word: string, term: string): number | undefined {
  const most = word.length >= LONG ? 2 : 1
  if (Math.abs(word.length - term.length) > most) return undefined
  const away = distance(word, term)
  if (away <= most) return away
  return away === 2 && isSwap(word, term) ? 1 : undefined
}

function isSwap(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let at = 0
  while (a[at] === b[at]) at++
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2)
}
