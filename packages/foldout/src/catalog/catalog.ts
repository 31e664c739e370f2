import { untilAborted } from '../core/abort.ts'
import { FoldoutError, getErrorMessage } from '../core/errors.ts'
import { isPlainObject } from '../core/json/json.ts'
import { namedSome, nearest, shortened } from '../core/text.ts'
import { createSession, type Session } from '../session/session.ts'
import { argumentsFault, readArguments } from './arguments.ts'
import { failure, isBroken, readResult, readTool, type Candidate, type CandidateOptions } from './entry.ts'
import type { CatalogEvent } from './events.ts'
import { createNameTable } from './names.ts'
import type { EntryCall } from './exposures/exposure.ts'
import { MAX_QUERY_CHARACTERS } from './search/limits.ts'
import { createSearchIndex } from './search/search-index.ts'
import { readQuery } from './search/text/read-query.ts'
import type { Explanation, SearchIndex, SearchIndexOptions, SearchOptions, SearchOutcome } from './search/contract.ts'
import type { BrokenTool, CallContext, CallResult, CatalogEntry, CatalogInput, ToolMetadata } from './tool.ts'

export interface CatalogOptions extends SearchIndexOptions {
  /** What is known of tools beside their definitions, by name or by `source/name`. */
  readonly metadata?: Readonly<Record<string, ToolMetadata>>
  /** What each source is for, in a few words that the model reads. */
  readonly sources?: Readonly<Record<string, string>>
  /**
   * Asked before each call, with the tool that runs in the end, whatever it is called through: `true` lets it run, a text
   * refuses it and is what the model reads.
   */
  readonly approve?: (call: EntryCall, context: CallContext) => Approval | Promise<Approval>
}

/** Whether a call may run, or why not. */
export type Approval = boolean | string

export interface CatalogSource {
  readonly name: string
  readonly description: string | undefined
  readonly tools: number
}

/** Tools from anywhere, to be searched and called. */
export interface Catalog {
  /** By name. */
  readonly tools: readonly CatalogEntry[]
  /** Definitions that no tool could be made of, each with its reason. */
  readonly broken: readonly BrokenTool[]
  /** What the tools come from, by name. */
  readonly sources: readonly CatalogSource[]
  /** By name. */
  readonly categories: readonly string[]
  /** The tool of a name: as models see it, qualified, or as its source declares it where only one does. */
  resolve(name: string): CatalogEntry | UnknownTool
  /** The tools that fit a request best, or none where nothing fits. */
  search(query: string, options?: SearchOptions): Promise<SearchOutcome<CatalogEntry>>
  /** How a tool fares for a query, offered or not; nothing if there is no such tool. */
  explain(query: string, name: string): Promise<Explanation | undefined>
  /** Checks the arguments and runs the tool. Whatever goes wrong is an answer with `isError`; only an abort rejects. */
  call(name: string, args: unknown, context?: CallContext): Promise<CallResult>
  /** Takes tools in. A tool that is there already stays, and the new one is listed as broken. */
  add(tools: readonly CatalogInput[]): void
  /** Lets a tool go, by the name that models see or by its qualified name. Whether there was one. */
  remove(name: string): boolean
  /** Makes these the tools of a source, in place of all it had. */
  replace(source: string, tools: readonly CatalogInput[]): void
  subscribe(listener: (event: CatalogEvent) => void): () => void
  /** Tells those who listen, in exposures and the like. */
  report(event: CatalogEvent): void
}

export interface UnknownTool {
  readonly unknown: string
  /** The names that come nearest, or those that all fit. */
  readonly near: readonly string[]
  readonly isAmbiguous: boolean
}

export function isUnknown(found: CatalogEntry | UnknownTool): found is UnknownTool {
  return 'unknown' in found
}

/** How many outcomes of searches are kept. */
const CACHED_SEARCHES = 200

export function createCatalog(tools: readonly CatalogInput[], options: CatalogOptions = {}): Catalog {
  return new LiveCatalog(tools, options)
}

class LiveCatalog implements Catalog {
  readonly #options: CatalogOptions
  readonly #reading: CandidateOptions
  readonly #candidates = new Map<string, Candidate>()
  /** Each tool under the name that it has now, by qualified name as everything here. */
  readonly #entries = new Map<string, CatalogEntry>()
  readonly #names = createNameTable()
  readonly #byName = new Map<string, string>()
  /** Qualified names by the name with case and separators left out. */
  readonly #byLooseName = new Map<string, Set<string>>()
  #broken: readonly BrokenTool[] = []
  readonly #listeners = new Set<(event: CatalogEvent) => void>()
  readonly #searches = new Map<string, Promise<SearchOutcome<CatalogEntry>>>()
  /** Filled in the background, so that the first search need not wait for all of it. */
  readonly #index: SearchIndex<CatalogEntry>
  // What follows is worked out when first asked for.
  #session: Session | undefined
  #sorted: readonly CatalogEntry[] | undefined
  #sources: readonly CatalogSource[] | undefined
  #categories: readonly string[] | undefined

