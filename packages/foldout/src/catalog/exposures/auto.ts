import { checkNumbers } from '../../core/check-number.ts'
import { chooseFolds, type FoldPrice } from '../../core/price/fold.ts'
import { USUAL_CACHE } from '../../core/price/prompt-cache.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { toolTokens } from '../../tools/tool.ts'
import type { Catalog } from '../contract.ts'
import { getListing } from '../listing.ts'
import { USE_TOOL } from '../meta-tools/run-tool.ts'
import { SEARCH_TOOLS } from '../meta-tools/search-tools.ts'
import type { CatalogEntry } from '../tool.ts'
import { all } from './all.ts'
import { checkCore, type SearchExposureOptions } from './core.ts'
import type { ExposedCatalog, Exposure, ExposureClient } from '../exposure.ts'
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
  /**
   * A catalog whose definitions have fewer tokens than this, and that has fewer tools than `maxTools`, is listed in full.
   * Default: as many as listing costs less than finding tools, by `price`; about 7,000 if reads from the cache cost 0.1.
   */
  readonly maxTokens?: number
  /** The model's cache, the conversations per hour and the requests in each, if they are known. */
  readonly price?: FoldPrice
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
  checkNumbers({ maxTools: options.maxTools, maxTokens: options.maxTokens }, { code: 'mcp-options' })
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
  const chooseFor = (name: string): ExposedCatalog => {
    if (META_TOOLS.has(name)) return folded
    return choose().shown
  }

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
  if (tools.length === 1) return '1 tool'
  return `${tools.length} tools`
}

/**
 * Computes the cost of listing all tools, or returns `undefined` if that is too much. Cached for each state of a
 * catalog.
 */
function computeListCost({ tools }: Catalog, options: AutoOptions): number | undefined {
  const { maxTools = 30, isComplete } = options
  if (tools.length >= maxTools || isComplete?.() === false) return undefined
  let tokens = sizes.get(tools)
  if (tokens === undefined) {
    tokens = tools.reduce((sum, entry) => sum + toolTokens(getListing(entry), estimatedTokens), 0)
    sizes.set(tools, tokens)
  }
  const isCheap = options.maxTokens === undefined ? !isDearToList(tokens, options.price) : tokens < options.maxTokens
  if (isCheap) return tokens
  return undefined
}

/** The tokens of the meta tools. */
const META_TOKENS = 350
/** The tokens of the tools that a conversation needs, and of the searches that find them. */
const NEEDED_TOKENS = 3_700

/** Whether a conversation costs more with all tools listed than if it finds those that it needs. */
function isDearToList(tokens: number, price: FoldPrice = {}): boolean {
  const { cache = USUAL_CACHE, perHour = 40, requests = 10 } = price
  const terms = { cache, perHour, requests, base: cache.minimum, tool: 0 }
  const listed = { need: 1, full: tokens, folded: META_TOKENS, opened: Math.min(tokens, NEEDED_TOKENS) }
  return chooseFolds([listed], terms).folded.size > 0
}
