import type { Embed, Encoder } from '../catalog/search/encoder.ts'
import type { Searchable, SearchFit } from '../catalog/search/contract.ts'
import { createSearchIndex } from '../catalog/search/engine/search-index.ts'
import type { SectionText } from './section-text.ts'

/** How nearness of meaning is found. */
export type Embedding = 'word-vectors' | false | Embed | Encoder

/** A section that a search found. */
export interface SectionHit {
  readonly path: string
  /** Comparable within one search only. */
  readonly score: number
}

export interface SectionSearch {
  readonly limit: number
  /** Whether a section may be found. Default: every one. */
  accepts?(path: string): boolean
}

/** The sections of a prompt, to be searched by what they say. */
export interface SectionIndex {
  /** Waits until every section is indexed. An encoder takes part when it has read all of them. */
  search(
    query: string,
    options: SectionSearch,
  ): Promise<{ readonly hits: readonly SectionHit[]; readonly fit: SearchFit }>
}

const indexes = new WeakMap<readonly SectionText[], Map<unknown, SectionIndex>>()

/** Returns the index of a prompt's sections. It is made once for each list and kind of embedding. */
export function getSectionIndex(texts: readonly SectionText[], embed: Embedding = 'word-vectors'): SectionIndex {
  const known = indexes.get(texts) ?? new Map<unknown, SectionIndex>()
  indexes.set(texts, known)
  const index = known.get(embed) ?? createSectionIndex(texts, embed)
  known.set(embed, index)
  return index
}

/** More hits than asked for are looked at, because several passages may be of one section. */
const PASSAGES_PER_HIT = 8

function createSectionIndex(texts: readonly SectionText[], embed: Embedding): SectionIndex {
  const index = createSearchIndex<Passage>({ embed })
  for (const text of texts) for (const passage of toEntries(text)) index.add(passage)
  return {
    async search(query, { limit, accepts = () => true }) {
      if (!/[\p{L}\p{N}]/u.test(query)) return { hits: [], fit: 'none' }
      const outcome = await index.search(query, { limit: index.size > limit ? limit * PASSAGES_PER_HIT : limit })
      const scores = new Map<string, number>()
      for (const { tool, score } of outcome.hits) if (!scores.has(tool.declared)) scores.set(tool.declared, score)
      const hits = [...scores].map(([path, score]) => ({ path, score })).filter(({ path }) => accepts(path))
      return { hits: hits.slice(0, limit), fit: outcome.fit }
    },
  }
}

/** A part of a section; `declared` is the section's path. */
type Passage = Searchable

function toEntries({ path, title, summary, body, tools }: SectionText): readonly Passage[] {
  const passages = toPassages([summary, body].filter((text) => text !== undefined && text !== '').join('\n\n'))
  return passages.map((description, at) => ({
    name: title,
    qualified: `${path}#${at}`,
    declared: path,
    source: undefined,
    title,
    description,
    category: undefined,
    tags: tools.map(({ name }) => name),
    inputSchema: {},
  }))
}

/** How many characters of a section are searched as one text. */
const MAX_PASSAGE = 6_000

/** Splits a long text at blank lines, so all of it can be found. A text without content is one empty passage. */
function toPassages(text: string): readonly string[] {
  if (text.length <= MAX_PASSAGE) return [text]
  const passages: string[] = []
  let from = 0
  while (text.length - from > MAX_PASSAGE) {
    const blank = text.lastIndexOf('\n\n', from + MAX_PASSAGE)
    const to = blank > from ? blank : from + MAX_PASSAGE
    passages.push(text.slice(from, to))
    from = to
  }
  return [...passages, text.slice(from)]
}
