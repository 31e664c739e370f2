import { formatSignature, type CatalogEntry } from 'foldout/catalog'
import { compareExposures, computeCosts } from '../../gateway/serve/costs.ts'
import { EXIT } from '../support/exit-codes.ts'
import { formatTools, type CostView } from './format-tools.ts'
import { type Surroundings } from '../support/surroundings.ts'
import { withServers, type ServerOptions } from '../support/session.ts'

/** `foldout tools`: lists everything the servers offer and what it costs. Returns the exit code. */
export async function listTools(options: ServerOptions, surroundings: Surroundings): Promise<number> {
  return withServers(options, surroundings, async (session) => {
    const { catalog, gateway, progress } = session
    const { costs, exposures } = await progress.during(
      () => `Counting ${catalog.tools.length} tools`,
      async () => {
        const counted = computeCosts(catalog)
        const { ownTools, ownInstructions } = gateway
        return { costs: counted, exposures: await compareExposures(catalog, counted, ownTools, ownInstructions) }
      },
    )
    const view = { ...session, costs, exposures }
    surroundings.stdout.write(options.json ? formatJson(view) : formatTools(view, surroundings))
    if (session.servers.length === 0 && session.failed.length > 0) return EXIT.failed
    return EXIT.done
  })
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
