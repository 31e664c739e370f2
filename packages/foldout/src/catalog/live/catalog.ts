import { nearest } from '../../core/text.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import { freezeChanges } from '../../session/freeze.ts'
import { createSession, type Session } from '../../session/session.ts'
import { createErrorResult } from '../../tools/call-result.ts'
import { toCallResult } from '../../tools/convert-result.ts'
import type { ApprovalNeed } from '../../tools/tool.ts'
import { getApprovalSettings } from '../approval.ts'
import { createCatalogIndex, type CatalogIndex } from './catalog-index.ts'
import { describeArgumentsFault, readArguments } from '../entries/arguments.ts'
import { isBroken, readTool, type ReadToolOptions } from '../entries/read-tool.ts'
import type { Catalog, CatalogOptions, CatalogSource } from '../contract.ts'
import type { CatalogEvent } from '../events.ts'
import { EntryTable } from './entry-table.ts'
import { findUnexpected } from '../learned-output.ts'
import { MAX_BROKEN, MAX_TOOLS } from '../limits.ts'
import { isMetaToolName } from '../names.ts'
import type { Explanation, SearchOptions, SearchOutcome, SearchReadiness } from '../search/contract.ts'
import { describeUnknownTool, isUnknown, type UnknownTool } from '../unknown-tool.ts'
import type { BrokenTool, CallContext, CallResult, CatalogEntry, CatalogInput, ToolMetadata } from '../tool.ts'

/**
 * Creates a catalog of tools from `defineTool`, from MCP servers and from raw definitions. A definition that cannot be used is
 * listed in `broken` and does not affect the others.
 *
 * @example
 * const catalog = createCatalog([setLight, ...(await toolsFromMcp(client, { server: 'mail' }))])
 * const { hits } = await catalog.search('send a message')
 */
export function createCatalog(tools: readonly CatalogInput[], options: CatalogOptions = {}): Catalog {
  return new LiveCatalog(tools, options)
}

class LiveCatalog implements Catalog {
  readonly #options: CatalogOptions
  readonly #reading: ReadToolOptions
  readonly #table: EntryTable
  readonly #descriptions: Map<string, string>
  #broken: readonly BrokenTool[] = []
  readonly #listeners = new Set<(event: CatalogEvent) => void>()
  /** Filled in the background, so the first search does not have to wait for all of it. */
  readonly #index: CatalogIndex<CatalogEntry>
  // These are computed on first use.
  #session: Session | undefined
  #sorted: readonly CatalogEntry[] | undefined
  #sources: readonly CatalogSource[] | undefined
  #categories: readonly string[] | undefined

