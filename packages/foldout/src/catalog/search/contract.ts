import type { CatalogEntry } from '../tool.ts'

/**
 * What a search looks at. Every entry of a catalog is one.
 *
 * @example
 * ```ts
 * const describe = ({ name, description }: Searchable) => `${name}: ${description}`
 * ```
 */
export type Searchable = Pick<
  CatalogEntry,
  'name' | 'qualified' | 'declared' | 'source' | 'title' | 'description' | 'category' | 'tags' | 'inputSchema'
>

/**
 * Where a search looks, and how much it finds.
 *
 * @example
 * ```ts
 * await catalog.search('turn the heating down', { category: 'home', limit: 3 })
 * ```
 */
export interface SearchOptions {
  /** Only tools of this category (or source), whatever its case. */
  readonly category?: string
  /** How many hits there are at most. Default 5. */
  readonly limit?: number
}

/**
 * Why a tool was found: what each word of the query added to its score, and in which fields it was found.
 *
 * @example
 * ```ts
 * const explanation = await catalog.explain('turn the heating down', 'set_light')
 * explanation?.words.map(({ word, matched, score }) => `${word} ~ ${matched}: ${score}`)
 * ```
 */
export interface Explanation {
  readonly score: number
  readonly words: readonly {
    /** As the query has it. */
    readonly word: string
    /** The tool's word that matched. */
    readonly matched: string
    readonly fields: readonly SearchField[]
    readonly score: number
    /** The same stem, the nearest spelling of a word that matched nothing, or another word for the same action. */
    readonly how: 'stem' | 'spelling' | 'action'
  }[]
  /** What nearness of meaning added. */
  readonly meaning: number
  /** Whether the query names the tool. */
  readonly named: boolean
}

/**
 * A part of a tool in which a word can be found.
 *
 * @example
 * ```ts
 * const isInName = explanation.words.some(({ fields }) => fields.includes('name'))
 * ```
 */
export type SearchField = 'name' | 'source' | 'description' | 'tags' | 'category' | 'parameters'

/**
 * A tool that a search found.
 *
 * @example
 * ```ts
 * const { hits } = await catalog.search('turn the heating down')
 * hits.map(({ tool, score }) => `${tool.name}: ${score}`)
 * ```
 */
export interface Hit<Tool extends Searchable = Searchable> {
  readonly tool: Tool
  /** Comparable within one search only. */
  readonly score: number
  /** Which part of a request with several parts it answers, from 0. */
  readonly part: number
  explain(): Explanation
}

/**
 * What a search found.
 *
 * @example
 * ```ts
 * const { hits, more, nearestCategories } = await catalog.search('turn the heating down')
 * if (hits.length === 0) console.log(`Nothing fits. Try ${nearestCategories.join(', ')}.`)
 * ```
 */
export interface SearchOutcome<Tool extends Searchable = Searchable> {
  /** Best first. Empty where nothing fits. */
  readonly hits: readonly Hit<Tool>[]
  /** Tools that fit as well and were left off for the limit. */
  readonly more: number
  /** The parts into which the request was split; one if it was not. */
  readonly parts: readonly string[]
  /** From 0 to 1: how sure it is that the first hit answers the query. Below the threshold there are no hits. */
  readonly confidence: number
  /** Categories whose tools come nearest, for a query that nothing answers. */
  readonly nearestCategories: readonly string[]
  /** How many characters at the end of the query were not read, because it is too long; 0 for nearly every query. */
  readonly ignoredCharacters: number
}

/**
 * An embedding model: makes a vector of each text, all of one length.
 *
 * @example
 * ```ts
 * const embed: Embed = async (input) => {
 *   const { data } = await openai.embeddings.create({ model: 'text-embedding-3-small', input: [...input] })
 *   return data.map(({ embedding }) => embedding)
 * }
 * ```
 */
export type Embed = (texts: readonly string[]) => Promise<readonly (readonly number[] | Float32Array)[]>

/** Something that a person should know about a search, and that does not stop it. */
export interface SearchProblem {
  readonly message: string
  /** The qualified name of the tool that it concerns, if it is one tool. */
  readonly tool: string | undefined
}

/**
 * How a search finds what is near in meaning.
 *
 * @example
 * ```ts
 * createCatalog(tools, { embed: async (texts) => myModel.embed(texts) })
 * ```
 */
export interface SearchIndexOptions {
  /**
   * `word-vectors` is the small table of the package's own (`foldout/word-vectors`), loaded when it is first needed; a
   * function is your own embedding model, asked when something is searched; `false` compares words alone. Default
   * `word-vectors`.
   */
  readonly embed?: 'word-vectors' | false | Embed
}

/** Tools that can be searched. They are indexed in the background; a search waits for that. */
export interface SearchIndex<Tool extends Searchable = Searchable> {
  readonly size: number
  add(tool: Tool): void
  /** Whether there was one of that qualified name. */
  remove(qualified: string): boolean
  /** Resolves when everything that was added is indexed. */
  ready(): Promise<void>
  search(query: string, options?: SearchOptions): Promise<SearchOutcome<Tool>>
  /** How one tool fares for a query, found or not. */
  explain(query: string, qualified: string): Promise<Explanation | undefined>
}
