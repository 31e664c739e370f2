import { isDeepStrictEqual } from 'node:util'
import type { LimitFunction } from 'p-limit'
import type { CallContext, RawTool } from 'foldout/catalog'
import type { ServerConfig } from './config/config.ts'
import { dependsOnRoot } from './config/fill-server.ts'
import type { Variables } from './config/variables.ts'
import type { GatewayEvent, ToolChange } from './events.ts'
import type { CatalogCache } from './upstreams/catalog-cache.ts'
import { CACHE_FRESH_MS } from './upstreams/limits.ts'
import { applyOverride } from './upstreams/overrides.ts'
import type { ProcessGuard } from './upstreams/process-guard.ts'
import { hashSnapshot, type Snapshot, type ToolDefinition } from './upstreams/snapshot.ts'
import { Upstream, type UpstreamState } from './upstreams/upstream.ts'

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
  /** Called when the tools are other ones than before. */
  onTools(server: GatewayServer): void
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
    await this.#getUpstream(this.#getScope({})).connect()
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#upstreams.values(), (upstream) => upstream.close()))
  }

  /** The connection or process that serves a caller. */
  #getUpstream(scope: string): Upstream {
    const known = this.#upstreams.get(scope)
    if (known) return known
    const { variables, timeoutMs, version, guard, turn, onEvent } = this.#options
    const upstream = new Upstream(this.config, {
      variables,
      timeoutMs,
      version,
      guard,
      turn,
      getEra: () => this.#snapshot?.era,
      onSnapshot: (snapshot) => this.#refresh(snapshot),
      onState: (state) => onEvent({ type: 'server/state', server: this.name, state }),
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

  #getScope({ client }: CallContext): string {
    const isOwn = this.config.isIsolated || dependsOnRoot(this.config)
    return isOwn ? (client?.id ?? SHARED) : SHARED
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
    const call: NonNullable<RawTool['call']> = (args, context) =>
      this.#getUpstream(this.#getScope(context)).call(name, args, context)
    return applyOverride({ ...definition, source: this.name, call }, this.config.overrides.get(name))
  }
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
