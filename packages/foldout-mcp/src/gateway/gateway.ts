import { isDeepStrictEqual } from 'node:util'
import pLimit from 'p-limit'
import type { Catalog, Encoder } from 'foldout/catalog'
import type { HttpOptions, McpConnection, ServedHttp, StdioOptions } from 'foldout/mcp'
import { UsageError, type GatewayConfig } from './config/config.ts'
import type { ExposureName, GatewayDefinition } from './config/definition.ts'
import { readDefinition } from './config/read-config.ts'
import type { GatewayEvent } from './events.ts'
import { listenHttp } from './serve/http.ts'
import { createView, type View } from './serve/view.ts'
import { GatewayServer, type GatewayServerOptions } from './server.ts'
import type { Traffic } from './traffic/traffic.ts'
import { createCatalogCache } from './upstreams/catalog-cache.ts'
import { DEFAULT_TIMEOUT_MS, MOST_STARTING } from './upstreams/limits.ts'
import { createProcessGuard } from './upstreams/process-guard.ts'
import type { UpstreamState } from './upstreams/upstream.ts'
import { getCacheFolder, readVersion } from './surroundings.ts'

/**
 * Options of `createGateway`.
 *
 * @example
 * const options: GatewayOptions = { cache: '/var/cache/foldout', onEvent: (event) => console.error(event.type) }
 */
export interface GatewayOptions {
  /** Where the tools of servers are kept between starts. Default: the user's folder for caches. */
  readonly cache?: string
  /** How clients see the tools, in place of what the configuration says. */
  readonly expose?: ExposureName
  /** How long a server may take to start and to list its tools. Default 30 seconds. */
  readonly timeoutMs?: number
  /** Variables that the configuration may refer to. Default: those of the process. */
  readonly env?: NodeJS.ProcessEnv
  /** The folder that `${ROOT}` stands for. Default: that of the process. */
  readonly root?: string
  /** Whether every server is asked for its tools at once, whatever is cached. Default false. */
  readonly isFresh?: boolean
  /** Finds tools by meaning, beside the words. They are embedded in the background. Close it after the gateway. */
  readonly embed?: Encoder
  readonly onEvent?: (event: GatewayEvent) => void
  /** Called with what clients do. It must not throw, and must hide what is secret before it keeps anything. */
  readonly onTraffic?: (traffic: Traffic) => void
}

/**
 * What is known of one server.
 *
 * @example
 * const broken = gateway.servers.filter(({ state }) => state.type === 'failed')
 */
export interface ServerStatus {
  readonly name: string
  readonly state: UpstreamState
  /** How many tools it has, or had when it last ran; undefined if that is not known yet. */
  readonly tools: number | undefined
}

/**
 * Which view of the gateway a client gets.
 *
 * @example
 * const choice: ViewChoice = { preset: 'work' }
 */
export interface ViewChoice {
  /** The name of a preset. Default: everything. */
  readonly preset?: string
}

/**
 * All servers of a configuration behind one MCP server.
 *
 * @example
 * const gateway: Gateway = await createGateway({ mcpServers: { files: { command: 'server-files' } } })
 * const { url } = await gateway.http({ port: 8080 })
 */
export interface Gateway {
  readonly servers: readonly ServerStatus[]
  /** The tools of all servers, or of those in a preset. */
  getCatalog(choice?: ViewChoice): Promise<Catalog>
  /** Serves the client that started this process. */
  stdio(options?: StdioOptions & ViewChoice): Promise<McpConnection>
  /** Listens for clients over streamable HTTP, at `/mcp` and `/mcp/<preset>`. */
  http(options?: Omit<HttpOptions, 'path'>): Promise<ServedHttp>
  /** Resolves when every server's tools are known, from the cache or from the server itself, or it has failed; or after a time. */
  ready(withinMs?: number): Promise<void>
  /** Applies another configuration while the gateway runs. If it cannot be applied, nothing changes. */
  update(definition: GatewayDefinition | GatewayConfig): Promise<void>
  /** Ends everything that was started. */
  close(): Promise<void>
}

/**
 * Creates a gateway. Servers whose tools are in the cache are not started before they are needed.
 *
 * @example
 * const gateway = await createGateway({ mcpServers: { files: { command: 'npx', args: ['-y', 'server-files', '.'] } } })
 * const connection = await gateway.stdio()
 * await connection.closed
 * await gateway.close()
 *
 * @throws UsageError if the configuration is wrong, or a required server does not start.
 */
