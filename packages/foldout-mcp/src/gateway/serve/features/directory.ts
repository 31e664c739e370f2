import { isObject, type JsonObject } from 'foldout-shared/values'
import type { ServedSkills } from 'foldout/mcp'
import { hasParts } from '../../../shared/fields.ts'
import type { GatewayServer } from '../../servers/server.ts'
import type { Listed } from '../../model/snapshot.ts'
import { MAX_COMPARED_TEMPLATES } from './limits.ts'
import { mayOverlap, readForeignUri, toForeignUri, toParts, type Route } from './uris.ts'

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

/** What is known of URIs that are in no list of a server. */
interface KnownUris {
  /** Resources, and the names of the servers whose results named them. */
  readonly named: ReadonlyMap<string, string>
  /** The gateway's own skills. */
  readonly skills?: ServedSkills | undefined
}

/**
 * Merges the servers' lists. No URI and no name leads to two servers: what the gateway or an earlier server has too, or may
 * have according to a template, gets the server's name added.
 */
export function createDirectory(servers: readonly GatewayServer[], known: KnownUris = { named: new Map() }): Directory {
  const uris = new UriDirectory(servers, known)
  const prompts = mergePrompts(servers)
  return {
    resources: uris.resources,
    templates: uris.templates,
    prompts: prompts.items,
    findPrompt: (name) => prompts.routes.get(name),
    findResource: (uri) => uris.find(uri),
    toSeen: (server, uri) => uris.toSeen(server, uri),
  }
}

interface Template {
  readonly server: GatewayServer
  readonly parts: readonly string[]
}

/** The URIs of all servers. */
class UriDirectory {
  readonly resources: Listed[] = []
  readonly templates: Listed[] = []
  readonly #servers: readonly GatewayServer[]
  readonly #known: KnownUris
  /** By the URIs that clients see, with the UI pages of tools, which need not be in a list. */
  readonly #routes = new Map<string, Route>()
  readonly #templateRoutes = new Map<string, Route>()
  /** Those of each server, in the order of the servers. */
  readonly #byServer = new Map<GatewayServer, readonly Template[]>()

  constructor(servers: readonly GatewayServer[], known: KnownUris) {
    this.#servers = servers
    this.#known = known
    for (const resource of known.skills?.resources ?? []) this.resources.push(resource)
    for (const server of servers) this.#add(server)
  }

  find(uri: string): Route | undefined {
    const known = this.#routes.get(uri) ?? this.#templateRoutes.get(uri) ?? readForeignUri(this.#servers, uri)
    if (known) return known
    const server = this.#findNaming(uri) ?? this.#findMatching(uri)
    return server && { server, own: uri }
  }

