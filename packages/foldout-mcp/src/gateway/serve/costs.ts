import { sum } from 'foldout-shared/numbers'
import { estimatedTokens } from 'foldout'
import {
  getListing,
  isUnknown,
  type Catalog,
  type CatalogEntry,
  type ExposedCatalog,
  type ListedTool,
} from 'foldout/catalog'
import type { ExposureName } from '../config/definition.ts'
import { createExposure, EXPOSURE_NAMES } from './expose.ts'

/** What all tools of a catalog cost in a request that lists them. */
export interface CatalogCosts {
  readonly total: number
  readonly servers: readonly ServerCost[]
  readonly tools: ReadonlyMap<CatalogEntry, number>
  readonly counter: { readonly name: string; readonly exact: boolean }
}

interface ServerCost {
  readonly name: string
  readonly tools: number
  readonly tokens: number
}

/** What an exposure lists, and what finding a tool costs with it. */
export interface ExposureCost {
  readonly name: ExposureName
  /** How many tools the client lists. */
  readonly tools: number
  /** Tokens of that list. */
  readonly listTokens: number
  readonly instructionTokens: number
  /** The tokens of both, in every request. */
  readonly tokens: number
  /** The share saved compared with listing everything, from 0 to 1. */
  readonly saved: number
  /** What finding one tool and calling it adds to the conversation, on average; 0 if everything is listed. */
  readonly findTokens: number
  /** After how many searches in one conversation listing everything would have been cheaper, 0 if it is from the start; null if it never is, or everything is listed. */
  readonly breakEven: number | null
  /** Why the exposure cannot be used here. If set, the other figures are 0. */
  readonly problem: string | undefined
}

export function computeCosts(catalog: Catalog): CatalogCosts {
  const tools = new Map(catalog.tools.map((entry) => [entry, countTool(getListing(entry))]))
  const servers = new Map<string, { tools: number; tokens: number }>()
  for (const [{ source = '' }, tokens] of tools) {
    const server = servers.get(source) ?? { tools: 0, tokens: 0 }
    servers.set(source, { tools: server.tools + 1, tokens: server.tokens + tokens })
  }
  const { name, exact } = estimatedTokens
  return {
    total: sum([...tools.values()]),
    servers: Array.from(servers, ([server, cost]) => ({ name: server, ...cost })).sort((a, b) => b.tokens - a.tokens),
    tools,
    counter: { name, exact },
  }
}

/** A model reads a tool's name, description and schema. */
function countTool({ name, description, inputSchema }: ListedTool): number {
  return estimatedTokens.count(JSON.stringify({ name, description, inputSchema }))
}

/**
 * Computes what each exposure would list and cost, with the tools and instructions that the gateway adds. Runs searches with the tools' own words, so
 * that their cost is measured, not assumed.
 */
export async function compareExposures(
  catalog: Catalog,
  { total, tools }: CatalogCosts,
  added: readonly ListedTool[],
  instructions = '',
): Promise<readonly ExposureCost[]> {
  const ownInstructionTokens = estimatedTokens.count(instructions)
  const costs: ExposureCost[] = []
  const queries = pickQueries(catalog)
  for (const name of EXPOSURE_NAMES) {
    try {
      const exposure = await createExposure(name)
      exposure.check?.(catalog)
      const exposed = exposure.expose(catalog, { id: `cost-of-${name}`, takesListChanges: false })
      costs.push(await measure(name, exposed, { catalog, total, tools, queries, added, ownInstructionTokens }))
      if ('close' in exposure && typeof exposure.close === 'function') exposure.close()
    } catch (error) {
      costs.push({ ...NOTHING, name, problem: (error as Error).message })
    }
  }
  return costs
}

const NOTHING = { tools: 0, listTokens: 0, instructionTokens: 0, tokens: 0, saved: 0, findTokens: 0, breakEven: null }

interface Measured {
  readonly catalog: Catalog
  /** Tokens of all tools. */
  readonly total: number
  readonly tools: CatalogCosts['tools']
  readonly queries: readonly Sample[]
  readonly added: readonly ListedTool[]
  /** Tokens of the instructions that the gateway adds for every exposure. */
  readonly ownInstructionTokens: number
}

