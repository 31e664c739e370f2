import type { BrokenTool, Catalog } from 'foldout/catalog'

/** How many tools of a server a report names. */
const MAX_NAMED = 3

/** Reports tools that clients do not see because something is wrong with their definitions, once each. */
export function createBrokenReport(catalog: Pick<Catalog, 'broken'>, onError: (error: Error) => void): () => void {
  const known = new Set<string>()
  return () => {
    const news = new Map<string | undefined, BrokenTool[]>()
    for (const tool of catalog.broken) {
      const id = JSON.stringify(tool)
      if (known.has(id)) continue
      known.add(id)
      const same = news.get(tool.source)
      if (same) same.push(tool)
      else news.set(tool.source, [tool])
    }
    for (const [server, tools] of news) onError(new Error(describeBroken(server, tools)))
  }
}

function describeBroken(server: string | undefined, tools: readonly BrokenTool[]): string {
  const named = tools.slice(0, MAX_NAMED).map(({ name, reason }) => `'${name}': ${reason}`)
  const rest = tools.length - named.length
  const what = tools.length === 1 ? '1 tool' : `${tools.length} tools`
  const more = rest === 0 ? '' : ` And ${rest} more; foldout doctor lists them all.`
  return `${what} of the server '${server ?? '?'}' cannot be used. ${named.join(' ')}${more}`
}
