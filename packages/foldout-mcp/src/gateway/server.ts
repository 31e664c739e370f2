import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import type { LimitFunction } from 'p-limit'
import type { CallResult, RawTool } from 'foldout/catalog'
import { requestFromMcp } from 'foldout/mcp'
import type { ServerConfig } from './config/config.ts'
import { dependsOnRoot } from './config/fill-server.ts'
import type { Variables } from './config/variables.ts'
import type { GatewayEvent, ToolChange } from './events.ts'
import { isSevere } from './upstreams/callers.ts'
import type { CatalogCache } from './upstreams/catalog-cache.ts'
import type { Connection } from './upstreams/connection.ts'
import { CACHE_FRESH_MS, MAX_LISTED } from './upstreams/limits.ts'
import { applyOverride } from './upstreams/overrides.ts'
import type { ProcessGuard } from './upstreams/process-guard.ts'
import { hashSnapshot, type Snapshot, type ToolDefinition } from './upstreams/snapshot.ts'
import { Upstream, type UpstreamState, type UseContext } from './upstreams/upstream.ts'

export interface GatewayServerOptions {
  readonly cache: CatalogCache
  readonly guard: ProcessGuard
  readonly variables: Variables
  readonly version: string
  /** How long the server may take to start and to list its tools. */
  readonly timeoutMs: number
  /** Runs a start when it is this server's turn. */
  readonly turn: LimitFunction
  onEvent(event: GatewayEvent): void
  /** Called when the server has other tools, resources or prompts than before. */
  onTools(server: GatewayServer): void
  /** Called with what the server tells its clients, unless it belongs to a call that is running. */
  onNotification(
    server: GatewayServer,
    method: string,
    params: Readonly<Record<string, unknown>>,
    /** The only client that it is for. */
    client?: string,
  ): void
}

/** The scope of a server that all clients share. */
const SHARED = ''

/** A server of the gateway: what is known of it, and the processes or connections that run. */
export class GatewayServer {
  readonly config: ServerConfig
  readonly #options: GatewayServerOptions
  readonly #upstreams = new Map<string, Upstream>()
  #snapshot: Snapshot | undefined
  #savedAt = -Infinity
  #tools: readonly RawTool[] = []
  #logLevel: string | undefined
  /** The resources that somebody watches, and how many do. */
  readonly #watched = new Map<string, number>()
  /** Addresses of resources that results have named. */
  readonly #named = new Set<string>()
  /** The folder that each client works in, as it says. */
  readonly #roots = new Map<string, Promise<string | undefined>>()

  constructor(config: ServerConfig, options: GatewayServerOptions) {
    this.config = config
    this.#options = options
  }

  get name(): string {
    return this.config.name
  }

  /** As the configuration shows them. */
  get tools(): readonly RawTool[] {
    return this.#tools
  }

  /** What the server has, or had when it last ran. */
  get snapshot(): Snapshot | undefined {
    return this.#snapshot
  }

