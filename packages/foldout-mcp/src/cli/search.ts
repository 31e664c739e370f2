import type { CatalogEntry, SearchOutcome } from 'foldout/catalog'
import { UsageError } from '../gateway/config/config.ts'
import { dropUndefined } from '../gateway/fields.ts'
import { EXIT } from './exit-codes.ts'
import { withServers, type OpenSession, type ServerOptions, type Surroundings } from './session.ts'
import { createStyler, formatTable, toLine } from './text.ts'
import { describeTool } from './tools.ts'

export interface SearchCommandOptions extends ServerOptions {
  readonly limit?: number
}

type Outcome = SearchOutcome<CatalogEntry>

/** `foldout search <query>`: the tools that a model would be offered for these words. Returns the exit code. */
export async function searchTools(
  query: string,
  options: SearchCommandOptions,
  surroundings: Surroundings,
): Promise<number> {
  if (query.trim() === '') throw new UsageError('Say what the tool should do: foldout search "send an e-mail".')
  return withServers(options, surroundings, async (session) => {
    const { limit } = options
    const outcome = await session.catalog.search(query, dropUndefined({ limit }))
    const text = options.json ? formatJson(query, outcome, session) : formatText(query, outcome, surroundings)
    surroundings.stdout.write(text)
    if (session.servers.length === 0 && session.failed.length > 0) return EXIT.failed
    return outcome.hits.length === 0 ? EXIT.failed : EXIT.done
  })
}

function formatJson(query: string, { hits, fit, more, confidence }: Outcome, { servers, failed }: OpenSession): string {
  const found = hits.map(({ tool, score }) => ({ ...describeTool(tool), score }))
  return `${JSON.stringify({ query, hits: found, fit, more, confidence, servers, failed }, null, 2)}\n`
}

function formatText(query: string, { hits, fit, more }: Outcome, { stdout, env }: Surroundings): string {
  const style = createStyler(stdout, env)
  if (hits.length === 0) return `No tool fits “${toLine(query)}”.\n`
  const rows = hits.map(({ tool }) => [toLine(tool.name), toLine(tool.source ?? ''), toLine(tool.description)])
  const first = fit === 'weak' ? [`No tool fits “${toLine(query)}” well. The nearest:`] : []
  const others = more > 0 ? [style('dim', `and ${more} more: --limit ${hits.length + more}`)] : []
  return `${[...first, ...formatTable(rows, stdout.columns), ...others].join('\n')}\n`
}
