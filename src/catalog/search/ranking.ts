import { coverageOf, rankByWords, sharesOf, type LexicalRanking, type LexicalSources, type Shares } from './lexical.ts'
import { actionAskedFor } from './actions.ts'
import { parseQuery, type ParsedQuery, type Vocabulary } from './query.ts'

/** More than words and meaning can give together. */
const NAMED_SCORE = 10

export interface RankingSources extends LexicalSources {
  readonly vocabulary: Vocabulary
  /** What the tool in a slot does, one bit for each action. */
  actionsAt(slot: number): number
}

/** How the words of every tool fit a request, or a part of it. */
interface RankedText {
  readonly query: ParsedQuery
  readonly words: LexicalRanking
  /** What it counts: 1 for the whole request, less for a part, and least for one whose words say little. */
  readonly weight: number
}

export interface Asked {
  readonly word: string
  readonly actions: number
}

export interface Request {
  readonly text: string
  /** What it falls into; the text alone if it does not. */
  readonly parts: readonly string[]
  /** How near each tool is in meaning, by slot. */
  readonly cosines: Float32Array | undefined
  /** The tools that it names. */
  readonly named: ReadonlySet<number>
}

export interface Ranking {
  readonly request: Request
  readonly whole: RankedText
  /** Empty if the request has but one part. */
  readonly parts: readonly RankedText[]
  /** What meaning counts for this request. */
  readonly meaning: number
  /** The actions that the request and its parts ask for, each by the first word for one. */
  readonly asked: readonly Asked[]
  /** By slot; 0 for tools that have nothing to do with it. */
  readonly scores: Float64Array
  /** The slots whose score is not 0. */
  readonly found: readonly number[]
}

/** What a tool's score is made of. */
export interface Score {
  readonly words: Shares
  readonly meaning: number
  readonly action: { readonly asked: Asked; readonly share: number } | undefined
  readonly named: number
}

/**
 * A tool's score is what its words have of the whole request, how near it is in meaning and, of a request with parts, what
 * its words have of the part that it answers best. So the tools for each part stand near the top. Meaning counts the more,
 * the less of the request the words of any tool cover.
 */
export function rankRequest(request: Request, sources: RankingSources): Ranking {
  const { postings, tuning, isAllowed, vocabulary, actionsAt } = sources
  const rank = (text: string) => {
    const query = parseQuery(text, vocabulary)
    return { query, words: rankByWords(query, sources) }
  }
  const whole = { ...rank(request.text), weight: 1 }
  const parts = request.parts.length > 1 ? request.parts.map(rank) : []
  const most = Math.max(...parts.map(({ words }) => words.best))
  const surety = coverageOf(whole.query, whole.words, postings)
  const ranking = {
    request,
    whole,
    parts: parts.map((part) => ({ ...part, weight: (tuning.part * part.words.best) / most || 0 })),
    meaning: surety * tuning.meaningIfSure + (1 - surety) * tuning.meaningIfUnsure,
    asked: request.parts.map(actionAskedFor).filter((asked) => asked !== undefined),
    scores: new Float64Array(postings.slots),
    found: [] as number[],
  }
  const actions = ranking.asked.reduce((all, { actions }) => all | actions, 0)
  for (let slot = 0; slot < ranking.scores.length; slot++) {
    if (!isAllowed(slot)) continue
    let score = wordsScore(ranking, slot) + nearness(ranking, slot)
    if (score > 0 && (actionsAt(slot) & actions) !== 0) score += tuning.action
    if (request.named.has(slot)) score += NAMED_SCORE
    ranking.scores[slot] = score
    if (score > 0) ranking.found.push(slot)
  }
  return ranking
}

function wordsScore({ whole, parts }: Ranking, slot: number): number {
  const score = whole.words.scores[slot]!
  let most = 0
  if (score > 0) {
    for (const { words, weight } of parts) most = Math.max(most, weight * words.scores[slot]!)
  }
  return score + most
}

function nearness({ request: { cosines }, meaning }: Ranking, slot: number): number {
  return cosines && cosines[slot]! > 0 ? meaning * cosines[slot]! : 0
}

/** The number of the part that a tool answers best. */
export function partOf({ parts }: Ranking, slot: number): number {
  let best = 0
  let most = 0
  parts.forEach(({ words, weight }, part) => {
    const score = weight * words.scores[slot]!
    if (score <= most) return
    most = score
    best = part
  })
  return best
}

/** The score of one tool, taken apart. */
export function scoreOf(ranking: Ranking, slot: number, sources: RankingSources): Score {
  const { whole, parts, request } = ranking
  const words: Shares = new Map()
  for (const { query, words: ranked, weight } of parts.length > 0 ? [whole, parts[partOf(ranking, slot)]!] : [whole]) {
    for (const [id, share] of sharesOf(slot, query, ranked, sources)) {
      words.set(id, (words.get(id) ?? 0) + weight * share)
    }
  }
  const meaning = nearness(ranking, slot)
  const asked = ranking.asked.find(({ actions }) => (sources.actionsAt(slot) & actions) !== 0)
  return {
    words,
    meaning,
    action: asked && (words.size > 0 || meaning > 0) ? { asked, share: sources.tuning.action } : undefined,
    named: request.named.has(slot) ? NAMED_SCORE : 0,
  }
}
