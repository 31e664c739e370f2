import { formatSignature, type Catalog, type CatalogEntry } from 'foldout/catalog'
import { EXIT } from './exit-codes.ts'
import { withServers, type OpenSession, type ServerOptions, type Surroundings } from './session.ts'
import { createStyler, formatTable, toLine } from './text.ts'

/** `foldout tools`: everything that the servers offer. Returns the exit code. */
export async function listTools(options: ServerOptions, surroundings: Surroundings): Promise<number> {
  return withServers(options, surroundings, async (session) => {
    surroundings.stdout.write(options.json ? formatJson(session) : formatText(session, surroundings))
    return session.servers.length === 0 && session.failed.length > 0 ? EXIT.failed : EXIT.done
  })
}

function formatJson({ catalog, servers, failed }: OpenSession): string {
  const tools = catalog.tools.map((tool) => ({ ...describeTool(tool), inputSchema: tool.inputSchema }))
  return `${JSON.stringify({ tools, servers, failed, broken: catalog.broken }, null, 2)}\n`
}

/** A tool in the JSON of both commands. */
export function describeTool(tool: CatalogEntry): Readonly<Record<string, unknown>> {
  const { name, source, declared, title, description } = tool
  return { name, server: source, declared, title, description, signature: formatSignature(tool) }
}

function formatText({ catalog, servers }: OpenSession, { stdout, env }: Surroundings): string {
  const style = createStyler(stdout, env)
  const blocks = servers.map(({ name }) => {
    const rows = getToolsFrom(catalog, name).map((tool) => [`  ${toLine(tool.name)}`, toLine(tool.shortDescription)])
    const title = style('bold', toLine(name))
    return [title, ...(rows.length === 0 ? [style('dim', '  no tools')] : formatTable(rows, stdout.columns))].join('\n')
  })
  const broken = catalog.broken.map(({ source, name, reason }) =>
    style('yellow', `${toLine(source ?? '')}/${toLine(name)} cannot be used: ${toLine(reason)}`),
  )
  return [...blocks, ...broken].map((block) => `${block}\n`).join('\n')
}

function getToolsFrom(catalog: Catalog, server: string): readonly CatalogEntry[] {
  return catalog.tools.filter(({ source }) => source === server)
}
