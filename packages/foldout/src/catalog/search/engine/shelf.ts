import { createCloserLook, type CloserLook } from './closer-look.ts'
import type { Searchable } from '../contract.ts'
import { takeBest } from '../lexical/best.ts'
import { createOrder } from '../lexical/lexical.ts'
import { createNameIndex, getNameKeys } from '../lexical/named.ts'
import { createPostings, type Postings } from '../lexical/postings.ts'
import { createSpellings } from '../lexical/spelling.ts'
import { rankRequest, computeScore, type AskedText, type Ranking, type RankingSources, type Score } from './ranking.ts'
import type { Steps } from '../slices.ts'
import type { ParsedQuery } from '../lexical/query.ts'
import { MAX_FIELD_WORDS } from '../limits.ts'
import { getToolActions } from '../text/actions.ts'
import { FIELDS, getFieldTexts } from '../text/tool-text.ts'
import { getTerms } from '../text/words.ts'
import type { Tuning } from '../tuning.ts'
import type { WordComparison } from '../vectors/vectors.ts'

/** The result of one search. It must be read before any tool is added or removed. */
export interface Found<Tool extends Searchable> {
  readonly ranking: Ranking
  readonly postings: Postings
  getTool(slot: number): Tool
  getSlot(qualified: string): number | undefined
  /** The best slots, best first, and at most `limit` of them. */
  takeBest(limit: number): Steps<readonly number[]>
  computeScore(slot: number): Score
  /** Compares single tools with a text word by word. */
  createLook(query: ParsedQuery): (slot: number) => CloserLook
}

/** What is ranked. */
export interface ShelfRequest {
  readonly text: AskedText
  /** The parts that the request was split into; empty if it was not. */
  readonly parts: readonly AskedText[]
  readonly category: string | undefined
  /** Whether a term is a word of the language, and not misspelled. */
  isWord(term: string): boolean
  /** Compares words by their meaning; `undefined` if that is not possible. */
  readonly comparison: WordComparison | undefined
}

/** Tools by slot, with an index of their words and names. */
export interface Shelf<Tool extends Searchable> {
  readonly size: number
  readonly postings: Postings
  getSlot(qualified: string): number | undefined
  /** Puts a tool into a slot. Throws if the tool cannot be read; in that case, nothing changes. */
  put(tool: Tool): { readonly slot: number; readonly characters: number }
  /** Removes a tool, so that it is not found anymore. Returns its slot, which must be emptied before anything is ranked. */
  take(qualified: string): number | undefined
  /** Forgets the words of a removed tool, and returns how many there were. */
  empty(slot: number): number
  /** Ranks all tools. None may be added or removed between two steps. */
  rank(request: ShelfRequest): Steps<Found<Tool>>
}

export function createShelf<Tool extends Searchable>(tuning: Tuning): Shelf<Tool> {
  const spellings = createSpellings()
  const postings = createPostings({
    onTerm: (term, isThere) => {
      if (isThere) return spellings.add(term)
      return spellings.remove(term)
    },
  })
  const names = createNameIndex()
  const tools: (Tool | undefined)[] = []
  const actions: number[] = []
  const slotByName = new Map<string, number>()

  const getTool = (slot: number): Tool => {
    const tool = tools[slot]
    if (!tool) throw new Error(`There is no tool in slot ${slot} of a search index.`)
    return tool
  }
  const isBefore = (a: number, b: number): boolean => getTool(a).qualified < getTool(b).qualified
  const sources: Omit<RankingSources, 'isAllowed' | 'vocabulary' | 'comparison'> = {
    postings,
    tuning,
    isBefore,
    actionsAt: (slot) => actions[slot] ?? 0,
  }

  return {
    get size() {
      return slotByName.size
    },
    postings,
    getSlot: (qualified) => slotByName.get(qualified),
    put(tool) {
      const terms = readToolTerms(tool)
      const slot = postings.add(terms.fields)
      actions[slot] = terms.actions
      tools[slot] = tool
      slotByName.set(tool.qualified, slot)
      names.add(slot, terms.nameKeys)
      return { slot, characters: terms.characters }
    },
    take(qualified) {
      const slot = slotByName.get(qualified)
      if (slot === undefined) return undefined
      slotByName.delete(qualified)
      tools[slot] = undefined
      return slot
    },
    empty(slot) {
      const words = postings.wordsIn(slot).length
      names.remove(slot)
      postings.remove(slot)
      return words
    },
    *rank({ text, parts, category, isWord, comparison }) {
      const { spelling, argument, kind } = tuning
      const vocabulary = { postings, spellings, spelling, argument, kind, isWord }
      const all = { ...sources, vocabulary, comparison, isAllowed: createFilter(tools, category) }
      const named = names.findNamed(text.text)
      yield
      const ranking = yield* rankRequest({ ...text, parts, named }, all)
      const isBetter = createOrder(ranking.scores, isBefore)
      return {
        ranking,
        postings,
        getTool,
        getSlot: (qualified) => slotByName.get(qualified),
        takeBest: (limit) => takeBest(ranking.found, limit, isBetter),
        computeScore: (slot) => computeScore(ranking, slot, all),
        createLook: (query) => createCloserLook(query, all),
      }
    },
  }
}

function createFilter(
  tools: readonly (Searchable | undefined)[],
  category: string | undefined,
): (slot: number) => boolean {
  if (category === undefined) return (slot) => tools[slot] !== undefined
  const wanted = category.toLowerCase()
  return (slot) => {
    const tool = tools[slot]
    return tool?.category?.toLowerCase() === wanted || tool?.source?.toLowerCase() === wanted
  }
}

/** What the index keeps of a tool's texts. */
interface ToolTerms {
  /** The stems of each field, in the order of `FIELDS`. */
  readonly fields: readonly (readonly string[])[]
  /** What the tool does, with one bit for each action. */
  readonly actions: number
  readonly nameKeys: ReadonlySet<string>
  /** How long the texts are. */
  readonly characters: number
}

const NAME = FIELDS.indexOf('name')

/** Reads a tool before any part of it is indexed, so that an unreadable tool leaves nothing behind. */
function readToolTerms(tool: Searchable): ToolTerms {
  const texts = getFieldTexts(tool)
  return {
    fields: texts.map((text) => getTerms(text).slice(0, MAX_FIELD_WORDS)),
    actions: getToolActions(texts[NAME] ?? '', tool.description),
    nameKeys: getNameKeys(tool),
    characters: texts.reduce((sum, text) => sum + text.length, 0),
  }
}
