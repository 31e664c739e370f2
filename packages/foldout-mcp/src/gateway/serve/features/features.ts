import type { CallClient } from 'foldout/catalog'
import type {
  FeatureContext,
  FeatureNotification,
  FeatureRequest,
  McpFeatures,
  ServedClient,
  ServedSkills,
} from 'foldout/mcp'
import { ignore } from 'foldout/promises'
import { isObject, type JsonObject } from 'foldout-shared/values'
import type { GatewayServer } from '../../servers/server.ts'
import type { ConnectedClient } from '../../upstreams/asking/outside.ts'
import { DEFAULT_LEVEL, LOG_LEVELS, wantsLog } from '../../upstreams/asking/callers.ts'
import { MAX_LISTED } from '../../upstreams/limits.ts'
import { createDirectory, type Directory } from './directory.ts'
import { renameInContents, renameInPrompt, renameInResult } from './links.ts'
import { getSkillExtension, listAnnounced, SkillDirectory } from './skills.ts'
import { answerTask, getTaskCapabilities, TASK_METHODS, type FoldTask } from './tasks.ts'
import { findUpdates, toForeignUri, type Route } from './uris.ts'
import { INVALID_PARAMS, createError, forward, toPage, toUse } from './forward.ts'
import { listUnknownCapabilities, listUnknownExtensions, passNotification, passRequest } from './unknown.ts'

/** Serves everything but tools to the clients of a view: resources, prompts, logs and tasks. */
export interface ViewFeatures {
  forClient(client: ServedClient): McpFeatures
  /** Called when a server's lists may have changed. */
  refresh(): void
  /** The URI that clients use for a server's resource. */
  toSeen(server: GatewayServer, uri: string): string
  /** The same, for a resource that a result of the server names. From now on, the URI belongs to this server. */
  name(server: GatewayServer, uri: string): string
  /** Passes a server's notification on to its clients, or to one of them. */
  hear(server: GatewayServer, method: string, params: JsonObject, client: string | undefined): void
  /** The `SKILL.md` of each skill that is announced to models. */
  listSkills(): readonly JsonObject[]
  /** The clients that are connected now. */
  listClients(): readonly ConnectedClient[]
}

/** What a view does for its clients. */
export interface ClientHooks {
  /** The same client, with an id that no client of another view has. */
  toScoped<Client extends CallClient>(client: Client): Client
  /** Folds the result of a task. */
  readonly fold: FoldTask
  /** The skills that no server has. */
  getSkills(): ServedSkills | undefined
  /** Says why there is no such task. */
  readonly explainTask: (id: string) => Promise<string>
  /** Called when a client's connection has ended. */
  onGone(client: ServedClient): void
}

/** The protocol's number for a resource that does not exist, before and from 2026-07-28 on. */
const NOT_FOUND = { legacy: -32_002, modern: -32_602 } as const
/** Why a failed unsubscription is ignored. */
const GONE = 'a server that is down reports no changes'
const UPDATED = 'notifications/resources/updated'

