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
}

/** Texts to vectors, one for each, of any one length. */
export type Embed = (texts: readonly string[]) => Promise<readonly (readonly number[] | Float32Array)[]>

export interface SearchIndexOptions {
  /**
   * How nearness of meaning is found: `bundled` is a small table of word vectors that comes with the package; a function is
   * your own embedding model; `none` leaves it at words. Default `bundled`.
   */
  readonly meaning?: 'bundled' | 'none' | Embed
}

/** Tools that can be searched. Adding or removing one costs what that one costs. */
export interface SearchIndex<Tool extends Searchable = Searchable> {
  readonly size: number
  add(tool: Tool): void
  /** Whether there was one of that qualified name. */
  remove(qualified: string): boolean
  search(query: string, options?: SearchOptions): Promise<SearchOutcome<Tool>>
  /** How one tool fares for a query, found or not. */
  explain(query: string, qualified: string): Promise<Explanation | undefined>
}
