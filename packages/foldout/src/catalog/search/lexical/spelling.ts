import { getEditDistance } from 'foldout-shared/edit-distance'

const SHORTEST = 4
const LONG = 8
const LONGEST = 64
/** Words that share only a shorter beginning have little to do with each other. */
const SHORTEST_KIN = 5
/** How many letters one of two related words may have more than the other. */
const MOST_MORE = 4
const LETTERS = /^\p{L}+$/u

/** Known words, grouped by first letter and length, so that a misspelled word is compared with only a few of them. */
export interface Spellings {
  add(term: string): void
  remove(term: string): void
  /** Finds the known word that a misspelled word most likely means: one slip away, or two in a long word. */
  nearest(word: string, computeFrequency: (term: string) => number): string | undefined
  /** Finds the known word that begins with a word, or with which it begins: `postgres` and `postgresql`. A list of one or none. */
  kin(word: string, computeFrequency: (term: string) => number): readonly string[]
}

export function createSpellings(): Spellings {
  const byShape = new Map<string, Set<string>>()
  return {
    add(term) {
      if (term.length < SHORTEST - 1) return
      const shape = getShape(term.charAt(0), term.length)
      const known = byShape.get(shape)
      if (known) known.add(term)
      else byShape.set(shape, new Set([term]))
    },
    remove(term) {
      const shape = getShape(term.charAt(0), term.length)
      const known = byShape.get(shape)
      known?.delete(term)
      if (known?.size === 0) byShape.delete(shape)
    },
    nearest(word, computeFrequency) {
      if (word.length < SHORTEST || word.length > LONGEST || !LETTERS.test(word)) return undefined
      const most = getMostSlips(word)
      let best: Candidate | undefined
      // Also the second letter: the first two may be swapped, or the first may be extra.
      for (const start of new Set([word.charAt(0), word.charAt(1)])) {
        for (let length = word.length - most; length <= word.length + most; length++) {
          for (const term of byShape.get(getShape(start, length)) ?? []) {
            const away = countSlips(word, term)
            if (away > most) continue
            const candidate = { term, away, frequency: computeFrequency(term) }
            if (!best || isBetter(candidate, best)) best = candidate
          }
        }
      }
      return best?.term
    },
    kin(word, computeFrequency) {
      if (word.length < SHORTEST_KIN || word.length > LONGEST || !LETTERS.test(word)) return []
      const start = word.charAt(0)
      // The nearest in length first.
      for (let away = 1; away <= MOST_MORE; away++) {
        let best: string | undefined
        for (const length of [word.length + away, word.length - away]) {
          if (length < SHORTEST_KIN) continue
          for (const term of byShape.get(getShape(start, length)) ?? []) {
            if (!(length > word.length ? term.startsWith(word) : word.startsWith(term))) continue
            if (best === undefined || isMoreFrequent(term, best, computeFrequency)) best = term
          }
        }
        if (best !== undefined) return [best]
      }
      return []
    },
  }
}

function isMoreFrequent(a: string, b: string, computeFrequency: (term: string) => number): boolean {
  const difference = computeFrequency(a) - computeFrequency(b)
  if (difference === 0) return a < b
  return difference > 0
}

function getShape(start: string, length: number): string {
  return `${start}${length}`
}

interface Candidate {
  readonly term: string
  readonly away: number
  readonly frequency: number
}

function isBetter(a: Candidate, b: Candidate): boolean {
  if (a.away !== b.away) return a.away < b.away
  if (a.frequency === b.frequency) return a.term < b.term
  return a.frequency > b.frequency
}

function getMostSlips(word: string): number {
  if (word.length >= LONG) return 2
  return 1
}

/** Counts the slips between two words; `Infinity` if there are more than two. Two swapped letters are one slip. */
function countSlips(word: string, term: string): number {
  const away = getEditDistance(word, term, 2)
  if (away === 2 && getMostSlips(word) === 1 && isSwap(word, term)) return 1
  return away
}

function isSwap(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let at = 0
  while (a[at] === b[at]) at++
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2)
}
