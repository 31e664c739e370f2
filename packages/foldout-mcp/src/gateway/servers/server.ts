import { isDeepStrictEqual } from 'node:util'
import type { CallClient, CallContext, CallResult } from 'foldout/catalog'
import { ignore } from 'foldout/promises'
import { createSignIns, type SignIns } from '../auth/sign-in.ts'
import type { ServerConfig } from '../config/config.ts'
import { dependsOnRoot, fillServer } from '../config/fill-server.ts'
import { KnownServer } from './known-server.ts'
import type { GatewayServerOptions } from './server-options.ts'
import type { CalledServer } from './server-tool.ts'
import type { Connection } from '../upstreams/connection.ts'
import type { ToolCall } from '../upstreams/upstream-options.ts'
import type { ServerTool } from './server-tool.ts'
import type { Snapshot } from '../model/snapshot.ts'
import { WantedNews } from '../upstreams/wanted-news.ts'
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
  /** What is known about it while it does not run. */
  readonly known: KnownServer
  readonly #options: GatewayServerOptions<GatewayServer>
  readonly #upstreams: UpstreamPool
  readonly #signIns: SignIns
  readonly #ended = new AbortController()
  /** What its clients want to hear from it. */
  readonly news: WantedNews

  constructor(config: ServerConfig, options: GatewayServerOptions<GatewayServer>) {
    this.#config = config
    this.#options = options
    this.tasks = new Tasks(options.store.gateways.mark)
    this.#upstreams = new UpstreamPool(config, (wanted) => this.#createUpstream(wanted))
    this.news = new WantedNews(this.#upstreams, {
      getSnapshot: () => this.snapshot,
      use: (work, context) => this.use(work, context),
    })
    this.#signIns = createSignIns({
      store: options.store.signIns,
      onProblem: (message) => this.#complain(message),
      onTokens: (tokens) => options.secrets.add(tokens, 'sign-in'),
      // If it does not start, its state says why.
      onSignedIn: () => void ignore(this.#upstreams.retry(), 'its state says why it does not start'),
    })
    this.known = new KnownServer({
      ...options,
      getConfig: () => this.#config,
      onTools: () => {
        this.#upstreams.divide(this.snapshot?.asks)
        options.onTools(this)
      },
      onProblem: (message) => this.#complain(message),
    })
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
    this.known.update()
  }

  get tools(): readonly ServerTool[] {
    return this.known.tools
  }

  /** The server's tools, resources and prompts, now or when it last ran. */
  get snapshot(): Snapshot | undefined {
    return this.known.snapshot
  }

  get instructions(): string | undefined {
    return this.known.instructions
  }

  /** The state of the shared process, or of the one started last. */
  get state(): UpstreamState {
    return this.#upstreams.last?.state ?? { type: 'stopped' }
  }

  /** Whether to ask the server for its tools now instead of at its first call. */
  get wantsStart(): boolean {
    return this.config.start === 'eager' || this.config.isRequired || this.known.isStale
  }

  /** Takes the tools of the server, from another gateway that asks it right now, or by starting it. Rejects if it does not start. */
  async learn(): Promise<void> {
    let isAsked = false
    await this.#options.store.catalogs.learn(this.config, () => {
      isAsked = true
      return this.start()
    })
    if (!isAsked) await this.known.reread()
    if (!isAsked && !this.snapshot) await this.start()
  }

  /** Starts the server, installs it before if need be, and takes its tools. Rejects if it does not start. */
  async start(): Promise<void> {
    const { variables, turn } = this.#options
    // The start itself reports what is wrong with its variables.
    const filled = await ignore(
      fillServer(this.config, variables),
      'the start itself says what is wrong with its variables',
    )
    if (filled?.kind === 'stdio') {
      // Most gateways answer from the cache when they start.
      const { installAhead } = await import('../upstreams/process/install-ahead.ts')
      await turn(() => installAhead(filled, { guard: this.#options.guard, signal: this.#ended.signal }))
    }
    this.#ended.signal.throwIfAborted()
    await this.#upstreams.getShared().connect()
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
    await this.#upstreams.close()
    await this.known.close()
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
      prepare: (connection) => this.news.tell(connection),
      translate: (params) => this.tasks.translateQuestion(params, upstream),
      hasSubscribers: () => this.news.isWatching,
      isWatched: () => this.news.isWatching || this.tasks.isRunning,
      listClients: () => this.#options.listClients(this),
      onAsked: (asks) => this.#upstreams.divide(asks) && this.known.learnAsks(asks),
      secrets,
      secretOrigin: forwarded || root !== undefined ? 'client' : 'configuration',
      post: this.#options.post,
      ...(forwarded && { headers: forwarded.headers }),
      onNotification: (method, given) => {
        const isLog = method === 'notifications/message'
        const params = isLog ? secrets.hideIn(given) : given
        const tell = (to?: string): void => onNotification(this, method, params, to)
        if (isLog) return upstream.passLog(params, this.news.logLevel, tell)
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
      getEra: () => this.snapshot?.era,
      onSnapshot: (given) => {
        const { asks } = this.#upstreams
        const snapshot = { ...secrets.hideIn(given), ...(asks && { asks }) }
        if (forwarded) this.known.refreshForUser(snapshot)
        else this.known.refresh(snapshot)
      },
      onState: (state) => {
        onEvent({ type: 'server/state', server: this.name, state })
        if (state.type === 'stopped') onStopped()
      },
      onError: (error) => this.#complain(getErrorMessage(error)),
    })
    return upstream
  }

  /** @throws UpstreamError if the server cannot be started or is overloaded. */
  async send(call: ToolCall, context: CallContext): Promise<CallResult> {
    if (context.peer) await this.news.wantLogs(context.peer)
    const upstream = await this.#upstreams.find(context)
    return this.tasks.begin(await upstream.call(call, context), context.client, upstream)
  }
}
