import { hasParts, isObject, type JsonObject } from '../fields.ts'
import type { GatewayServer } from '../server.ts'
import type { Listed } from '../upstreams/snapshot.ts'

/** A server's item, under the name that clients see. */
export interface Route {
  readonly server: GatewayServer
  /** The server's own name or URI for it. */
  readonly own: string
}

/** Everything the servers of a view have besides tools, under unique names. */
export interface Directory {
  readonly resources: readonly Listed[]
  readonly templates: readonly Listed[]
  readonly prompts: readonly Listed[]
  findResource(uri: string): Route | undefined
  findPrompt(name: string): Route | undefined
  /** The URI that clients use for a server's resource. */
  toSeen(server: GatewayServer, uri: string): string
}

/** Merges the servers' lists. If two items have the same name or URI, the server's name is added to the second. */
export function createDirectory(servers: readonly GatewayServer[]): Directory {
  const resources = merge(servers, 'resources', 'uri', toForeignUri)
  addPages(servers, resources.routes)
  const templates = merge(servers, 'templates', 'uriTemplate', toForeignUri)
  const prompts = merge(servers, 'prompts', 'name', (server, name) => `${server}_${name}`)
  const byTemplate = [...templates.routes].map(([, route]) => ({ route, pattern: toPattern(route.own) }))
  return {
    resources: resources.items,
    templates: templates.items,
    prompts: prompts.items,
    findPrompt: (name) => prompts.routes.get(name),
    findResource(uri) {
      const known = resources.routes.get(uri) ?? templates.routes.get(uri) ?? readForeignUri(servers, uri)
      if (known) return known
      const found = byTemplate.find(({ pattern }) => hasParts(uri, pattern))?.route
      return found && { server: found.server, own: uri }
    },
    toSeen(server, uri) {
      const taken = resources.routes.get(uri)
      return taken && taken.server !== server ? toForeignUri(server.name, uri) : uri
    },
  }
}

interface Merged {
  readonly items: readonly Listed[]
  readonly routes: Map<string, Route>
}

/** The UI pages of tools, which need not be in a list of resources. */
function addPages(servers: readonly GatewayServer[], routes: Map<string, Route>): void {
  for (const server of servers)
    for (const { meta } of server.snapshot?.tools ?? []) {
      const own = getPage(meta)
      if (own !== undefined && !routes.has(own)) routes.set(own, { server, own })
    }
}

/** The URI of a tool's UI page (MCP Apps). */
export function getPage(meta: JsonObject | undefined): string | undefined {
  const ui = meta?.['ui']
  const page = isObject(ui) ? (ui['resourceUri'] ?? meta?.[OLD_PAGE]) : meta?.[OLD_PAGE]
  return typeof page === 'string' ? page : undefined
}

/** The metadata of a tool, with a different URI for its page. */
export function withPage(meta: JsonObject, page: string): JsonObject {
  const { ui } = meta
  return {
    ...meta,
    ...(isObject(ui) && 'resourceUri' in ui ? { ui: { ...ui, resourceUri: page } } : {}),
    ...(OLD_PAGE in meta ? { [OLD_PAGE]: page } : {}),
  }
}

/** The older place of the page's URI, before `ui`. */
const OLD_PAGE = 'ui/resourceUri'

function merge(
  servers: readonly GatewayServer[],
  list: 'resources' | 'templates' | 'prompts',
  field: string,
  rename: (server: string, own: string) => string,
): Merged {
  const items: Listed[] = []
  const routes = new Map<string, Route>()
  for (const server of servers) {
    for (const item of server.snapshot?.[list] ?? []) {
      const own = item[field]
      if (typeof own !== 'string') continue
      const seen = routes.has(own) ? rename(server.name, own) : own
      if (routes.has(seen)) continue
      routes.set(seen, { server, own })
      items.push(seen === own ? item : { ...item, [field]: seen })
    }
  }
  return { items, routes }
}

const SCHEME = 'foldout://'
/** Clients accept only pages with this URI scheme. */
const PAGE_SCHEME = 'ui://'
const FOREIGN_PAGE = `${PAGE_SCHEME}foldout/`

function toForeignUri(server: string, uri: string): string {
  const scheme = uri.startsWith(PAGE_SCHEME) ? FOREIGN_PAGE : SCHEME
  return `${scheme}${encodeURIComponent(server)}/${encodeURIComponent(uri)}`
}

function readForeignUri(servers: readonly GatewayServer[], uri: string): Route | undefined {
  const scheme = [SCHEME, FOREIGN_PAGE].find((one) => uri.startsWith(one))
  if (scheme === undefined) return undefined
  const [name = '', own = ''] = uri.slice(scheme.length).split('/')
  try {
    const server = servers.find((one) => one.name === decodeURIComponent(name))
    return server && { server, own: decodeURIComponent(own) }
  } catch {
    return undefined
  }
}

/** The fixed parts of a URI template, between which anything may occur. */
function toPattern(template: string): readonly string[] {
  return template.split(/\{[^{}]*\}/)
}
