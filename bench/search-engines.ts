import { create, insertMultiple, search } from '@orama/orama'
import MiniSearch from 'minisearch'
import type { Searchable, SearchIndex, SearchIndexOptions } from '../packages/foldout/src/catalog/search/contract.ts'
import type { Encoder } from '../packages/foldout/src/catalog/search/encoder.ts'
import type { Tuning } from '../packages/foldout/src/catalog/search/tuning.ts'
import { buildSearch } from './search-build.ts'
import { createPlainBm25f, getParameters } from './search-bm25f.ts'
import { searchable, type DataTool } from './search-data.ts'

/** Something that ranks tools. */
export interface Contestant {
  readonly name: string
  build(tools: readonly DataTool[]): Promise<Searcher>
}

/** Names of tools, best first. */
export type Searcher = (query: string, limit: number) => Promise<readonly string[]>

export const FOLDOUT = 'foldout'
export const BM25F = 'bm25f'
/** Foldout with an encoder beside the words. */
export const ENCODED = 'foldout+encoder'

const { createSearchIndex, createEngine, computeConfidence, getFeatures, isJudgedByWords, FEATURES, TUNING } =
  await buildSearch()

export { computeConfidence, createEngine, FEATURES, getFeatures, isJudgedByWords, TUNING }

export function createIndex(tuning: Partial<Tuning> = {}, options: SearchIndexOptions = {}): SearchIndex<Searchable> {
  return createSearchIndex({ ...options, tuning: { ...TUNING, ...tuning } })
}

export const foldout: Contestant = {
  name: FOLDOUT,
  async build(tools) {
    const index = createIndex()
    for (const tool of tools) index.add(searchable(tool))
    // The first search loads the word vectors and computes the tools' vectors, which counts as building.
    await index.search('anything')
    return async (query, limit) => (await index.search(query, { limit })).hits.map(({ tool }) => tool.qualified)
  },
}

/** The same with an encoder. Building includes the tools' vectors, unless they are cached. */
export function createEncodedContestant(embed: Encoder): Contestant {
  return {
    name: ENCODED,
    async build(tools) {
      const index = createIndex({}, { embed })
      for (const tool of tools) index.add(searchable(tool))
      const { meaning, withoutEncoder } = await index.ready()
      if (meaning !== 'encoder') throw new Error(`The encoder does not take part: ${withoutEncoder}`)
      return async (query, limit) => (await index.search(query, { limit })).hits.map(({ tool }) => tool.qualified)
    },
  }
}

const plainBm25f: Contestant = {
  name: BM25F,
  build: async (tools) => {
    const ranked = createPlainBm25f(tools)
    return async (query, limit) => ranked(query, limit)
  },
}

function getText({ name, description = '', category = '', tags = [], inputSchema }: DataTool) {
  return { name, description, category, tags: tags.join(' '), parameters: getParameters(inputSchema).join(' ') }
}

const FIELDS = ['name', 'description', 'category', 'tags', 'parameters']

const minisearch: Contestant = {
  name: 'minisearch',
  build: async (tools) => {
    const index = new MiniSearch({ fields: FIELDS, searchOptions: { boost: { name: 3, tags: 1.5, category: 1.5 } } })
    index.addAll(tools.map((tool, id) => ({ id, ...getText(tool) })))
    return async (query, limit) =>
      index
        .search(query)
        .slice(0, limit)
        .map(({ id }) => tools[id as number]!.name)
  },
}

const orama: Contestant = {
  name: 'orama',
  build: async (tools) => {
    const database = create({
      schema: { name: 'string', description: 'string', category: 'string', tags: 'string', parameters: 'string' },
    })
    await insertMultiple(database, tools.map(getText))
    return async (query, limit) => {
      const { hits } = await search(database, { term: query, limit, boost: { name: 3, tags: 1.5, category: 1.5 } })
      return hits.map(({ document }) => document.name)
    }
  },
}

/** Looks for the whole query in name, description or tags, as the first drafts of such servers do. */
const substring: Contestant = {
  name: 'substring',
  build: async (tools) => {
    const texts = tools.map(({ name, description = '', tags = [] }) =>
      `${name} ${description} ${tags.join(' ')}`.toLowerCase(),
    )
    return async (query, limit) =>
      tools
        .filter((_, i) => texts[i]!.includes(query.toLowerCase()))
        .slice(0, limit)
        .map(({ name }) => name)
  },
}

export const CONTESTANTS: readonly Contestant[] = [foldout, plainBm25f, minisearch, orama, substring]
