import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import pLimit from 'p-limit'
import type { Catalog } from 'foldout/catalog'
import type { HttpOptions, McpConnection, ServedHttp, StdioOptions } from 'foldout/mcp'
import { isSamePolicy, isSameView, UsageError, type GatewayConfig } from './config/config.ts'
import type { GatewayDefinition, PinMode } from './config/definition.ts'
import { toConfig } from './config/read-config.ts'
import type { Gateway, GatewayOptions, ServerStatus, ViewChoice, WaitingCall, WaitingCalls } from './contract.ts'
import type { GatewayEvent } from './events.ts'
import { Policy } from './policy/policy.ts'
import { listIdleRules } from './policy/rules.ts'
import { createSecrets, type Secrets } from './policy/secrets.ts'
import type { GatewayStore } from './store/contract.ts'
import { fillStore, openStore, type StoreSettings } from './store/open.ts'
import { listenHttp } from './serve/http.ts'
import { FOLD_TOKENS } from './results/limits.ts'
import { Results } from './results/results.ts'
import { explainMissing } from './serve/tasks.ts'
import { createView, type View } from './serve/view.ts'
import { GatewayServer, type GatewayServerOptions } from './server.ts'
import { UpstreamError } from './upstreams/connection.ts'
import { createHeldPost } from './upstreams/held-post.ts'
import { DEFAULT_TIMEOUT_MS, MOST_STARTING, WAIT_FOR_TOOLS_MS } from './upstreams/limits.ts'
import { createProcessGuard } from './upstreams/process/process-guard.ts'
import { readVersion } from './surroundings.ts'

export type { Gateway, GatewayOptions, ServerStatus, ViewChoice, WaitingCall, WaitingCalls }

/**
 * Creates a gateway. Servers whose tools are cached start only when they are needed.
 *
 * @example
 * const gateway = await createGateway({ mcpServers: { files: { command: 'npx', args: ['-y', 'server-files', '.'] } } })
 * const connection = await gateway.stdio()
 * await connection.closed
 * await gateway.close()
 *
 * @throws UsageError if the configuration is wrong.
 * @throws Error if a required server does not start.
 */
export async function createGateway(
  definition: GatewayDefinition | GatewayConfig,
  options: GatewayOptions = {},
): Promise<Gateway> {
  const config = toConfig(definition)
  const secrets = createSecrets()
  let started: RunningGateway | undefined
  const settings = readStore(config, options, secrets)
  const store = await openStore(settings, {
    env: options.env ?? process.env,
    cache: options.cache,
    data: options.data,
    onProblem: (message) => started?.complain(message),
  })
  const gateway = new RunningGateway(options, { store, secrets, settings })
  started = gateway
  try {
    await gateway.update(config)
    return gateway
  } catch (error) {
    await gateway.close()
    throw error
  }
}

interface GatewayParts {
  readonly store: GatewayStore
  readonly secrets: Secrets
  readonly settings: StoreSettings | undefined
}

/** The store that a configuration names. From now on, its password is treated as a secret. */
function readStore(config: GatewayConfig, options: GatewayOptions, secrets: Secrets): StoreSettings | undefined {
  const { env = process.env, root = process.cwd() } = options
  return fillStore(options.store ?? config.store, { env, root }, secrets)
}

class RunningGateway implements Gateway {
  readonly #options: GatewayOptions
  readonly #parts: GatewayParts
  readonly #serverOptions: GatewayServerOptions
  readonly #policy: Policy
  readonly #servers = new Map<string, GatewayServer>()
  readonly #views = new Map<string, Promise<View>>()
  readonly #open = new Set<{ close(): Promise<void> }>()
  readonly #starting = new Set<Promise<void>>()
  readonly #results: Results
  /** Servers of an update that is not done yet. */
  readonly #pending = new Set<GatewayServer>()
  #isClosed = false
  #config: GatewayConfig | undefined
  #isOverHttp = false
  #pinMode: PinMode = 'flag'
  #updating: Promise<void> = Promise.resolve()

