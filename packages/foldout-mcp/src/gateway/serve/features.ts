import type { FeatureContext, FeatureNotification, FeatureRequest, McpFeatures, ServedClient } from 'foldout/mcp'
import { requestFromMcp } from 'foldout/mcp'
import type { GatewayServer } from '../server.ts'
import { createDirectory, type Directory, type Route } from './directory.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** What the servers of a view have beside tools, for its clients. */
export interface ViewFeatures {
  forClient(client: ServedClient): McpFeatures
  /** Says that the lists of a server may have changed. */
  refresh(): void
  /** Passes on what a server tells its clients. */
  hear(server: GatewayServer, method: string, params: JsonObject): void
}

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
/** The protocol's number for a resource that does not exist, before and from 2026-07-28 on. */
const NOT_FOUND = { legacy: -32_002, modern: -32_602 } as const
const INVALID_PARAMS = -32_602
/** A server that asks again and again is not answered for ever. */
const MAX_ROUNDS = 10

export function createFeatures(getServers: () => readonly GatewayServer[]): ViewFeatures {
  let directory: Directory | undefined
  const clients = new Set<ClientFeatures>()
  const parts: FeatureParts = {
    getServers,
    getDirectory: () => (directory ??= createDirectory(getServers())),
    isWatched: (uri) => [...clients].some((client) => client.watches(uri)),
    getLevel: () => [...clients].reduce((level, client) => Math.min(level, client.level), LEVELS.length),
  }
  return {
    forClient: () => new ClientFeatures(parts, clients),
    refresh() {
      const before = directory
      directory = undefined
      if (!before) return
      const after = parts.getDirectory()
      if (!isSame(before.prompts, after.prompts)) tellAll(clients, { method: 'notifications/prompts/list_changed' })
      if (!isSame([before.resources, before.templates], [after.resources, after.templates]))
        tellAll(clients, { method: 'notifications/resources/list_changed' })
    },
    hear(server, method, params) {
      const seen =
        method === 'notifications/resources/updated'
          ? { ...params, uri: parts.getDirectory().toSeen(server, String(params['uri'])) }
          : params
      for (const client of clients) client.hear(method, seen)
    },
  }
}

function tellAll(clients: ReadonlySet<ClientFeatures>, notification: FeatureNotification): void {
  for (const client of clients) client.tell(notification)
}

function isSame(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(after)
}

interface FeatureParts {
  getServers(): readonly GatewayServer[]
  getDirectory(): Directory
  /** Whether any client has subscribed to a resource. */
  isWatched(uri: string): boolean
  /** The least severe level that any client wants to hear of. */
  getLevel(): number
}

class ClientFeatures implements McpFeatures {
  readonly #parts: FeatureParts
  readonly #clients: Set<ClientFeatures>
  readonly #watched = new Set<string>()
  readonly #listeners = new Set<(notification: FeatureNotification) => void>()
  level = LEVELS.length

  constructor(parts: FeatureParts, clients: Set<ClientFeatures>) {
    this.#parts = parts
    this.#clients = clients
  }

  /** A server that is not known yet may have anything. */
  get capabilities(): Readonly<Record<string, object>> {
    const servers = this.#parts.getServers()
    const has = (capability: string): boolean =>
      servers.some(({ snapshot }) => !snapshot || capability in snapshot.capabilities)
    return {
      ...(has('resources') ? { resources: { subscribe: true, listChanged: true } } : {}),
      ...(has('prompts') ? { prompts: { listChanged: true } } : {}),
      ...(has('completions') ? { completions: {} } : {}),
      ...(has('logging') ? { logging: {} } : {}),
    }
  }

  watches(uri: string): boolean {
    return this.#watched.has(uri)
  }

