import type { Embed, Searchable } from './contract.ts'
import { actionsOfTool } from './text/actions.ts'
import { takeBest } from './lexical/best.ts'
import { createEmbeddedMeaning } from './vectors/embedded-meaning.ts'
import { createWordMeaning, type Meaning } from './vectors/meaning.ts'
import { createNameIndex } from './lexical/named.ts'
import { getParts } from './text/parts.ts'
import { createPostings, type Postings } from './lexical/postings.ts'
import { rankRequest, computeScore, type Ranking, type RankingSources, type Score } from './ranking.ts'
import { createSpellings } from './lexical/spelling.ts'
import { FIELDS, getFieldTexts } from './text/tool-text.ts'
import type { Tuning } from './tuning.ts'
import { loadWordVectors } from './vectors/vectors.ts'
import { getTerms } from './text/words.ts'

const NAME = FIELDS.indexOf('name')

/** One search, and what can be asked about it until something waits. */
export interface Found<Tool extends Searchable> {
  readonly ranking: Ranking
  readonly postings: Postings
  /** By what nearness of meaning was found. */
  readonly meaning: 'bundled' | 'none' | 'own'
  toolAt(slot: number): Tool
  getSlot(qualified: string): number | undefined
  /** The best so many slots, best first. */
  best(limit: number): readonly number[]
  computeScore(slot: number): Score
}

/** Tools by slot, with all that is known of their words, names and meaning. */
export interface Engine<Tool extends Searchable> {
  readonly size: number
  add(tool: Tool): void
  remove(qualified: string): boolean
  find(query: string, category?: string): Promise<Found<Tool>>
}

export function createEngine<Tool extends Searchable>(
  meaningOption: 'bundled' | 'none' | Embed,
  tuning: Tuning,
): Engine<Tool> {
  const spellings = createSpellings()
  const postings = createPostings({
    onTerm: (term, isThere) => (isThere ? spellings.add(term) : spellings.remove(term)),
  })
  const vocabulary = { postings, spellings, spelling: tuning.spelling }
  const names = createNameIndex()
  const tools: (Tool | undefined)[] = []
  const actions: number[] = []
  const slotByName = new Map<string, number>()
  const meaning = createMeaning(meaningOption, postings)
  const isBefore = (a: number, b: number) => tools[a]!.qualified < tools[b]!.qualified

  const remove = (qualified: string): boolean => {
    const slot = slotByName.get(qualified)
    if (slot === undefined) return false
    names.remove(slot, tools[slot]!)
    postings.remove(slot)
    meaning?.remove(slot)
    tools[slot] = undefined
    slotByName.delete(qualified)
    return true
  }

  const filterFor = (category: string | undefined): ((slot: number) => boolean) => {
    if (category === undefined) return (slot) => tools[slot] !== undefined
    const wanted = category.toLowerCase()
    return (slot) => {
      const tool = tools[slot]
      return tool?.category?.toLowerCase() === wanted || tool?.source?.toLowerCase() === wanted
    }
  }

  return {
    get size() {
      return slotByName.size
    },
    add(tool) {
      remove(tool.qualified)
      const texts = getFieldTexts(tool)
      const slot = postings.add(texts.map(getTerms))
      actions[slot] = actionsOfTool(texts[NAME]!, tool.description)
      tools[slot] = tool
      slotByName.set(tool.qualified, slot)
      names.add(slot, tool)
      meaning?.add(slot, tool)
    },
    remove,
    async find(query, category) {
      const parts = getParts(query)
      const texts = parts.length > 1 ? [query, ...parts] : [query]
      const vectors = (await meaning?.computeVectors(texts)) ?? []
      // From here on nothing waits, so that no tool comes or goes while it is looked at.
      const [whole, ...rest] = texts.map((text, i) => ({
        text,
        cosineAt: vectors[i] && (i === 0 ? meaning?.allCosinesWith(vectors[i]) : meaning?.cosinesWith(vectors[i])),
      }))
      const sources: RankingSources = {
        postings,
        vocabulary,
        tuning,
        isBefore,
        isAllowed: filterFor(category),
        actionsAt: (slot) => actions[slot]!,
      }
      const request = { ...whole!, parts: rest, named: names.namedIn(query) }
      const ranking = rankRequest(request, sources)
      const { scores, found } = ranking
      const isBetter = (a: number, b: number) => scores[a]! > scores[b]! || (scores[a] === scores[b] && isBefore(a, b))
      return {
        ranking,
        postings,
        meaning: typeof meaningOption === 'function' ? 'own' : meaningOption,
        toolAt: (slot) => tools[slot]!,
        getSlot: (qualified) => slotByName.get(qualified),
        best: (limit) => takeBest(found, limit, isBetter),
        computeScore: (slot) => computeScore(ranking, slot, sources),
      }
    },
  }
}

function createMeaning(option: 'bundled' | 'none' | Embed, postings: Postings): Meaning | undefined {
  if (option === 'none') return undefined
  return option === 'bundled' ? createWordMeaning(postings, loadWordVectors) : createEmbeddedMeaning(option)
}