  toSeen(server: GatewayServer, uri: string): string {
    const foreign = toForeignUri(server.name, uri)
    if (this.#routes.has(foreign) || this.#isOwn(uri)) return foreign
    const found = this.find(uri)
    if (found && (found.server !== server || found.own !== uri)) return foreign
    return uri
  }

  #add(server: GatewayServer): void {
    const { resources = [], templates = [], tools = [] } = server.snapshot ?? {}
    for (const item of resources) {
      const { uri: own } = item
      if (typeof own !== 'string') continue
      const uri = this.#addRoute(server, own)
      if (uri !== undefined) this.resources.push(uri === own ? item : { ...item, uri })
    }
    for (const { meta } of tools) {
      const page = getPage(meta)
      if (page !== undefined) this.#addRoute(server, page)
    }
    const parts: Template[] = []
    for (const item of templates) {
      const { uriTemplate: own } = item
      if (typeof own !== 'string') continue
      const template = { server, parts: toParts(own) }
      const uriTemplate = this.#isFreeTemplate(own, template, templates.length) ? own : toForeignUri(server.name, own)
      parts.push(template)
      if (this.#templateRoutes.has(uriTemplate)) continue
      this.#templateRoutes.set(uriTemplate, { server, own })
      this.templates.push(uriTemplate === own ? item : { ...item, uriTemplate })
    }
    this.#byServer.set(server, parts)
  }

  /** The URI under which clients see a server's resource; undefined if it is known already. */
  #addRoute(server: GatewayServer, own: string): string | undefined {
    const seen = this.#isFree(server, own) ? own : toForeignUri(server.name, own)
    if (this.#routes.has(seen)) return undefined
    this.#routes.set(seen, { server, own })
    return seen
  }

  /** Whether no other server has this URI. */
  #isFree(server: GatewayServer, uri: string): boolean {
    const other = this.#routes.get(uri)?.server ?? this.#findNaming(uri)
    if (this.#isOwn(uri) || (other && other !== server) || readForeignUri(this.#servers, uri)) return false
    for (const templates of this.#byServer.values())
      if (templates.length > MAX_COMPARED_TEMPLATES || templates.some(({ parts }) => hasParts(uri, parts))) return false
    return true
  }

  /** Whether no server before this one has a URI that matches this template, of so many. */
  #isFreeTemplate(own: string, { server, parts }: Template, count: number): boolean {
    if (readForeignUri(this.#servers, own)) return false
    if (this.#byServer.size === 0) return true
    if (count > MAX_COMPARED_TEMPLATES) return false
    for (const templates of this.#byServer.values())
      if (templates.length > MAX_COMPARED_TEMPLATES || templates.some((other) => mayOverlap(parts, other.parts)))
        return false
    for (const [uri, route] of this.#routes) if (route.server !== server && hasParts(uri, parts)) return false
    return true
  }

  #isOwn(uri: string): boolean {
    return this.#known.skills?.has(uri) ?? false
  }

  #findNaming(uri: string): GatewayServer | undefined {
    const name = this.#known.named.get(uri)
    if (name === undefined) return undefined
    return this.#servers.find((server) => server.name === name)
  }

  #findMatching(uri: string): GatewayServer | undefined {
    for (const templates of this.#byServer.values())
      for (const { server, parts } of templates) if (hasParts(uri, parts)) return server
    return undefined
  }
}

/** The URI of a tool's UI page (MCP Apps). */
export function getPage(meta: JsonObject | undefined): string | undefined {
  const ui = meta?.['ui']
  const page = isObject(ui) ? (ui['resourceUri'] ?? meta?.[OLD_PAGE]) : meta?.[OLD_PAGE]
  if (typeof page === 'string') return page
  return undefined
}

/** The metadata of a tool, with a different URI for its page. */
export function withPage(meta: JsonObject, page: string): JsonObject {
  const { ui } = meta
  return {
    ...meta,
    ...(isObject(ui) && 'resourceUri' in ui && { ui: { ...ui, resourceUri: page } }),
    ...(OLD_PAGE in meta && { [OLD_PAGE]: page }),
  }
}

/** The older place of the page's URI, before `ui`. */
const OLD_PAGE = 'ui/resourceUri'

interface Prompts {
  readonly items: readonly Listed[]
  readonly routes: ReadonlyMap<string, Route>
}

/** A prompt whose name an earlier server has too gets another name, which no prompt of any server has. */
function mergePrompts(servers: readonly GatewayServer[]): Prompts {
  const owners = new Map<string, GatewayServer>()
  for (const server of servers)
    for (const { name } of server.snapshot?.prompts ?? [])
      if (typeof name === 'string' && !owners.has(name)) owners.set(name, server)
  const items: Listed[] = []
  const routes = new Map<string, Route>()
  for (const server of servers) {
    const known = new Set<string>()
    for (const item of server.snapshot?.prompts ?? []) {
      const { name: own } = item
      if (typeof own !== 'string' || known.has(own)) continue
      known.add(own)
      const isTaken = (name: string): boolean => owners.has(name) || routes.has(name)
      const name = owners.get(own) === server ? own : toFreeName(`${server.name}_${own}`, isTaken)
      routes.set(name, { server, own })
      items.push(name === own ? item : { ...item, name })
    }
  }
  return { items, routes }
}

function toFreeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name
  for (let i = 2; isTaken(free); i++) free = `${name}_${i}`
  return free
}
