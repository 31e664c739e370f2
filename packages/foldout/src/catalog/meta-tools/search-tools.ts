import { markFoundNothing } from '../found-nothing.ts'
import type { JsonSchema } from '../../core/schema/schema.ts'
import { shorten } from '../../core/text.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import { createErrorResult, createTextResult } from '../../tools/call-result.ts'
import { untilAborted } from '../../core/abort.ts'
import type { Catalog } from '../contract.ts'
import type { SearchOutcome } from '../search/contract.ts'
import { MAX_QUERY_CHARACTERS } from '../search/limits.ts'
import { toNameKey } from '../search/text/tool-text.ts'
import type { CallContext, CallResult, CatalogEntry } from '../tool.ts'
import { estimateGivenTokens, readText, type GivenArguments, type MetaScope, type MetaTool } from './meta-tool.ts'
import {
  formatSearchAnswer,
  MAX_HITS,
  type AnswerDetail,
  type SearchAnswer,
  type SearchQuestion,
} from './search-answer.ts'

export const SEARCH_TOOLS = 'search_tools'

/** More servers than this are only named. */
const MAX_DESCRIBED = 10
/** How many tokens the described servers may cost, and the list of names. */
const MAX_SOURCES_TOKENS = 105
const MAX_CATEGORIES_TOKENS = 200
/** How many characters of each source's description are shown; the first length that fits is used. */
const DESCRIPTION_LENGTHS = [60, 45, 30, 20, 0]
const DEFAULT_LIMIT = 5
const DETAILS: readonly AnswerDetail[] = ['names', 'signature', 'schema']

/** Options that choose the arguments of a search. */
export interface SearchDetailOptions {
  /**
   * Whether searches have an argument `detail`, with which the model chooses between names, signatures and whole schemas.
   * Default false, because small models fill in every argument that exists.
   */
  readonly detail?: boolean
}

export interface SearchToolOptions extends SearchDetailOptions {
  /** The sentence that tells a model how to run the tools it finds. */
  readonly callWith: string
  /** Answers a search. Default: with signatures. */
  readonly answer?: (question: SearchQuestion, context: CallContext) => SearchAnswer
}

/** Creates the tool that finds other tools by their purpose. */
export function createSearchTool(scope: MetaScope, options: SearchToolOptions): MetaTool {
  return {
    get listing() {
      return {
        name: SEARCH_TOOLS,
        description: `Find tools: name the function in a few English words, one step per search. ${options.callWith}${formatSources(scope.catalog)}`,
        inputSchema: {
          type: 'object',
          properties: createSearchProperties(scope.catalog, options),
          required: ['query'],
        },
        annotations: { title: 'Search tools', readOnlyHint: true, idempotentHint: true, openWorldHint: false },
      }
    },
    call: (args, context) => runSearch(scope, args, context, options.answer),
  }
}

/** Creates the arguments of a search, for every meta tool that has one. */
export function createSearchProperties(
  catalog: Catalog,
  options: SearchDetailOptions,
): Readonly<Record<string, JsonSchema>> {
  return {
    query: { type: 'string', description: 'What to do, such as "send email", or a tool\'s name' },
    category: { type: 'string', description: `Only tools of this category${formatCategories(catalog)}` },
    limit: { type: 'integer', description: 'Default 5' },
    ...(options.detail === true ? { detail: { type: 'string', enum: DETAILS } } : {}),
  }
}

/** Runs a search. Only the query is required; other arguments are corrected or ignored. */
export async function runSearch(
  scope: MetaScope,
  args: GivenArguments,
  context: CallContext,
  answer: NonNullable<SearchToolOptions['answer']> = (question) => formatSearchAnswer(scope.catalog, question),
): Promise<CallResult> {
  const { catalog, client, core } = scope
  const query = readQuery(args['query'])
  if (query === undefined)
    return createErrorResult("Say in 'query' what you want to do, such as \"send a message\", or a tool's name.")
  const detail = DETAILS.find((known) => known === args['detail']) ?? 'signature'
  const { outcome, note } = await untilAborted(context.signal, () => findTools(catalog, query, args))
  const { text, shown } = answer({ query, outcome, detail, note, core: core?.() }, context)
  catalog.report({
    type: 'tools/searched',
    client: client.id,
    query: shorten(query, MAX_QUERY_CHARACTERS),
    hits: shown.map(({ qualified }) => qualified),
    tokens: estimateGivenTokens(JSON.stringify(args)) + estimatedTokens.count(text),
    request: context.request,
  })
  const result = createTextResult(text)
  return shown.length === 0 ? markFoundNothing(result) : result
}

