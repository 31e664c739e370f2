import { formatCount, formatNumber } from 'foldout-shared/numbers'
import type { Catalog, CatalogEntry } from 'foldout/catalog'
import type { CatalogCosts, ExposureCost } from '../../gateway/serve/costs.ts'
import type { Surroundings } from '../support/surroundings.ts'
import type { OpenSession } from '../support/session.ts'
import { chooseLayout, createStyler, formatBar, formatTable, formatWorking } from '../support/text.ts'
import { shorten, toLine, wrap } from '../support/text.ts'

/** Servers, their tools, and what both cost. */
export interface CostView extends OpenSession {
  readonly costs: CatalogCosts
  readonly exposures: readonly ExposureCost[]
}

/** The text of `foldout tools`: the tools of each server, and a comparison of exposures, in the width of the terminal. */
export function formatTools(view: CostView, { stdout, env }: Surroundings): string {
  const { catalog, servers, failed, costs } = view
  if (servers.length + failed.length === 0) return 'The configuration has no servers.\n'
  const { columns } = stdout
  const style = createStyler(stdout, env)
  const toolsByServer = groupByServer(catalog)
  const headings = formatHeadings(
    servers.map(({ name }) => ({
      name,
      costs: (toolsByServer.get(name) ?? []).map((tool) => costs.tools.get(tool) ?? 0),
    })),
    columns,
  )
  const blocks = servers.map(({ name }, i) => {
    const { title = '', cost = '', separator = '' } = headings[i] ?? {}
    const heading = `${style('bold', title)}${separator}${style('dim', cost)}`
    return [heading, ...formatList(toolsByServer.get(name) ?? [], costs, columns)].join('\n')
  })
  const broken = catalog.broken.map(({ source, name, reason }) => {
    const lines = wrap(`${toLine(source ?? '')}/${toLine(name)} cannot be used: ${toLine(reason)}`, columns)
    return lines.map((line) => style('yellow', line)).join('\n')
  })
  const compared = catalog.tools.length === 0 ? [] : [formatExposures(view, columns)]
  const summary = failed.length === 0 ? [] : [formatWorking(servers.length, failed.length)]
  return [...blocks, ...broken, ...compared, ...summary].map((block) => `${block}\n`).join('\n')
}

interface Heading {
  readonly title: string
  readonly separator: string
  readonly cost: string
}

const BAR = 20
/** A shorter bar says nothing. */
const LEAST_BAR = 5

/** The name of each server, and its cost with a bar for its share of the largest one. All bars have the same scale. */
function formatHeadings(
  servers: readonly { readonly name: string; readonly costs: readonly number[] }[],
  columns = Infinity,
): readonly Heading[] {
  const described = servers.map(({ name, costs }) => {
    const tokens = costs.reduce((sum, cost) => sum + cost, 0)
    const cost =
      costs.length === 0 ? 'no tools' : `${formatCount(costs.length, 'tool')}, ${formatNumber(tokens)} tokens`
    return { title: toLine(name), cost, tokens }
  })
  const largest = Math.max(1, ...described.map(({ tokens }) => tokens))
  const longest = Math.max(0, ...described.map(({ title, cost }) => `${title}  ${cost} `.length))
  const width = Math.min(BAR, columns - longest)
  return described.map(({ title, cost, tokens }) => {
    const bar = width < LEAST_BAR || tokens === 0 ? '' : ` ${formatBar(tokens / largest, width)}`
    const isOneLine = cost !== 'no tools' && `${title}  ${cost}`.length <= columns
    return { title: shorten(title, columns), separator: isOneLine ? '  ' : '\n  ', cost: `${cost}${bar}`.trimEnd() }
  })
}

