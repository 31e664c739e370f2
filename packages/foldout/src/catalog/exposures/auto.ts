import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { toolTokens } from '../../tools/tool.ts'
import type { Catalog } from '../contract.ts'
import {
  createExposureMemory,
  type ExposedCatalog,
  type Exposure,
  type ExposureClient,
  type ExposureMemory,
} from './exposure.ts'
import { getListing } from '../entries/listing.ts'
import { createSearchTool, SEARCH_TOOLS } from '../meta-tools/search-tools.ts'
import { USE_TOOL } from '../meta-tools/run-tool.ts'
import { createUseTool, SEARCH_FIRST } from '../meta-tools/use-tool.ts'
import type { CatalogEntry } from '../tool.ts'
import { all } from './all.ts'
import { checkCore, createJoinedTools, getCoreTools, type SearchExposureOptions } from './core.ts'
import { createExposedCatalog } from './exposed-catalog.ts'
import { CALL_WITH_USE_TOOL, SEARCH_THEN_USE } from './hybrid.ts'

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

/** After this many unanswered announcements, a client counts as one that does not list again. */
const PATIENCE = 2

/**
 * Decides for each client. A catalog that is cheap to list is listed in full. Otherwise the core tools and the meta tools are
 * listed, which work for every client. If the client's list may change, tools that it uses are added to the list, as long as the
 * client lists again when it is notified.
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

const META_TOOLS: ReadonlySet<string> = new Set([SEARCH_TOOLS, USE_TOOL])

/** At most this many tools are added to a list, so its cost stays bounded. */
const MAX_JOINED = 10

/** Whether a client reacts to changes of its list, as far as known. */
interface Following {
  readonly follows: keyof typeof FOLLOWS
  readonly unanswered: number
  /** Whether the client has received a list with the meta tools. */
  readonly hasMetaTools?: boolean
}
const FOLLOWING = 'auto'
const UNKNOWN: Following = { follows: 'unknown', unanswered: 0 }

function readFollowing(memory: ExposureMemory): Following {
  return (memory.getNote(FOLLOWING) as Following | undefined) ?? UNKNOWN
}

function createAuto(catalog: Catalog, given: ExposureClient, options: AutoOptions): ExposedCatalog {
  const memory = given.memory ?? createExposureMemory(given.joined)
  const client = { ...given, memory }
  const scope = { catalog, client, core: () => getCoreTools(catalog, options) }
  const joined = createJoinedTools(scope, options)
  const everything = all().expose(catalog, client)
  const folded = createExposedCatalog({
    ...scope,
    exposure: 'auto',
    instructions: SEARCH_THEN_USE,
    entries: () => scope.core().entries,
    metaTools: [createSearchTool(scope, { ...options, callWith: CALL_WITH_USE_TOOL }), createUseTool(scope)],
    joined,
    hint: SEARCH_FIRST,
  })
  const getFollowing = (): Following => readFollowing(memory)
  const setFollowing = (change: Partial<Following>): void => memory.setNote(FOLLOWING, { ...getFollowing(), ...change })
  let lastReported = ''

  const choose = (): { readonly shown: ExposedCatalog; readonly exposure: string; readonly reason: string } => {
    const cost = computeListCost(catalog, options)
    const extent = formatExtent(catalog)
    const shown = cost === undefined ? folded : everything
    const choice = describeChoice(extent, cost, { client, options, following: getFollowing() })
    const news = `${choice.exposure}: ${choice.reason}`
    if (news !== lastReported) {
      lastReported = news
      catalog.report({ type: 'exposure/chosen', client: client.id, ...choice })
    }
    return { shown, ...choice }
  }

  /** A client may have listed the meta tools when the catalog was larger, and may never list again. */
  const chooseFor = (name: string): ExposedCatalog => {
    const { shown } = choose()
    const isOlder = shown === everything && META_TOOLS.has(name) && getFollowing().hasMetaTools === true
    return isOlder && !everything.target(name, {}) ? folded : shown
  }

  /** Adds a used tool to the list: it is likely to be used again, and no longer has to go through a meta tool. */
  const join = (entry: CatalogEntry): void => {
    const { follows, unanswered } = getFollowing()
    if (!client.takesListChanges || follows === 'no' || joined.entries().length >= MAX_JOINED) return
    if (unanswered >= PATIENCE) {
      setFollowing({ follows: 'no' })
      choose()
    } else if (joined.add(entry)) {
      setFollowing({ unanswered: unanswered + 1 })
      folded.announce()
    }
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
    listed(tools) {
      if (getFollowing().unanswered > 0) setFollowing({ follows: 'yes', unanswered: 0 })
      const { shown } = choose()
      if (shown === folded && !getFollowing().hasMetaTools) setFollowing({ hasMetaTools: true })
      shown.listed(tools)
    },
    async call(name, args, context) {
      const shown = chooseFor(name)
      const result = await shown.call(name, args, context)
      const isInner = shown === folded && name === USE_TOOL && result.isError !== true
      const target = isInner ? folded.target(name, args) : undefined
      if (target) join(target.entry)
      return result
    },
    target: (name, args) => chooseFor(name).target(name, args),
    onListChanged: (listener) => folded.onListChanged(listener),
    refresh: () => folded.announce(),
  }
}

interface Circumstances {
  readonly client: ExposureClient
  readonly options: AutoOptions
  readonly following: Following
}

function describeChoice(
  extent: string,
  cost: number | undefined,
  { client, options, following: { follows } }: Circumstances,
): { readonly exposure: string; readonly reason: string } {
  if (cost !== undefined) return { exposure: 'all', reason: `${extent} with ${cost} tokens are cheap to list.` }
  if (options.isComplete?.() === false)
    return { exposure: 'hybrid', reason: `The catalog has ${extent} so far, and more will follow.` }
  if (!client.takesListChanges)
    return { exposure: 'hybrid', reason: `${extent} are too many to list, and this client's list must not change.` }
  const exposure = follows === 'yes' ? 'twoPhase' : 'hybrid'
  return { exposure, reason: `${extent} are too many to list${FOLLOWS[follows]}.` }
}

const FOLLOWS = {
  unknown: '; it is not yet known whether this client lists again when it is notified',
  yes: '; this client lists again when it is notified, so tools that it uses are added to its list',
  no: '; this client does not list again when it is notified, so its list stays unchanged',
} as const

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