  /** The state of the one that all share, or of the last one that was started. */
  get state(): UpstreamState {
    return [...this.#upstreams.values()].at(-1)?.state ?? { type: 'stopped' }
  }

  /** Takes the tools from the cache, as far as they are there. */
  async restore(): Promise<void> {
    const cached = await this.#options.cache.read(this.config)
    if (!cached) return
    this.#savedAt = cached.savedAt
    this.#take(cached.snapshot)
  }

  /** Whether the server itself should be asked for its tools now, instead of when it is first called. */
  get wantsStart(): boolean {
    const isStale = Date.now() - this.#savedAt > CACHE_FRESH_MS
    return this.config.start === 'eager' || this.config.isRequired || !this.#snapshot || isStale
  }

  /** Starts the server and takes its tools. Rejects if it does not start. */
  async start(): Promise<void> {
    await this.#getUpstream(SHARED, undefined).connect()
  }

  /**
   * Does something with the running server, for a client, and starts it if need be.
   *
   * @throws UpstreamError if it cannot be started, or has too much to do.
   */
  async use<Result>(work: (connection: Connection) => Promise<Result>, context: UseContext): Promise<Result> {
    return (await this.#findUpstream(context)).use(work, context)
  }

  /** Says how severe the messages have to be that the server logs. */
  setLogLevel(level: string): void {
    this.#logLevel = level
    void this.#sendLogLevel()
  }

  async #sendLogLevel(): Promise<void> {
    const running = [...this.#upstreams.values()].filter(({ state }) => state.type === 'running')
    await Promise.allSettled(running.map((upstream) => upstream.use((connection) => this.#prepare(connection))))
  }

  /** Makes a legacy server log what the caller of a tool wants to have; what is too much for others is not passed on. */
  async #wantLogs(level: string | undefined): Promise<void> {
    const { era, capabilities = {} } = this.#snapshot ?? {}
    if (level === undefined || era === 'modern' || !('logging' in capabilities)) return
    if (this.#logLevel !== undefined && isSevere(level, this.#logLevel)) return
    this.#logLevel = level
    await this.#sendLogLevel()
  }

  /** Hears of changes of a resource until it is no longer watched, also after the server has restarted. */
  async watch(uri: string, context: UseContext): Promise<void> {
    this.#watched.set(uri, (this.#watched.get(uri) ?? 0) + 1)
    try {
      await this.use(({ subscriptions }) => subscriptions.watch(uri), context)
    } catch (error) {
      this.#forget(uri)
      throw error
    }
  }

  async unwatch(uri: string): Promise<void> {
    this.#forget(uri)
    if (this.#watched.has(uri)) return
    const running = [...this.#upstreams.values()].filter(({ state }) => state.type === 'running')
    await Promise.all(running.map((upstream) => upstream.use(({ subscriptions }) => subscriptions.unwatch(uri))))
  }

  #forget(uri: string): void {
    const left = (this.#watched.get(uri) ?? 0) - 1
    if (left > 0) this.#watched.set(uri, left)
    else this.#watched.delete(uri)
  }

  /** Whether a result of the server has named a resource, which then is this server's even if no list has it. */
  hasNamed(uri: string): boolean {
    return this.#named.has(uri)
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#upstreams.values(), (upstream) => upstream.close()))
  }

  /** The connection or process that serves a caller. */
  async #findUpstream(context: UseContext): Promise<Upstream> {
    const { isIsolated } = this.config
    const { client } = context
    const root = dependsOnRoot(this.config) ? await this.#findRoot(context) : undefined
    if (root !== undefined) return this.#getUpstream(isIsolated ? `${client?.id} ${root}` : root, root)
    return this.#getUpstream(isIsolated ? (client?.id ?? SHARED) : SHARED, undefined)
  }

  /** The first folder that the client works in, if it says so. */
  #findRoot({ client, peer }: UseContext): Promise<string | undefined> {
    if (!client || !peer?.ask || !('roots' in peer.capabilities)) return Promise.resolve(undefined)
    const known = this.#roots.get(client.id)
    if (known) return known
    const root = peer.ask('roots/list', {}).then(readRoot, () => undefined)
    this.#roots.set(client.id, root)
    return root
  }

  #getUpstream(scope: string, root: string | undefined): Upstream {
    const known = this.#upstreams.get(scope)
    if (known) return known
    const { variables, timeoutMs, version, guard, turn, onEvent, onNotification } = this.#options
    const upstream: Upstream = new Upstream(this.config, {
      variables: root === undefined ? variables : { ...variables, root },
      prepare: (connection) => this.#prepare(connection),
      isWatched: () => this.#watched.size > 0,
      onNotification: (method, params) => {
        if (method === 'notifications/message' && upstream.logToCallers(params)) return
        if (method !== 'notifications/elicitation/complete') return onNotification(this, method, params)
        const client = upstream.findPage(params['elicitationId'])
        if (client !== undefined) onNotification(this, method, params, client)
      },
      timeoutMs,
      version,
      guard,
      turn,
      getEra: () => this.#snapshot?.era,
      onSnapshot: (snapshot) => this.#refresh(snapshot),
      onState: (state) => {
        onEvent({ type: 'server/state', server: this.name, state })
        // The next call of this client, if there is one, starts another.
        if (state.type === 'stopped' && scope !== SHARED) this.#upstreams.delete(scope)
      },
      onError: (error) =>
        onEvent({
          type: 'problem',
          server: this.name,
          message: error instanceof Error ? error.message : String(error),
        }),
    })
    this.#upstreams.set(scope, upstream)
    return upstream
  }

  /** Tells a server what it has to know before anything else. */
  async #prepare({ client, snapshot, subscriptions }: Connection): Promise<void> {
    for (const uri of this.#watched.keys()) await subscriptions.watch(uri).catch(() => undefined)
    const level = this.#logLevel
    if (level === undefined || snapshot.era === 'modern' || !('logging' in snapshot.capabilities)) return
    await requestFromMcp(client, 'logging/setLevel', { level })
  }

  #remember({ content }: CallResult): void {
    for (const { uri, resource } of content as readonly Readonly<Record<string, unknown>>[]) {
      const named = uri ?? (resource as { readonly uri?: unknown } | undefined)?.uri
      if (typeof named === 'string' && this.#named.size < MAX_LISTED) this.#named.add(named)
    }
  }

  /** Takes what the running server says, and keeps it for the next start. */
  #refresh(snapshot: Snapshot): void {
    const isNew = !this.#snapshot || hashSnapshot(this.#snapshot) !== hashSnapshot(snapshot)
    const isStale = Date.now() - this.#savedAt > CACHE_FRESH_MS
    if (isNew || isStale) {
      this.#savedAt = Date.now()
      void this.#options.cache.write(this.config, snapshot)
    }
    if (isNew) this.#take(snapshot)
  }

  #take(snapshot: Snapshot): void {
    const before = this.#snapshot?.tools ?? []
    this.#snapshot = snapshot
    this.#tools = snapshot.tools.flatMap((definition) => this.#toTool(definition) ?? [])
    const { onEvent, onTools } = this.#options
    const change = compareTools(before, snapshot.tools)
    onEvent({ type: 'server/tools', server: this.name, tools: snapshot.tools.length, change })
    onTools(this)
  }

  #toTool(definition: ToolDefinition): RawTool | undefined {
    const { name } = definition
    const call: NonNullable<RawTool['call']> = async (args, context) => {
      await this.#wantLogs(context.peer?.logLevel)
      const result = await (await this.#findUpstream(context)).call(name, args, context)
      this.#remember(result)
      return result
    }
    return applyOverride({ ...definition, source: this.name, call }, this.config.overrides.get(name))
  }
}

/** The folder of the first root that is one. */
function readRoot({ roots }: Readonly<Record<string, unknown>>): string | undefined {
  for (const root of Array.isArray(roots) ? (roots as readonly unknown[]) : []) {
    const uri = typeof root === 'object' && root !== null && 'uri' in root ? root.uri : undefined
    if (typeof uri === 'string' && uri.startsWith('file:///') && URL.canParse(uri)) return fileURLToPath(uri)
  }
  return undefined
}

function compareTools(before: readonly ToolDefinition[], after: readonly ToolDefinition[]): ToolChange {
  const old = new Map(before.map((tool) => [tool.name, tool]))
  const now = new Map(after.map((tool) => [tool.name, tool]))
  return {
    added: [...now.keys()].filter((name) => !old.has(name)),
    removed: [...old.keys()].filter((name) => !now.has(name)),
    changed: [...now]
      .filter(([name, tool]) => old.has(name) && !isDeepStrictEqual(old.get(name), tool))
      .map(([name]) => name),
  }
}