/** Models also write a list of words, or a number. */
function readQuery(given: unknown): string | undefined {
  const words = (Array.isArray(given) ? given : [given]) as readonly unknown[]
  return readText(words.filter((word) => typeof word === 'string' || typeof word === 'number').join(', '))
}

/** Reads a limit, within bounds. Anything that is not a number counts as the default. */
function readLimit(given: unknown): number {
  const limit = given === null || given === '' ? DEFAULT_LIMIT : Math.floor(Number(given ?? DEFAULT_LIMIT))
  return Number.isNaN(limit) ? DEFAULT_LIMIT : Math.min(Math.max(limit, 1), MAX_HITS)
}

interface FoundTools {
  readonly outcome: SearchOutcome<CatalogEntry>
  /** A note for the model about the category; may be empty. */
  readonly note: string
}

/**
 * Searches in the requested category, or everywhere if the category does not exist or something outside fits better. Guesses from
 * everywhere are worth no more than guesses from where the model wants to look.
 */
async function findTools(catalog: Catalog, query: string, args: GivenArguments): Promise<FoundTools> {
  const limit = readLimit(args['limit'])
  const asked = readText(args['category'])
  const category = asked === undefined ? undefined : findCategory(catalog, asked)
  const inside = category === undefined ? undefined : await catalog.search(query, { limit, category })
  if (inside?.fit === 'good') return { outcome: inside, note: '' }
  const outcome = await catalog.search(query, { limit })
  if (inside?.fit === 'weak' && outcome.fit !== 'good') return { outcome: inside, note: '' }
  if (asked === undefined || outcome.hits.length === 0) return { outcome, note: '' }
  const name = toVisibleText(shorten(category ?? asked))
  const note =
    category === undefined
      ? `There is no category '${name}'. From all tools:`
      : `Nothing in '${name}' fits well. From all tools:`
  return { outcome, note }
}

/** Names of categories and sources by their lower-case form, cached for each state of a catalog. */
const categories = new WeakMap<readonly CatalogEntry[], ReadonlyMap<string, string>>()

function findCategory(catalog: Catalog, asked: string): string | undefined {
  let known = categories.get(catalog.tools)
  if (!known) {
    const names = [...catalog.sources.map(({ name }) => name), ...catalog.categories]
    known = new Map(names.map((name) => [name.toLowerCase(), name]))
    categories.set(catalog.tools, known)
  }
  return known.get(asked.trim().toLowerCase())
}

/** Lists the sources, one per line, with as much of their descriptions as fits. */
function formatSources({ sources }: Catalog): string {
  if (sources.length < 2 || sources.length > MAX_DESCRIBED) return ''
  for (const length of DESCRIPTION_LENGTHS) {
    const lines = sources.map(({ name, description }) =>
      description === undefined || length === 0 || isRepeated(name, description)
        ? name
        : `${name}: ${shorten(description, length)}`,
    )
    const text = `\nCategories:\n${lines.join('\n')}`
    if (estimatedTokens.count(text) <= MAX_SOURCES_TOKENS) return text
  }
  return ''
}

/** Whether a description only says the name again: `slack: Slack server`. */
function isRepeated(name: string, description: string): boolean {
  const rest = toNameKey(description).replace(toNameKey(name), '')
  return /^(?:the|mcp|server|tools?|api)*$/.test(rest)
}

/** Names the values of a category: servers, if they are not described, and categories. As many as fit, so that the cost is bounded. */
function formatCategories(catalog: Catalog): string {
  // If the sources are listed, they serve as categories.
  if (formatSources(catalog) !== '') return ''
  const sources = catalog.sources.map(({ name }) => name)
  const known = new Set(sources.map(toNameKey))
  const names = [...sources, ...catalog.categories.filter((name) => !known.has(toNameKey(name)))]
  if (names.length < 2) return ''
  let room = MAX_CATEGORIES_TOKENS
  const shown = names.filter((name) => (room -= estimatedTokens.count(`, ${name}`)) >= 0)
  const more = names.length - shown.length
  return shown.length === 0 ? '' : `: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
