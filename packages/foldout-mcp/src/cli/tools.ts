import { formatSignature, type Catalog, type CatalogEntry } from 'foldout/catalog'
import { compareExposures, computeCosts, type CatalogCosts, type ExposureCost } from '../gateway/serve/costs.ts'
import { EXIT } from './exit-codes.ts'
import { withServers, type OpenSession, type ServerOptions, type Surroundings } from './session.ts'
import { createStyler, formatBar, formatCount, formatNumber, formatTable, toLine } from './text.ts'

/** `foldout tools`: lists everything the servers offer and what it costs. Returns the exit code. */
export async function listTools(options: ServerOptions, surroundings: Surroundings): Promise<number> {
  return withServers(options, surroundings, async (session) => {
    const { catalog, progress } = session
    const { costs, exposures } = await progress.during(
      () => `Counting ${catalog.tools.length} tools`,
      async () => {
        const counted = computeCosts(catalog)
        return { costs: counted, exposures: await compareExposures(catalog, counted) }
      },
    )
    const view = { ...session, costs, exposures }
    surroundings.stdout.write(options.json ? formatJson(view) : formatText(view, surroundings))
    return session.servers.length === 0 && session.failed.length > 0 ? EXIT.failed : EXIT.done
  })
}

interface CostView extends OpenSession {
  readonly costs: CatalogCosts
  readonly exposures: readonly ExposureCost[]
}

function formatJson({ catalog, servers, failed, costs, exposures }: CostView): string {
  const tools = catalog.tools.map((tool) => ({
    ...describeTool(tool),
    tokens: costs.tools.get(tool),
    inputSchema: tool.inputSchema,
  }))
  const tokens = new Map(costs.servers.map((server) => [server.name, server.tokens]))
  const counted = servers.map((server) => ({ ...server, tokens: tokens.get(server.name) ?? 0 }))
  const { total, counter } = costs
  return `${JSON.stringify({ tools, servers: counted, failed, broken: catalog.broken, tokens: total, counter, exposures }, null, 2)}\n`
}

/** A tool in the JSON output of `tools` and `search`. */
export function describeTool(tool: CatalogEntry): Readonly<Record<string, unknown>> {
  const { name, source, declared, title, description } = tool
  return { name, server: source, declared, title, description, signature: formatSignature(tool) }
}

function formatText(view: CostView, { stdout, env }: Surroundings): string {
  const { catalog, servers, failed, costs } = view
  if (servers.length + failed.length === 0) return 'The configuration has no servers.\n'
  const { columns } = stdout
  const style = createStyler(stdout, env)
  const largest = Math.max(1, ...costs.servers.map(({ tokens }) => tokens))
  const toolsByServer = groupByServer(catalog)
  const blocks = servers.map(({ name }) => {
    const tools = toolsByServer.get(name) ?? []
    const tokens = tools.reduce((sum, tool) => sum + (costs.tools.get(tool) ?? 0), 0)
    const title = style('bold', toLine(name))
    if (tools.length === 0) return `${title}\n${style('dim', '  no tools')}`
    const rows = tools.map((tool) => formatRow(tool, costs.tools.get(tool) ?? 0, tokens))
    const cost = `${formatCount(tools.length, 'tool')}, ${formatNumber(tokens)} tokens ${formatBar(tokens / largest, 20)}`
    return [`${title}  ${style('dim', cost.trimEnd())}`, ...formatTable(rows, columns)].join('\n')
  })
  const broken = catalog.broken.map(({ source, name, reason }) =>
    style('yellow', `${toLine(source ?? '')}/${toLine(name)} cannot be used: ${toLine(reason)}`),
  )
  const compared = catalog.tools.length === 0 ? [] : [formatExposures(view, columns)]
  return [...blocks, ...broken, ...compared].map((block) => `${block}\n`).join('\n')
}

/** A tool with its cost, and a bar for its share of the server's total. */
function formatRow(tool: CatalogEntry, cost: number, serverCost: number): readonly string[] {
  const tokens = formatNumber(cost).padStart(6)
  return [`  ${toLine(tool.name)}`, tokens, formatBar(cost / serverCost, 10), toLine(tool.shortDescription)]
}

function groupByServer({ tools }: Catalog): ReadonlyMap<string, readonly CatalogEntry[]> {
  const groups = new Map<string, CatalogEntry[]>()
  for (const tool of tools) {
    const group = groups.get(tool.source ?? '') ?? []
    group.push(tool)
    groups.set(tool.source ?? '', group)
  }
  return groups
}

/** Shows what each exposure lists, and for how many searches it is cheaper than listing everything. */
function formatExposures({ exposures, costs, catalog }: CostView, columns: number | undefined): string {
  const largest = Math.max(1, ...exposures.map(({ tokens }) => tokens))
  const rows = exposures
    .filter(({ problem }) => problem === undefined)
    .map(({ name, tools, tokens, findTokens, breakEven }) => {
      const bar = formatBar(tokens / largest, 10)
      const listed = [`  ${name}`, String(tools).padStart(6), formatNumber(tokens).padStart(8), bar]
      if (findTokens === 0) return [...listed, '', 'lists everything']
      return [...listed, formatNumber(findTokens).padStart(PER_FIND.length), formatBreakEven(breakEven)]
    })
  const problems = exposures.flatMap(({ name, problem }) =>
    problem === undefined ? [] : [`  ${name} cannot be used: ${toLine(problem)}`],
  )
  const head = `${formatCount(catalog.tools.length, 'tool')}, ${formatNumber(costs.total)} tokens (${costs.counter.exact ? 'exact' : 'estimated'}). What each exposure lists:`
  const names = ['', ' tools', '  tokens', '', PER_FIND, 'cheaper than all']
  return [head, ...formatTable([names, ...rows], columns), ...problems].join('\n')
}

/** The heading for the tokens that finding one tool adds to a conversation. */
const PER_FIND = 'per tool found'

/** Formats the number of searches in one conversation up to which an exposure is cheaper. */
function formatBreakEven(searches: number | null): string {
  if (searches === null) return 'always'
  if (searches === 0) return 'never'
  return `before search ${formatNumber(searches)}`
}
