import { takeBest } from './best.ts'
import { countIn, countsIn, FIELD_END, type Postings } from './postings.ts'
import { pairKey, rarity, type ParsedQuery } from '../text/query.ts'
import { FIELDS } from '../text/tool-text.ts'
import type { Tuning } from '../tuning.ts'

const NAME = FIELDS.indexOf('name')
const SOURCE = FIELDS.indexOf('source')
const PARAMETERS = FIELDS.indexOf('parameters')

/** How well each tool's words fit a query; the best is about 1. */
export interface LexicalRanking {
  /** By slot; 0 for a tool that shares no word with the query. */
  readonly scores: Float64Array
  /** The slots that were looked at more closely, best first before that. */
  readonly candidates: readonly number[]
  /** The slot of the best score; -1 if no tool shares a word with the query. */
  readonly top: number
  /** What the best tool's words weigh, before the scores were made to be at most about 1. */
  readonly best: number
}

/** What each word of a query gave to one tool's score, by the word's id. */
export type Shares = Map<number, number>

export interface LexicalSources {
  readonly postings: Postings
  readonly tuning: Tuning
  /** Which of two tools is first if their scores are equal. */
  readonly isBefore: (a: number, b: number) => boolean
  /** Whether a tool is looked for at all. */
  readonly isAllowed: (slot: number) => boolean
}

/** Fielded BM25 of all tools, then a closer look at so many of the best: words side by side, names that are asked for. */
export function rankByWords(query: ParsedQuery, closely: number, sources: LexicalSources): LexicalRanking {
  const { postings, isBefore, isAllowed } = sources
  const scores = new Float64Array(postings.slots)
  const found: number[] = []
  const weigh = weigher(sources)
  for (const { id, weight } of query.terms.values()) {
    const documents = postings.documentsWith(id)
    const counts = postings.getCounts(id)
    for (let i = 0; i < documents.length; i++) {
      const slot = documents[i]!
      if (scores[slot] === 0) {
        if (!isAllowed(slot)) continue
        found.push(slot)
      }
      scores[slot]! += weight * weigh(counts[i]!, slot)
    }
  }
  let best = 0
  for (const slot of found) if (scores[slot]! > best) best = scores[slot]!
  for (const slot of found) scores[slot]! /= best
  const better = (a: number, b: number) => scores[a]! > scores[b]! || (scores[a] === scores[b] && isBefore(a, b))
  const candidates = takeBest(found, closely, better)
  let top = -1
  for (const slot of candidates) {
    scores[slot]! += closeness(slot, query, sources, best)
    if (top < 0 || better(slot, top)) top = slot
  }
  return { scores, candidates, top, best }
}

/** How much of a query the words of a tool cover, by weight, from 0 to 1. */
export function computeCoverage({ terms, isAsked, mass }: ParsedQuery, slot: number, postings: Postings): number {
  if (slot < 0 || mass === 0) return 0
  const counts = countsIn(slot, isAsked, postings)
  let covered = 0
  for (const { id, weight } of terms.values()) if (counts.has(id)) covered += weight
  return covered / mass
}

/** The same score for one tool, by the words that gave it. */
export function getShares(
  slot: number,
  query: ParsedQuery,
  { best, candidates }: LexicalRanking,
  sources: LexicalSources,
): Shares {
  const shares: Shares = new Map()
  const weigh = weigher(sources)
  const counts = countsIn(slot, query.isAsked, sources.postings)
  for (const { id, weight } of query.terms.values()) {
    if (counts.has(id)) shares.set(id, (weight * weigh(counts.get(id)!, slot)) / best)
  }
  if (candidates.includes(slot)) closeness(slot, query, sources, best, shares)
  return shares
}

/** A word's weight in a tool, by its counts there. */
function weigher({ postings, tuning: { fieldWeights, lengthPenalties, saturation } }: LexicalSources) {
  const averages = FIELDS.map((_, field) => postings.averageLength(field))
  return (counts: number, slot: number): number => {
    let weight = 0
    for (let field = 0; field < FIELDS.length; field++) {
      const count = countIn(field, counts)
      if (count === 0) continue
      const penalty = lengthPenalties[field]!
      const relativeLength = postings.getLength(field, slot) / averages[field]!
      weight += (fieldWeights[field]! * count) / (1 - penalty + penalty * relativeLength)
    }
    return ((saturation + 1) * weight) / (saturation + weight)
  }
}

/**
 * What stands side by side in the query and in the tool, and how much of the tool's name the query has. Both belong to words,
 * so that a score is the sum of what its words gave.
 */
function closeness(
  slot: number,
  query: ParsedQuery,
  { postings, tuning: { adjacency, nameCoverage } }: LexicalSources,
  best: number,
  shares?: Shares,
): number {
  const { isAsked } = query
  const words = postings.wordsIn(slot)
  const pairs = new Set<number>()
  const named = new Set<number>()
  let field = 0
  let before = FIELD_END
  let sum = 0
  const give = (id: number, share: number): void => {
    sum += share
    shares?.set(id, (shares.get(id) ?? 0) + share)
  }
  for (let i = 0; i < words.length && field !== PARAMETERS; i++) {
    const id = words[i]!
    if (id === FIELD_END) field++
    else {
      if (field === NAME || field === SOURCE) named.add(id)
      if (isAsked[id] === 1 && before !== FIELD_END && isAsked[before] === 1) {
        const key = pairKey(before, id)
        const pair = pairs.has(key) ? undefined : query.pairs.get(key)
        if (pair) {
          pairs.add(key)
          const share = (adjacency * pair.weight) / best / 2
          give(pair.first, share)
          give(pair.second, share)
        }
      }
    }
    before = id
  }
  const computeRarity = (id: number) => rarity(postings.size, postings.documentsWith(id).length)
  let whole = 0
  for (const id of named) whole += computeRarity(id)
  for (const id of named) if (isAsked[id] === 1) give(id, (nameCoverage * computeRarity(id)) / whole)
  return sum
}
