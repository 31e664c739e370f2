import { isDeepStrictEqual } from 'node:util'
import type { CallClient, CallContext, CallResult, RawTool } from 'foldout/catalog'
import { ignore } from 'foldout/promises'
import { createSignIns, type SignIns } from '../auth/sign-in.ts'
import type { ServerConfig } from '../config/config.ts'
import { dependsOnRoot, fillServer, type FilledStdioServer } from '../config/fill-server.ts'
import { ServerPins } from '../policy/pins/server-pins.ts'
import type { GatewayServerOptions } from './server-options.ts'
import type { CalledServer, Comparison } from './server-tool.ts'
import { identifyServer } from '../upstreams/catalog-cache.ts'
import type { Connection } from '../upstreams/connection.ts'
import { CACHE_FRESH_MS } from '../upstreams/limits.ts'
import { ToolTable } from './tool-table.ts'
import type { ToolCall } from '../upstreams/upstream-options.ts'
import type { ServerTool } from './server-tool.ts'
import { compareTools, hashSnapshot, keepFirst, type Asks, type Snapshot } from '../model/snapshot.ts'
import { LogLevels, OWN, WantedNews } from '../upstreams/wanted-news.ts'
import { Tasks } from '../upstreams/asking/tasks.ts'
import { UpstreamPool, type WantedUpstream } from '../upstreams/upstream-pool.ts'
import { Upstream } from '../upstreams/upstream.ts'
import type { UpstreamState } from '../model/server-state.ts'
import type { UseContext } from '../upstreams/uses.ts'
import { getErrorMessage } from '../../shared/errors.ts'

/** A server of the gateway: what is known about it, and its running processes or connections. */
export class GatewayServer implements CalledServer {
  #config: ServerConfig
  readonly tasks: Tasks
  readonly #options: GatewayServerOptions<GatewayServer>
  readonly #upstreams: UpstreamPool
  readonly #signIns: SignIns
  readonly #pins: ServerPins
  readonly #table: ToolTable
  #snapshot: Snapshot | undefined
  #savedAt = -Infinity
  #saving: Promise<unknown> = Promise.resolve()
  #hasFailed = false
  readonly #ended = new AbortController()
  #stopWatching: (() => void) | undefined
  readonly #wanted = new WantedNews()
  readonly #logLevels: LogLevels

