import type { Postings } from '../lexical/postings.ts'
import type { Spellings } from '../lexical/spelling.ts'
import { MAX_RESPELLED_WORDS } from '../limits.ts'
import { STOP_WORDS } from './stop-words.ts'
import { getValueWords } from '../values.ts'
import { getStem, getWords } from './words.ts'

/** A word of a query that some tool has. */
export interface QueryTerm {
  /** The word in the query, in lower case. */
  readonly word: string
  readonly id: number
  /** How rare it is among the tools, less if it was only found in another spelling. */
  readonly weight: number
  readonly how: 'stem' | 'spelling'
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
  /** The stems of all words except stop words, in order, known or not. */
  readonly stems: readonly string[]
}

export interface Vocabulary {
  readonly postings: Postings
  readonly spellings: Spellings
  /** How much a word in another spelling counts. */
  readonly spelling: number
}

const MOST_IDS = 2 ** 26

/** Combines two ids into one number, exact up to 67 million words. */
export function toPairKey(first: number, second: number): number {
  return first * MOST_IDS + second
}

export function computeRarity(documents: number, having: number): number {
  return Math.log(1 + (documents - having + 0.5) / (having + 0.5))
}

export function parseQuery(text: string, vocabulary: Vocabulary): ParsedQuery {
  const terms = new Map<number, QueryTerm>()
  const unknown = new Set<string>()
  const values = getValueWords(text)
  const pairs = new Map<number, QueryPair>()
  const stems: string[] = []
  const find = createTermFinder(vocabulary)
  let before: QueryTerm | undefined
  for (const word of getTellingWords(text)) {
    const stem = getStem(word)
    stems.push(stem)
    const found = find(word, stem)
    if (!found && !values.has(word)) unknown.add(stem)
    if (found) {
      if (!terms.has(found.id)) terms.set(found.id, found)
      if (before && before.id !== found.id) {
        const weight = (before.weight + found.weight) / 2
        pairs.set(toPairKey(before.id, found.id), { first: before.id, second: found.id, weight })
      }
    }
    before = found
  }
  const isAsked = new Uint8Array(vocabulary.postings.ids)
  for (const id of terms.keys()) isAsked[id] = 1
  const mass = unknown.size * computeRarity(vocabulary.postings.size, 0)
  return {
    terms,
    isAsked,
    pairs,
    mass: [...terms.values()].reduce((sum, { weight }) => sum + weight, mass),
    stems,
  }
}

/** Gets the words of a text without stop words, unless there are no others. */
function getTellingWords(text: string): readonly string[] {
  const words = getWords(text)
  const telling = words.filter((word) => !STOP_WORDS.has(word))
  return telling.length > 0 ? telling : words
}

/** Finds the terms of a query's words. Each stem that no tool has is looked up in other spellings once. */
function createTermFinder(vocabulary: Vocabulary): (word: string, stem: string) => QueryTerm | undefined {
  const { postings, spellings, spelling } = vocabulary
  const respelled = new Map<string, string | undefined>()
  const countDocuments = (term: string): number => {
    const id = postings.getId(term)
    return id === undefined ? 0 : postings.documentsWith(id).length
  }
  const respell = (stem: string): string | undefined => {
    if (spelling === 0 || respelled.has(stem)) return respelled.get(stem)
    if (respelled.size >= MAX_RESPELLED_WORDS) return undefined
    const nearest = spellings.nearest(stem, countDocuments)
    respelled.set(stem, nearest)
    return nearest
  }
  return (word, stem) => {
    const known = postings.getId(stem)
    if (known !== undefined) {
      return { word, id: known, weight: computeRarity(postings.size, countDocuments(stem)), how: 'stem' }
    }
    const nearest = respell(stem)
    const id = nearest === undefined ? undefined : postings.getId(nearest)
    if (nearest === undefined || id === undefined) return undefined
    return { word, id, weight: spelling * computeRarity(postings.size, countDocuments(nearest)), how: 'spelling' }
  }
}