export function createFeatures(getServers: () => readonly GatewayServer[], hooks: ClientHooks): ViewFeatures {
  const { toScoped, getSkills } = hooks
  let directory: Directory | undefined
  const clients = new Set<ClientFeatures>()
  const named = new Map<string, string>()
  const parts: FeatureParts = {
    ...hooks,
    getServers,
    getDirectory: () => (directory ??= createDirectory(getServers(), { named, skills: getSkills() })),
    name(server, uri) {
      // A server without resources refers to something that clients find elsewhere.
      if (!mayHaveResources(server)) return uri
      const { toSeen, findResource } = parts.getDirectory()
      const seen = toSeen(server, uri)
      if (seen !== uri || findResource(uri)) return seen
      if (named.size >= MAX_LISTED) return toForeignUri(server.name, uri)
      named.set(uri, server.name)
      return uri
    },
    skills: new SkillDirectory({ getServers, getOwn: getSkills, name: (server, uri) => parts.name(server, uri) }),
    routes: new Map(),
    isWatched: (uri) => [...clients].some((client) => client.watches(uri)),
    getLevel: () =>
      LOG_LEVELS[
        [...clients].reduce((least, { leastLevel }) => Math.min(least, toRank(leastLevel)), LOG_LEVELS.length)
      ],
  }
  return {
    forClient: (client) => new ClientFeatures(toScoped(client), parts, clients),
    toSeen: (server, uri) => parts.getDirectory().toSeen(server, uri),
    name: parts.name,
    refresh() {
      const before = directory
      directory = undefined
      if (!before) return
      const after = parts.getDirectory()
      if (!isSame(before.prompts, after.prompts)) tellAll(clients, { method: 'notifications/prompts/list_changed' })
      if (!isSame([before.resources, before.templates], [after.resources, after.templates]))
        tellAll(clients, { method: 'notifications/resources/list_changed' })
    },
    listSkills: () => listAnnounced(parts.getDirectory().resources, getSkills()),
    listClients: () => [...clients].flatMap(({ connected }) => connected ?? []),
    hear(server, method, params, only) {
      const hearing = [...clients].filter(({ id }) => only === undefined || id === only)
      if (method !== UPDATED) return hearing.forEach((client) => client.pass(method, params, server))
      const updates = findUpdates(parts.routes, server, String(params['uri']), (uri) => parts.name(server, uri))
      for (const client of hearing) client.passUpdates(updates, params)
    },
  }
}

/** A server whose lists are not known yet may have anything. */
function mayHaveResources({ snapshot }: GatewayServer): boolean {
  return snapshot === undefined || 'resources' in snapshot.capabilities
}

function tellAll(clients: ReadonlySet<ClientFeatures>, notification: FeatureNotification): void {
  for (const client of clients) client.tell(notification)
}

function isSame(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(after)
}

interface FeatureParts extends ClientHooks {
  getServers(): readonly GatewayServer[]
  getDirectory(): Directory
  readonly name: ViewFeatures['name']
  readonly skills: SkillDirectory
  /** Whether any client has subscribed to a resource. */
  isWatched(uri: string): boolean
  /** The servers of the watched resources. */
  readonly routes: Map<string, Route>
  /** The least severe level that any client wants. */
  getLevel(): string | undefined
}

function toRank(level: string | undefined): number {
  if (level === undefined) return LOG_LEVELS.length
  return LOG_LEVELS.indexOf(level)
}

class ClientFeatures implements McpFeatures {
  readonly id: string
  readonly #client: ServedClient
  readonly #parts: FeatureParts
  readonly #clients: Set<ClientFeatures>
  /** Resources, with the number of watchers of each. */
  readonly #watched = new Map<string, number>()
  readonly #listeners = new Set<(notification: FeatureNotification) => void>()
  #level: string | undefined
  /** Defined while it is connected. Clients of single requests are not. */
  connected: ConnectedClient | undefined

  constructor(client: ServedClient, parts: FeatureParts, clients: Set<ClientFeatures>) {
    this.id = client.id
    this.#client = client
    this.#parts = parts
    this.#clients = clients
  }

