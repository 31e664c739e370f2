import { checkNumber, checkNumbers } from '../../core/check-number.ts'
import { FoldoutError } from '../../core/errors.ts'
import { chooseFolds, type FoldPrice } from '../../core/price/fold.ts'
import { USUAL_CACHE } from '../../core/price/prompt-cache.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { toolTokens } from '../../tools/definition.ts'
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
  /** The share of conversations that need a tool of the catalog. Default 1: all of them. */
  readonly need?: number
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
  const { need } = options
  checkNumber('need', need, { code: 'mcp-options' })
  if (need !== undefined && need > 1)
    throw new FoldoutError('mcp-options', `need is ${need}. Pass the share of conversations, from 0 to 1.`)
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
    const isCheap = cost !== undefined && cost.saved <= 0
    const shown = isCheap ? everything : folded
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

/** What listing all tools of a catalog costs. */
interface ListCost {
  readonly tokens: number
  /** What a conversation saves if it finds its tools instead; at most 0 if they are cheap to list. */
  readonly saved: number
}

function describeChoice(
  extent: string,
  cost: ListCost | undefined,
  { isComplete, price, maxTokens }: AutoOptions,
): { readonly exposure: string; readonly reason: string } {
  if (cost && cost.saved <= 0)
    return { exposure: 'all', reason: `${extent} with ${cost.tokens} tokens are cheap to list.` }
  if (isComplete?.() === false)
    return { exposure: 'hybrid', reason: `The catalog has ${extent} so far, and more will follow.` }
  if (!cost || maxTokens !== undefined) return { exposure: 'hybrid', reason: `${extent} are too many to list.` }
  const { cache, perHour } = getTerms(price)
  const saved = Math.round(cost.saved)
  const facts = `${perHour} conversations an hour; the cache reads at ${cache.read}, writes at ${cache.write} and begins at ${cache.minimum} tokens`
  return {
    exposure: 'hybrid',
    reason: `Finding tools saves ${saved} tokens a conversation: listing ${extent} takes ${cost.tokens} (${facts}).`,
  }
}

const sizes = new WeakMap<readonly CatalogEntry[], number>()

function formatExtent({ tools }: Catalog): string {
  if (tools.length === 1) return '1 tool'
  return `${tools.length} tools`
}

/**
 * Computes the cost of listing all tools, or returns `undefined` if there are too many. The tokens are cached for each
 * state of a catalog.
 */
function computeListCost({ tools }: Catalog, options: AutoOptions): ListCost | undefined {
  const { maxTools = 30, maxTokens, isComplete } = options
  if (tools.length >= maxTools || isComplete?.() === false) return undefined
  let tokens = sizes.get(tools)
  if (tokens === undefined) {
    tokens = tools.reduce((sum, entry) => sum + toolTokens(getListing(entry), estimatedTokens), 0)
    sizes.set(tools, tokens)
  }
  if (maxTokens !== undefined) return { tokens, saved: Number(tokens >= maxTokens) }
  return { tokens, saved: computeSaved(tokens, options) }
}

/** The tokens of the meta tools. */
const META_TOKENS = 350
/** The tokens of the tools that a conversation needs, and of the searches that find them. */
const NEEDED_TOKENS = 3_700

function getTerms({ cache = USUAL_CACHE, perHour = 40, requests = 10 }: FoldPrice = {}) {
  return { cache, perHour, requests, base: cache.minimum, tool: 0 }
}

/** What a conversation saves if it finds the tools that it needs. */
function computeSaved(tokens: number, { price, need = 1 }: AutoOptions): number {
  const listed = { need, full: tokens, folded: META_TOKENS, opened: Math.min(tokens, NEEDED_TOKENS) }
  const { folded, cost, costInFull } = chooseFolds([listed], getTerms(price))
  return folded.size > 0 ? costInFull - cost : 0
}
