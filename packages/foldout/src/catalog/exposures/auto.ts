import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { toolTokens } from '../../tools/tool.ts'
import type { Catalog } from '../contract.ts'
import { getListing } from '../entries/listing.ts'
import { USE_TOOL } from '../meta-tools/run-tool.ts'
import { SEARCH_TOOLS } from '../meta-tools/search-tools.ts'
import type { CatalogEntry } from '../tool.ts'
import { all } from './all.ts'
import { checkCore, type SearchExposureOptions } from './core.ts'
import type { ExposedCatalog, Exposure, ExposureClient } from './exposure.ts'
import { hybrid } from './hybrid.ts'

/**
 * Options of `auto()`: when it lists all tools of a catalog.
 *
 * @example
 * ```ts
 * const options: AutoOptions = { maxTools: 50, maxTokens: 8_000, core: ['send_mail'] }
 * serveMcp(catalog, { name: 'home', version: '1.0.0', expose: auto(options) })
 * ```
 */
export interface AutoOptions extends SearchExposureOptions {
  /** A catalog with fewer tools than this, and fewer tokens than `maxTokens`, is listed in full. Default 30. */
  readonly maxTools?: number
  /** A catalog whose definitions have fewer tokens than this, and that has fewer tools than `maxTools`, is listed in full. Default 5,000. */
  readonly maxTokens?: number
  /**
   * Whether the catalog is complete. Until then, the meta tools are listed, because the number of tools is not known
   * yet. Default: always complete.
   */
  readonly isComplete?: () => boolean
}

/** The meta tools of this exposure. No tool of a catalog has one of these names, so they can be answered at any time. */
const META_TOOLS: ReadonlySet<string> = new Set([SEARCH_TOOLS, USE_TOOL])

/**
 * Decides for each state of the catalog. A catalog that is cheap to list is listed in full. Otherwise the core tools and the
 * meta tools are listed, which work for every client. Using a tool never changes the list: a client that lists again would
 * lose the cached prompt that follows its tools. Use `twoPhase()` for a list that grows.
 *
 * @example
 * serveMcp(catalog, { name: 'home', version: '1.0.0', expose: auto({ maxTools: 50 }) })
 */
export function auto(options: AutoOptions = {}): Exposure {
  return Object.freeze({
    name: 'auto',
    check: (catalog) => checkCore(catalog, options),
    expose: (catalog, client) => createAuto(catalog, client, options),
  } satisfies Exposure)
}

function createAuto(catalog: Catalog, client: ExposureClient, options: AutoOptions): ExposedCatalog {
  const everything = all().expose(catalog, client)
  const folded = hybrid(options).expose(catalog, client)
  let lastReported = ''

  const choose = (): { readonly shown: ExposedCatalog; readonly exposure: string; readonly reason: string } => {
    const cost = computeListCost(catalog, options)
    const shown = cost === undefined ? folded : everything
    const choice = describeChoice(formatExtent(catalog), cost, options)
    const news = `${choice.exposure}: ${choice.reason}`
    if (news !== lastReported) {
      lastReported = news
      catalog.report({ type: 'exposure/chosen', client: client.id, ...choice })
    }
    return { shown, ...choice }
  }
  /** A client may have listed the meta tools when the catalog was larger, and may never list again. */
  const chooseFor = (name: string): ExposedCatalog => (META_TOOLS.has(name) ? folded : choose().shown)

  return {
    get choice() {
      const { exposure, reason } = choose()
      return { exposure, reason }
    },
    get instructions() {
      return choose().shown.instructions
    },
    list: () => choose().shown.list(),
    listed: (tools) => choose().shown.listed(tools),
    call: (name, args, context) => chooseFor(name).call(name, args, context),
    target: (name, args) => chooseFor(name).target(name, args),
    onListChanged: (listener) => folded.onListChanged(listener),
    refresh: () => folded.refresh?.(),
  }
}

function describeChoice(
  extent: string,
  cost: number | undefined,
  { isComplete }: AutoOptions,
): { readonly exposure: string; readonly reason: string } {
  if (cost !== undefined) return { exposure: 'all', reason: `${extent} with ${cost} tokens are cheap to list.` }
  if (isComplete?.() === false)
    return { exposure: 'hybrid', reason: `The catalog has ${extent} so far, and more will follow.` }
  return { exposure: 'hybrid', reason: `${extent} are too many to list.` }
}

const sizes = new WeakMap<readonly CatalogEntry[], number>()

function formatExtent({ tools }: Catalog): string {
  return tools.length === 1 ? '1 tool' : `${tools.length} tools`
}

/**
 * Computes the cost of listing all tools, or returns `undefined` if that is too much. Cached for each state of a
 * catalog.
 */
function computeListCost({ tools }: Catalog, options: AutoOptions): number | undefined {
  const { maxTools = 30, maxTokens = 5_000, isComplete } = options
  if (tools.length >= maxTools || isComplete?.() === false) return undefined
  let tokens = sizes.get(tools)
  if (tokens === undefined) {
    tokens = tools.reduce((sum, entry) => sum + toolTokens(getListing(entry), estimatedTokens), 0)
    sizes.set(tools, tokens)
  }
  return tokens < maxTokens ? tokens : undefined
}
