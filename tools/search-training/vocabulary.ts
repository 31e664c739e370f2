import type { GeneralWord } from './glove.ts'

export interface Vocabulary {
  readonly words: readonly string[]
  readonly getId: ReadonlyMap<string, number>
  /** How often each word occurs in the training texts. */
  readonly counts: Float64Array
  /** Each word's share of all words, half from the training texts and half from general English. */
  readonly shares: Float64Array
}

const LONGEST = 30
/** How often a word that is not in general English must occur to be learned. */
const FEWEST = 3

/** The words of the texts, most frequent first, then words of general English that requests may contain. */
export function createVocabulary(
  texts: Iterable<readonly string[]>,
  general: ReadonlyMap<string, GeneralWord>,
  size: number,
): Vocabulary {
  const count = new Map<string, number>()
  let total = 0
  for (const text of texts) {
    total += text.length
    for (const term of text) count.set(term, (count.get(term) ?? 0) + 1)
  }
  const words = [...count]
    .filter(([word, count]) => word.length <= LONGEST && count >= (general.has(word) ? 1 : FEWEST))
    .sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1))
    .slice(0, size)
    .map(([word]) => word)
  const known = new Set(words)
  const others = [...general].sort(([, a], [, b]) => b.share - a.share)
  for (const [word] of others) {
    if (words.length === size) break
    if (word.length > 1 && !known.has(word)) words.push(word)
  }
  return {
    words,
    getId: new Map(words.map((word, id) => [word, id])),
    counts: Float64Array.from(words, (word) => count.get(word) ?? 0),
    shares: Float64Array.from(words, (word) => ((count.get(word) ?? 0) / total + (general.get(word)?.share ?? 0)) / 2),
  }
}