  /** A server whose lists are not known yet may have anything. */
  get capabilities(): Readonly<Record<string, object>> {
    const servers = this.#parts.getServers()
    const has = (capability: string): boolean =>
      servers.some(({ snapshot }) => !snapshot || capability in snapshot.capabilities)
    const { extensions, ...tasks } = getTaskCapabilities(servers, this.#client.era)
    const own = this.#parts.getSkills()
    const all = { ...listUnknownExtensions(servers), ...extensions, ...getSkillExtension(servers, own) }
    return {
      ...listUnknownCapabilities(servers),
      ...((own || has('resources')) && { resources: { subscribe: true, listChanged: true } }),
      ...(has('prompts') && { prompts: { listChanged: true } }),
      ...(has('completions') && { completions: {} }),
      ...(has('logging') && { logging: {} }),
      ...tasks,
      ...(Object.keys(all).length > 0 && { extensions: all }),
    }
  }

  /** The least severe log level that the client wants, or has by default. */
  get leastLevel(): string | undefined {
    return this.#level ?? (this.#client.era === 'legacy' ? DEFAULT_LEVEL : undefined)
  }

  watches(uri: string): boolean {
    return this.#watched.has(uri)
  }

  tell(notification: FeatureNotification): void {
    for (const listener of this.#listeners) listener(notification)
  }

  /** Passes on the notifications of servers that concern this client. */
  pass(method: string, params: JsonObject, server: GatewayServer): void {
    const wish = { era: this.#client.era, logLevel: this.#level }
    if (method === 'notifications/message' && !wantsLog(wish, params['level'], server.news.logLevel)) return
    this.tell({ method, params })
  }

  /** Passes on updates of what this client watches. */
  passUpdates(updates: ReadonlyMap<string, string>, params: JsonObject): void {
    const uris = new Set([...updates].flatMap(([watched, uri]) => (this.#watched.has(watched) ? [uri] : [])))
    for (const uri of uris) this.tell({ method: UPDATED, params: { ...params, uri } })
  }

  /** Servers that were told the client's folders must not keep using the old ones. */
  hear(notification: FeatureNotification): void {
    const servers = this.#parts.getServers()
    if (notification.method !== 'notifications/roots/list_changed')
      return passNotification(servers, notification, this.#client)
    for (const server of servers) server.changeRoots(this.id)
  }

  subscribe(listener: (notification: FeatureNotification) => void, channel: ConnectedClient['channel']): () => void {
    this.#clients.add(this)
    if (!this.#client.isShared) this.connected = { client: this.#client, channel }
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#clients.delete(this)
      this.connected = undefined
      this.#parts.onGone(this.#client)
      for (const uri of Array.from(this.#watched.keys())) void ignore(this.#unwatch(uri, Infinity), GONE)
    }
  }

  listen(uris: readonly string[], context: Pick<FeatureContext, 'client'>): () => void {
    const client = this.#parts.toScoped(context.client)
    const watched = uris.flatMap((uri) => {
      const route = this.#findRoute(uri)
      if (route)
        return [{ uri, started: ignore(this.#watch(uri, route, { client }), 'the client is told of no change') }]
      return []
    })
    return () => {
      for (const { uri, started } of watched)
        void ignore(
          started.then(() => this.#unwatch(uri)),
          GONE,
        )
    }
  }

  async request({ method, params }: FeatureRequest, given: FeatureContext): Promise<JsonObject | undefined> {
    const context = { ...given, client: this.#parts.toScoped(given.client) }
    const directory = this.#parts.getDirectory()
    switch (method) {
      case 'resources/list':
        return toPage('resources', directory.resources, 'uri', params)
      case 'resources/templates/list':
        return toPage('resourceTemplates', directory.templates, 'uriTemplate', params)
      case 'prompts/list':
        return toPage('prompts', directory.prompts, 'name', params)
      case 'resources/read':
        return this.#read(params, context)
      case 'resources/subscribe':
        return this.#subscribe(String(params['uri']), context)
      case 'resources/unsubscribe':
        return this.#unwatch(String(params['uri']))
      case 'prompts/get': {
        const route = directory.findPrompt(String(params['name']))
        if (!route) throw createError(INVALID_PARAMS, `Unknown prompt '${String(params['name'])}'.`)
        const result = await forward(route.server, method, { ...params, name: route.own }, context)
        return renameInPrompt(result, (uri) => this.#parts.name(route.server, uri))
      }
      case 'completion/complete':
        return this.#complete(params, context)
      case 'logging/setLevel':
        return this.#setLevel(String(params['level']))
      default:
        return (await this.#parts.skills.answer(method, params, context)) ?? this.#answerOther(method, params, context)
    }
  }

  async #read(params: JsonObject, context: FeatureContext): Promise<JsonObject> {
    const seen = String(params['uri'])
    const skills = this.#parts.getSkills()
    if (skills?.has(seen)) {
      const file = await skills.read(seen)
      if (file) return file
      throw createMissing(seen, context)
    }
    const { server, own } = (await this.#parts.skills.find(seen, context)) ?? this.#findResource(seen, context)
    const result = await forward(server, 'resources/read', { ...params, uri: own }, context)
    return renameInContents(result, (uri) => (uri === own ? seen : this.#parts.name(server, uri)))
  }

  /** A resource that no server has listed or named may still exist. With a single server, it belongs to that one. */
  #findRoute(uri: string): Route | undefined {
    const found = this.#parts.getDirectory().findResource(uri)
    if (found) return found
    const [only, second] = this.#parts.getServers().filter(mayHaveResources)
    if (only && !second) return { server: only, own: uri }
    return undefined
  }

  #findResource(uri: string, context: FeatureContext): Route {
    const found = this.#findRoute(uri)
    if (found) return found
    throw createMissing(uri, context)
  }

  /** A legacy client subscribes once, however often it asks. */
  async #subscribe(uri: string, context: FeatureContext): Promise<JsonObject> {
    // They change with the configuration only, which the lists say.
    if (this.#parts.getSkills()?.has(uri)) return {}
    if (!this.#watched.has(uri)) await this.#watch(uri, this.#findResource(uri, context), context)
    return {}
  }

  async #watch(uri: string, { server, own }: Route, context: Partial<FeatureContext>): Promise<void> {
    const isNew = !this.#parts.isWatched(uri)
    // Counted before the server is asked, because another client may stop watching in the meantime.
    this.#watched.set(uri, (this.#watched.get(uri) ?? 0) + 1)
    this.#clients.add(this)
    if (!isNew) return
    this.#parts.routes.set(uri, { server, own })
    try {
      await server.news.watch(own, toUse(context))
    } catch (error) {
      this.#watched.delete(uri)
      throw error
    }
  }

  async #unwatch(uri: string, times = 1): Promise<JsonObject> {
    const left = (this.#watched.get(uri) ?? 0) - times
    if (!this.#watched.has(uri)) return {}
    if (left > 0) this.#watched.set(uri, left)
    else this.#watched.delete(uri)
    const route = this.#parts.routes.get(uri)
    if (this.#parts.isWatched(uri) || !route) return {}
    this.#parts.routes.delete(uri)
    await route.server.news.unwatch(route.own)
    return {}
  }

  async #complete(params: JsonObject, context: FeatureContext): Promise<JsonObject> {
    const ref = isObject(params['ref']) ? params['ref'] : {}
    const directory = this.#parts.getDirectory()
    const isPrompt = ref['type'] === 'ref/prompt'
    const route = isPrompt ? directory.findPrompt(String(ref['name'])) : directory.findResource(String(ref['uri']))
    if (!route) throw createError(INVALID_PARAMS, 'Nothing with this name can be completed.')
    const own = isPrompt ? { ...ref, name: route.own } : { ...ref, uri: route.own }
    return forward(route.server, 'completion/complete', { ...params, ref: own }, context)
  }

  /** Answers requests for tasks. What nobody here knows goes to the server, if there is only one. */
  async #answerOther(method: string, params: JsonObject, context: FeatureContext): Promise<JsonObject | undefined> {
    if (TASK_METHODS.includes(method)) return this.#answerTask(method, params, context)
    return passRequest(this.#parts.getServers(), { method, params }, context)
  }

  async #answerTask(method: string, params: JsonObject, context: FeatureContext): Promise<JsonObject> {
    const answer = await answerTask(this.#parts.getServers(), method, params, context, (result, server, client) =>
      this.#parts.fold(
        renameInResult(result, (uri) => this.#parts.name(server, uri)),
        server,
        client,
      ),
    )
    if (answer) return answer
    const id = String(params['taskId'] ?? params['cursor'])
    throw createError(INVALID_PARAMS, await this.#parts.explainTask(id))
  }

  /** Servers get the least severe level that any client wants; each client gets only messages at or above its own level. */
  async #setLevel(level: string): Promise<JsonObject> {
    if (!LOG_LEVELS.includes(level))
      throw createError(INVALID_PARAMS, `Unknown level '${level}'. Choose from: ${LOG_LEVELS.join(', ')}.`)
    this.#level = level
    this.#clients.add(this)
    const least = this.#parts.getLevel() ?? level
    const logging = this.#parts.getServers().filter(({ snapshot }) => snapshot && 'logging' in snapshot.capabilities)
    for (const server of logging) void server.news.setLogLevel(least)
    return {}
  }
}

function createMissing(uri: string, { peer }: FeatureContext): Error {
  return createError(NOT_FOUND[peer.era], `Resource not found: ${uri}`, { uri })
}
