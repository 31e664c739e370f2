import {
  all,
  createCatalog,
  hybrid,
  type Catalog,
  type ExposedCatalog,
  type Exposure,
  type RawTool,
} from 'foldout/catalog'
import type { TokenCounter } from 'foldout'
import { gptTokenizer } from 'foldout/gpt-tokenizer'
import { findAndUse, getText } from './catalog-model.ts'
import { goal, progress, type Bench, type Row } from './report.ts'
import { sampleTools } from './sample-tools.ts'
import { spread } from './search-data.ts'

export const tokensBench: Bench = {
  name: 'tokens',
  question: 'How many tokens does a model spend until it calls the right tool?',
  columns: [
    { key: 'what', label: 'what' },
    { key: 'tools', label: 'tools' },
    { key: 'tokens', label: 'tokens' },
    { key: 'listedInFull', label: 'all listed' },
    { key: 'ratio', label: 'ratio' },
    { key: 'found', label: 'found' },
  ],
  async run({ quick }) {
    const counter = await gptTokenizer()
    const { tools, origin } = sampleTools()
    const rows: Row[] = []
    const lists: number[] = []
    for (const count of [10, 100, 1_000, 10_000].filter((size) => size <= tools.length)) {
      progress(`listing ${count} tools ...`)
      const catalog = createCatalog(spread(tools, count).map(withoutSource))
      const listed = listTokens(exposed(catalog, hybrid()), counter)
      lists.push(listed)
      rows.push(row('search_tools and use_tool, listed', count, listed, catalog, counter))
    }
    const servers = tenServers(tools)
    const withServers = listTokens(exposed(servers, hybrid()), counter)
    rows.push(row('the same with a line for each of 10 servers', servers.tools.length, withServers, servers, counter))

    progress(`searching ${tools.length} ${origin} ...`)
    const answers = await answerTokens(createCatalog(tools), quick ? 50 : 500, counter)
    rows.push({ what: `an answer of five hits, ${origin}`, tools: tools.length, tokens: answers })
    // Many definitions in the corpus have no parameters, and are cheap to show.
    const withFields = tools.filter((tool) => Object.keys(tool.inputSchema?.['properties'] ?? {}).length > 0)
    const fuller = await answerTokens(createCatalog(withFields), quick ? 50 : 500, counter)
    rows.push({ what: `the same, tools with parameters`, tools: withFields.length, tokens: fuller })

    progress('finding and calling one of 500 tools ...')
    const first = await firstCall(createCatalog(spread(tools, 500)), quick ? 50 : 500, counter)
    rows.push({
      ...row('list, search and first correct call', 500, first.tokens, first.catalog, counter),
      found: first.found,
    })
    return {
      rows,
      goals: [
        goal('search_tools and use_tool listed, at any size', Math.max(...lists), '<=', 200),
        goal('with a line for each of 10 servers', withServers, '<=', 300),
        goal('what the list grows from 10 tools to the most', Math.max(...lists) - lists[0]!, '<=', 0),
        goal('an answer of five callable hits, on average', answers, '<=', 300),
        goal('the same, of tools with parameters', fuller, '<=', 300),
        goal('list, search and first correct call at 500 tools', first.tokens, '<=', 550),
      ],
    }
  },
}

/** Renames a tool as if one server had them all. */
function withoutSource({ source, ...tool }: RawTool): RawTool {
  return { ...tool, name: `${source}_${tool.name}` }
}

function exposed(catalog: Catalog, exposure: Exposure): ExposedCatalog {
  return exposure.expose(catalog, { id: 'bench', takesListChanges: false })
}

function listTokens(shown: ExposedCatalog, counter: TokenCounter): number {
  return shown
    .list()
    .reduce(
      (sum, { name, description, inputSchema }) =>
        sum + counter.count(JSON.stringify({ name, description, inputSchema })),
      0,
    )
}

function row(what: string, tools: number, tokens: number, catalog: Catalog, counter: TokenCounter): Row {
  const listedInFull = listTokens(exposed(catalog, all()), counter)
  return { what, tools, tokens, listedInFull, ratio: tokens / listedInFull }
}

/** The tools of the ten largest servers, with each server's purpose. */
function tenServers(tools: Parameters<typeof createCatalog>[0]): Catalog {
  const { sources } = createCatalog(tools)
  const largest = [...sources].sort((one, other) => other.tools - one.tools).slice(0, 10)
  const names = new Set(largest.map(({ name }) => name))
  return createCatalog(
    tools.filter((tool) => 'source' in tool && names.has(tool.source ?? '')),
    { sources: Object.fromEntries(largest.map(({ name }) => [name, 'Files, issues, pull requests and releases'])) },
  )
}

/** Queries from the tools' own descriptions, spread over the catalog. */
async function answerTokens(catalog: Catalog, questions: number, counter: TokenCounter): Promise<number> {
  const shown = exposed(catalog, hybrid())
  let sum = 0
  let answers = 0
  for (const { shortDescription } of spread(catalog.tools, questions)) {
    if (shortDescription === '') continue
    sum += counter.count(getText(await shown.call('search_tools', { query: shortDescription, limit: 5 }, {})))
    answers += 1
  }
  return sum / answers
}

async function firstCall(
  catalog: Catalog,
  questions: number,
  counter: TokenCounter,
): Promise<{ readonly catalog: Catalog; readonly tokens: number; readonly found: string }> {
  const shown = exposed(catalog, hybrid())
  const listed = listTokens(shown, counter)
  const asked = spread(catalog.tools, questions)
  let found = 0
  let sum = 0
  for (const tool of asked) {
    const spent = await findAndUse(shown, tool, [tool.shortDescription || tool.name, tool.name], counter)
    if (spent.callTokens === undefined) continue
    found += 1
    const searching = spent.searches.map(({ argumentsTokens, resultTokens }) => argumentsTokens + resultTokens)
    sum += listed + searching.reduce((total, tokens) => total + tokens, 0) + spent.callTokens
  }
  return { catalog, tokens: sum / found, found: `${((found / asked.length) * 100).toFixed(1)} %` }
}
