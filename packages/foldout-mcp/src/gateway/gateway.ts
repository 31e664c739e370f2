import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import pLimit from 'p-limit'
import type { Catalog, ListedTool } from 'foldout/catalog'
import type { HttpOptions, McpConnection, ServedHttp, ServedSkills, StdioOptions } from 'foldout/mcp'
import { ignore } from 'foldout/promises'
import { checkMs, isSamePolicy, isSameProcess, UsageError, type GatewayConfig } from './config/config.ts'
import type { GatewayDefinition, PinMode } from './config/definition.ts'
import { refuseNewFaults } from './config/fill-server.ts'
import { toConfig } from './config/read-config.ts'
import type { Gateway, GatewayOptions, ServerStatus, ViewChoice, WaitingCall, WaitingCalls } from './contract.ts'
import { checkTimeout } from './servers/check-timeout.ts'
import type { GatewayEvent } from './model/events.ts'
import { FirstStarts, startRequired } from './servers/first-starts.ts'
import { hideBinding } from './policy/approvals/approval-store.ts'
import { Policy } from './policy/policy.ts'
import { IdleNames } from './policy/rules/idle-names.ts'
import { listIdleRules } from './policy/rules/rules.ts'
import { createSecrets, type Secrets } from './policy/secrets/secrets.ts'
import type { GatewayStore } from './store/contract/gateway-store.ts'
import { openStore, readStoreSettings, type StoreSettings } from './store/open.ts'
import { formatInstructions } from './serve/server-texts.ts'
import { listenHttp } from './serve/http.ts'
import { LISTING } from './results/listing.ts'
import { createFoldLimits, Results } from './results/results.ts'
import { explainMissing } from './serve/features/tasks.ts'
import { createExposure } from './serve/expose.ts'
import { readOwnSkills } from './serve/own-skills.ts'
import { createView, getViewSettings, type View, type ViewSettings } from './serve/view.ts'
import { Views } from './serve/views.ts'
import { GatewayServer } from './servers/server.ts'
import type { GatewayServerOptions } from './servers/server-options.ts'
import { createHeldPost } from './upstreams/asking/held-post.ts'
import { DEFAULT_TIMEOUT_MS, MOST_STARTING } from './upstreams/limits.ts'
import { createLoopGuard, type LoopGuard } from './servers/loop-guard.ts'
import { createProcessGuard } from './upstreams/process/process-guard.ts'
import { readVersion } from '../shared/surroundings.ts'

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
  checkMs('timeoutMs', options.timeoutMs, 1)
  const config = toConfig(definition)
  const secrets = createSecrets()
  let started: RunningGateway | undefined
  const settings = readStoreSettings(config, options, secrets)
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

class RunningGateway implements Gateway {
  readonly #options: GatewayOptions
  readonly #parts: GatewayParts
  readonly #serverOptions: GatewayServerOptions<GatewayServer>
  readonly #policy: Policy
  readonly #servers = new Map<string, GatewayServer>()
  readonly #views = new Views((preset) => this.#createView(preset))
  readonly #open = new Set<{ close(): Promise<void> }>()
  /** The presets of the clients over stdio. */
  readonly #overStdio = new Map<McpConnection, string>()
  readonly #loop: LoopGuard
  readonly #starts = new FirstStarts((server) => this.#isClosed || this.#servers.get(server.name) !== server)
  readonly #results: Results
  readonly #foldLimits = createFoldLimits(() => this.#config?.foldResults, this.#servers)
  #idleNames: IdleNames | undefined
  /** Servers of an update that is not done yet. */
  readonly #pending = new Set<GatewayServer>()
  #isClosed = false
  #config: GatewayConfig | undefined
  #skills: ServedSkills | undefined
  #isOverHttp = false
  #pinMode: PinMode = 'flag'
  #updating: Promise<void> = Promise.resolve()

