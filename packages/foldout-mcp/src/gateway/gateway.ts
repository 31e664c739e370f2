import { isDeepStrictEqual } from 'node:util'
import pLimit from 'p-limit'
import type { Catalog, ListedTool } from 'foldout/catalog'
import type { HttpOptions, McpConnection, ServedHttp, ServedSkills, StdioOptions } from 'foldout/mcp'
import { ignore } from 'foldout/promises'
import { checkMs, isSamePolicy, UsageError, type GatewayConfig } from './config/config.ts'
import type { GatewayDefinition } from './config/definition.ts'
import { toConfig } from './config/read-config.ts'
import type { Gateway, GatewayOptions, ServerStatus, ViewChoice, WaitingCall, WaitingCalls } from './contract.ts'
import type { GatewayEvent } from './model/events.ts'
import { hideBinding } from './policy/approvals/approval-store.ts'
import { Policy } from './policy/policy.ts'
import { IdleNames } from './policy/rules/idle-names.ts'
import { listIdleRules } from './policy/rules/rules.ts'
import { createSecrets, type Secrets } from './policy/secrets/secrets.ts'
import type { GatewayStore } from './store/contract/gateway-store.ts'
import { openStore, readStoreSettings, type StoreSettings } from './store/open.ts'
import { formatInstructions } from './serve/server-texts.ts'
import { Connections } from './serve/connections.ts'
import { LISTING } from './results/listing.ts'
import { createFoldLimits, Results, type ResultLimits } from './results/results.ts'
import { explainMissing } from './serve/features/tasks.ts'
import { readOwnSkills } from './serve/own-skills.ts'
import { createView, getViewSettings, type View, type ViewSettings } from './serve/view.ts'
import { Views } from './serve/views.ts'
import { RunningServers } from './servers/running-servers.ts'
import type { GatewayServer } from './servers/server.ts'
import { createHeldPost } from './upstreams/asking/held-post.ts'
import { DEFAULT_TIMEOUT_MS, MOST_STARTING } from './upstreams/limits.ts'
import { createLoopGuard } from './servers/loop-guard.ts'
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
  const gateway = new RunningGateway(options, { store, secrets, settings, version: readVersion() })
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
  readonly version: string
}

class RunningGateway implements Gateway {
  readonly #options: GatewayOptions
  readonly #parts: GatewayParts
  readonly #policy: Policy
  readonly #servers: RunningServers
  readonly #views = new Views((preset) => this.#createView(preset))
  readonly #connections: Connections
  readonly #results: Results
  readonly #foldLimits: ResultLimits
  #idleNames: IdleNames | undefined
  #config: GatewayConfig | undefined
  #skills: ServedSkills | undefined
  #updating: Promise<void> = Promise.resolve()