async function measure(name: ExposureName, exposed: ExposedCatalog, measured: Measured): Promise<ExposureCost> {
  const { catalog, tools, added, ownInstructionTokens } = measured
  const addedTokens = sum(added.map(countTool))
  const total = measured.total + addedTokens + ownInstructionTokens
  const list = exposed.list()
  const isEverything =
    list.length === catalog.tools.length && !list.some((tool) => isUnknown(catalog.resolve(tool.name)))
  const listTokens = isEverything
    ? measured.total + addedTokens
    : addedTokens + sum(list.map((tool) => countListed(tool, catalog, tools)))
  const instructionTokens = estimatedTokens.count(exposed.instructions) + ownInstructionTokens
  const tokens = listTokens + instructionTokens
  const findTokens = isEverything ? 0 : await measureFinding(exposed, list, measured)
  return {
    name,
    tools: list.length + added.length,
    listTokens,
    instructionTokens,
    tokens,
    saved: total === 0 ? 0 : 1 - tokens / total,
    findTokens,
    breakEven: isEverything ? null : findBreakEven({ tokens, findTokens }, total),
    problem: undefined,
  }
}

function countListed(tool: ListedTool, catalog: Catalog, tools: CatalogCosts['tools']): number {
  const entry = catalog.resolve(tool.name)
  return (isUnknown(entry) ? undefined : tools.get(entry)) ?? countTool(tool)
}

interface Sample {
  readonly query: string
  readonly tool: string
}

const MOST_SAMPLES = 8

/** Queries that a model might use: the first words of some tools, spread over the catalog. */
function pickQueries({ tools }: Catalog): readonly Sample[] {
  const count = Math.min(MOST_SAMPLES, tools.length)
  return Array.from({ length: count }, (_, i) => tools[Math.floor((i * tools.length) / count)]).flatMap((entry) =>
    entry ? [{ query: entry.shortDescription.split(/\s+/).slice(0, 8).join(' ') || entry.name, tool: entry.name }] : [],
  )
}

/** The tokens of a search and its answer, of a definition if the exposure has that step, and of what wraps the call. */
async function measureFinding(
  exposed: ExposedCatalog,
  list: readonly ListedTool[],
  { queries }: Measured,
): Promise<number> {
  const search = list.find((tool) => hasProperty(tool, 'query'))
  const define = list.find((tool) => hasProperty(tool, 'name') && tool.annotations?.readOnlyHint === true)
  if (!search || queries.length === 0) return 0
  const costs: number[] = []
  for (const { query, tool } of queries) {
    const action = hasProperty(search, 'action') ? { action: 'search' } : {}
    const searching = await countCall(exposed, search.name, { ...action, query })
    const defining = define ? await countCall(exposed, define.name, { name: tool }) : 0
    costs.push(searching + defining + WRAPPING_TOKENS)
  }
  return Math.round(sum(costs) / costs.length)
}

/** The tokens that a call through a meta tool adds to the call itself. */
const WRAPPING_TOKENS = estimatedTokens.count('{"name":"use_tool","arguments":{"name":"","arguments":}}')

async function countCall(exposed: ExposedCatalog, name: string, args: object): Promise<number> {
  const { content } = await exposed.call(name, args, {})
  const answer = content.map((part) => (typeof part['text'] === 'string' ? part['text'] : '')).join('\n')
  return estimatedTokens.count(JSON.stringify({ name, arguments: args })) + estimatedTokens.count(answer)
}

function hasProperty({ inputSchema }: ListedTool, name: string): boolean {
  const { properties } = inputSchema
  return typeof properties === 'object' && properties !== null && Object.hasOwn(properties, name)
}

const MOST_SEARCHES = 10_000

/**
 * After how many searches in one conversation listing everything would have been cheaper, in input tokens of all requests without a
 * prompt cache. Listing everything takes one request per call and one for the answer. Searching takes one more per search, and
 * its results stay in the conversation.
 */
export function findBreakEven(
  { tokens, findTokens }: { readonly tokens: number; readonly findTokens: number },
  everything: number,
): number | null {
  if (tokens > everything) return 0
  let folded = tokens
  for (let searches = 1; searches <= MOST_SEARCHES; searches++) {
    // The request after the search, and the one after the call.
    folded += 2 * (tokens + searches * findTokens)
    if (folded > (searches + 1) * everything) return searches
  }
  return null
}