/** The tools of a server, each with its cost, a bar for its share of the server's total, and its description. */
function formatList(tools: readonly CatalogEntry[], costs: CatalogCosts, columns = Infinity): readonly string[] {
  const sum = tools.reduce((total, tool) => total + (costs.tools.get(tool) ?? 0), 0)
  const rows = sortByName(tools).map((tool) => {
    const cost = costs.tools.get(tool) ?? 0
    const bar = formatBar(cost / sum, 10)
    return { name: `  ${toLine(tool.name)}`, tokens: formatNumber(cost), bar, about: toLine(tool.shortDescription) }
  })
  return chooseLayout(columns, [
    () =>
      formatTable(
        rows.map(({ name, tokens, bar, about }) => [name, tokens.padStart(6), bar, about]),
        columns,
      ),
    () =>
      formatTable(
        rows.map(({ name, tokens, about }) => [name, tokens.padStart(6), about]),
        columns,
      ),
    () => rows.flatMap(({ name, tokens, about }) => [name, shorten(`    ${tokens}  ${about}`, columns)]),
  ])
}

/** Orders names as people do: `tool_2` comes before `tool_10`. */
function sortByName(tools: readonly CatalogEntry[]): readonly CatalogEntry[] {
  const { compare } = new Intl.Collator('en', { numeric: true })
  return tools.toSorted((one, other) => compare(one.name, other.name))
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
function formatExposures({ exposures, costs, catalog }: CostView, columns = Infinity): string {
  const head = `${formatCount(catalog.tools.length, 'tool')}, ${formatNumber(costs.total)} tokens (${costs.counter.exact ? 'exact' : 'estimated'}). What each exposure lists:`
  const usable = exposures.filter(({ problem }) => problem === undefined)
  const problems = exposures.flatMap(({ name, problem }) =>
    problem === undefined ? [] : wrap(`${name} cannot be used: ${toLine(problem)}`, columns, '  '),
  )
  const compared = chooseLayout(columns, [
    () => compareInTable(usable, { hasBars: true, perFind: 'per tool found' }),
    () => compareInTable(usable, { hasBars: false, perFind: 'per find' }),
    () => usable.flatMap((exposure) => describeExposure(exposure, columns)),
  ])
  return [...wrap(head, columns), ...compared, ...problems].join('\n')
}

interface TableStyle {
  readonly hasBars: boolean
  /** The heading for the tokens that finding one tool adds to a conversation. */
  readonly perFind: string
}

function compareInTable(exposures: readonly ExposureCost[], { hasBars, perFind }: TableStyle): readonly string[] {
  const largest = Math.max(1, ...exposures.map(({ tokens }) => tokens))
  const rows = exposures.map(({ name, tools, tokens, findTokens, breakEven }) => {
    const bar = hasBars ? [formatBar(tokens / largest, 10)] : []
    const listed = [`  ${name}`, String(tools).padStart(6), formatNumber(tokens).padStart(8), ...bar]
    if (findTokens === 0) return [...listed, '', 'lists everything']
    return [...listed, formatNumber(findTokens).padStart(perFind.length), formatBreakEven(breakEven)]
  })
  const names = ['', ' tools', '  tokens', ...(hasBars ? [''] : []), perFind, 'cheaper than all']
  return formatTable([names, ...rows])
}

/** An exposure in sentences, for a terminal that is too narrow for a table. */
function describeExposure(
  { name, tools, tokens, findTokens, breakEven }: ExposureCost,
  columns: number,
): readonly string[] {
  const listed = `${name}: ${formatCount(tools, 'tool')}, ${formatNumber(tokens)} tokens`
  const more =
    findTokens === 0
      ? ['lists everything']
      : [`${formatNumber(findTokens)} tokens per tool found`, `cheaper than all: ${formatBreakEven(breakEven)}`]
  return [...wrap(listed, columns, '  '), ...more.flatMap((line) => wrap(line, columns, '    '))]
}

/** Formats the number of searches in one conversation up to which an exposure is cheaper. */
function formatBreakEven(searches: number | null): string {
  if (searches === null) return 'always'
  if (searches === 0) return 'never'
  return `before search ${formatNumber(searches)}`
}
