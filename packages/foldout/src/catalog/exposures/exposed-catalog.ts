import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { createErrorResult } from '../../tools/call-result.ts'
import { describeThrown } from '../../tools/thrown.ts'
import { toolTokens } from '../../tools/definition.ts'
import { readArguments } from '../entries/arguments.ts'
import type { Catalog } from '../contract.ts'
import { getListing, getLoadedListing, withAlwaysLoad } from '../listing.ts'
import { describeUnknownArgument, type MetaTool } from '../meta-tools/meta-tool.ts'
import { getTarget, runTool } from '../meta-tools/run-tool.ts'
import type { CallContext, CallResult, CatalogEntry, EntryCall } from '../tool.ts'
import type { JoinedTools } from './core.ts'
import type { ExposedCatalog, ExposureClient, ListedTool } from '../exposure.ts'

/**
 * The parts of an exposure. See {@link createExposedCatalog}.
 *
 * @example
 * ```ts
 * const parts: ExposedParts = {
 *   catalog,
 *   client,
 *   exposure: 'mail only',
 *   instructions: 'Other tools are switched off.',
 *   entries: () => catalog.tools.filter(({ name }) => name === 'send_mail'),
 *   metaTools: [],
 * }
 * createExposedCatalog(parts).list().length // => 1
 * ```
 */
export interface ExposedParts {
  readonly catalog: Catalog
  readonly client: ExposureClient
  readonly exposure: string
  readonly reason?: string
  readonly instructions: string
  /** The tools of the catalog that are listed from the start. */
  readonly entries: () => readonly CatalogEntry[]
  readonly metaTools: readonly MetaTool[]
  /** The tools that were added to the list later. */
  readonly joined?: JoinedTools
  /** Tells a model what to do after it called an unknown name. */
  readonly hint?: string
}

/**
 * An exposed catalog that can announce a change of its list.
 *
 * @example
 * ```ts
 * const control: ExposedControl = createExposedCatalog({
 *   catalog,
 *   client,
 *   exposure: 'everything',
 *   instructions: '',
 *   entries: () => catalog.tools,
 *   metaTools: [],
 * })
 * control.announce()
 * ```
 */
export interface ExposedControl extends ExposedCatalog {
  /** Tells listeners that the list may have changed. */
  announce(): void
}

/**
 * Creates a catalog as one client sees it: some listed tools, some meta tools, and every tool callable by its own name. Use it to
 * write your own exposure.
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
  // If most tools are hidden, the listed ones must be visible to the model.
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
    // At the end, so the beginning of the list stays as the client has cached it.
    ...(parts.joined?.entries().map(getLoadedListing) ?? []),
  ]
  const call = (name: string, args: unknown, context: CallContext): Promise<CallResult> => {
    const meta = metaTools.get(name)
    if (meta) return callMetaTool(meta, args, context)
    return runTool(parts, { name, args, ...(parts.hint !== undefined && { hint: parts.hint }) }, context)
  }
  let unsubscribe: (() => void) | undefined
  return {
    choice: { exposure, reason: parts.reason ?? 'It was chosen explicitly.' },
    instructions: parts.instructions,
    list,
    listed(tools = list()) {
      const names = tools.map(({ name }) => name)
      let tokens: number | undefined
      catalog.report({
        type: 'tools/listed',
        client: client.id,
        exposure,
        tools: names,
        // Counting takes longer than the list itself, and often nobody wants to know.
        get tokens() {
          return (tokens ??= tools.reduce((sum, tool) => sum + toolTokens(tool, estimatedTokens), 0))
        },
      })
    },
    call,
    target(name, args): EntryCall | undefined {
      const meta = metaTools.get(name)
      if (!meta) return getTarget(parts, { name, args })
      const read = readArguments(args)
      if ('fault' in read) return undefined
      return meta.target?.(read.args)
    },
    announce,
    refresh: announce,
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

async function callMetaTool(tool: MetaTool, args: unknown, context: CallContext): Promise<CallResult> {
  const { name } = tool.listing
  const read = readArguments(args)
  const fault = 'fault' in read ? read.fault : describeUnknownArgument(tool, read.args)
  if ('fault' in read || fault !== undefined) return createErrorResult(`Wrong arguments for tool '${name}': ${fault}.`)
  try {
    return await tool.call(read.args, context)
  } catch (error) {
    // For example, an embedding function may fail.
    if (context.signal?.aborted) throw error
    return createErrorResult(describeThrown(name, error))
  }
}

/**
 * Creates a copy of an exposed catalog with another list or other calls. Use it to write an exposure that changes
 * another one.
 *
 * @example
 * const quiet = changeExposed(hybrid().expose(catalog, { id: 'chat-1', takesListChanges: true }), { list: () => [] })
 * quiet.list() // => []
 */
export function changeExposed(
  exposed: ExposedCatalog,
  changes: Partial<Pick<ExposedCatalog, 'list' | 'call'>>,
): ExposedCatalog {
  return {
    // These may change.
    get choice() {
      return exposed.choice
    },
    get instructions() {
      return exposed.instructions
    },
    list: changes.list ?? (() => exposed.list()),
    listed: (tools = changes.list?.()) => exposed.listed(tools),
    call: changes.call ?? ((name, args, context) => exposed.call(name, args, context)),
    target: (name, args) => exposed.target(name, args),
    onListChanged: (listener) => exposed.onListChanged(listener),
    refresh: () => exposed.refresh?.(),
  }
}