  constructor(config: ServerConfig, options: GatewayServerOptions<GatewayServer>) {
    this.#config = config
    this.#options = options
    this.tasks = new Tasks(options.store.gateways.mark)
    this.#upstreams = new UpstreamPool(config, (wanted) => this.#createUpstream(wanted))
    this.#logLevels = new LogLevels(this.#wanted, this.#upstreams, () => this.#snapshot)
    this.#signIns = createSignIns({
      store: options.store.signIns,
      onProblem: (message) => this.#complain(message),
      onTokens: (tokens) => options.secrets.add(tokens, 'sign-in'),
      // If it does not start, its state says why.
      onSignedIn: () => void ignore(this.#upstreams.retry(), 'its state says why it does not start'),
    })
    this.#pins = new ServerPins({
      store: options.store.pins,
      id: identifyServer(config),
      server: config.name,
      mode: config.pin ?? options.getPinMode(),
      onApproved: () => this.#snapshot && this.#take(this.#snapshot),
      onProblem: (message) => this.#complain(message),
    })
    this.#table = new ToolTable({ secrets: options.secrets, pins: this.#pins })
  }

  get config(): ServerConfig {
    return this.#config
  }

  get name(): string {
    return this.#config.name
  }

  /** Applies settings that need no other process. */
  adopt(config: ServerConfig): void {
    if (isDeepStrictEqual(config, this.#config)) return
    this.#config = config
    if (this.#snapshot) this.#take(this.#snapshot)
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

  /** The server's tools, resources and prompts, now or when it last ran. */
  get snapshot(): Snapshot | undefined {
    return this.#snapshot
  }

  /** What the server says about its use, for models. Nothing if changes are held until they are approved, because this text is not pinned. */
  get instructions(): string | undefined {
    if (this.#pins.isHolding) return undefined
    return this.#snapshot?.instructions
  }

  /** The state of the shared process, or of the one started last. */
  get state(): UpstreamState {
    return this.#upstreams.last?.state ?? { type: 'stopped' }
  }

  /** Takes the tools from the cache, if they are there. */
  async restore(): Promise<void> {
    const [cached] = await Promise.all([this.#options.store.catalogs.read(this.config), this.#pins.load()])
    this.#stopWatching ??= this.#options.store.catalogs.watch(this.config, () => void this.#reread())
    if (!cached) this.#hasFailed = await this.#options.store.catalogs.hasFailed(this.config)
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
    if (!this.#ended.signal.aborted && !this.#snapshot) await this.#options.store.catalogs.noteFailure(this.config)
  }

  /** Takes over what another gateway has learned about the server. */
  async #reread(): Promise<void> {
    const cached = await this.#options.store.catalogs.read(this.config)
    if (!cached || this.#ended.signal.aborted) return
    this.#savedAt = Math.max(this.#savedAt, cached.savedAt)
    const isNew = !this.#snapshot || hashSnapshot(this.#snapshot) !== hashSnapshot(cached.snapshot)
    if (isNew) this.#take(cached.snapshot)
  }

  /** Whether its cached tools are those of other values of its variables. */
  get isOutdated(): boolean {
    return this.#snapshot !== undefined && this.#savedAt === -Infinity
  }

  /** Whether to ask the server for its tools now instead of at its first call. */
  get wantsStart(): boolean {
    return this.config.start === 'eager' || this.config.isRequired || Date.now() - this.#savedAt > CACHE_FRESH_MS
  }

  /** Takes the tools of the server, from another gateway that asks it right now, or by starting it. Rejects if it does not start. */
  async learn(): Promise<void> {
    let isAsked = false
    await this.#options.store.catalogs.learn(this.config, () => {
      isAsked = true
      return this.start()
    })
    if (!isAsked) await this.#reread()
    if (!isAsked && !this.#snapshot) await this.start()
  }

  /** Starts the server, installs it before if need be, and takes its tools. Rejects if it does not start. */
  async start(): Promise<void> {
    const { variables, turn } = this.#options
    // The start itself reports what is wrong with its variables.
    const filled = await ignore(
      fillServer(this.config, variables),
      'the start itself says what is wrong with its variables',
    )
    if (filled?.kind === 'stdio') await turn(() => this.#install(filled))
    this.#ended.signal.throwIfAborted()
    await this.#upstreams.getShared().connect()
  }

  async #install(server: FilledStdioServer): Promise<void> {
    // Most gateways answer from the cache when they start.
    const { installAhead } = await import('../upstreams/process/install-ahead.ts')
    await installAhead(server, { guard: this.#options.guard, signal: this.#ended.signal })
  }

  /**
   * Runs work on the server for a client, and starts the server if necessary.
   *
   * @throws UpstreamError if it cannot be started or is overloaded.
   */
  async use<Result>(work: (connection: Connection) => Promise<Result>, context: UseContext): Promise<Result> {
    try {
      return await (await this.#upstreams.find(context)).use(work, context)
    } catch (error) {
      throw this.#hideInError(error)
    }
  }

  #hideInError(error: unknown): unknown {
    if (!(error instanceof Error)) return error
    const { hide, hideIn } = this.#options.secrets
    const data = 'data' in error ? { data: hideIn(error.data) } : {}
    return Object.assign(error, { message: hide(error.message), ...data })
  }

  /**
   * Sends a request that is not a call, and starts the server if necessary. See {@link Upstream.request}.
   *
   * @param place The process that works on the task that the request is about.
   */
  async request(
    method: string,
    context: CallContext,
    send: Parameters<Upstream['request']>[2],
    place?: object,
  ): Promise<Readonly<Record<string, unknown>>> {
    try {
      const upstream = place instanceof Upstream ? place : await this.#upstreams.find(context)
      return await upstream.request(method, context, send)
    } catch (error) {
      throw this.#hideInError(error)
    }
  }

  /** The level that the server was told, if it was. */
  get logLevel(): string | undefined {
    return this.#wanted.logLevel
  }

  /** Sets the least severe level that the server logs. */
  setLogLevel(level: string): void {
    void this.#logLevels.set(level)
  }

  /** Watches a resource until nobody needs it, even across restarts of the server. */
  async watch(uri: string, context: UseContext): Promise<void> {
    this.#wanted.watch(uri)
    try {
      await this.use(({ subscriptions }) => subscriptions.watch(uri), context)
    } catch (error) {
      this.#wanted.unwatch(uri)
      throw error
    }
  }

  async unwatch(uri: string): Promise<void> {
    this.#wanted.unwatch(uri)
    if (this.#wanted.isWatched(uri)) return
    const running = this.#upstreams.listRunning()
    await Promise.all(running.map((upstream) => upstream.use(({ subscriptions }) => subscriptions.unwatch(uri), OWN)))
  }

  /** Keeps a sign-in from expiring, whether or not the server is used. */
  async keepSignedIn(): Promise<void> {
    if (this.config.kind === 'stdio' || dependsOnRoot(this.config)) return
    // If a variable is missing, the server reports it when it is needed.
    const filled = await ignore(
      fillServer(this.config, this.#options.variables),
      'a missing variable is reported when the server is needed',
    )
    if (filled && filled.kind !== 'stdio') await this.#signIns.get(filled)?.keep()
  }

  #complain(message: string): void {
    this.#options.onEvent({ type: 'problem', server: this.name, message })
  }

  async close(): Promise<void> {
    this.#ended.abort()
    this.#signIns.close()
    this.#stopWatching?.()
    await Promise.all([this.#pins.close(), this.#upstreams.close()])
    await this.#saving
  }

  /** Called when a client's folders have changed. */
  changeRoots(client: string): void {
    this.#upstreams.changeRoots(client)
  }

  /** Stops the processes that a departed client had to itself. */
  async release(client: CallClient): Promise<void> {
    await this.#upstreams.release(client)
  }

  #createUpstream({ root, forwarded, onStopped }: WantedUpstream): Upstream {
    const { variables, timeoutMs, version, guard, loop, turn, secrets, onEvent, onNotification } = this.#options
    const upstream: Upstream = new Upstream(this.config, {
      variables: root === undefined ? variables : { ...variables, root },
      prepare: (connection) => this.#wanted.tell(connection),
      translate: (params) => this.tasks.translateQuestion(params, upstream),
      hasSubscribers: () => this.#wanted.isWatching,
      isWatched: () => this.#wanted.isWatching || this.tasks.isRunning,
      listClients: () => this.#options.listClients(this),
      onAsked: (asks) => this.#learnAsks(asks),
      secrets,
      secretOrigin: forwarded || root !== undefined ? 'client' : 'configuration',
      post: this.#options.post,
      ...(forwarded && { headers: forwarded.headers }),
      onNotification: (method, given) => {
        const isLog = method === 'notifications/message'
        const params = isLog ? secrets.hideIn(given) : given
        const tell = (to?: string): void => onNotification(this, method, params, to)
        if (isLog) return upstream.passLog(params, this.#wanted.logLevel, tell)
        if (method === 'notifications/tasks/status') {
          const task = this.tasks.findOwn(params['taskId'], upstream)
          return task && onNotification(this, method, this.tasks.translate(task, params), task.client)
        }
        // What a server tells one user is not for the others.
        if (method !== 'notifications/elicitation/complete') {
          if (forwarded) return undefined
          return tell()
        }
        const client = upstream.findPage(params['elicitationId'])
        if (client !== undefined) tell(client)
      },
      timeoutMs,
      version,
      guard: { ...guard, createMarker: () => ({ ...guard.createMarker(), ...loop.mark(this.#config) }) },
      signIns: this.#signIns,
      turn,
      getEra: () => this.#snapshot?.era,
      onSnapshot: (given) => {
        const { asks } = this.#upstreams
        const snapshot = { ...secrets.hideIn(given), ...(asks && { asks }) }
        // What a server shows one user is not for the others, unless nothing else is known about the server.
        if (forwarded && this.#snapshot) this.#pins.meetForUser(keepFirst(snapshot.tools), onEvent)
        else this.#refresh(snapshot)
      },
      onState: (state) => {
        onEvent({ type: 'server/state', server: this.name, state })
        if (state.type === 'stopped') onStopped()
      },
      onError: (error) => this.#complain(getErrorMessage(error)),
    })
    return upstream
  }

  /** Gives each client a process of its own from now on, also after a restart of the gateway. */
  #learnAsks(asks: Asks): void {
    if (!this.#upstreams.divide(asks) || !this.#snapshot) return
    this.#snapshot = { ...this.#snapshot, asks }
    this.#save(this.#snapshot)
  }

  /** One after the other, so that the newest stays. */
  #save(snapshot: Snapshot): void {
    this.#saving = this.#saving.then(() => this.#options.store.catalogs.write(this.config, snapshot))
  }

  /** Takes what the running server lists, and caches it for the next start. */
  #refresh(snapshot: Snapshot): void {
    const isNew = !this.#snapshot || hashSnapshot(this.#snapshot) !== hashSnapshot(snapshot)
    const isStale = Date.now() - this.#savedAt > CACHE_FRESH_MS
    if (isNew || isStale) {
      this.#savedAt = Date.now()
      this.#save(snapshot)
    }
    if (isNew) this.#take(snapshot)
  }

  #take(snapshot: Snapshot): void {
    const before = this.#snapshot?.tools ?? []
    this.#snapshot = snapshot
    this.#upstreams.divide(snapshot.asks)
    const hasNews = this.#pins.check(keepFirst(snapshot.tools))
    this.#table.fill(snapshot.tools, this.config)
    const { onEvent, onTools } = this.#options
    const change = compareTools(before, snapshot.tools)
    onEvent({ type: 'server/tools', server: this.name, tools: snapshot.tools.length, change })
    if (hasNews) onEvent(this.#pins.toEvent())
    onTools(this)
  }

  /** @throws UpstreamError if the server cannot be started or is overloaded. */
  async send(call: ToolCall, context: CallContext): Promise<CallResult> {
    if (context.peer) await this.#logLevels.want(context.peer)
    const upstream = await this.#upstreams.find(context)
    return this.tasks.begin(await upstream.call(call, context), context.client, upstream)
  }
}
