import { createCatalog, type CatalogEntry, type RawTool } from '../packages/foldout/src/entries/catalog.ts'
import { formatSearchAnswer } from '../packages/foldout/src/catalog/meta-tools/search-answer.ts'
import type { Encoder } from '../packages/foldout/src/catalog/search/encoder.ts'
import { estimatedTokens } from '../packages/foldout/src/entries/index.ts'
import { createRandom } from '../packages/foldout/src/compare/statistics/distributions.ts'
import { goal, progress, type Goal } from './report.ts'
import { readCorpus, spread, type DataQuery, type DataSet, type DataTool } from './search-data.ts'

/** A server, and what users ask of it. */
interface Server {
  readonly name: string
  readonly tools: readonly DataTool[]
  readonly queries: readonly DataQuery[]
}

const CATALOGS = 60
/** In each catalog: servers that users ask, and servers that only make it harder. */
const ASKED_SERVERS = 4
const OTHER_SERVERS = 6
const QUERIES = 3
const BEST = 5
/** Sets whose queries are users' sentences, and whose tools are of many servers. */
const USERS_SETS = new Set(['sgd', 'toolbench-stable', 'bfcl-live', 'metatool', 'mcpproxy-golden'])
/** What separates the name of a server from that of its tool, by set; without a separator, each tool is a server. */
const SEPARATORS: Readonly<Record<string, string>> = { sgd: '.', 'toolbench-stable': ' / ', 'mcpproxy-golden': ':' }

/** What a model gets for one query. */
interface Outcome {
  /** The share of the right tools that are among the best five. */
  readonly isNear: boolean
  /** Whether such a tool is in the answer, with its signature. */
  readonly isShown: boolean
  /** Whether a right tool is in the answer at all, at least by its name. */
  readonly isVisible: boolean
  readonly tokens: number
}

/**
 * Asks catalogs of ten random servers what users asked four of them, and reads the answers as a model does. How often is a right tool
 * among the best five and not in the answer, how often is it visible, and what does the answer cost?
 */
export async function getAnswerGoals(
  sets: readonly DataSet[],
  folder: string,
  embed: Encoder | 'word-vectors',
): Promise<readonly Goal[]> {
  const asked = sets.filter(({ name }) => USERS_SETS.has(name)).map(toServers)
  const others = groupByServer(readCorpus(folder), '/', 'corpus')
  const random = createRandom(2)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!
  const outcomes: Outcome[] = []
  for (let i = 0; i < CATALOGS; i++) {
    progress(`answers of catalog ${i + 1} of ${CATALOGS} ...`)
    const chosen = Array.from({ length: ASKED_SERVERS }, (_, at) => pick(asked[(i + at) % asked.length]!))
    const all = [...chosen, ...Array.from({ length: OTHER_SERVERS }, () => pick(others))]
    const queries = [...new Set(chosen)].flatMap((server) => spread(server.queries, QUERIES))
    outcomes.push(...(await ask([...new Set(all)], queries, embed)))
  }
  const near = outcomes.filter(({ isNear }) => isNear)
  const share = (some: readonly Outcome[], has: (one: Outcome) => boolean) => some.filter(has).length / some.length
  const mean = outcomes.reduce((sum, { tokens }) => sum + tokens, 0) / outcomes.length
  return [
    goal(
      `of ${near.length} users' requests with a right tool among the best five in ten servers, not in the answer`,
      share(near, ({ isShown }) => !isShown),
      '<=',
      0.03,
    ),
    goal(
      `of ${outcomes.length} users' requests to ten servers, a right tool is visible`,
      share(outcomes, ({ isVisible }) => isVisible),
      '>=',
      0.9,
    ),
    goal('tokens of an answer, mean', mean, '<=', 230),
  ]
}

async function ask(
  servers: readonly Server[],
  queries: readonly DataQuery[],
  embed: Encoder | 'word-vectors',
): Promise<readonly Outcome[]> {
  const catalog = createCatalog(
    servers.flatMap(({ name, tools }) => tools.map((tool) => toRawTool(name, tool))),
    { embed },
  )
  await catalog.ready()
  const outcomes: Outcome[] = []
  for (const { query, relevant } of queries) {
    const outcome = await catalog.search(query)
    const { hits } = await catalog.search(query, { limit: BEST })
    const { text } = formatSearchAnswer(catalog, { query, outcome, detail: 'signature' })
    const isRight = ({ meta }: CatalogEntry) => relevant.includes(String(meta?.['name']))
    const lines = text.split('\n')
    const isShown = (tool: CatalogEntry) => lines.some((line) => line.startsWith(`${tool.name}(`))
    const named = lines.find((line) => line.startsWith('Also near: ')) ?? ''
    const right = catalog.tools.filter(isRight)
    outcomes.push({
      isNear: hits.some(({ tool }) => isRight(tool)),
      isShown: right.some(isShown),
      isVisible: right.some((tool) => isShown(tool) || named.includes(` ${tool.name}`)),
      tokens: estimatedTokens.count(text),
    })
  }
  return outcomes
}

/** In a catalog, the tool's name in the data is kept as metadata. */
function toRawTool(source: string, tool: DataTool): RawTool {
  const { name, description = '', category, tags, inputSchema } = tool
  const own = name.startsWith(source) ? name.slice(source.length).replace(/^(?: \/ |[/:.])/, '') : name
  return {
    name: own.replaceAll(/[^\w-]+/g, '_').slice(0, 64) || 'tool',
    source,
    description,
    ...(category === undefined ? {} : { category }),
    ...(tags === undefined ? {} : { tags }),
    inputSchema: { type: 'object', ...inputSchema },
    meta: { name },
    call: async () => ({ content: [] }),
  }
}

function toServers({ name, tools, queries }: DataSet): readonly Server[] {
  return groupByServer(tools, SEPARATORS[name], name)
    .map((server) => {
      const own = new Set(server.tools.map((tool) => tool.name))
      return { ...server, queries: queries.filter(({ relevant }) => relevant.some((right) => own.has(right))) }
    })
    .filter((server) => server.queries.length > 0)
}

function groupByServer(tools: readonly DataTool[], separator: string | undefined, fallback: string): readonly Server[] {
  const servers = new Map<string, DataTool[]>()
  for (const tool of tools) {
    const server = separator === undefined ? tool.name : (tool.name.split(separator)[0] ?? fallback)
    servers.set(server, [...(servers.get(server) ?? []), tool])
  }
  return Array.from(servers, ([name, some]) => ({ name, tools: some, queries: [] }))
}
