import { createCloserLook, type CloserLook, type CloserLookSources } from './closer-look.ts'
import { findAskedAction, getMentionedActions, isEnd, isUnaskedEnd } from '../text/actions.ts'
import { joinScore, weighSignals, type Signal, type WeighedSignal } from '../join.ts'
import { takeBest } from '../lexical/best.ts'
import {
  computeCoverage,
  createOrder,
  rankByWords,
  getShares,
  type LexicalRanking,
  type LexicalSources,
  type Shares,
} from '../lexical/lexical.ts'
import { PASSED_AT_ONCE, type Steps } from '../slices.ts'
import { parseQuery, type ParsedQuery, type Vocabulary } from '../lexical/query.ts'

/** More than words and meaning can add together. */
const NAMED_SCORE = 10
/** How many of the best tools for a part are examined closely. */
const CANDIDATES_OF_PART = 50

export interface RankingSources extends LexicalSources, CloserLookSources {
  readonly vocabulary: Vocabulary
  /** What the tool in a slot does, with one bit for each action. */
  actionsAt(slot: number): number
}

/** A request or a part of it. */
export interface AskedText {
  readonly text: string
  /** What vectors say about every tool; empty if there are none. */
  readonly signals: readonly Signal[]
}

export interface Request extends AskedText {
  /** The parts that the request was split into; empty if it was not. */
  readonly parts: readonly AskedText[]
  /** The slots of the tools that it names. */
  readonly named: ReadonlySet<number>
}

/** How every tool fits a text. */
export interface RankedText {
  readonly text: string
  readonly signals: readonly WeighedSignal[]
  readonly query: ParsedQuery
  readonly words: LexicalRanking
  /** How much of the text the best tool's words cover. */
  readonly coverage: number
  /** How much the text counts: 1 for the whole request, less for a part, and least for a part whose words say little. */
  readonly weight: number
}

/** An action that a request asks for, and the word that says so. */
export interface Asked {
  readonly word: string
  readonly actions: number
}

/** What a request says about actions, with one bit for each. */
interface RequestActions {
  /** Those of the first word that means one, in each part. */
  readonly asked: number
  /** Those of all words. */
  readonly mentioned: number
  /** How much it adds to a tool's score that it does what is asked for. */
  readonly share: number
}

export interface Ranking {
  readonly request: Request
  readonly whole: RankedText
  readonly parts: readonly RankedText[]
  /** The slots of the tools that were also scored for the parts. */
  readonly candidates: ReadonlySet<number>
  readonly asked: readonly Asked[]
  readonly actions: RequestActions
  /** What the tool in a slot does, with one bit for each action. */
  actionsAt(slot: number): number
  /** What a closer look at the best tools found, by slot. */
  readonly looks: ReadonlyMap<number, RankedLook>
  /** By slot; 0 for tools that are unrelated to the request. */
  readonly scores: Float64Array
  /** The slots whose score is not 0. */
  readonly found: Int32Array
  /** How near the nearest of them is, from 0 to 1, as the deciding signal says. */
  readonly nearest: number
}

/** What a closer look found, and how much of its score the tool lost by it. */
interface RankedLook extends CloserLook {
  readonly loss: number
}

/** What a tool's score is made of. */
export interface Score {
  readonly words: Shares
  readonly meaning: number
  readonly action: { readonly asked: Asked; readonly ofTool: number; readonly share: number } | undefined
  readonly look: CloserLook | undefined
  readonly named: number
}

/**
 * Ranks all tools for a request, in steps: code that runs for the first time is slow, and others are waiting. A tool's score adds up
 * how well its words match, how near it is in meaning and whether it does what is asked for. If the request has parts, the part that
 * the tool answers best is added, so the tools for each part end up near the top. The less of a text any tool's words cover, the more
 * meaning counts. The best tools are then compared with the request word by word.
 */
export function* rankRequest(request: Request, sources: RankingSources): Steps<Ranking> {
  const { postings, tuning, isBefore, actionsAt } = sources
  const whole = yield* rankText(request, 1, tuning.candidates, sources)
  const parts: RankedText[] = []
  for (const part of request.parts) parts.push(yield* rankText(part, tuning.part, CANDIDATES_OF_PART, sources))
  const most = Math.max(...parts.map(({ words }) => words.best))
  const scores = new Float64Array(postings.slots)
  const slots = new Int32Array(postings.slots)
  let count = 0
  const asked = (parts.length > 0 ? parts : [whole])
    .map(({ text }) => findAskedAction(text))
    .filter((one) => one !== undefined)
  const actions = getRequestActions(request, asked, tuning)
  const computeWholeScore = createScorer(whole, request.named, actions, sources)
  const deciding = getDecidingSignal(whole)
  let nearest = 0
  for (let slot = 0; slot < scores.length; slot++) {
    if (slot % PASSED_AT_ONCE === 0) yield
    const score = computeWholeScore(slot)
    if (score === 0) continue
    scores[slot] = score
    slots[count++] = slot
    if (deciding) nearest = Math.max(nearest, deciding.cosineAt(slot))
  }
  yield
  const ranking = {
    request,
    whole,
    parts: parts.map((part) => ({ ...part, weight: part.weight * Math.sqrt(part.words.best / most) || 0 })),
    candidates: new Set<number>(),
    asked,
    actions,
    actionsAt,
    looks: new Map<number, RankedLook>(),
    scores,
    found: slots.subarray(0, count),
    nearest,
  }
  if (parts.length > 0) {
    for (const slot of yield* takeBest(ranking.found, tuning.candidates, createOrder(scores, isBefore)))
      ranking.candidates.add(slot)
    for (const { words } of parts) for (const slot of words.candidates) ranking.candidates.add(slot)
    for (const slot of ranking.candidates) {
      yield
      const part = ranking.parts[getPart(ranking, slot)]
      if (part) scores[slot] = (scores[slot] ?? 0) + computePartScore(part, slot)
    }
  }
  yield* lookCloser(ranking, sources)
  return ranking
}