  constructor(tools: readonly CatalogInput[], options: CatalogOptions) {
    this.#options = options
    this.#index = createSearchIndex<CatalogEntry>({
      ...(options.embed === undefined ? {} : { embed: options.embed }),
      onProblem: (problem) => this.report({ type: 'search/problem', ...problem }),
    })
    this.#reading = {
      metadata: (declared, qualified) => this.#metadata(declared, qualified),
      session: () => (this.#session ??= createSession()),
    }
    this.#take(tools)
  }

  get tools(): readonly CatalogEntry[] {
    this.#sorted ??= Object.freeze([...this.#entries.values()].sort(byName))
    return this.#sorted
  }

  get broken(): readonly BrokenTool[] {
    return this.#broken
  }

  get sources(): readonly CatalogSource[] {
    return (this.#sources ??= Object.freeze(this.#countSources()))
  }

  get categories(): readonly string[] {
    this.#categories ??= Object.freeze(
      [...new Set(this.tools.flatMap(({ category }) => (category === undefined ? [] : [category])))].sort(),
    )
    return this.#categories
  }

  resolve(name: string): CatalogEntry | UnknownTool {
    const exact = this.#named(name)
    if (exact) return exact
    const alike = Array.from(this.#byLooseName.get(looseName(name)) ?? [], (known) => this.#entries.get(known)!)
    const declared = alike.filter((entry) => entry.declared === name)
    const meant = declared.length > 0 ? declared : alike
    if (meant.length === 1) return meant[0]!
    if (meant.length > 1) return { unknown: name, near: meant.map((entry) => entry.name).sort(), isAmbiguous: true }
    const { tools } = this
    return {
      unknown: name,
      // Worked out only for those who read it.
      get near() {
        return nearest(
          name,
          tools.map((entry) => entry.name),
        )
      },
      isAmbiguous: false,
    }
  }

  async search(query: string, options: SearchOptions = {}): Promise<SearchOutcome<CatalogEntry>> {
    if (query.trim() === '')
      throw new FoldoutError('search-empty', 'A search needs words: say what you want to do, or a tool by its name.')
    const key = getSearchKey(query, options)
    const known = this.#searches.get(key)
    if (known) return known
    const outcome = this.#index.search(query, options)
    if (this.#searches.size >= CACHED_SEARCHES) this.#searches.delete(this.#searches.keys().next().value!)
    this.#searches.set(key, outcome)
    // A search that failed, such as in an embedding function, is worth another try.
    outcome.catch(() => this.#searches.delete(key))
    return outcome
  }

  async explain(query: string, name: string): Promise<Explanation | undefined> {
    const found = this.resolve(name)
    return isUnknown(found) ? undefined : this.#index.explain(query, found.qualified)
  }

  call(name: string, args: unknown, context: CallContext = {}): Promise<CallResult> {
    return untilAborted(context.signal, () => this.#call(name, args, context))
  }

  async #call(name: string, args: unknown, context: CallContext): Promise<CallResult> {
    const found = this.resolve(name)
    if (isUnknown(found)) return failure(unknownToolMessage(found))
    const candidate = this.#candidates.get(found.qualified)!
    if (!candidate.call) return failure(`Tool '${found.name}' cannot be run here: only its definition is known.`)
    const read = readArguments(args)
    if ('fault' in read) return failure(`Wrong arguments for tool '${found.name}': ${read.fault}. Nothing was run.`)
    const issues = await candidate.validate(read.args)
    if (issues.length > 0) return failure(argumentsFault(found, issues))
    context.signal?.throwIfAborted()
    try {
      const approval = await (this.#options.approve?.({ entry: found, arguments: read.args }, context) ?? true)
      if (approval !== true) return failure(approval || `Tool '${found.name}' was not approved. Nothing was run.`)
      context.signal?.throwIfAborted()
      return readResult(found.name, await candidate.call(read.args, context))
    } catch (error) {
      if (context.signal?.aborted) throw error
      return failure(`Tool '${found.name}' failed: ${getErrorMessage(error)}`)
    }
  }

  add(tools: readonly CatalogInput[]): void {
    this.#take(tools)
    this.#changed()
  }

  remove(name: string): boolean {
    const found = this.#named(name)
    if (!found) return false
    this.#drop(found)
    this.#changed()
    return true
  }

  replace(source: string, tools: readonly CatalogInput[]): void {
    for (const entry of this.#entries.values()) if (entry.source === source) this.#drop(entry)
    this.#broken = this.#broken.filter((tool) => tool.source !== source)
    this.#take(tools.map((tool) => (isPlainObject(tool) ? { ...tool, source } : tool)))
    this.#changed()
  }

  subscribe(listener: (event: CatalogEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  report(event: CatalogEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch {
        // Who listens never steers.
      }
    }
  }

  #take(tools: readonly CatalogInput[]): void {
    const broken: BrokenTool[] = []
    const renamed = new Set<string>()
    for (const tool of tools) {
      const read = readTool(tool, this.#reading)
      if (isBroken(read)) {
        broken.push(read)
        continue
      }
      const { qualified, declared, source } = read
      if (this.#candidates.has(qualified)) {
        broken.push({ source, name: declared, reason: `There is another tool '${qualified}'; the first one is kept.` })
        continue
      }
      for (const touched of this.#names.add(source, declared)) renamed.add(touched)
      this.#candidates.set(qualified, read)
    }
    this.#rename(renamed)
    if (broken.length > 0) this.#broken = Object.freeze([...this.#broken, ...broken])
  }

  #drop(entry: CatalogEntry): void {
    const { qualified } = entry
    this.#forget(entry)
    this.#entries.delete(qualified)
    this.#candidates.delete(qualified)
    this.#rename(this.#names.remove(qualified))
  }

  /** Gives tools the name they have now. */
  #rename(touched: Iterable<string>): void {
    for (const qualified of touched) {
      const before = this.#entries.get(qualified)
      const name = this.#names.getName(qualified)
      if (before?.name === name) continue
      if (before) this.#forget(before)
      const entry = this.#candidates.get(qualified)!.named(name)
      this.#entries.set(qualified, entry)
      this.#remember(entry)
    }
  }

  #remember(entry: CatalogEntry): void {
    this.#byName.set(entry.name, entry.qualified)
    for (const loose of looseNames(entry)) {
      const group = this.#byLooseName.get(loose)
      if (group) group.add(entry.qualified)
      else this.#byLooseName.set(loose, new Set([entry.qualified]))
    }
    this.#index.add(entry)
  }

  #forget(entry: CatalogEntry): void {
    if (this.#byName.get(entry.name) === entry.qualified) this.#byName.delete(entry.name)
    for (const loose of looseNames(entry)) {
      const group = this.#byLooseName.get(loose)
      group?.delete(entry.qualified)
      if (group?.size === 0) this.#byLooseName.delete(loose)
    }
    this.#index.remove(entry.qualified)
  }

  #named(name: string): CatalogEntry | undefined {
    return this.#entries.get(this.#byName.get(name) ?? name)
  }

  #changed(): void {
    this.#sorted = undefined
    this.#sources = undefined
    this.#categories = undefined
    this.#searches.clear()
    this.report({ type: 'catalog/changed' })
  }

  #countSources(): CatalogSource[] {
    const counts = new Map<string, number>()
    for (const { source } of this.tools) if (source !== undefined) counts.set(source, (counts.get(source) ?? 0) + 1)
    const descriptions = new Map(Object.entries(this.#options.sources ?? {}))
    return Array.from(counts, ([name, tools]) => ({ name, description: descriptions.get(name), tools })).sort(byName)
  }

  #metadata(declared: string, qualified: string): ToolMetadata | undefined {
    const { metadata } = this.#options
    if (!metadata) return undefined
    const known = (name: string): ToolMetadata | undefined =>
      Object.hasOwn(metadata, name) ? metadata[name] : undefined
    return known(qualified) ?? known(declared)
  }
}

/** What tells one search from another. Only what is read of a query is kept, however long it is. */
function getSearchKey(query: string, { category, limit }: SearchOptions): string {
  const { text, ignoredCharacters } = readQuery(query)
  return JSON.stringify([text, ignoredCharacters, category?.slice(0, MAX_QUERY_CHARACTERS).toLowerCase(), limit])
}

/** How many of the tools that a name could mean are named. */
const NAMED_TOOLS = 10

/** What a model reads of a name that no tool has; `hint` says where it finds the right one. */
export function unknownToolMessage({ unknown, near, isAmbiguous }: UnknownTool, hint = ''): string {
  const name = shortened(unknown)
  if (isAmbiguous)
    return `More than one tool is called '${name}': ${namedSome(near, NAMED_TOOLS)}. Use one of these names.`
  return `Tool '${name}' not found.${hint && ` ${hint}`}${near.length > 0 ? ` Nearest: ${near.join(', ')}.` : ''}`
}

function looseName(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{Letter}\p{Number}]+/gu, '')
}

function looseNames({ declared, qualified, name }: CatalogEntry): ReadonlySet<string> {
  return new Set([looseName(declared), looseName(qualified), looseName(name)])
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0
}