export async function createGateway(
  definition: GatewayDefinition | GatewayConfig,
  options: GatewayOptions = {},
): Promise<Gateway> {
  const gateway = new RunningGateway(options)
  try {
    await gateway.update(definition)
    return gateway
  } catch (error) {
    await gateway.close()
    throw error
  }
}

class RunningGateway implements Gateway {
  readonly #options: GatewayOptions
  readonly #serverOptions: GatewayServerOptions
  readonly #servers = new Map<string, GatewayServer>()
  readonly #views = new Map<string, Promise<View>>()
  readonly #open = new Set<{ close(): Promise<void> }>()
  readonly #starting = new Set<Promise<void>>()
  #config: GatewayConfig | undefined
  #updating: Promise<void> = Promise.resolve()

  constructor(options: GatewayOptions) {
    const { env = process.env, root = process.cwd(), timeoutMs = DEFAULT_TIMEOUT_MS } = options
    const report = (message: string): void => this.#report({ type: 'problem', server: undefined, message })
    this.#options = options
    this.#serverOptions = {
      cache: createCatalogCache(options.cache ?? getCacheFolder(env), report),
      guard: createProcessGuard(),
      variables: { env, root },
      version: readVersion(),
      timeoutMs,
      turn: pLimit(MOST_STARTING),
      onEvent: (event) => this.#report(event),
      onTools: (server) => this.#show(server),
      onNotification: (server, method, params, client) => {
        for (const view of this.#views.values())
          void view.then((made) => made.hear(server, method, params, client)).catch(() => undefined)
      },
    }
  }