  constructor(options: GatewayOptions, parts: GatewayParts) {
    const { env = process.env, root = process.cwd(), timeoutMs = DEFAULT_TIMEOUT_MS } = options
    checkTimeout(timeoutMs)
    const { store, secrets } = parts
    this.#loop = createLoopGuard(env)
    this.#options = options
    this.#parts = parts
    const guard = createProcessGuard()
    this.#results = new Results(store.results, (message) => this.complain(message), guard.addFolder)
    this.#policy = new Policy({
      store,
      secrets,
      variables: { env, root },
      onProblem: (message) => this.complain(message),
    })
    this.#serverOptions = {
      store,
      post: store.isShared ? createHeldPost(() => store.openSessions()) : undefined,
      guard,
      loop: this.#loop,
      variables: { env, root },
      secrets,
      getPinMode: () => this.#pinMode,
      version: readVersion(),
      timeoutMs,
      turn: pLimit(MOST_STARTING),
      onEvent: (event) => this.#report(event),
      onTools: (server) => this.#show(server),
      listClients: (server) => this.#views.listClients(server),
      onNotification: (server, method, params, client) => this.#views.hear(server, method, params, client),
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

  get ownTools(): readonly ListedTool[] {
    return this.#foldLimits.getLeast() === Infinity ? [] : [LISTING]
  }

  get ownInstructions(): string {
    return formatInstructions(this.#config?.instructions, [...this.#servers.values()], this.#skills?.forModels)
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
    return (await this.#views.get(preset)).catalog
  }

  async stdio({ preset = '', ...streams }: StdioOptions & ViewChoice = {}): Promise<McpConnection> {
    const { served } = await this.#views.get(preset)
    void this.#join(undefined)
    const connection = this.#keep(await served.stdio(streams))
    this.#overStdio.set(connection, preset)
    void connection.closed.then(() => this.#overStdio.delete(connection))
    return connection
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
      find: (preset) =>
        preset === '' || this.#requireConfig().presets.has(preset) ? this.#views.find(preset) : undefined,
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

  ready(withinMs = Infinity): Promise<void> {
    return this.#starts.wait(withinMs)
  }

  hideSecrets(text: string): string {
    return this.#policy.secrets.hide(text)
  }

  update(definition: GatewayDefinition | GatewayConfig): Promise<void> {
    const next = this.#updating.then(() => this.#update(toConfig(definition)))
    this.#updating = ignore(next, 'the caller is told')
    return next
  }

  async close(): Promise<void> {
    this.#isClosed = true
    // An update that is waiting for servers to start stops waiting.
    await Promise.allSettled(Array.from(this.#pending, (server) => server.close()))
    await this.#updating
    await Promise.allSettled(Array.from(this.#open, (one) => one.close()))
    await this.#views.close()
    await Promise.allSettled(Array.from(this.#servers.values(), (server) => server.close()))
    await this.#results.close()
    await this.#policy.close()
    await this.#parts.store.close()
  }

  async #update(config: GatewayConfig): Promise<void> {
    const before = this.#config
    this.#policy.learn(config)
    this.#policy.check(config)
    if (
      before &&
      !isDeepStrictEqual(readStoreSettings(config, this.#options, this.#parts.secrets), this.#parts.settings)
    )
      throw new UsageError('The "store" cannot be changed while the gateway runs. Restart the gateway.')
    const tokens = this.#isOverHttp ? this.#policy.readTokens(config) : []
    if (this.#isOverHttp && this.#policy.authorize && tokens.length === 0)
      throw new UsageError('The tokens of "http" cannot be removed while the gateway listens. Restart the gateway.')
    await this.#checkViews(config)
    const skills = await readOwnSkills(config.skills, this.#options.trustSkill, (text) => this.complain(text))
    if (before) await refuseNewFaults(before, config, this.#serverOptions.variables)
    const servers = config.servers.filter((server) => !this.#loop.includes(server))
    const kept = servers.filter((server) => {
      const running = this.#servers.get(server.name)
      const isSamePin = before?.pin === config.pin || server.pin !== undefined
      return running && isSamePin && isSameProcess(running.config, server)
    })
    this.#pinMode = config.pin
    const added = servers
      .filter((server) => !kept.includes(server))
      .map((server) => new GatewayServer(server, this.#serverOptions))
    for (const server of added) this.#pending.add(server)
    try {
      this.#refuseClosed()
      await Promise.all(added.map((server) => server.known.restore()))
      await startRequired(added)
      this.#refuseClosed()
    } catch (error) {
      await Promise.allSettled(added.map((server) => server.close()))
      throw error
    } finally {
      for (const server of added) this.#pending.delete(server)
    }
    // Nothing can fail from here on.
    this.#config = config
    this.#skills = skills
    this.#policy.update(config)
    this.#policy.useTokens(tokens)
    this.#reportMistakes(config)
    const names = new Set(kept.map(({ name }) => name))
    const changed = new Set(added.filter(({ name }) => this.#servers.has(name)))
    const removed = [...this.#servers.values()].filter(({ name }) => !names.has(name))
    for (const { name } of removed) this.#servers.delete(name)
    for (const server of kept) this.#servers.get(server.name)?.adopt(server)
    for (const server of added) this.#servers.set(server.name, server)
    await this.#views.update((preset) => this.#getSettings(preset))
    for (const { name } of removed.filter((server) => !this.#servers.has(server.name))) {
      this.#report({ type: 'server/removed', server: name })
      this.#views.hide(name)
    }
    for (const server of added) this.#begin(server, changed.has(server))
    const isNewPolicy = before && !isSamePolicy(before, config)
    for (const server of this.#servers.values()) {
      if (isNewPolicy) this.#show(server)
      else this.#reportIdleNames(server)
    }
    await Promise.allSettled(removed.map((server) => server.close()))
  }

  /** Rejects a configuration that the connected clients cannot be served with. */
  async #checkViews(config: GatewayConfig): Promise<void> {
    for (const preset of this.#overStdio.values())
      if (preset !== '' && !config.presets.has(preset))
        throw new UsageError(`The preset '${preset}' cannot be removed while a client uses it. Restart the gateway.`)
    const settings = this.#views.presets.map((preset) => getViewSettings(config, preset, this.#options))
    // An exposure may need a package that is not installed.
    await Promise.all(settings.map(async (one) => one && createExposure(one.expose)))
  }

  #reportIdleNames({ name, config, snapshot }: GatewayServer): void {
    for (const message of (snapshot && this.#idleNames?.findNew({ config, tools: snapshot.tools })) ?? [])
      this.#report({ type: 'problem', server: name, message })
  }

  #reportMistakes(config: GatewayConfig): void {
    this.#idleNames = new IdleNames(config)
    for (const message of [...listIdleRules(config), ...config.doubts]) this.complain(message)
    const reason = 'It starts this gateway itself, so it is left out.'
    const loops = config.servers.filter((server) => this.#loop.includes(server))
    for (const { name: server, reason: message } of [...config.invalid, ...loops.map(({ name }) => ({ name, reason }))])
      this.#report({ type: 'problem', server, message })
  }

  #refuseClosed(): void {
    if (this.#isClosed) throw new Error('The gateway is closed.')
  }

  #begin(server: GatewayServer, isChanged: boolean): void {
    this.#report({ type: 'server/added', server: server.name })
    this.#show(server)
    void server.keepSignedIn()
    const { isFresh = false } = this.#options
    // The cache knows variables and headers by name only, but their new values may change the tools.
    if (server.config.isRequired || !(isFresh || isChanged || server.wantsStart)) return
    const isKnown = server.snapshot !== undefined && !isFresh
    const isShared = !isFresh && !isChanged && server.config.start === 'lazy'
    const start = isShared ? server.learn() : server.start()
    // Its state says why, if it does not start.
    if (!isKnown) this.#starts.add(server, start)
    else if (server.known.isOutdated) this.#starts.addOutdated(start)
    else void ignore(start, 'its state says why it does not start')
  }

  #getSettings(preset: string): ViewSettings | undefined {
    return getViewSettings(this.#requireConfig(), preset, this.#options)
  }

  async #createView(name: string): Promise<View> {
    this.#refuseClosed()
    const { presets } = this.#requireConfig()
    const settings = this.#getSettings(name)
    if (!settings)
      throw new UsageError(
        `Unknown preset '${name}'. ${presets.size === 0 ? 'The configuration has none.' : `Choose from: ${[...presets.keys()].join(', ')}.`}`,
      )
    const { store } = this.#parts
    return createView({
      ...settings,
      name,
      policy: this.#policy,
      stages: this.#options.stages ?? [],
      explainTask: (id) => explainMissing(id, store.gateways),
      sessions: store.isShared ? await store.openSessions() : undefined,
      onTraffic: this.#options.onTraffic,
      getServers: () => [...this.#servers.values()],
      getSkills: () => this.#skills,
      version: this.#serverOptions.version,
      embed: this.#options.embed,
      results: this.#results.createView(name, this.#foldLimits),
      onError: (error) => this.#report({ type: 'problem', server: undefined, message: error.message }),
      onBroken: (server, tools) => this.#report({ type: 'server/broken', server, tools }),
      isStarting: () => this.#starts.isAny,
      listStarting: () => this.#starts.list(),
      untilStarted: () => this.#starts.waitForSearch(),
    })
  }

  #requireConfig(): GatewayConfig {
    if (!this.#config) throw new Error('The gateway has no configuration yet.')
    return this.#config
  }

  #show(server: GatewayServer): void {
    if (this.#servers.get(server.name) !== server) return
    this.#views.show(server)
    this.#reportIdleNames(server)
  }

  #keep<Open extends { close(): Promise<void>; readonly closed?: Promise<void> }>(opened: Open): Open {
    this.#open.add(opened)
    void opened.closed?.then(() => this.#open.delete(opened))
    return opened
  }

  #report(event: GatewayEvent): void {
    try {
      this.#options.onEvent?.(structuredClone(this.#policy.secrets.hideIn(event)))
    } catch {
      // A failing listener does not stop the gateway.
    }
  }
}
