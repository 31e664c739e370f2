import type { ApprovalNeed } from '../tools/tool.ts'
import type { ApprovalOptions } from './approval.ts'
import type { CatalogEvent } from './events.ts'
import type { LearnedOutput } from './learned-output.ts'
import type {
  Explanation,
  SearchIndexOptions,
  SearchOptions,
  SearchOutcome,
  SearchReadiness,
} from './search/contract.ts'
import type { BrokenTool, CallContext, CallResult, CatalogEntry, CatalogInput, ToolMetadata } from './tool.ts'
import type { UnknownTool } from './unknown-tool.ts'

/**
 * Options of a catalog: how it is filled and called.
 *
 * @example
 * ```ts
 * const options: CatalogOptions = {
 *   metadata: { list_rooms: { category: 'home', core: true } },
 *   sources: { home: 'Lights, heating and doors.' },
 *   approve: ({ entry }) => entry.annotations?.destructiveHint !== true,
 * }
 * const catalog = createCatalog(tools, options)
 * ```
 */
export interface CatalogOptions extends SearchIndexOptions, ApprovalOptions {
  /** Additional information about tools, by name or by `source/name`. */
  readonly metadata?: Readonly<Record<string, ToolMetadata>>
  /** What each source is for, in a few words that the model reads. */
  readonly sources?: Readonly<Record<string, string>>
  /**
   * What `learnOutputs` has learned about tools without an output schema, by qualified name. Models that write programs
   * read it; MCP clients do not. A result that does not fit is reported with `output/unexpected`, and passed on unchanged.
   */
  readonly outputs?: Readonly<Record<string, LearnedOutput>>
  /**
   * When the search index is created: `ahead`, in pauses of the program, so the first search is quick; or by the first
   * `search`, which saves about 25 MB in a program that rarely searches. Default `ahead`.
   */
  readonly index?: 'ahead' | 'search'
}

/**
 * A source of tools, such as an MCP server.
 *
 * @example
 * ```ts
 * const [home] = createCatalog(tools, { sources: { home: 'Lights and heating.' } }).sources
 * home // => { name: 'home', description: 'Lights and heating.', tools: 1 }
 * ```
 */
export interface CatalogSource {
  readonly name: string
  readonly description: string | undefined
  readonly tools: number
}

/**
 * A set of tools from any source. A catalog is listed, searched and called.
 *
 * @example
 * ```ts
 * const catalog: Catalog = createCatalog([sendMail, setLight])
 * catalog.tools.map(({ name }) => name) // => [ 'send_mail', 'set_light' ]
 * const { hits } = await catalog.search('write to Ada')
 * const { content } = await catalog.call('send_mail', { to: 'ada@example.com' })
 * ```
 */
export interface Catalog {
  /** All tools, sorted by name. */
  readonly tools: readonly CatalogEntry[]
  /** Definitions that cannot be used, each with the reason. */
  readonly broken: readonly BrokenTool[]
  /** The sources of the tools, sorted by name. */
  readonly sources: readonly CatalogSource[]
  /** The categories of the tools, sorted by name. */
  readonly categories: readonly string[]
  /**
   * Finds a tool by the name that models see, by its qualified name, or by the name that its source declares if no other source
   * declares the same.
   */
  resolve(name: string): CatalogEntry | UnknownTool
  /** Finds the tools that fit a request best. There are no hits if nothing fits. */
  search(query: string, options?: SearchOptions): Promise<SearchOutcome<CatalogEntry>>
  /**
   * Resolves when every tool is indexed, and embedded if the catalog has an encoder that works. Searches do not have to
   * wait for it: until then, they run without the encoder, and say so.
   */
  ready(): Promise<SearchReadiness>
  /** Explains how a tool scores for a query, whether or not a search would find it; `undefined` if there is no such tool. */
  explain(query: string, name: string): Promise<Explanation | undefined>
  /** Checks the arguments and runs the tool. A failure is a result with `isError`; only an abort rejects. */
  call(name: string, args: unknown, context?: CallContext): Promise<CallResult>
  /** Whether a person has to approve a call before it runs. */
  findApprovalNeed(name: string, args: unknown, context?: CallContext): Promise<ApprovalNeed>
  /** Adds tools. If a tool already exists, it is kept, and the new one is listed in `broken`. */
  add(tools: readonly CatalogInput[]): void
  /** Removes a tool, by the name that models see or by its qualified name. Returns whether it existed. */
  remove(name: string): boolean
  /** Replaces all tools of a source, and its description if one is given. */
  replace(source: string, tools: readonly CatalogInput[], about?: { readonly description?: string }): void
  /** Calls a listener for every event. Returns a function that stops it. */
  subscribe(listener: (event: CatalogEvent) => void): () => void
  /** Passes an event to all listeners. Exposures use it. */
  report(event: CatalogEvent): void
}