  constructor(tools: readonly CatalogInput[], options: CatalogOptions) {
    this.#options = options
    this.#descriptions = new Map(Object.entries(options.sources ?? {}))
    this.#table = new EntryTable({
      onAdd: (entry) => this.#index.add(entry),
      onRemove: (qualified) => this.#index.remove(qualified),
    })
    this.#index = createCatalogIndex<CatalogEntry>(
      {
        ...(options.embed !== undefined && { embed: options.embed }),
        preparation: this.#table.preparation,
        onProblem: (problem) => this.report({ type: 'search/problem', ...problem }),
      },
      options.index,
    )
    this.#reading = {
      metadata: (declared, qualified) => this.#metadata(declared, qualified),
      outputs: options.outputs,
      session: () => (this.#session ??= createSession()),
    }
    this.#take(tools)
  }

  get tools(): readonly CatalogEntry[] {
    this.#sorted ??= Object.freeze([...this.#table.entries.values()].sort(byName))
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
    const exact = this.#table.find(name)
    if (exact) return exact
    // A tool that only declares such a name would get calls that are meant for a meta tool.
    const alike = isMetaToolName(name) ? [] : this.#table.findAlike(name)
    const declared = alike.filter((entry) => entry.declared === name)
    const meant = declared.length > 0 ? declared : alike
    const [only] = meant
    if (only && meant.length === 1) return only
    if (meant.length > 1) return { unknown: name, near: meant.map((entry) => entry.name).sort(), isAmbiguous: true }
    const { tools } = this
    return {
      unknown: name,
      // Comparing with every name takes time, and most callers never read this.
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
    return this.#index.search(query, options)
  }

  async ready(): Promise<SearchReadiness> {
    return this.#index.ready()
  }

  async explain(query: string, name: string): Promise<Explanation | undefined> {
    const found = this.resolve(name)
    if (isUnknown(found)) return undefined
    return this.#index.explain(query, found.qualified)
  }

  async call(name: string, args: unknown, context: CallContext = {}): Promise<CallResult> {
    const { signal } = context
    signal?.throwIfAborted()
    const found = this.resolve(name)
    if (isUnknown(found)) return createErrorResult(describeUnknownTool(found))
    const { call, isStructured = false } = this.#table.getTool(found.qualified) ?? {}
    if (!call) return createErrorResult(`Tool '${found.name}' cannot be run here: the catalog has only its definition.`)
    const read = readArguments(args, found.inputSchema)
    if ('fault' in read)
      return createErrorResult(`Wrong arguments for tool '${found.name}': ${read.fault}. Nothing was run.`)
    const result = await call(read.args, context, {
      name: found.name,
      describeFault: (issues) => describeArgumentsFault(found, issues),
      ...getApprovalSettings(this.#options, { entry: found, arguments: read.args }, context),
    })
    if (!result.ok) signal?.throwIfAborted()
    const answer = toCallResult(result, { isStructured })
    // Only if somebody listens, because reading a large result takes time.
    const path = result.ok && this.#listeners.size > 0 ? findUnexpected(found, answer) : undefined
    if (path !== undefined) this.report({ type: 'output/unexpected', name: found.qualified, path })
    return answer
  }

  async findApprovalNeed(name: string, args: unknown, context: CallContext = {}): Promise<ApprovalNeed> {
    const found = this.resolve(name)
    if (isUnknown(found)) return false
    const read = readArguments(args, found.inputSchema)
    if ('fault' in read) return false
    const { needsApproval = () => false } = this.#options
    const prepared = this.#table.getTool(found.qualified)
    const policy = () => needsApproval({ entry: found, arguments: read.args }, context)
    return (prepared?.call && (await prepared.findNeed(read.args, context, policy))) ?? false
  }

  add(tools: readonly CatalogInput[]): void {
    this.#take(tools)
    this.#changed()
  }

  remove(name: string): boolean {
    const found = this.#table.find(name)
    if (!found) return false
    this.#drop(found)
    this.#changed()
    return true
  }

  replace(
    source: string,
    tools: readonly CatalogInput[],
    { description }: { readonly description?: string } = {},
  ): void {
    const name = toVisibleText(source)
    if (description !== undefined) this.#descriptions.set(source, description)
    for (const entry of this.#table.entries.values()) if (entry.source === name) this.#drop(entry)
    this.#broken = this.#broken.filter((tool) => tool.source !== name)
    this.#take(tools, { ...this.#reading, source })
    this.#changed()
  }

  subscribe(listener: (event: CatalogEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  report(event: CatalogEvent): void {
    freezeChanges(event)
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch {
        // A listener must not affect the catalog.
      }
    }
  }

  #take(tools: readonly CatalogInput[], reading = this.#reading): void {
    const broken: BrokenTool[] = []
    for (const [at, tool] of tools.entries()) {
      if (this.#table.size >= MAX_TOOLS) {
        broken.push(createLeftOut(reading.source, tools.length - at))
        break
      }
      const read = readTool(tool, reading)
      if (isBroken(read)) {
        broken.push(read)
        continue
      }
      const { qualified, declared, source } = read
      if (this.#table.getTool(qualified)) {
        const name = toVisibleText(declared)
        broken.push({
          source,
          name,
          reason: `There is another tool '${toVisibleText(qualified)}'; the first one is kept.`,
        })
        continue
      }
      this.#table.add(read)
    }
    this.#index.wake()
    if (broken.length > 0) this.#broken = Object.freeze(keepSome([...this.#broken, ...broken]))
  }

  #drop(entry: CatalogEntry): void {
    this.#table.drop(entry)
    this.#index.wake()
  }

  #changed(): void {
    this.#sorted = undefined
    this.#sources = undefined
    this.#categories = undefined
    this.report({ type: 'catalog/changed' })
  }

  #countSources(): CatalogSource[] {
    const counts = new Map<string, number>()
    for (const { source } of this.tools) if (source !== undefined) counts.set(source, (counts.get(source) ?? 0) + 1)
    return Array.from(counts, ([name, tools]) => ({
      name,
      description: this.#descriptions.get(name),
      tools,
    })).sort(byName)
  }

  #metadata(declared: string, qualified: string): ToolMetadata | undefined {
    const { metadata } = this.#options
    if (!metadata) return undefined
    const find = (name: string): ToolMetadata | undefined => {
      if (Object.hasOwn(metadata, name)) return metadata[name]
      return undefined
    }
    return find(qualified) ?? find(declared)
  }
}

/** Represents the tools beyond the limit of a catalog. */
function createLeftOut(source: string | undefined, count: number): BrokenTool {
  const reason = `A catalog can have at most ${MAX_TOOLS} tools. ${count} more were left out.`
  return { source, name: '?', reason }
}

/** Keeps the first broken definitions, and counts the others. */
function keepSome(broken: readonly BrokenTool[]): BrokenTool[] {
  if (broken.length <= MAX_BROKEN) return [...broken]
  const more = broken.length - MAX_BROKEN + 1
  const reason = `${more} more definitions are broken. Only the first ${MAX_BROKEN - 1} are listed.`
  return [...broken.slice(0, MAX_BROKEN - 1), { source: undefined, name: '?', reason }]
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  if (one.name === other.name) return 0
  if (one.name < other.name) return -1
  return 1
}
