import type { RawTool } from 'foldout/catalog'
import type { ServerConfig } from '../config/config.ts'
import { compareTools, hashSnapshot, keepFirst, type Asks, type Snapshot } from '../model/snapshot.ts'
import { ServerPins } from '../policy/pins/server-pins.ts'
import { identifyServer } from '../upstreams/catalog-cache.ts'
import { CACHE_FRESH_MS } from '../upstreams/limits.ts'
import type { GatewayServerOptions } from './server-options.ts'
import type { Comparison, ServerTool } from './server-tool.ts'
import { ToolTable } from './tool-table.ts'

export interface KnownServerOptions extends Pick<GatewayServerOptions<unknown>, 'store' | 'secrets' | 'pinMode'> {
  getConfig(): ServerConfig
  onEvent: GatewayServerOptions<unknown>['onEvent']
  /** Called when other tools are known than before. */
  onTools(): void
  onProblem(message: string): void
}

/**
 * What is known about a server, whether or not it runs: its tools, resources and prompts, and which of its tools may be shown. It comes
 * from the cache, from other gateways, and from the running server.
 */
export class KnownServer {
  readonly #options: KnownServerOptions
  readonly #pins: ServerPins
  readonly #table: ToolTable
  #snapshot: Snapshot | undefined
  #savedAt = -Infinity
  #saving: Promise<unknown> = Promise.resolve()
  #hasFailed = false
  #isClosed = false
  #stopWatching: (() => void) | undefined

  constructor(options: KnownServerOptions) {
    const config = options.getConfig()
    this.#options = options
    this.#pins = new ServerPins({
      store: options.store.pins,
      id: identifyServer(config),
      server: config.name,
      mode: config.pin ?? options.pinMode,
      onApproved: () => this.update(),
      onProblem: options.onProblem,
    })
    this.#table = new ToolTable({ secrets: options.secrets, pins: this.#pins })
  }

  /** The server's tools, resources and prompts, now or when it last ran. */
  get snapshot(): Snapshot | undefined {
    return this.#snapshot
  }

  get tools(): readonly ServerTool[] {
    return this.#table.tools
  }

  /** The tools that are not shown until the user accepts their definitions. */
  listHeld(): readonly ServerTool[] {
    return this.#table.listHeld()
  }

  hashTool(tool: string): string | undefined {
    return this.#table.hash(tool)
  }

  compare(listed: ServerTool, running: RawTool): Comparison {
    return this.#table.compare(listed, running)
  }

  /** What the server says about its use, for models. Nothing if changes are held until they are approved, because this text is not pinned. */
  get instructions(): string | undefined {
    if (this.#pins.isHolding) return undefined
    return this.#snapshot?.instructions
  }

  /** Takes the tools from the cache, if they are there. */
  async restore(): Promise<void> {
    const { store, getConfig } = this.#options
    const [cached] = await Promise.all([store.catalogs.read(getConfig()), this.#pins.load()])
    this.#stopWatching ??= store.catalogs.watch(getConfig(), () => void this.reread())
    if (!cached) this.#hasFailed = await store.catalogs.hasFailed(getConfig())
    if (!cached) return
    this.#savedAt = cached.savedAt
    this.#take(cached.snapshot)
  }

  /** Whether an earlier gateway has waited for its tools in vain. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** Remembers that it has not listed its tools in time, so that clients do not wait for it at the next start. */
  async noteFailure(): Promise<void> {
    const { store, getConfig } = this.#options
    if (!this.#isClosed && !this.#snapshot) await store.catalogs.noteFailure(getConfig())
  }

  /** Takes over what another gateway has learned about the server. */
  async reread(): Promise<void> {
    const cached = await this.#options.store.catalogs.read(this.#options.getConfig())
    if (!cached || this.#isClosed) return
    this.#savedAt = Math.max(this.#savedAt, cached.savedAt)
    if (this.#isNew(cached.snapshot)) this.#take(cached.snapshot)
  }

  /** Whether its cached tools are those of other values of its variables. */
  get isOutdated(): boolean {
    return this.#snapshot !== undefined && this.#savedAt === -Infinity
  }

  /** Whether its tools were last listed long ago. */
  get isStale(): boolean {
    return Date.now() - this.#savedAt > CACHE_FRESH_MS
  }

  /** Takes what the running server lists, and caches it for the next start. */
  refresh(snapshot: Snapshot): void {
    const isNew = this.#isNew(snapshot)
    if (isNew || this.isStale) {
      this.#savedAt = Date.now()
      this.#save(snapshot)
    }
    if (isNew) this.#take(snapshot)
  }

  /** Takes what the server lists for a single user. It is not for others, unless nothing else is known about the server. */
  refreshForUser(snapshot: Snapshot): void {
    if (this.#snapshot) this.#pins.meetForUser(keepFirst(snapshot.tools), this.#options.onEvent)
    else this.refresh(snapshot)
  }

  /** Remembers what it asks its clients for, also after a restart of the gateway. */
  learnAsks(asks: Asks): void {
    if (!this.#snapshot) return
    this.#snapshot = { ...this.#snapshot, asks }
    this.#save(this.#snapshot)
  }

  /** Applies changed settings. */
  update(): void {
    if (this.#snapshot) this.#take(this.#snapshot)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopWatching?.()
    await Promise.all([this.#pins.close(), this.#saving])
  }

  #isNew(snapshot: Snapshot): boolean {
    return !this.#snapshot || hashSnapshot(this.#snapshot) !== hashSnapshot(snapshot)
  }

  /** One after the other, so that the newest stays. */
  #save(snapshot: Snapshot): void {
    const { store, getConfig } = this.#options
    this.#saving = this.#saving.then(() => store.catalogs.write(getConfig(), snapshot))
  }

  #take(snapshot: Snapshot): void {
    const { onEvent, onTools, getConfig } = this.#options
    const before = this.#snapshot?.tools ?? []
    this.#snapshot = snapshot
    const hasNews = this.#pins.check(keepFirst(snapshot.tools))
    this.#table.fill(snapshot.tools, getConfig())
    const change = compareTools(before, snapshot.tools)
    onEvent({ type: 'server/tools', server: getConfig().name, tools: snapshot.tools.length, change })
    if (hasNews) onEvent(this.#pins.toEvent())
    onTools()
  }
}
