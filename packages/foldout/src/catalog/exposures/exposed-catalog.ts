import { getErrorMessage } from '../../core/errors.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { createErrorResult } from '../../tools/call-result.ts'
import { toolTokens } from '../../tools/tool.ts'
import { readArguments } from '../arguments.ts'
import type { Catalog } from '../catalog.ts'
import { getListing, getLoadedListing, withAlwaysLoad } from '../entries/listing.ts'
import { describeUnknownArgument, type MetaTool } from '../meta-tools/meta-tool.ts'
import { getTarget, runTool } from '../meta-tools/run-tool.ts'
import type { CallContext, CallResult, CatalogEntry } from '../tool.ts'
import type { JoinedTools } from './core.ts'
import type { EntryCall, ExposedCatalog, ExposureClient, ListedTool } from './exposure.ts'

/** What an exposure is made of: see {@link createExposedCatalog}. */
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

/** An exposed catalog whose exposure tells it when the list changes. */
export interface ExposedControl extends ExposedCatalog {
  /** Says that the list may be another now. */
  announce(): void
}

/**
 * Creates a catalog as one client sees it: some tools listed, some meta tools, and every tool callable under its own name. Made
 * for exposures of your own.
 *
 * @example
 * const firstTen: Exposure = {
 *   name: 'firstTen',
 *   expose: (catalog, client) =>
 *     createExposedCatalog({
 *       catalog,
 *       client,
 *       exposure: 'firstTen',
 *       instructions: '',
 *       entries: () => catalog.tools.slice(0, 10),
 *       metaTools: [],
 *     }),
 * }
 */
export function createExposedCatalog(parts: ExposedParts): ExposedControl {
  const { catalog, client, exposure } = parts
  const metaTools = new Map(parts.metaTools.map((tool) => [tool.listing.name, tool]))
  // Whatever is listed where most tools are not is there to be seen.
  const isFolded = metaTools.size > 0
  const listeners = new Set<() => void>()
  const announce = (): void => {
    for (const listener of listeners) {
      try {
        listener()
      } catch {
        // A listener must not stop the others.
      }
    }
  }
  const list = (): readonly ListedTool[] => [
    ...parts.entries().map((entry) => (isFolded || entry.core ? getLoadedListing(entry) : getListing(entry))),
    ...Array.from(metaTools.values(), ({ listing }) => withAlwaysLoad(listing)),
    // Behind everything else: what a client has cached stays the beginning of the list.
    ...(parts.joined?.entries().map(getLoadedListing) ?? []),
  ]
  const call = async (name: string, args: unknown, context: CallContext): Promise<CallResult> => {
    const meta = metaTools.get(name)
    if (!meta) return runTool(parts, { name, args, ...(parts.hint === undefined ? {} : { hint: parts.hint }) }, context)
    const read = readArguments(args)
    if ('fault' in read) return createErrorResult(`Wrong arguments for tool '${name}': ${read.fault}.`)
    const fault = describeUnknownArgument(meta, read.args)
    if (fault !== undefined) return createErrorResult(`Wrong arguments for tool '${name}': ${fault}.`)
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
    call,
    target(name, args): EntryCall | undefined {
      const meta = metaTools.get(name)
      if (!meta) return getTarget(parts, { name, args })
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