  tell(notification: FeatureNotification): void {
    for (const listener of this.#listeners) listener(notification)
  }

  /** Passes on what concerns this client. */
  hear(method: string, params: JsonObject): void {
    if (method === 'notifications/resources/updated' && !this.#watched.has(String(params['uri']))) return
    if (method === 'notifications/message' && LEVELS.indexOf(String(params['level'])) < this.level) return
    this.tell({ method, params })
  }

  subscribe(listener: (notification: FeatureNotification) => void): () => void {
    this.#clients.add(this)
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#clients.delete(this)
      for (const uri of this.#watched) void this.#unwatch(uri).catch(() => undefined)
    }
  }

  async request({ method, params }: FeatureRequest, context: FeatureContext): Promise<JsonObject | undefined> {
    const directory = this.#parts.getDirectory()
    switch (method) {
      case 'resources/list':
        return { resources: directory.resources }
      case 'resources/templates/list':
        return { resourceTemplates: directory.templates }
      case 'prompts/list':
        return { prompts: directory.prompts }
      case 'resources/read':
        return this.#read(params, context)
      case 'resources/subscribe':
        return this.#watch(String(params['uri']), context)
      case 'resources/unsubscribe':
        return this.#unwatch(String(params['uri']))
      case 'prompts/get': {
        const route = directory.findPrompt(String(params['name']))
        if (!route) throw createError(INVALID_PARAMS, `There is no prompt '${String(params['name'])}'.`)
        return forward(route.server, method, { ...params, name: route.own }, context)
      }
      case 'completion/complete':
        return this.#complete(params, context)
      case 'logging/setLevel':
        return this.#setLevel(String(params['level']))
      default:
        return undefined
    }
  }

  async #read(params: JsonObject, context: FeatureContext): Promise<JsonObject> {
    const { server, own } = this.#findResource(params['uri'], context)
    const seen = String(params['uri'])
    const result = await forward(server, 'resources/read', { ...params, uri: own }, context)
    if (seen === own || !Array.isArray(result['contents'])) return result
    const contents = (result['contents'] as readonly JsonObject[]).map((piece) =>
      piece['uri'] === own ? { ...piece, uri: seen } : piece,
    )
    return { ...result, contents }
  }

  /** A resource that no list has may still be there: servers name some only in results. With one server, it is that one's. */
  #findResource(uri: unknown, { peer }: FeatureContext): Route {
    const found = this.#parts.getDirectory().findResource(String(uri))
    if (found) return found
    const able = this.#parts
      .getServers()
      .filter(({ snapshot }) => snapshot === undefined || 'resources' in snapshot.capabilities)
    const [only, second] = able
    if (only && !second) return { server: only, own: String(uri) }
    const named = able.find((server) => server.hasNamed(String(uri)))
    if (named) return { server: named, own: String(uri) }
    throw createError(NOT_FOUND[peer.era], `Resource not found: ${String(uri)}`, { uri })
  }

  async #watch(uri: string, context: FeatureContext): Promise<JsonObject> {
    const { server, own } = this.#findResource(uri, context)
    if (!this.#parts.isWatched(uri)) await forward(server, 'resources/subscribe', { uri: own }, context)
    this.#watched.add(uri)
    this.#clients.add(this)
    return {}
  }

  async #unwatch(uri: string): Promise<JsonObject> {
    if (!this.#watched.delete(uri) || this.#parts.isWatched(uri)) return {}
    const route = this.#parts.getDirectory().findResource(uri)
    if (route?.server.state.type === 'running')
      await forward(route.server, 'resources/unsubscribe', { uri: route.own }, {})
    return {}
  }

  async #complete(params: JsonObject, context: FeatureContext): Promise<JsonObject> {
    const ref = isObject(params['ref']) ? params['ref'] : {}
    const directory = this.#parts.getDirectory()
    const isPrompt = ref['type'] === 'ref/prompt'
    const route = isPrompt ? directory.findPrompt(String(ref['name'])) : directory.findResource(String(ref['uri']))
    if (!route) throw createError(INVALID_PARAMS, 'There is nothing of this name to complete.')
    const own = isPrompt ? { ...ref, name: route.own } : { ...ref, uri: route.own }
    return forward(route.server, 'completion/complete', { ...params, ref: own }, context)
  }

  /** Servers are told the least severe level that anyone wants; what is below a client's own is not passed on. */
  async #setLevel(level: string): Promise<JsonObject> {
    if (!LEVELS.includes(level))
      throw createError(INVALID_PARAMS, `There is no level '${level}'. There are: ${LEVELS.join(', ')}.`)
    this.level = LEVELS.indexOf(level)
    this.#clients.add(this)
    const least = LEVELS[this.#parts.getLevel()] ?? level
    const logging = this.#parts.getServers().filter(({ snapshot }) => snapshot && 'logging' in snapshot.capabilities)
    for (const server of logging) server.setLogLevel(least)
    return {}
  }
}

/** Sends a request on to a server, which is started if need be. A legacy client is asked what a modern server wants to know. */
async function forward(
  server: GatewayServer,
  method: string,
  params: JsonObject,
  context: Partial<FeatureContext>,
): Promise<JsonObject> {
  const { peer, signal, onProgress } = context
  return server.use(
    async ({ client }) => {
      const send = async (input = peer?.input): Promise<JsonObject> =>
        requestFromMcp(client, method, params, {
          ...(signal ? { signal } : {}),
          ...(onProgress ? { onProgress: (progress) => onProgress(progress as never) } : {}),
          ...(input ? { input } : {}),
          ...(peer ? { allowInputRequired: true } : {}),
        })
      let result = await send()
      const ask = peer?.ask
      if (!ask) return result
      for (let round = 0; result['resultType'] === 'input_required' && round < MAX_ROUNDS; round++) {
        const { inputRequests, requestState } = result
        const responses: Record<string, unknown> = {}
        for (const [key, question] of Object.entries(isObject(inputRequests) ? inputRequests : {})) {
          const { method: asked, params: about } = isObject(question) ? question : {}
          responses[key] = await ask(String(asked), isObject(about) ? about : {}, signal)
        }
        result = await send({ responses, state: typeof requestState === 'string' ? requestState : undefined })
      }
      return result
    },
    { ...context, ask: peer?.ask },
  )
}

function createError(code: number, message: string, data?: object): Error {
  return Object.assign(new Error(message), { code, ...(data ? { data } : {}) })
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
