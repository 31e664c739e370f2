import type { JsonSchema } from '../../core/schema/schema.ts'
import { namedSome, shortened } from '../../core/text.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import type { Catalog } from '../catalog.ts'
import { createErrorResult, createTextResult } from '../../tools/call-result.ts'
import type { CallResult } from '../tool.ts'
import { type MetaScope, type MetaTool } from './meta-tool.ts'
import { MAX_HITS, formatSearchAnswer, type AnswerDetail } from './search-answer.ts'

export const SEARCH_TOOLS = 'search_tools'

/** A list of servers or categories with more entries than this is not shown, so that its cost does not grow. */
const MAX_NAMED = 10
/** What the list of servers may cost, and that of categories. */
const MAX_SOURCES_TOKENS = 105
const MAX_CATEGORIES_TOKENS = 30
/** How much of each source's description is shown, if the list has room for it. */
const DESCRIPTION_LENGTHS = [60, 45, 30, 20, 0]
const DEFAULT_LIMIT = 5
/** How many categories are named where one was asked for that is not there. */
const NAMED_CATEGORIES = 20
const DETAILS: readonly AnswerDetail[] = ['names', 'signature', 'schema']

export interface SearchToolsOptions {
  /** How the model is told to run what it finds. */
  readonly callWith: string
}

/** Finds tools by what they do. */
export function createSearchTool(scope: MetaScope, options: SearchToolsOptions): MetaTool {
  return {
    get listing() {
      return {
        name: SEARCH_TOOLS,
        description: `Find tools by what you want to do. ${options.callWith}${sourceLines(scope.catalog)}`,
        inputSchema: { type: 'object', properties: searchProperties(scope.catalog), required: ['query'] },
        annotations: { title: 'Search tools', readOnlyHint: true, idempotentHint: true, openWorldHint: false },
      }
    },
    call: (args) => runSearch(scope, args),
  }
}

/** The fields of a search, for every meta tool that has one. */
export function searchProperties(catalog: Catalog): Readonly<Record<string, JsonSchema>> {
  return {
    query: { type: 'string', description: "What to do, or a tool's name" },
    category: { type: 'string', description: `Search only here${categoryNames(catalog)}` },
    limit: { type: 'integer', description: 'Default 5' },
    detail: { type: 'string', enum: DETAILS },
  }
}

export async function runSearch(
  { catalog, client, core }: MetaScope,
  args: Readonly<Record<string, unknown>>,
): Promise<CallResult> {
  const asked = readSearch(catalog, args)
  if (typeof asked === 'string') return createErrorResult(asked)
  const { query, detail, category, limit } = asked
  const outcome = await catalog.search(query, { limit, ...(category === undefined ? {} : { category }) })
  const { text, shown } = formatSearchAnswer(catalog, { query, outcome, detail, category, core: new Set(core?.()) })
  catalog.report({
    type: 'tools/searched',
    client: client.id,
    query,
    hits: shown.map(({ qualified }) => qualified),
    tokens: estimatedTokens.count(JSON.stringify(args)) + estimatedTokens.count(text),
  })
  return createTextResult(text)
}

interface AskedSearch {
  readonly query: string
  readonly category: string | undefined
  readonly limit: number
  readonly detail: AnswerDetail
}

/** What a model asked for, or what is wrong with it. Models send nothing, `null` and `""` for what they leave open. */
function readSearch(catalog: Catalog, args: Readonly<Record<string, unknown>>): AskedSearch | string {
  const { query } = args
  const category = args['category'] || undefined
  const limit = Number(args['limit'] ?? DEFAULT_LIMIT)
  const detail = DETAILS.find((known) => known === (args['detail'] || 'signature'))
  if (typeof query !== 'string' || query.trim() === '')
    return "Say in 'query' what you want to do, such as \"send a message\", or a tool's name."
  if (!(limit >= 1)) return "'limit' must be a number from 1."
  if (detail === undefined) return `'detail' must be one of ${DETAILS.join(', ')}.`
  if (category !== undefined && typeof category !== 'string') return "'category' must be a text."
  const asked = { query, limit: Math.min(Math.floor(limit), MAX_HITS), detail }
  if (category === undefined) return { ...asked, category: undefined }
  const known = [...new Set([...catalog.categories, ...catalog.sources.map(({ name }) => name)])].sort()
  const found = known.find((name) => name.toLowerCase() === category.toLowerCase())
  if (found !== undefined) return { ...asked, category: found }
  const there = known.length === 0 ? 'There are none' : `There are: ${namedSome(known, NAMED_CATEGORIES)}`
  return `There is no category '${shortened(category)}'. ${there}.`
}

/** What the catalog is made of, a line for each source, with as much of what each is for as there is room for. */
function sourceLines({ sources }: Catalog): string {
  if (sources.length < 2 || sources.length > MAX_NAMED) return ''
  for (const length of DESCRIPTION_LENGTHS) {
    const lines = sources.map(({ name, description }) =>
      description === undefined || length === 0 ? name : `${name}: ${shortened(description, length)}`,
    )
    const text = `\nThey come from:\n${lines.join('\n')}`
    if (estimatedTokens.count(text) <= MAX_SOURCES_TOKENS) return text
  }
  return ''
}

function categoryNames(catalog: Catalog): string {
  const { categories } = catalog
  // Where sources are listed, they are categories enough.
  if (categories.length < 2 || categories.length > MAX_NAMED || sourceLines(catalog) !== '') return ''
  const text = `: ${categories.join(', ')}`
  return estimatedTokens.count(text) <= MAX_CATEGORIES_TOKENS ? text : ''
}