  constructor(options: GatewayOptions, parts: GatewayParts) {
    const { env = process.env, root = process.cwd(), timeoutMs = DEFAULT_TIMEOUT_MS } = options
    const { store, secrets } = parts
    this.#options = options
    this.#parts = parts
    this.#results = new Results(store.results, (message) => this.complain(message))
    this.#policy = new Policy({
      store,
      secrets,
      variables: { env, root },
      onProblem: (message) => this.complain(message),
    })
    this.#serverOptions = {
      store,
      post: store.isShared ? createHeldPost(() => store.openSessions()) : undefined,
      guard: createProcessGuard(),
      variables: { env, root },
      secrets,
      getPinMode: () => this.#pinMode,
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

  complain(message: string): void {
    this.#report({ type: 'problem', server: undefined, message })
  }

  get servers(): readonly ServerStatus[] {
    return Array.from(this.#servers.values(), ({ name, state, snapshot }) => ({
      name,
      state,
      tools: snapshot?.tools.length,
    }))
  }

  get approvals(): WaitingCalls {
    const { waiting } = this.#policy
    return {
      list: async () => (await waiting.list()).map(hideBinding),
      approve: async (id) => hideBinding(await waiting.approve(id)),
      deny: async (id) => hideBinding(await waiting.deny(id)),
    }
  }

  async getCatalog({ preset = '' }: ViewChoice = {}): Promise<Catalog> {
    return (await this.#getView(preset)).catalog
  }

  async stdio({ preset = '', ...streams }: StdioOptions & ViewChoice = {}): Promise<McpConnection> {
    const { served } = await this.#getView(preset)
    void this.#join(undefined)
    return this.#keep(await served.stdio(streams))
  }

  async http(options: Omit<HttpOptions, 'path'> = {}): Promise<ServedHttp> {
    const config = this.#requireConfig()
    const { tokens, publicUrl, ...where } = config.http
    this.#policy.useTokens(this.#policy.readTokens(config))
    this.#isOverHttp = true
    const listening = await listenHttp({
      ...where,
      ...options,
      publicUrl,
      isProtected: tokens !== undefined && tokens.length > 0,
      find: async (preset) => (await this.#findView(preset))?.served,
    })
    void this.#join(publicUrl ?? listening.url)
    return this.#keep(listening)
  }

  /** Announces this gateway to the others. */
  async #join(url: string | undefined): Promise<void> {
    const { version } = this.#serverOptions
    await this.#parts.store.gateways
      .join({ host: hostname(), pid: process.pid, version, url })
      .catch((error: Error) => this.complain(`The gateway does not appear in the fleet: ${error.message}`))
  }

  async ready(withinMs = Infinity): Promise<void> {
    const all = Promise.all(this.#starting)
    if (withinMs === Infinity) return void (await all)
    let timer: ReturnType<typeof setTimeout> | undefined
    await Promise.race([all, new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs)))])
    clearTimeout(timer)
  }

  hideSecrets(text: string): string {
    return this.#policy.secrets.hide(text)
  }

  update(definition: GatewayDefinition | GatewayConfig): Promise<void> {
    const next = this.#updating.then(() => this.#update(toConfig(definition)))
    this.#updating = next.catch(() => undefined)
    return next
  }

  async close(): Promise<void> {
    this.#isClosed = true
    // An update that is waiting for servers to start stops waiting.
    await Promise.allSettled(Array.from(this.#pending, (server) => server.close()))
    await this.#updating
    await Promise.allSettled(Array.from(this.#open, (one) => one.close()))
    const views = await Promise.allSettled(this.#views.values())
    await Promise.allSettled(views.flatMap((view) => (view.status === 'fulfilled' ? [view.value.served.close()] : [])))
    await Promise.allSettled(Array.from(this.#servers.values(), (server) => server.close()))
    await this.#results.close()
    await this.#policy.close()
    await this.#parts.store.close()
  }

  async #update(config: GatewayConfig): Promise<void> {
    const before = this.#config
    this.#policy.learn(config)
    this.#policy.check(config)
    if (before && !isDeepStrictEqual(readStore(config, this.#options, this.#parts.secrets), this.#parts.settings))
      throw new UsageError('The "store" cannot be changed while the gateway runs. Restart the gateway.')
    const tokens = this.#isOverHttp ? this.#policy.readTokens(config) : []
    if (this.#isOverHttp && this.#policy.authorize && tokens.length === 0)
      throw new UsageError('The tokens of "http" cannot be removed while the gateway listens. Restart the gateway.')
    const known = new Map(before?.servers.map((server) => [server.name, server]))
    const isSamePin = before?.pin === config.pin
    const kept = new Set(
      config.servers
        .filter(
          (server) => isDeepStrictEqual(known.get(server.name), server) && (isSamePin || server.pin !== undefined),
        )
        .map(({ name }) => name),
    )
    this.#pinMode = config.pin
    const added = config.servers
      .filter(({ name }) => !kept.has(name))
      .map((server) => new GatewayServer(server, this.#serverOptions))
    for (const server of added) this.#pending.add(server)
    try {
      this.#refuseClosed()
      await Promise.all(added.map((server) => server.restore()))
      await this.#startRequired(added)
      this.#refuseClosed()
    } catch (error) {
      await Promise.allSettled(added.map((server) => server.close()))
      throw error
    } finally {
      for (const server of added) this.#pending.delete(server)
    }
    // Nothing can fail from here on.
    this.#config = config
    this.#policy.update(config)
    this.#policy.useTokens(tokens)
    for (const message of listIdleRules(config)) this.complain(message)
    for (const message of config.doubts) this.#report({ type: 'problem', server: undefined, message })
    for (const { name, reason } of config.invalid) this.#report({ type: 'problem', server: name, message: reason })
    const removed = [...this.#servers.values()].filter(({ name }) => !kept.has(name))
    for (const { name } of removed) this.#servers.delete(name)
    for (const server of added) this.#servers.set(server.name, server)
    await this.#refreshViews(before, config)
    for (const { name } of removed) if (!this.#servers.has(name)) this.#hide(name)
    for (const server of added) this.#begin(server)
    if (before && !isSamePolicy(before, config)) for (const server of this.#servers.values()) this.#show(server)
    await Promise.allSettled(removed.map((server) => server.close()))
  }

  #refuseClosed(): void {
    if (this.#isClosed) throw new Error('The gateway is closed.')
  }

  async #startRequired(added: readonly GatewayServer[]): Promise<void> {
    const required = added.filter(({ config }) => config.isRequired)
    const starts = await Promise.allSettled(required.map((server) => server.start()))
    const failed = starts.findIndex(({ status }) => status === 'rejected')
    if (failed === -1) return
    const { reason: error } = starts[failed] as PromiseRejectedResult
    const why = (error instanceof UpstreamError ? error.reason : undefined) ?? (error as Error).message
    throw new Error(`The server '${required[failed]?.name}' is required and cannot be started. ${why}`)
  }

  #begin(server: GatewayServer): void {
    this.#report({ type: 'server/added', server: server.name })
    this.#show(server)
    void server.keepSignedIn()
    const { isFresh = false } = this.#options
    if (server.config.isRequired || !(isFresh || server.wantsStart)) return
    const isKnown = server.snapshot !== undefined && !isFresh
    // Its state says why, if it does not start.
    const isShared = !isFresh && server.config.start === 'lazy'
    const start = (isShared ? server.learn() : server.start()).catch(() => undefined)
    if (isKnown) return
    this.#starting.add(start)
    void start.finally(() => this.#starting.delete(start))
  }

  /** Closes the views of removed presets, and those whose settings changed, which are re-created for the next client. */
  async #refreshViews(before: GatewayConfig | undefined, after: GatewayConfig): Promise<void> {
    for (const [preset, view] of this.#views) {
      if (before && isSameView(preset, before, after)) continue
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
    if (this.#isClosed) return Promise.reject(new Error('The gateway is closed.'))
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
    const { store } = this.#parts
    return createView({
      name,
      preset,
      policy: this.#policy,
      explainTask: (id) => explainMissing(id, store.gateways),
      sessions: store.isShared ? await store.openSessions() : undefined,
      onTraffic: this.#options.onTraffic,
      expose: this.#options.expose ?? preset.expose ?? expose,
      instructions: preset.instructions ?? instructions,
      getServers: () => [...this.#servers.values()],
      version: this.#serverOptions.version,
      embed: this.#options.embed,
      results: this.#results.createView(name, {
        getLimit: (server) => this.#getFoldTokens(this.#servers.get(server ?? '')),
        getLeast: () =>
          [undefined, ...this.#servers.values()].reduce(
            (least, server) => Math.min(least, this.#getFoldTokens(server)),
            Infinity,
          ),
      }),
      onError: (error) => this.#report({ type: 'problem', server: undefined, message: error.message }),
      isStarting: () => this.#starting.size > 0,
      untilStarted: () => this.ready(WAIT_FOR_TOOLS_MS),
    })
  }

  #getFoldTokens(server: GatewayServer | undefined): number {
    return server?.config.foldResults ?? this.#config?.foldResults ?? FOLD_TOKENS
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
      this.#options.onEvent?.(this.#policy.secrets.hideIn(event))
    } catch {
      // A failing listener does not stop the gateway.
    }
  }
}

/** Leaves out the binding, which is private. */
function hideBinding(waiting: WaitingCall & { readonly binding: string }): WaitingCall {
  const { binding: _, ...call } = waiting
  return call
}
