import type { CatalogEntry } from '../tool.ts'

/** What a search looks at. Every entry of a catalog is one. */
export type Searchable = Pick<
  CatalogEntry,
  'name' | 'qualified' | 'declared' | 'source' | 'title' | 'description' | 'category' | 'tags' | 'inputSchema'
>

export interface SearchOptions {
  /** Only tools of this category (or source), whatever its case. */
  readonly category?: string
  /** At most so many hits. Default 5. */
  readonly limit?: number
}

/** Why a tool was found: what each word of the query gave, and where it stood. */
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

export type SearchField = 'name' | 'source' | 'description' | 'tags' | 'category' | 'parameters'

export interface Hit<Tool extends Searchable = Searchable> {
  readonly tool: Tool
  /** Comparable within one search only. */
  readonly score: number
  /** Which part of a request with several parts it answers, from 0. */
  readonly part: number
  explain(): Explanation
}

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

/** Texts to vectors, one for each, of any one length. */
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
 * createCatalog(tools, { embed: async (texts) => myModel.embed(texts) })
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