  get servers(): readonly ServerStatus[] {
    return Array.from(this.#servers.values(), ({ name, state, snapshot }) => ({
      name,
      state,
      tools: snapshot?.tools.length,
    }))
  }

  async getCatalog({ preset = '' }: ViewChoice = {}): Promise<Catalog> {
    return (await this.#getView(preset)).catalog
  }

  async stdio({ preset = '', ...streams }: StdioOptions & ViewChoice = {}): Promise<McpConnection> {
    const { served } = await this.#getView(preset)
    return this.#keep(await served.stdio(streams))
  }

  async http(options: Omit<HttpOptions, 'path'> = {}): Promise<ServedHttp> {
    return this.#keep(await listenHttp({ ...options, find: async (preset) => (await this.#findView(preset))?.served }))
  }

  async ready(withinMs = Infinity): Promise<void> {
    const all = Promise.all(this.#starting)
    if (withinMs === Infinity) return void (await all)
    let timer: ReturnType<typeof setTimeout> | undefined
    await Promise.race([all, new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs)))])
    clearTimeout(timer)
  }

  update(definition: GatewayDefinition | GatewayConfig): Promise<void> {
    const next = this.#updating.then(() => this.#update(toConfig(definition)))
    this.#updating = next.catch(() => undefined)
    return next
  }

  async close(): Promise<void> {
    await Promise.allSettled(Array.from(this.#open, (one) => one.close()))
    const views = await Promise.allSettled(this.#views.values())
    await Promise.allSettled(views.flatMap((view) => (view.status === 'fulfilled' ? [view.value.served.close()] : [])))
    await Promise.allSettled(Array.from(this.#servers.values(), (server) => server.close()))
  }

  async #update(config: GatewayConfig): Promise<void> {
    const before = this.#config
    const known = new Map(before?.servers.map((server) => [server.name, server]))
    const kept = new Set(
      config.servers.filter((server) => isDeepStrictEqual(known.get(server.name), server)).map(({ name }) => name),
    )
    const added = config.servers
      .filter(({ name }) => !kept.has(name))
      .map((server) => new GatewayServer(server, this.#serverOptions))
    await Promise.all(added.map((server) => server.restore()))
    await this.#startRequired(added)
    // From here on nothing fails.
    this.#config = config
    for (const { name, reason } of config.invalid) this.#report({ type: 'problem', server: name, message: reason })
    const removed = [...this.#servers.values()].filter(({ name }) => !kept.has(name))
    for (const { name } of removed) this.#servers.delete(name)
    for (const server of added) this.#servers.set(server.name, server)
    await this.#refreshViews(before, config)
    for (const { name } of removed) if (!this.#servers.has(name)) this.#hide(name)
    for (const server of added) this.#begin(server)
    await Promise.allSettled(removed.map((server) => server.close()))
  }

  async #startRequired(added: readonly GatewayServer[]): Promise<void> {
    const required = added.filter(({ config }) => config.isRequired)
    const starts = await Promise.allSettled(required.map((server) => server.start()))
    const failed = starts.findIndex(({ status }) => status === 'rejected')
    if (failed === -1) return
    await Promise.allSettled(added.map((server) => server.close()))
    const { reason } = starts[failed] as PromiseRejectedResult
    throw new UsageError(
      `The server '${required[failed]?.name}' is required and does not work: ${(reason as Error).message}`,
    )
  }

  #begin(server: GatewayServer): void {
    this.#report({ type: 'server/added', server: server.name })
    this.#show(server)
    const { isFresh = false } = this.#options
    if (server.config.isRequired || !(isFresh || server.wantsStart)) return
    const isKnown = server.snapshot !== undefined && !isFresh
    // Its state says why, if it does not start.
    const start = server.start().catch(() => undefined)
    if (isKnown) return
    this.#starting.add(start)
    void start.finally(() => this.#starting.delete(start))
  }

  /** Presets that are gone are closed, and views whose settings changed are made again for the next client. */
  async #refreshViews(before: GatewayConfig | undefined, after: GatewayConfig): Promise<void> {
    for (const [preset, view] of this.#views) {
      const isSame =
        before?.expose === after.expose &&
        before.instructions === after.instructions &&
        isDeepStrictEqual(before.presets.get(preset), after.presets.get(preset))
      if (isSame) continue
      this.#views.delete(preset)
      await view.then(({ served }) => served.close()).catch(() => undefined)
    }
  }

  async #findView(preset: string): Promise<View | undefined> {
    const { presets } = this.#requireConfig()
    return preset === '' || presets.has(preset) ? this.#getView(preset) : undefined
  }

  #getView(preset: string): Promise<View> {
    const known = this.#views.get(preset)
    if (known) return known
    const view = this.#createView(preset)
    this.#views.set(preset, view)
    view.catch(() => this.#views.delete(preset))
    return view
  }

  async #createView(name: string): Promise<View> {
    const { presets, expose, instructions } = this.#requireConfig()
    const preset = name === '' ? {} : presets.get(name)
    if (!preset)
      throw new UsageError(
        `Unknown preset '${name}'. ${presets.size === 0 ? 'The configuration has none.' : `Choose from: ${[...presets.keys()].join(', ')}.`}`,
      )
    return createView({
      name,
      preset,
      onTraffic: this.#options.onTraffic,
      expose: this.#options.expose ?? preset.expose ?? expose,
      instructions: preset.instructions ?? instructions,
      getServers: () => [...this.#servers.values()],
      version: this.#serverOptions.version,
      embed: this.#options.embed,
      onError: (error) => this.#report({ type: 'problem', server: undefined, message: error.message }),
    })
  }

  #requireConfig(): GatewayConfig {
    if (!this.#config) throw new Error('The gateway has no configuration yet.')
    return this.#config
  }

  #show(server: GatewayServer): void {
    if (this.#servers.get(server.name) !== server) return
    for (const view of this.#views.values()) void view.then((made) => made.show(server)).catch(() => undefined)
  }

  #hide(name: string): void {
    this.#report({ type: 'server/removed', server: name })
    for (const view of this.#views.values()) void view.then((made) => made.hide(name)).catch(() => undefined)
  }

  #keep<Open extends { close(): Promise<void>; readonly closed?: Promise<void> }>(opened: Open): Open {
    this.#open.add(opened)
    void opened.closed?.then(() => this.#open.delete(opened))
    return opened
  }

  #report(event: GatewayEvent): void {
    try {
      this.#options.onEvent?.(event)
    } catch {
      // A listener that fails does not stop the gateway.
    }
  }
}

function toConfig(definition: GatewayDefinition | GatewayConfig): GatewayConfig {
  if ('servers' in definition && Array.isArray(definition.servers)) return definition
  return readDefinition(definition, { file: 'The configuration', folder: process.cwd() })
}
