import { untilAborted } from '../../core/abort.ts'
import { FoldoutError, getErrorMessage } from '../../core/errors.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { toolTokens } from '../../tools/tool.ts'
import type { Catalog } from '../catalog.ts'
import { isUnknown } from '../unknown-tool.ts'
import type { EntryCall, ExposedCatalog, ExposureClient, ListedTool } from './exposure.ts'
import { getListing } from '../entries/listing.ts'
import type { MetaTool } from '../meta-tools/meta-tool.ts'
import { runTool, getTarget } from '../meta-tools/run-tool.ts'
import { readArguments } from '../arguments.ts'
import { createErrorResult } from '../../tools/call-result.ts'
import type { CallContext, CallResult, CatalogEntry } from '../tool.ts'

export interface ExposedParts {
  readonly catalog: Catalog
  readonly client: ExposureClient
  readonly exposure: string
  readonly reason?: string
  readonly instructions: string
  /** The tools of the catalog that are listed from the start. */
  readonly entries: () => readonly CatalogEntry[]
  readonly metaTools: readonly MetaTool[]
  /** Those that have joined the list since. */
  readonly joined?: JoinedTools
  /** What to do about a name that no tool has. */
  readonly hint?: string
}

export interface ExposedControl extends ExposedCatalog {
  /** Says that the list may be another now. */
  announce(): void
}

/** A catalog as one client sees it: some tools listed, some meta tools, and every tool callable under its own name. */
export function createExposedCatalog(parts: ExposedParts): ExposedControl {
  const { catalog, client, exposure } = parts
  const metaTools = new Map(parts.metaTools.map((tool) => [tool.listing.name, tool]))
  const listeners = new Set<() => void>()
  const announce = (): void => {
    for (const listener of listeners) {
      try {
        listener()
      } catch {
        // Who listens never steers.
      }
    }
  }
  const list = (): readonly ListedTool[] => [
    ...parts.entries().map(getListing),
    ...Array.from(metaTools.values(), ({ listing }) => listing),
    // Behind everything else: what a client has cached stays the beginning of the list.
    ...(parts.joined?.entries().map(getListing) ?? []),
  ]
  const call = async (name: string, args: unknown, context: CallContext): Promise<CallResult> => {
    const meta = metaTools.get(name)
    if (!meta) return runTool(parts, { name, args, ...(parts.hint === undefined ? {} : { hint: parts.hint }) }, context)
    const read = readArguments(args)
    if ('fault' in read) return createErrorResult(`Wrong arguments for tool '${name}': ${read.fault}.`)
    try {
      return await meta.call(read.args, context)
    } catch (error) {
      // An embedding function may fail, for one.
      if (context.signal?.aborted) throw error
      return createErrorResult(`Tool '${name}' failed: ${getErrorMessage(error)}`)
    }
  }
  let unsubscribe: (() => void) | undefined
  return {
    choice: { exposure, reason: parts.reason ?? 'It was asked for.' },
    instructions: parts.instructions,
    list,
    listed() {
      const tools = list()
      const tokens = tools.reduce((sum, tool) => sum + toolTokens(tool, estimatedTokens), 0)
      const names = tools.map(({ name }) => name)
      catalog.report({ type: 'tools/listed', client: client.id, exposure, tools: names, tokens })
    },
    call: (name, args, context) => untilAborted(context.signal, () => call(name, args, context)),
    target(name, args): EntryCall | undefined {
      const meta = metaTools.get(name)
      if (!meta) return getTarget(parts, name, args)
      const read = readArguments(args)
      return 'fault' in read ? undefined : meta.target?.(read.args)
    },
    announce,
    onListChanged(listener) {
      listeners.add(listener)
      unsubscribe ??= catalog.subscribe(({ type }) => {
        if (type === 'catalog/changed') announce()
      })
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        unsubscribe?.()
        unsubscribe = undefined
      }
    },
  }
}

export interface CoreOptions {
  /** The tools that are listed from the start, by name. Default: those whose metadata says `core`. */
  readonly core?: readonly string[]
}

/** The tools that are listed from the start. One that has gone since, with its server perhaps, is left out. */
export function coreEntries(catalog: Catalog, { core }: CoreOptions): readonly CatalogEntry[] {
  if (core === undefined) return catalog.tools.filter((tool) => tool.core)
  return [...new Set(knownEntries(catalog, core))].sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** The tools that join one client's list while it is connected, in the order in which they do. */
export interface JoinedTools {
  entries(): readonly CatalogEntry[]
  /** Whether it joined: not if it is listed already. */
  add(entry: CatalogEntry): boolean
}

export function createJoinedTools(
  { catalog, client }: { readonly catalog: Catalog; readonly client: ExposureClient },
  options: CoreOptions,
): JoinedTools {
  const joined = new Set(client.joined)
  const entries = (): readonly CatalogEntry[] => {
    const core = new Set(coreEntries(catalog, options))
    return knownEntries(catalog, joined).filter((entry) => !core.has(entry))
  }
  return {
    entries,
    add(entry) {
      if (joined.has(entry.qualified) || coreEntries(catalog, options).includes(entry)) return false
      joined.add(entry.qualified)
      return true
    },
  }
}

function knownEntries(catalog: Catalog, names: Iterable<string>): readonly CatalogEntry[] {
  return Array.from(names, (name) => catalog.resolve(name)).filter((found): found is CatalogEntry => !isUnknown(found))
}

export function checkCore(catalog: Catalog, { core = [] }: CoreOptions): void {
  for (const name of core) {
    const found = catalog.resolve(name)
    if (!isUnknown(found)) continue
    const { near, isAmbiguous } = found
    const hint = near.length > 0 ? ` ${isAmbiguous ? 'It could be' : 'Nearest'}: ${near.join(', ')}.` : ''
    throw new FoldoutError('core-tool-unknown', `There is no tool '${name}' to list as a core tool.${hint}`)
  }
}