function getRequestActions(
  { text, signals, parts }: Request,
  asked: readonly Asked[],
  { action, actionOfParts, encoder }: RankingSources['tuning'],
): RequestActions {
  const isEncoded = signals.some(({ kind }) => kind === 'encoder')
  const ofWhole = isEncoded ? encoder.action : action
  return {
    asked: asked.reduce((all, one) => all | one.actions, 0),
    mentioned: getMentionedActions(text),
    share: parts.length > 0 ? actionOfParts : ofWhole,
  }
}

/** Compares the best tools with the request word by word, and adds what that says to their scores. */
function* lookCloser(
  { whole, found, scores, looks, actions }: Ranking & { readonly looks: Map<number, RankedLook> },
  sources: RankingSources,
): Steps<void> {
  const { tuning, isBefore, actionsAt } = sources
  const look = createCloserLook(whole.query, sources)
  for (const slot of yield* takeBest(found, tuning.finalists, createOrder(scores, isBefore))) {
    yield
    const seen = look(slot)
    const score = (scores[slot] ?? 0) + seen.score
    const loss = computeOtherObjectLoss(score, actionsAt(slot), seen, actions, tuning)
    looks.set(slot, { ...seen, loss })
    scores[slot] = score - loss
  }
}

/** An encoder says more about a request than word vectors do, so it decides alone. It comes last. */
export function getDecidingSignal({ signals }: RankedText): Signal | undefined {
  return signals.at(-1)
}

/** Scores tools for the whole request: 0 for one that is unrelated to it, or must not be found. */
function createScorer(
  { words, signals }: RankedText,
  named: ReadonlySet<number>,
  actions: RequestActions,
  { tuning, isAllowed, actionsAt }: RankingSources,
): (slot: number) => number {
  return (slot) => {
    if (!isAllowed(slot)) return 0
    const joined = joinScore(words.scores[slot] ?? 0, signals, slot)
    const score = joined + computeActionShare(joined, actionsAt(slot), actions, tuning)
    if (named.has(slot)) return score + NAMED_SCORE
    return score
  }
}

/** How much it adds to a tool's score what it does, compared with what is asked for. */
function computeActionShare(
  joined: number,
  ofTool: number,
  { asked, mentioned, share }: RequestActions,
  { unaskedEnd }: RankingSources['tuning'],
): number {
  if (joined > 0 && (ofTool & asked) !== 0) return share
  if (isUnaskedEnd(ofTool, mentioned)) return -unaskedEnd * joined
  return 0
}

/** A tool that has less than this share of what a request is about, in the same or similar words, is about something else. */
const OTHER_OBJECT = 0.25

/** How much a tool that deletes or stops something loses because that is not what the request is about. */
function computeOtherObjectLoss(
  score: number,
  ofTool: number,
  { objects }: CloserLook,
  { mentioned }: RequestActions,
  { otherObject }: RankingSources['tuning'],
): number {
  // The score of a named tool is not its own.
  if (mentioned === 0 || !isEnd(ofTool) || score >= NAMED_SCORE) return 0
  if (objects < OTHER_OBJECT) return otherObject * score
  return 0
}

function* rankText(
  { text, signals }: AskedText,
  weight: number,
  candidates: number,
  sources: RankingSources,
): Steps<RankedText> {
  const { postings, tuning, vocabulary } = sources
  const query = yield* parseQuery(text, vocabulary)
  yield
  const words = yield* rankByWords(query, candidates, sources)
  yield
  const coverage = computeCoverage(query, words.top, postings)
  return { text, signals: weighSignals(signals, coverage, postings.size, tuning), query, words, coverage, weight }
}

export function computePartScore({ words, signals, weight }: RankedText, slot: number): number {
  return weight * joinScore(words.scores[slot] ?? 0, signals, slot)
}

/** The index of the part that a tool answers best; 0 if the request has only one. */
export function getPart({ parts }: Ranking, slot: number): number {
  let best = 0
  let most = 0
  parts.forEach((part, index) => {
    const score = computePartScore(part, slot)
    if (score <= most) return
    most = score
    best = index
  })
  return best
}

/** Splits the score of one tool by what it is made of. */
export function computeScore(ranking: Ranking, slot: number, sources: RankingSources): Score {
  const { whole, parts, candidates, request } = ranking
  const words: Shares = new Map()
  let meaning = 0
  const part = candidates.has(slot) ? parts[getPart(ranking, slot)] : undefined
  for (const ranked of part ? [whole, part] : [whole]) {
    for (const [id, share] of getShares(slot, ranked.query, ranked.words, sources)) {
      words.set(id, (words.get(id) ?? 0) + ranked.weight * share)
    }
    meaning += ranked.weight * joinScore(0, ranked.signals, slot)
  }
  const ofTool = sources.actionsAt(slot)
  const joined = joinScore(whole.words.scores[slot] ?? 0, whole.signals, slot)
  const look = ranking.looks.get(slot)
  const share = computeActionShare(joined, ofTool, ranking.actions, sources.tuning) - (look?.loss ?? 0)
  const asked = ranking.asked.find(({ actions }) => (ofTool & actions) !== 0) ?? ranking.asked[0]
  return {
    words,
    meaning,
    action: asked && share !== 0 ? { asked, ofTool, share } : undefined,
    look,
    named: request.named.has(slot) ? NAMED_SCORE : 0,
  }
}
