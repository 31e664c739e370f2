import { takeBest } from './best.ts'
import { countIn, countsIn, FIELD_END, type Postings } from './postings.ts'
import { PASSED_AT_ONCE, type Steps } from '../slices.ts'
import { computeRarity, toPairKey, type ParsedQuery } from './query.ts'
import { FIELDS } from '../text/tool-text.ts'
import type { Tuning } from '../tuning.ts'

const NAME = FIELDS.indexOf('name')
const SOURCE = FIELDS.indexOf('source')
const PARAMETERS = FIELDS.indexOf('parameters')

/** How well the words of each tool fit a query. The best score is about 1. */
export interface LexicalRanking {
  /** By slot; 0 for a tool that shares no word with the query. */
  readonly scores: Float64Array
  /** The slots that were examined closely, best first by the scores before that. */
  readonly candidates: readonly number[]
  /** The slot of the best score; -1 if no tool shares a word with the query. */
  readonly top: number
  /** The best score before scaling. */
  readonly best: number
}

/** How much each word of a query added to one tool's score, by word id. */
export type Shares = Map<number, number>

export interface LexicalSources {
  readonly postings: Postings
  readonly tuning: Tuning
  /** Which of two tools is first if their scores are equal. */
  readonly isBefore: (a: number, b: number) => boolean
  /** Whether a tool may be found at all. */
  readonly isAllowed: (slot: number) => boolean
}

/**
 * Scores all tools with BM25 over their fields. The best ones, as many as `closely` says, are then examined for adjacent words
 * and for names that the query has.
 */
export function* rankByWords(query: ParsedQuery, closely: number, sources: LexicalSources): Steps<LexicalRanking> {
  const { postings, isBefore, isAllowed } = sources
  const scores = new Float64Array(postings.slots)
  const found: number[] = []
  const weigh = createWeigher(sources)
  for (const { id, weight } of query.terms.values()) {
    const documents = postings.documentsWith(id)
    const counts = postings.getCounts(id)
    for (let i = 0; i < documents.length; i++) {
      if (i % PASSED_AT_ONCE === PASSED_AT_ONCE - 1) yield
      const slot = documents[i] ?? 0
      const score = scores[slot] ?? 0
      if (score === 0) {
        if (!isAllowed(slot)) continue
        found.push(slot)
      }
      scores[slot] = score + weight * weigh(counts[i] ?? 0, slot)
    }
    yield
  }
  let best = 0
  for (const slot of found) best = Math.max(best, scores[slot] ?? 0)
  yield
  for (const slot of found) scores[slot] = (scores[slot] ?? 0) / best
  yield
  const better = createOrder(scores, isBefore)
  const candidates = yield* takeBest(found, closely, better)
  let top = -1
  for (const slot of candidates) {
    yield
    scores[slot] = (scores[slot] ?? 0) + computeCloseness(slot, query, sources, best)
    if (top < 0 || better(slot, top)) top = slot
  }
  return { scores, candidates, top, best }
}

/** Orders slots by score, and equal scores by `isBefore`. */
export function createOrder(
  scores: Float64Array,
  isBefore: (a: number, b: number) => boolean,
): (a: number, b: number) => boolean {
  return (a, b) => {
    const scoreA = scores[a] ?? 0
    const scoreB = scores[b] ?? 0
    return scoreA > scoreB || (scoreA === scoreB && isBefore(a, b))
  }
}

/** How much of a query the words of a tool cover, by weight, from 0 to 1. */
export function computeCoverage({ terms, isAsked, mass }: ParsedQuery, slot: number, postings: Postings): number {
  if (slot < 0 || mass === 0) return 0
  const counts = countsIn(slot, isAsked, postings)
  let covered = 0
  for (const { id, weight } of terms.values()) if (counts.has(id)) covered += weight
  // Two words that are also one word are covered twice.
  return Math.min(1, covered / mass)
}

/** Splits the score of one tool by word. */
export function getShares(
  slot: number,
  query: ParsedQuery,
  { best, candidates }: LexicalRanking,
  sources: LexicalSources,
): Shares {
  const shares: Shares = new Map()
  const weigh = createWeigher(sources)
  const counts = countsIn(slot, query.isAsked, sources.postings)
  for (const { id, weight } of query.terms.values()) {
    const count = counts.get(id)
    if (count !== undefined) shares.set(id, (weight * weigh(count, slot)) / best)
  }
  if (candidates.includes(slot)) computeCloseness(slot, query, sources, best, shares)
  return shares
}

/** Weighs a word in a tool by its counts there. */
function createWeigher({ postings, tuning: { fieldWeights, lengthPenalties, saturation } }: LexicalSources) {
  const fields = FIELDS.map((_, field) => ({
    field,
    average: postings.averageLength(field),
    penalty: lengthPenalties[field] ?? 0,
    fieldWeight: fieldWeights[field] ?? 0,
  }))
  return (counts: number, slot: number): number => {
    let weight = 0
    for (const { field, average, penalty, fieldWeight } of fields) {
      const count = countIn(field, counts)
      if (count === 0) continue
      const relativeLength = postings.getLength(field, slot) / average
      weight += (fieldWeight * count) / (1 - penalty + penalty * relativeLength)
    }
    return ((saturation + 1) * weight) / (saturation + weight)
  }
}

/**
 * Scores the words that are adjacent both in the query and in the tool, how much of the tool's name the query has, and whether it
 * names the tool's source. Each share is credited to a word, so that a score is the sum of its words.
 */
function computeCloseness(
  slot: number,
  query: ParsedQuery,
  { postings, tuning: { adjacency, nameCoverage, sourceCoverage } }: LexicalSources,
  best: number,
  shares?: Shares,
): number {
  const { isAsked } = query
  const words = postings.wordsIn(slot)
  const pairs = new Set<number>()
  const named = new Set<number>()
  const ofSource = new Set<number>()
  let field = 0
  let before = FIELD_END
  let sum = 0
  const credit = (id: number, share: number): void => {
    sum += share
    shares?.set(id, (shares.get(id) ?? 0) + share)
  }
  for (const id of words) {
    if (field === PARAMETERS) break
    if (id === FIELD_END) field++
    else {
      if (field === NAME || field === SOURCE) named.add(id)
      if (field === SOURCE) ofSource.add(id)
      if (isAsked[id] === 1 && before !== FIELD_END && isAsked[before] === 1) {
        const key = toPairKey(before, id)
        const pair = pairs.has(key) ? undefined : query.pairs.get(key)
        if (pair) {
          pairs.add(key)
          const share = (adjacency * pair.weight) / best / 2
          credit(pair.first, share)
          credit(pair.second, share)
        }
      }
    }
    before = id
  }
  const getRarity = (id: number): number => computeRarity(postings.size, postings.documentsWith(id).length)
  let whole = 0
  for (const id of named) whole += getRarity(id)
  for (const id of named) if (isAsked[id] === 1) credit(id, (nameCoverage * getRarity(id)) / whole)
  let isSourceNamed = true
  for (const id of ofSource) isSourceNamed &&= isAsked[id] === 1
  if (isSourceNamed) for (const id of ofSource) credit(id, sourceCoverage / ofSource.size)
  return sum
}
