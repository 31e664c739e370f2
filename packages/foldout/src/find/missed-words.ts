import { getStem, getWords } from '../catalog/search/text/words.ts'
import { STOP_WORDS } from '../catalog/search/text/stop-words.ts'

/**
 * Something that a user asked for, and what was needed for it: paths of sections, or names of tools.
 *
 * @example
 * ```ts
 * const request: NeededFor = { text: 'I want my money back.', needs: ['refunds'] }
 * ```
 */
export interface NeededFor {
  readonly text: string
  readonly needs: readonly string[]
}

/**
 * What a model reads about something before it opens or calls it: the title and the summary of a section, or the name
 * and the description of a tool.
 *
 * @example
 * ```ts
 * const description: ShortText = { name: 'refunds', text: 'Refunds: how an order is refunded.' }
 * ```
 */
export interface ShortText {
  /** As in {@link NeededFor}. */
  readonly name: string
  readonly text: string
}

/**
 * A description that does not say what people say who need it.
 *
 * @example
 * ```ts
 * const format = ({ name, missed, needed, words }: MissedWords): string =>
 *   `${name} has no word of ${missed} of ${needed} requests: ${words.join(', ')}`
 * ```
 */
export interface MissedWords {
  readonly name: string
  /** How many requests needed it. */
  readonly needed: number
  /** How many of them share no word with its description. */
  readonly missed: number
  /** Words of these requests that others do not have, the most telling first. Write the description with them. */
  readonly words: readonly string[]
}

const MOST_WORDS = 6
/** A word that people say who need it has to be this much more frequent among them than among the others. */
const MIN_LIFT = 2

/**
 * Finds descriptions that miss the words of the requests that needed them. Word forms do not matter, and neither do
 * words that say nothing, numbers and names of single things.
 *
 * @example
 * ```ts
 * const requests: NeededFor[] = ['I want my money back', 'Give me the money for my lamp', 'Money back, please'].map(
 *   (text) => ({ text, needs: ['refunds'] }),
 * )
 * const [found] = findMissedWords([{ name: 'refunds', text: 'Refunds: how an order is refunded.' }], requests)
 * found?.missed // => 3
 * found?.words // => [ 'money', 'back' ]
 * ```
 */
export function findMissedWords(texts: readonly ShortText[], requests: readonly NeededFor[]): readonly MissedWords[] {
  const said = requests.map(({ text, needs }) => ({ words: readWords(text), needs: new Set(needs) }))
  return texts
    .flatMap(({ name, text }): readonly MissedWords[] => {
      const known = new Set(readWords(text).keys())
      const own = said.filter(({ needs }) => needs.has(name)).map(({ words }) => words)
      const others = said.filter(({ needs }) => !needs.has(name)).map(({ words }) => words)
      const missing = own.filter((words) => words.size > 0 && ![...words.keys()].some((stem) => known.has(stem)))
      if (missing.length === 0) return []
      return [{ name, needed: own.length, missed: missing.length, words: proposeWords(own, others, known) }]
    })
    .toSorted((one, other) => other.missed - one.missed)
}

type SaidWords = ReadonlyMap<string, string>

/** The words of a text by their stems, in the form in which they come first. */
function readWords(text: string): SaidWords {
  const words = new Map<string, string>()
  for (const word of getWords(text)) {
    const isName = /\d/.test(word) || (word.length < 3 && /^[a-z]*$/.test(word))
    if (isName || STOP_WORDS.has(word)) continue
    const stem = getStem(word)
    if (!words.has(stem)) words.set(stem, word)
  }
  return words
}

function proposeWords(own: readonly SaidWords[], others: readonly SaidWords[], known: ReadonlySet<string>): string[] {
  const elsewhere = countStems(others)
  const proposals = [...countStems(own)].flatMap(([stem, { word, count }]) => {
    const share = count / own.length
    const lift = share / (((elsewhere.get(stem)?.count ?? 0) + 0.5) / (others.length + 1))
    // What only one of several people says is chance.
    const isChance = count < 2 && own.length > 1
    if (known.has(stem) || isChance || (others.length > 0 && lift < MIN_LIFT)) return []
    return [{ word, worth: count * Math.log(1 + lift) }]
  })
  const best = proposals.toSorted((one, other) => other.worth - one.worth || Number(one.word > other.word) - 0.5)
  return best.slice(0, MOST_WORDS).map(({ word }) => word)
}

function countStems(
  said: readonly SaidWords[],
): ReadonlyMap<string, { readonly word: string; readonly count: number }> {
  const counts = new Map<string, { word: string; count: number }>()
  for (const words of said) {
    for (const [stem, word] of words) {
      const entry = counts.get(stem) ?? { word, count: 0 }
      entry.count += 1
      counts.set(stem, entry)
    }
  }
  return counts
}
