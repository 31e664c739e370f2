import type { ErrorCode } from '../../core/errors.ts'
import type { JsonSchema } from '../../core/schema/schema.ts'
import type { Embed, Encoder } from './encoder.ts'

/**
 * What a search reads of a tool. Every entry of a catalog has it.
 *
 * @example
 * ```ts
 * const describe = ({ name, description }: Searchable) => `${name}: ${description}`
 * ```
 */
export interface Searchable {
  /** The name that models see: short if that is unique, and valid for every provider. It depends on the catalog's other tools. */
  readonly name: string
  /** `source/name`, or only the name if there is no source. It never changes, no matter which tools the catalog has. */
  readonly qualified: string
  /** The name that the source declares and is called with. */
  readonly declared: string
  readonly source: string | undefined
  readonly title: string | undefined
  /** The description; empty if the definition has none. */
  readonly description: string
  readonly category: string | undefined
  readonly tags: readonly string[]
  readonly inputSchema: JsonSchema
}

/**
 * Where a search looks, and how many tools it returns.
 *
 * @example
 * ```ts
 * await catalog.search('turn the heating down', { category: 'home', limit: 3 })
 * ```
 */
export interface SearchOptions {
  /** Only tools of this category or source. Case does not matter. */
  readonly category?: string
  /** The maximum number of hits. Default 5. */
  readonly limit?: number
}

/**
 * Explains why a tool was found: how much each word of the query added to its score, and in which fields it was found.
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
    /** The word in the query. */
    readonly word: string
    /** The tool's word that matched. */
    readonly matched: string
    readonly fields: readonly SearchField[]
    readonly score: number
    /**
     * The same stem, the nearest spelling of a word that matched nothing, a part of it or two words as one (`worldbank`), another
     * word for the same action, what a value is (`#general` a channel), or the word of the tool that means most nearly the same.
     */
    readonly how: 'stem' | 'spelling' | 'part' | 'action' | 'kind' | 'meaning'
  }[]
  /** How much nearness of meaning added to the score. */
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
 * How well the hits of a search fit: `good`, `weak` if they are only guesses, or `none` if nothing is near the query, and
 * there are no hits.
 *
 * @example
 * ```ts
 * const isSure = (fit: SearchFit) => fit === 'good'
 * ```
 */
export type SearchFit = 'good' | 'weak' | 'none'

/**
 * What a search found.
 *
 * @example
 * ```ts
 * const { hits, fit, nearestCategories } = await catalog.search('turn the heating down')
 * if (fit === 'weak') console.log(`Nothing fits well. Perhaps ${hits.map(({ tool }) => tool.name).join(' or ')}?`)
 * if (fit === 'none') console.log(`Nothing fits. Try ${nearestCategories.join(', ')}.`)
 * ```
 */
export interface SearchOutcome<Tool extends Searchable = Searchable> {
  /** The best hit first. */
  readonly hits: readonly Hit<Tool>[]
  /** How well the hits fit. */
  readonly fit: SearchFit
  /** The next few tools after the hits, best first. */
  readonly alsoNear: readonly Tool[]
  /** The parts into which the request was split; one if it was not. */
  readonly parts: readonly string[]
  /** Those of several parts that no tool fits well. */
  readonly unanswered: readonly string[]
  /** How likely the first hit answers the query, from 0 to 1. */
  readonly confidence: number
  /** The categories of the nearest tools, if nothing fits well. */
  readonly nearestCategories: readonly string[]
  /** How many characters at the end of the query were not read, because it is too long; 0 for nearly every query. */
  readonly ignoredCharacters: number
  /** How nearness of meaning was found: with the encoder of the catalog, with the word vectors of the package, or not at all. */
  readonly meaning: MeaningKind
  /** Why the encoder of the catalog did not take part, or not for all tools; `undefined` if it did, or there is none. */
  readonly withoutEncoder: string | undefined
}

/**
 * How a search found out which tools are near in meaning.
 *
 * @example
 * ```ts
 * const { meaning } = await catalog.search('turn the heating down')
 * const isBest = meaning === 'encoder'
 * ```
 */
export type MeaningKind = 'encoder' | 'word-vectors' | 'none'

/**
 * How a catalog can be searched now.
 *
 * @example
 * ```ts
 * const { meaning, withoutEncoder } = await catalog.ready()
 * if (withoutEncoder !== undefined) console.warn(withoutEncoder)
 * ```
 */
export type SearchReadiness = Pick<SearchOutcome, 'meaning' | 'withoutEncoder'>

/** A problem that a person should know about, but that does not stop a search. */
export interface SearchProblem {
  readonly message: string
  /** The qualified name of the tool, if the problem concerns a single one. */
  readonly tool: string | undefined
  /** The code of the error, if an encoder or a cache of vectors failed. */
  readonly code?: ErrorCode
}

/**
 * How a search finds tools that are near in meaning.
 *
 * @example
 * ```ts
 * createCatalog(tools, { embed: myModel.embed })
 * ```
 */
export interface SearchIndexOptions {
  /**
   * `word-vectors` is the small table that comes with the package (`foldout/word-vectors`), loaded when it is first needed. An
   * encoder, such as that of `foldout/minilm`, or a function of yours joins it: tools are embedded in the background from the
   * first search on, or from `ready()` on, those that searches find first, and searches use what is there. `false` compares only words. Default
   * `word-vectors`.
   */
  readonly embed?: 'word-vectors' | false | Embed | Encoder
}

/** An index of tools. Tools are indexed in the background, and a search waits until that is done. */
export interface SearchIndex<Tool extends Searchable = Searchable> {
  readonly size: number
  add(tool: Tool): void
  /** Removes a tool by its qualified name. Returns whether it existed. */
  remove(qualified: string): boolean
  /** Begins with the preparation that the index was created with, ahead of the first search. */
  wake(): void
  /** Resolves when everything that was added is indexed, and embedded if there is an encoder that works. */
  ready(): Promise<SearchReadiness>
  search(query: string, options?: SearchOptions): Promise<SearchOutcome<Tool>>
  /** Explains how a tool scores for a query, whether or not a search would find it. */
  explain(query: string, qualified: string): Promise<Explanation | undefined>
}
