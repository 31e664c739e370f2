import { findAskedAction } from './text/actions.ts'
import { takeBest } from './lexical/best.ts'
import {
  computeCoverage,
  rankByWords,
  getShares,
  type LexicalRanking,
  type LexicalSources,
  type Shares,
} from './lexical/lexical.ts'
import { parseQuery, type ParsedQuery, type Vocabulary } from './text/query.ts'

/** More than words and meaning can give together. */
const NAMED_SCORE = 10
/** How many of the best tools for a part are looked at more closely. */
const CANDIDATES_OF_PART = 50

export interface RankingSources extends LexicalSources {
  readonly vocabulary: Vocabulary
  /** What the tool in a slot does, one bit for each action. */
  actionsAt(slot: number): number
}

/** A request or a part of it. */
export interface AskedText {
  readonly text: string
  /** How near a tool is in meaning, from -1 to 1, by its slot. */
  readonly cosineAt: ((slot: number) => number) | undefined
}

export interface Request extends AskedText {
  /** What it falls into; empty if it does not. */
  readonly parts: readonly AskedText[]
  /** The tools that it names. */
  readonly named: ReadonlySet<number>
}

/** How every tool fits a text. */
interface RankedText extends AskedText {
  readonly query: ParsedQuery
  readonly words: LexicalRanking
  /** How much of the text the words of the best tool cover. */
  readonly coverage: number
  /** What meaning counts beside words. */
  readonly meaning: number
  /** What it counts: 1 for the whole request, less for a part, and least for one whose words say little. */
  readonly weight: number
}

/** An action that a request asks for, and by which word. */
export interface Asked {
  readonly word: string
  readonly actions: number
}

export interface Ranking {
  readonly request: Request
  readonly whole: RankedText
  readonly parts: readonly RankedText[]
  /** The slots of the tools for which the parts were looked at. */
  readonly candidates: ReadonlySet<number>
  readonly asked: readonly Asked[]
  /** By slot; 0 for tools that have nothing to do with it. */
  readonly scores: Float64Array
  /** The slots whose score is not 0. */
  readonly found: Int32Array
  /** How near in meaning the nearest tool is; 0 if that is not known. */
  readonly nearest: number
}

/** What a tool's score is made of. */
export interface Score {
  readonly words: Shares
  readonly meaning: number
  readonly action: { readonly asked: Asked; readonly share: number } | undefined
  readonly named: number
}

/**
 * A tool's score is what its words have of the request, how near it is in meaning, whether it does what is asked for and, of
 * a request with parts, what it has of the part that it answers best. So the tools for each part stand near the top. Meaning
 * counts the more, the less of a text the words of any tool cover.
 */
export function rankRequest(request: Request, sources: RankingSources): Ranking {
  const { postings, tuning, isAllowed, isBefore, actionsAt } = sources
  const whole = rankText(request, 1, tuning.candidates, sources)
  const parts = request.parts.map((part) => rankText(part, tuning.part, CANDIDATES_OF_PART, sources))
  const most = Math.max(...parts.map(({ words }) => words.best))
  const scores = new Float64Array(postings.slots)
  const slots = new Int32Array(postings.slots)
  let count = 0
  let nearest = 0
  const asked = (parts.length > 0 ? parts : [whole])
    .map(({ text }) => findAskedAction(text))
    .filter((one) => one !== undefined)
  const actions = asked.reduce((all, one) => all | one.actions, 0)
  for (let slot = 0; slot < scores.length; slot++) {
    if (!isAllowed(slot)) continue
    const cosine = request.cosineAt ? request.cosineAt(slot) : 0
    if (cosine > nearest) nearest = cosine
    let score = whole.words.scores[slot]! + (cosine > 0 ? whole.meaning * cosine : 0)
    if (score > 0 && (actionsAt(slot) & actions) !== 0) score += tuning.action
    if (request.named.has(slot)) score += NAMED_SCORE
    if (score === 0) continue
    scores[slot] = score
    slots[count++] = slot
  }
  const ranking = {
    request,
    whole,
    parts: parts.map((part) => ({ ...part, weight: part.weight * Math.sqrt(part.words.best / most) || 0 })),
    candidates: new Set<number>(),
    asked,
    scores,
    found: slots.subarray(0, count),
    nearest,
  }
  if (parts.length > 0) {
    const isBetter = (a: number, b: number) => scores[a]! > scores[b]! || (scores[a] === scores[b] && isBefore(a, b))
    for (const slot of takeBest(ranking.found, tuning.candidates, isBetter)) ranking.candidates.add(slot)
    for (const { words } of parts) for (const slot of words.candidates) ranking.candidates.add(slot)
    for (const slot of ranking.candidates) scores[slot]! += scoreFor(ranking.parts[getPart(ranking, slot)]!, slot)
  }
  return ranking
}

function rankText(
  { text, cosineAt }: AskedText,
  weight: number,
  candidates: number,
  sources: RankingSources,
): RankedText {
  const { postings, tuning, vocabulary } = sources
  const query = parseQuery(text, vocabulary)
  const words = rankByWords(query, candidates, sources)
  const coverage = computeCoverage(query, words.top, postings)
  const meaning = coverage * tuning.meaningIfSure + (1 - coverage) * tuning.meaningIfUnsure
  return { text, cosineAt, query, words, coverage, meaning, weight }
}

function scoreFor(ranked: RankedText, slot: number): number {
  return ranked.weight * ranked.words.scores[slot]! + nearness(ranked, slot)
}

function nearness({ cosineAt, meaning, weight }: RankedText, slot: number): number {
  return cosineAt ? weight * meaning * Math.max(0, cosineAt(slot)) : 0
}

/** The number of the part that a tool answers best; 0 if the request has but one. */
export function getPart({ parts }: Ranking, slot: number): number {
  let best = 0
  let most = 0
  for (let part = 0; part < parts.length; part++) {
    const score = scoreFor(parts[part]!, slot)
    if (score <= most) continue
    most = score
    best = part
  }
  return best
}

/** The score of one tool, taken apart. */
export function computeScore(ranking: Ranking, slot: number, sources: RankingSources): Score {
  const { whole, parts, candidates, request } = ranking
  const words: Shares = new Map()
  let meaning = 0
  for (const ranked of candidates.has(slot) ? [whole, parts[getPart(ranking, slot)]!] : [whole]) {
    for (const [id, share] of getShares(slot, ranked.query, ranked.words, sources)) {
      words.set(id, (words.get(id) ?? 0) + ranked.weight * share)
    }
    meaning += nearness(ranked, slot)
  }
  const asked = ranking.asked.find(({ actions }) => (sources.actionsAt(slot) & actions) !== 0)
  return {
    words,
    meaning,
    action: asked && (words.size > 0 || meaning > 0) ? { asked, share: sources.tuning.action } : undefined,
    named: request.named.has(slot) ? NAMED_SCORE : 0,
  }
}