  constructor(options: GatewayOptions, parts: GatewayParts) {
    const { env = process.env, root = process.cwd(), timeoutMs = DEFAULT_TIMEOUT_MS, isFresh = false } = options
    const { store, secrets, version } = parts
    const variables = { env, root }
    const onProblem = (message: string): void => this.complain(message)
    const guard = createProcessGuard()
    this.#options = options
    this.#parts = parts
    this.#results = new Results(store.results, onProblem, guard.addFolder)
    this.#policy = new Policy({ store, secrets, variables, onProblem })
    this.#connections = new Connections({
      views: this.#views,
      policy: this.#policy,
      gateways: store.gateways,
      version,
      getConfig: () => this.#requireConfig(),
      onProblem,
    })
    this.#servers = new RunningServers({
      store,
      post: store.isShared ? createHeldPost(() => store.openSessions()) : undefined,
      guard,
      loop: createLoopGuard(env),
      variables,
      secrets,
      version,
      timeoutMs,
      isFresh,
      turn: pLimit(MOST_STARTING),
      onEvent: (event) => this.#report(event),
      onTools: (server) => this.#show(server),
      listClients: (server) => this.#views.listClients(server),
      onNotification: (server, method, params, client) => this.#views.hear(server, method, params, client),
    })
    this.#foldLimits = createFoldLimits(() => this.#config?.foldResults, this.#servers.byName)
  }

  complain(message: string): void {
    this.#report({ type: 'problem', server: undefined, message })
  }

  get servers(): readonly ServerStatus[] {
    return this.#servers.list().map(({ name, state, snapshot }) => ({
      name,
      state,
      tools: snapshot?.tools.length,
    }))
  }

  get ownTools(): readonly ListedTool[] {
    return this.#foldLimits.getLeast() === Infinity ? [] : [LISTING]
  }

  get ownInstructions(): string {
    return formatInstructions(this.#config?.instructions, this.#servers.list(), this.#skills?.forModels)
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

  stdio({ preset = '', ...streams }: StdioOptions & ViewChoice = {}): Promise<McpConnection> {
    return this.#connections.openStdio(preset, streams)
  }

  http(options: Omit<HttpOptions, 'path'> = {}): Promise<ServedHttp> {
    return this.#connections.openHttp(options)
  }

  ready(withinMs = Infinity): Promise<void> {
    return this.#servers.starts.wait(withinMs)
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
    // An update that is waiting for servers to start stops waiting.
    await this.#servers.interrupt()
    await this.#updating
    await this.#connections.close()
    await this.#views.close()
    await this.#servers.close()
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
    const tokens = this.#connections.check(config)
    // An exposure may need a package that is not installed.
    await this.#views.check((preset) => getViewSettings(config, preset, this.#options))
    const skills = await readOwnSkills(config.skills, this.#options.trustSkill, (text) => this.complain(text))
    const change = await this.#servers.prepare(config, before)
    // Nothing can fail from here on.
    this.#config = config
    this.#skills = skills
    this.#policy.update(config)
    this.#policy.useTokens(tokens)
    this.#reportMistakes(config)
    const { added } = change
    const changed = new Set(added.filter(({ name }) => this.#servers.byName.has(name)))
    const removed = this.#servers.apply(change)
    await this.#views.update((preset) => this.#getSettings(preset))
    for (const { name } of removed.filter((server) => !this.#servers.byName.has(server.name))) {
      this.#report({ type: 'server/removed', server: name })
      this.#views.hide(name)
    }
    for (const server of added) {
      this.#report({ type: 'server/added', server: server.name })
      this.#show(server)
      this.#servers.begin(server, changed.has(server))
    }
    const isNewPolicy = before && !isSamePolicy(before, config)
    for (const server of this.#servers.list()) {
      if (isNewPolicy) this.#show(server)
      else this.#reportIdleNames(server)
    }
    await Promise.allSettled(removed.map((server) => server.close()))
  }

  #reportIdleNames({ name, config, snapshot }: GatewayServer): void {
    for (const message of (snapshot && this.#idleNames?.findNew({ config, tools: snapshot.tools })) ?? [])
      this.#report({ type: 'problem', server: name, message })
  }

  #reportMistakes(config: GatewayConfig): void {
    this.#idleNames = new IdleNames(config)
    for (const message of [...listIdleRules(config), ...config.doubts]) this.complain(message)
    const reason = 'It starts this gateway itself, so it is left out.'
    const loops = this.#servers.listLoops(config)
    for (const { name: server, reason: message } of [...config.invalid, ...loops.map(({ name }) => ({ name, reason }))])
      this.#report({ type: 'problem', server, message })
  }

  #getSettings(preset: string): ViewSettings | undefined {
    return getViewSettings(this.#requireConfig(), preset, this.#options)
  }

  async #createView(name: string): Promise<View> {
    this.#servers.refuseClosed()
    const { presets } = this.#requireConfig()
    const settings = this.#getSettings(name)
    if (!settings)
      throw new UsageError(
        `Unknown preset '${name}'. ${presets.size === 0 ? 'The configuration has none.' : `Choose from: ${[...presets.keys()].join(', ')}.`}`,
      )
    const { store, version } = this.#parts
    const { starts } = this.#servers
    return createView({
      ...settings,
      name,
      policy: this.#policy,
      stages: this.#options.stages ?? [],
      explainTask: (id) => explainMissing(id, store.gateways),
      sessions: store.isShared ? await store.openSessions() : undefined,
      onTraffic: this.#options.onTraffic,
      getServers: () => this.#servers.list(),
      getSkills: () => this.#skills,
      version,
      embed: this.#options.embed,
      results: this.#results.createView(name, this.#foldLimits),
      onError: (error) => this.#report({ type: 'problem', server: undefined, message: error.message }),
      onBroken: (server, tools) => this.#report({ type: 'server/broken', server, tools }),
      isStarting: () => starts.isAny,
      listStarting: () => starts.list(),
      untilStarted: () => starts.waitForSearch(),
    })
  }

  #requireConfig(): GatewayConfig {
    if (!this.#config) throw new Error('The gateway has no configuration yet.')
    return this.#config
  }

  #show(server: GatewayServer): void {
    if (!this.#servers.includes(server)) return
    this.#views.show(server)
    this.#reportIdleNames(server)
  }

  #report(event: GatewayEvent): void {
    try {
      this.#options.onEvent?.(structuredClone(this.#policy.secrets.hideIn(event)))
    } catch {
      // A failing listener does not stop the gateway.
    }
  }
}
