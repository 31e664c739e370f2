import type { Postings } from './postings.ts'
import type { Spellings } from './spelling.ts'
import { MAX_RESPELLED_WORDS } from '../limits.ts'
import type { Steps } from '../slices.ts'
import { STOP_WORDS } from '../text/stop-words.ts'
import { findValueKinds, getArgumentWords } from '../text/arguments.ts'
import { getStem, getWords } from '../text/words.ts'

/** A word of a query that some tool has. */
export interface QueryTerm {
  /** The word in the query, in lower case. */
  readonly word: string
  readonly id: number
  /** How rare it is among the tools, less if it was only found in another spelling, or is probably a value for a tool. */
  readonly weight: number
  readonly how: 'stem' | 'spelling' | 'part' | 'kind'
  /** Whether it is two words of the query written as one. */
  readonly isJoined: boolean
}

/** Two adjacent words of a query. */
export interface QueryPair {
  readonly first: number
  readonly second: number
  readonly weight: number
}

export interface ParsedQuery {
  /** Each word once, by its id, in the query's order. */
  readonly terms: ReadonlyMap<number, QueryTerm>
  /** 1 for the id of every term: faster to read than a map. */
  readonly isAsked: Uint8Array
  /** By the ids of both words, in order. */
  readonly pairs: ReadonlyMap<number, QueryPair>
  /** The weight of all words, including those that no tool has unless they look like values. */
  readonly mass: number
  /** Each word once, in the query's order, except stop words, and values that no tool has. */
  readonly words: readonly QueryWord[]
}

/** A word of a query, whether or not some tool has it. */
export interface QueryWord {
  /** The word in the query, in lower case. */
  readonly word: string
  readonly stem: string
  readonly weight: number
  /** The ids of its terms: none if no tool has the word, several if tools have the words that it is made of. */
  readonly ids: readonly number[]
}

export interface Vocabulary {
  readonly postings: Postings
  readonly spellings: Spellings
  /** Whether a term is a word of the language. Then it is not looked up in other spellings: `notes` are not `nodes`. */
  isWord(term: string): boolean
  /** How much a word in another spelling, or a part of a word, counts. */
  readonly spelling: number
  /** How much a word counts that is probably a value for a tool, such as a part of a path. */
  readonly argument: number
  /** How much it counts what a value is, if the request has no word for it. */
  readonly kind: number
}

const MOST_IDS = 2 ** 26
/** How much it counts that both words of a compound are adjacent in a tool; for other words it is a half. */
const COMPOUND_PAIR = 2

/** Combines two ids into one number, exact up to 67 million words. */
export function toPairKey(first: number, second: number): number {
  return first * MOST_IDS + second
}

export function computeRarity(documents: number, having: number): number {
  return Math.log(1 + (documents - having + 0.5) / (having + 0.5))
}

/** Reads a query word by word: looking up other spellings of a word takes time. */
export function* parseQuery(text: string, vocabulary: Vocabulary): Steps<ParsedQuery> {
  const terms = new Map<number, QueryTerm>()
  const words = new Map<string, QueryWord & { readonly ids: number[] }>()
  let mass = 0
  const { values, weak } = getArgumentWords(text)
  yield
  const pairs = new Map<number, QueryPair>()
  const unknown = computeRarity(vocabulary.postings.size, 0)
  const find = createTermFinder(vocabulary)
  let before: QueryTerm | undefined
  let wordBefore: string | undefined
  for (const word of getTellingWords(joinCapitalized(text))) {
    const stem = getStem(word)
    yield
    const found = find(word, stem, weak.has(word) ? vocabulary.argument : 1)
    if (!words.has(stem) && (found.length > 0 || !values.has(word))) {
      const weight = found.reduce((most, term) => Math.max(most, term.weight), found.length > 0 ? 0 : unknown)
      words.set(stem, { word, stem, weight, ids: found.map(({ id }) => id) })
      if (found.length === 0) mass += weight
    }
    const joined = wordBefore === undefined ? undefined : find.joined(wordBefore, word)
    for (const term of joined ? [...found, joined] : found) if (!terms.has(term.id)) terms.set(term.id, term)
    if (joined && wordBefore !== undefined) {
      for (const half of [getStem(wordBefore), stem]) {
        const ids = words.get(half)?.ids
        if (ids?.length === 0) ids.push(joined.id)
      }
    }
    for (const [at, term] of found.entries()) {
      if (before && before.id !== term.id) {
        // The two words of a compound mean little apart.
        const weight = (at > 0 ? COMPOUND_PAIR : 0.5) * (before.weight + term.weight)
        pairs.set(toPairKey(before.id, term.id), { first: before.id, second: term.id, weight })
      }
      before = term
    }
    if (found.length === 0) before = undefined
    wordBefore = word
  }
  yield
  for (const { value, kind } of findValueKinds(text)) {
    const stem = getStem(kind)
    const term = find.known(value, stem, vocabulary.kind, 'kind')
    if (!term || terms.has(term.id)) continue
    terms.set(term.id, term)
    words.set(stem, { word: value, stem, weight: term.weight, ids: [term.id] })
  }
  const isAsked = new Uint8Array(vocabulary.postings.ids)
  for (const id of terms.keys()) isAsked[id] = 1
  return {
    terms,
    isAsked,
    pairs,
    // A joined word repeats what its two words ask for.
    mass: [...terms.values()].reduce((sum, { weight, isJoined }) => (isJoined ? sum : sum + weight), mass),
    words: [...words.values()],
  }
}

