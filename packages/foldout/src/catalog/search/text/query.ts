import type { Postings } from '../lexical/postings.ts'
import type { Spellings } from '../lexical/spelling.ts'
import { STOP_WORDS } from './stop-words.ts'
import { getValueWords } from '../values.ts'
import { getStem, getWords } from './words.ts'

/** A word of a query that some tool has. */
export interface QueryTerm {
  /** As the query has it, lower-cased. */
  readonly word: string
  readonly id: number
  /** How rare it is among the tools, less if it was only found in another spelling. */
  readonly weight: number
  readonly how: 'stem' | 'spelling'
}

/** Two words that stand side by side in a query. */
export interface QueryPair {
  readonly first: number
  readonly second: number
  readonly weight: number
}

export interface ParsedQuery {
  /** Each word once, by its id, in the query's order. */
  readonly terms: ReadonlyMap<number, QueryTerm>
  /** 1 for each id that is among the terms: quicker to ask than a map. */
  readonly isAsked: Uint8Array
  /** By the ids of both words, in order. */
  readonly pairs: ReadonlyMap<number, QueryPair>
  /** Weight of all words; of those that no tool has too, unless they look like values. */
  readonly mass: number
  /** Stems of all words that tell something, in order, known or not. */
  readonly stems: readonly string[]
}

export interface Vocabulary {
  readonly postings: Postings
  readonly spellings: Spellings
  /** What a word in another spelling counts. */
  readonly spelling: number
}

const MOST_IDS = 2 ** 26

/** Two ids as one number, exact up to 67 million words. */
export function pairKey(first: number, second: number): number {
  return first * MOST_IDS + second
}

export function rarity(documents: number, having: number): number {
  return Math.log(1 + (documents - having + 0.5) / (having + 0.5))
}

export function parseQuery(text: string, vocabulary: Vocabulary): ParsedQuery {
  const terms = new Map<number, QueryTerm>()
  const unknown = new Set<string>()
  const values = getValueWords(text)
  const pairs = new Map<number, QueryPair>()
  const stems: string[] = []
  let before: QueryTerm | undefined
  for (const word of tellingWords(text)) {
    const stem = getStem(word)
    stems.push(stem)
    const found = findTerm(word, stem, vocabulary)
    if (!found && !values.has(word)) unknown.add(stem)
    if (found) {
      if (!terms.has(found.id)) terms.set(found.id, found)
      if (before && before.id !== found.id) {
        const weight = (before.weight + found.weight) / 2
        pairs.set(pairKey(before.id, found.id), { first: before.id, second: found.id, weight })
      }
    }
    before = found
  }
  const isAsked = new Uint8Array(vocabulary.postings.ids)
  for (const id of terms.keys()) isAsked[id] = 1
  const mass = unknown.size * rarity(vocabulary.postings.size, 0)
  return {
    terms,
    isAsked,
    pairs,
    mass: [...terms.values()].reduce((sum, { weight }) => sum + weight, mass),
    stems,
  }
}

/** Without stop words, unless there are no others. */
function tellingWords(text: string): readonly string[] {
  const words = getWords(text)
  const telling = words.filter((word) => !STOP_WORDS.has(word))
  return telling.length > 0 ? telling : words
}

function findTerm(word: string, stem: string, { postings, spellings, spelling }: Vocabulary): QueryTerm | undefined {
  const computeFrequency = (term: string) => postings.documentsWith(postings.getId(term)!).length
  if (postings.getId(stem) !== undefined) {
    return { word, id: postings.getId(stem)!, weight: rarity(postings.size, computeFrequency(stem)), how: 'stem' }
  }
  if (spelling === 0) return undefined
  const nearest = spellings.nearest(stem, computeFrequency)
  if (nearest === undefined) return undefined
  const weight = spelling * rarity(postings.size, computeFrequency(nearest))
  return { word, id: postings.getId(nearest)!, weight, how: 'spelling' }
}
