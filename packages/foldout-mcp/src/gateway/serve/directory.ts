import { hasParts } from '../fields.ts'
import type { GatewayServer } from '../server.ts'
import type { Listed } from '../upstreams/snapshot.ts'

/** Something of a server under the name that clients see. */
export interface Route {
  readonly server: GatewayServer
  /** The name or address that the server gives it. */
  readonly own: string
}

/** What the servers of a view have beside tools, under names that are unique. */
export interface Directory {
  readonly resources: readonly Listed[]
  readonly templates: readonly Listed[]
  readonly prompts: readonly Listed[]
  findResource(uri: string): Route | undefined
  findPrompt(name: string): Route | undefined
  /** The address that clients know a server's resource by. */
  toSeen(server: GatewayServer, uri: string): string
}

/** Merges what servers list. If two have the same name or address, the second one's gets the server's name added. */
export function createDirectory(servers: readonly GatewayServer[]): Directory {
  const resources = merge(servers, 'resources', 'uri', toForeignUri)
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
  readonly routes: ReadonlyMap<string, Route>
}

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

function toForeignUri(server: string, uri: string): string {
  return `${SCHEME}${encodeURIComponent(server)}/${encodeURIComponent(uri)}`
}

function readForeignUri(servers: readonly GatewayServer[], uri: string): Route | undefined {
  if (!uri.startsWith(SCHEME)) return undefined
  const [name = '', own = ''] = uri.slice(SCHEME.length).split('/')
  try {
    const server = servers.find((one) => one.name === decodeURIComponent(name))
    return server && { server, own: decodeURIComponent(own) }
  } catch {
    return undefined
  }
}

/** The fixed texts of a URI template, between which anything may stand. */
function toPattern(template: string): readonly string[] {
  return template.split(/\{[^{}]*\}/)
}