/** A name in two capitalized parts. */
const CAPITALIZED = /(?<![\p{L}\p{N}])\p{Lu}\p{Ll}+\p{Lu}\p{Ll}+(?![\p{L}\p{N}])/gu

/**
 * Writes `JavaScript` as `javascript`: one word, where a text of a tool has three, the name and its parts. If no tool has the word, its
 * parts are looked up like those of any compound.
 */
function joinCapitalized(text: string): string {
  return text.replace(CAPITALIZED, (name) => name.toLowerCase())
}

/** Gets the words of a text without stop words, unless there are no others. */
function getTellingWords(text: string): readonly string[] {
  const words = getWords(text)
  const telling = words.filter((word) => !STOP_WORDS.has(word))
  if (telling.length > 0) return telling
  return words
}

/** Finds the terms of a query's words. */
interface TermFinder {
  /** Several if no tool has the word, but tools have the words that it is made of. `share` is how much the word counts. */
  (word: string, stem: string, share: number): readonly QueryTerm[]
  /** The term that two neighboring words form: "world bank" → `worldbank`. */
  joined(first: string, second: string): QueryTerm | undefined
  /** A term that some tool has, for a word that counts a share. */
  known(word: string, stem: string, share: number, how: QueryTerm['how']): QueryTerm | undefined
}

/** Each stem that no tool has is looked up in other spellings, as a compound and by its beginning, once. */
function createTermFinder({ postings, spellings, spelling, isWord }: Vocabulary): TermFinder {
  const related = new Map<string, Related>()
  const countDocuments = (term: string): number => {
    const id = postings.getId(term)
    if (id === undefined) return 0
    return postings.documentsWith(id).length
  }
  const findRelated = (word: string, stem: string): Related => {
    const known = related.get(stem)
    if (known) return known
    if (spelling === 0 || related.size >= MAX_RESPELLED_WORDS) return NOTHING_RELATED
    const nearest = isWord(stem) ? undefined : spellings.nearest(stem, countDocuments)
    const found = nearest === undefined ? findParts(word, stem) : { terms: [nearest], how: 'spelling' as const }
    related.set(stem, found)
    return found
  }
  const findParts = (word: string, stem: string): Related => {
    const kin = splitCompound(word, (part) => postings.getId(part) !== undefined) ?? spellings.kin(stem, countDocuments)
    return { terms: kin, how: 'part' }
  }
  const toTerm = (word: string, term: string, how: QueryTerm['how'], share: number): QueryTerm | undefined => {
    const id = postings.getId(term)
    if (id === undefined) return undefined
    return { word, id, weight: share * computeRarity(postings.size, countDocuments(term)), how, isJoined: false }
  }
  const find = (word: string, stem: string, share: number): readonly QueryTerm[] => {
    const term = toTerm(word, stem, 'stem', share)
    if (term) return [term]
    const { terms, how } = findRelated(word, stem)
    return terms.map((one) => toTerm(word, one, how, share * spelling)).filter((one) => one !== undefined)
  }
  return Object.assign(find, {
    known: (word: string, stem: string, share: number, how: QueryTerm['how']) => toTerm(word, stem, how, share),
    joined(first: string, second: string): QueryTerm | undefined {
      if (spelling === 0 || !LETTERS.test(first) || !LETTERS.test(second)) return undefined
      const term = toTerm(`${first} ${second}`, getStem(first + second), 'part', 1)
      return term && { ...term, isJoined: true }
    },
  })
}

/** The terms of tools that a word which no tool has may mean. */
interface Related {
  readonly terms: readonly string[]
  readonly how: 'spelling' | 'part'
}

const NOTHING_RELATED: Related = { terms: [], how: 'part' }
const LETTERS = /^[a-z]{2,32}$/
const COMPOUND = /^[a-z]{7,32}$/
const SHORTEST_PART = 3

/**
 * Finds the stems of the two words that a word is made of, if tools have both. Cuts are tried from the middle outwards, because two
 * halves of about the same length are rarely words by chance.
 */
function splitCompound(word: string, isKnown: (stem: string) => boolean): readonly string[] | undefined {
  if (!COMPOUND.test(word)) return undefined
  const middle = word.length >> 1
  for (let away = 0; middle - away >= SHORTEST_PART; away++) {
    for (const cut of new Set([middle - away, middle + away])) {
      if (word.length - cut < SHORTEST_PART) continue
      const parts = [getStem(word.slice(0, cut)), getStem(word.slice(cut))]
      if (parts.every(isKnown)) return parts
    }
  }
  return undefined
}
