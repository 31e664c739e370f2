import {
  createCatalog,
  listModelNames,
  type BrokenTool,
  type Catalog,
  type Encoder,
  type Exposure,
  type RawTool,
} from 'foldout/catalog'
import { serveMcp, type ServedMcp } from 'foldout/mcp'
import type { SessionStore } from 'foldout/session'
import type { GatewayConfig } from '../config/config.ts'
import type { ExposureName, PresetDefinition } from '../config/definition.ts'
import { dropUndefined, hasParts } from '../fields.ts'
import { logDeniedCalls, type DeniedCalls } from '../policy/denied-calls.ts'
import { createGuard, listToolNames, toWho, type Guard } from '../policy/guard.ts'
import { MAX_PROFILES } from '../policy/limits.ts'
import type { Policy } from '../policy/policy.ts'
import { NOBODY, type Who } from '../policy/rules.ts'
import type { GatewayServer } from '../server.ts'
import type { ViewResults } from '../results/results.ts'
import type { ConnectedClient } from '../upstreams/asking/outside.ts'
import { getRequest, toClient, watchClients, watchTools, type OnTraffic } from '../traffic/traffic.ts'
import { CurrentExposure } from './current-exposure.ts'
import { createExposure } from './expose.ts'
import { getPage, withPage } from './directory.ts'
import { createFeatures, type ViewFeatures } from './features.ts'
import { nameResources } from './links.ts'
import { createBrokenReport, formatInstructions } from './server-texts.ts'
import { awaitTools, createScope, scopeClients, type FailedServer, type StartingServers } from './view-exposure.ts'

/** What the clients of a preset see. */
export interface View {
  readonly catalog: Catalog
  readonly served: ServedMcp
  /** Adds or updates the tools of a server. */
  show(server: GatewayServer): void
  /** Removes the tools of a server. */
  hide(server: string): void
  /** Passes a server's notifications on to its clients. */
  hear(server: GatewayServer, method: string, params: Readonly<Record<string, unknown>>, client?: string): void
  /** The connected clients that may use a server. */
  listClients(server: GatewayServer): readonly ConnectedClient[]
  /** Applies other settings. Clients stay connected, and are notified if their list changes. */
  update(settings: ViewSettings): Promise<void>
}

/** The part of a view that may change while clients are connected. */
export interface ViewSettings {
  readonly preset: PresetDefinition
  readonly expose: ExposureName
  readonly instructions: string | undefined
}

/** The settings of a preset's view, if the configuration has the preset. */
export function getViewSettings(
  config: Pick<GatewayConfig, 'presets' | 'expose' | 'instructions'>,
  name: string,
  { expose }: { readonly expose?: ExposureName },
): ViewSettings | undefined {
  const preset = name === '' ? {} : config.presets.get(name)
  return (
    preset && {
      preset,
      expose: expose ?? preset.expose ?? config.expose,
      instructions: preset.instructions ?? config.instructions,
    }
  )
}

export interface ViewOptions extends ViewSettings, StartingServers {
  /** The servers as they are now. */
  getServers(): readonly GatewayServer[]
  readonly version: string
  readonly embed: Encoder | undefined
  /** Folds large results. */
  readonly results: ViewResults
  readonly onError: (error: Error) => void
  readonly onBroken: (server: string, tools: readonly BrokenTool[]) => void
  /** The name of the preset, for traffic events. */
  readonly name: string
  readonly onTraffic: OnTraffic | undefined
  readonly policy: Policy
  /** Says why there is no such task here. */
  readonly explainTask: (id: string) => Promise<string>
  /** Where the sessions of legacy clients are, if other gateways serve them too. */
  readonly sessions: SessionStore | undefined
}

/** Counts the views of this process. */
let lastView = 0

export async function createView(options: ViewOptions): Promise<View> {
  return new ServedView(options, await createViewExposure(options, options))
}

function createViewExposure(
  { expose }: Pick<ViewSettings, 'expose'>,
  { isStarting }: Pick<ViewOptions, 'isStarting'>,
): Promise<Exposure> {
  return createExposure(expose, { isComplete: () => !isStarting() })
}

class ServedView implements View {
  readonly catalog: Catalog
  readonly served: ServedMcp
  readonly #options: ViewOptions
  readonly #guard: Guard
  readonly #current: CurrentExposure
  readonly #toScoped: ReturnType<typeof createScope>
  readonly #profiles: Profiles
  #settings: ViewSettings

  constructor(options: ViewOptions, exposure: Exposure) {
    const { name, policy, onTraffic } = options
    this.#options = options
    this.#settings = options
    this.#guard = createGuard(policy, name, onTraffic)
    this.#current = new CurrentExposure(exposure)
    this.#toScoped = createScope(`view-${++lastView}`)
    this.#profiles = createProfiles(
      (who) => this.#createProfile(who),
      (who) => policy.getRules(name).getProfile(who),
    )
    this.catalog = this.#profiles.get(NOBODY).catalog
    this.served = this.#serve()
  }

  show(server: GatewayServer): void {
    const pages = getPages(server)
    for (const { who, catalog, features } of this.#profiles.all()) {
      features.refresh()
      // The page's URI may now belong to another server.
      const others =
        pages.size === 0 ? [] : this.#getShown(who).filter((other) => other !== server && sharesPage(other, pages))
      for (const one of [server, ...others])
        catalog.replace(one.name, this.#select(one, who, features), { description: describeServer(one) })
    }
  }

  hide(server: string): void {
    for (const { catalog, features } of this.#profiles.all()) {
      catalog.replace(server, [])
      features.refresh()
    }
  }

  hear(...[server, method, params, client]: Parameters<View['hear']>): void {
    for (const { who, features } of this.#profiles.all())
      if (this.#getShown(who).includes(server)) features.hear(server, method, params, client)
  }

  listClients(server: GatewayServer): readonly ConnectedClient[] {
    const clients = [...this.#profiles.all()].flatMap(({ features }) => features.listClients())
    return clients.filter(({ client }) => this.#mayUse(toWho({ client }), server))
  }

  async update(settings: ViewSettings): Promise<void> {
    const isSameExposure = settings.expose === this.#settings.expose
    const exposure = isSameExposure ? this.#current.inner : await createViewExposure(settings, this.#options)
    this.#settings = settings
    // Even if it is the same: the list may also depend on other settings.
    this.#current.replace(exposure)
    for (const server of this.#options.getServers()) this.show(server)
  }

  #serve(): ServedMcp {
    const { name, policy, version, onError, onTraffic, sessions } = this.#options
    return serveMcp(this.catalog, {
      name: 'foldout',
      version,
      expose: this.#createExposure(),
      onError,
      // Calls go to servers, and nobody here keeps a signal.
      reuseSignals: true,
      get authorize() {
        return policy.authorize
      },
      catalogFor: (client) => this.#profiles.get(toWho({ client })).catalog,
      features: (client) => {
        if (!client.isShared) onTraffic?.({ type: 'client', preset: name, ...toClient(client) })
        return this.#profiles.get(toWho({ client })).features.forClient(client)
      },
      instructions: (client) => formatInstructions(this.#settings.instructions, this.#getShown(toWho({ client }))),
      // Presets do not share sessions.
      ...(sessions ? { sessions: { store: sessions, namespace: `foldout/${name}` } } : {}),
    })
  }

  #createExposure(): Exposure {
    const { name, policy, results, onTraffic, getServers } = this.#options
    const awaited = awaitTools(results.expose(this.#current.exposure), {
      ...this.#options,
      listFailed: (client) => listFailed(this.#getShown(toWho(client ? { client } : {})), this.#options.listStarting()),
      findHeld: (tool, client) => this.#findHeld(tool, toWho(client ? { client } : {})),
    })
    const getTools: DeniedCalls['getTools'] = () =>
      getServers().map((server) => [server, selectTools(this.#settings.preset, server)])
    const getAudit = () => policy.audit
    const logged = logDeniedCalls(awaited, { getAudit, preset: name, guard: this.#guard, getTools })
    return watchClients(scopeClients(logged, this.#toScoped), name, onTraffic)
  }

  #createProfile(who: Who): Profile {
    const { results, explainTask, getServers } = this.#options
    const features = createFeatures(() => this.#getShown(who), {
      toScoped: this.#toScoped,
      explainTask,
      fold: (result, server, client) => results.foldTask(result, server.name, client),
      onGone(client) {
        results.dropClient(client)
        for (const server of getServers()) void server.release(client).catch(() => undefined)
      },
    })
    // A rule may allow a tool before another one denies the rest of its server.
    const servers = getServers()
    const tools = servers.flatMap((server) => this.#select(server, who, features))
    return { who, features, catalog: createViewCatalog(servers, tools, this.#options) }
  }

  /** The tools of a server that a client may use. */
  #select(server: GatewayServer, who: Who, features: ViewFeatures): readonly RawTool[] {
    const { name, onTraffic } = this.#options
    const tools = this.#guard.filter(server, selectTools(this.#settings.preset, server), who)
    const watched = this.#guard.protect(server, watchTools(tools, name, onTraffic))
    return watched.map((tool) => showTool(tool, server, features))
  }

  #findHeld(wanted: unknown, who: Who): string | undefined {
    for (const server of this.#options.getServers()) {
      const { name } = server
      const held = this.#guard.filter(server, selectTools(this.#settings.preset, server, server.listHeld()), who)
      const tool = held.find((one) =>
        [one.name, `${name}/${one.name}`, ...listModelNames(name, one.name)].some((known) => known === wanted),
      )
      if (tool) return `${name}/${tool.name}`
    }
    return undefined
  }

  /** Whether a client may use anything of a server. A preset or rule may deny every tool of a server that has nothing else. */
  #mayUse(who: Who, server: GatewayServer): boolean {
    if (!this.#getShown(who).includes(server)) return false
    const { capabilities } = server.snapshot ?? {}
    const isMore = !capabilities || 'resources' in capabilities || 'prompts' in capabilities
    return isMore || this.#guard.filter(server, selectTools(this.#settings.preset, server), who).length > 0
  }

  /** The servers whose resources and prompts a client may use. */
  #getShown(who: Who): readonly GatewayServer[] {
    const { name, policy, getServers } = this.#options
    const rules = policy.getRules(name)
    return getServers().filter(
      (server) => includesServer(this.#settings.preset, server.name) && !rules.deniesServer(who, name, server.name),
    )
  }
}

function createViewCatalog(
  shown: readonly GatewayServer[],
  tools: readonly RawTool[],
  {
    name,
    embed,
    onError,
    onBroken,
    onTraffic,
  }: Pick<ViewOptions, 'name' | 'embed' | 'onError' | 'onBroken' | 'onTraffic'>,
): Catalog {
  const catalog = createCatalog(tools, {
    sources: Object.fromEntries(shown.map((server) => [server.name, describeServer(server)])),
    // Many gateways run at a time, one per client, and most are idle.
    index: 'search',
    ...dropUndefined({ embed }),
  })
  const reportBroken = createBrokenReport(catalog, onBroken)
  reportBroken()
  catalog.subscribe((event) => {
    if (event.type === 'search/problem') onError(new Error(event.message))
    if (event.type === 'catalog/changed') reportBroken()
  })
  // Embed the tools before the first search, which comes sooner or later.
  if (embed) catalog.ready().catch(onError)
  if (onTraffic)
    catalog.subscribe((event) => onTraffic({ type: 'catalog', preset: name, catalog, event, request: getRequest() }))
  return catalog
}

/** What is served to clients that the rules treat alike. */
interface Profile {
  /** One of these clients. */
  readonly who: Who
  readonly catalog: Catalog
  readonly features: ViewFeatures
}

interface Profiles {
  get(who: Who): Profile
  all(): Iterable<Profile>
}

/** Keeps one value per set of clients that rules treat alike. Without such rules, there is one for all. */
function createProfiles(create: (who: Who) => Profile, getProfile: (who: Who) => string): Profiles {
  const made = new Map<string, Profile>()
  return {
    all: () => made.values(),
    get(who) {
      const profile = getProfile(who)
      const known = made.get(profile)
      if (known) return known
      // Clients choose their own names, and must not be able to fill the memory with them.
      if (made.size >= MAX_PROFILES)
        throw new Error('The rules distinguish more kinds of clients than the gateway can serve.')
      const one = create(who)
      made.set(profile, one)
      return one
    },
  }
}

/** The servers whose tools are not known, and will not be known soon. */
function listFailed(servers: readonly GatewayServer[], starting: readonly string[]): readonly FailedServer[] {
  return servers
    .filter(({ name, snapshot }) => !snapshot && !starting.includes(name))
    .map(({ name, state }) => ({ name, needsSignIn: state.type === 'failed' && state.needsSignIn === true }))
}

function getPages({ tools }: GatewayServer): ReadonlySet<string> {
  return new Set(tools.flatMap(({ meta }) => getPage(meta) ?? []))
}

function sharesPage(server: GatewayServer, pages: ReadonlySet<string>): boolean {
  return [...getPages(server)].some((page) => pages.has(page))
}

/** A tool whose UI page and results have the URIs that clients use. */
function showTool(tool: RawTool, server: GatewayServer, features: ViewFeatures): RawTool {
  return nameResources(showPage(tool, server, features), (uri) => features.name(server, uri))
}

/** A tool whose UI page has the URI that clients use. */
function showPage(tool: RawTool, server: GatewayServer, { toSeen }: Pick<ViewFeatures, 'toSeen'>): RawTool {
  const page = getPage(tool.meta)
  if (page === undefined || tool.meta === undefined) return tool
  const seen = toSeen(server, page)
  return seen === page ? tool : { ...tool, meta: withPage(tool.meta, seen) }
}

function describeServer({ config, snapshot, name }: GatewayServer): string {
  return config.description ?? snapshot?.server.title ?? name
}

/** Whether a text matches a pattern in which `*` matches any text. */
function matchesPattern(text: string, pattern: string): boolean {
  return hasParts(text, pattern.split('*'))
}

/** Whether a preset includes a server. */
export function includesServer({ servers = ['*'] }: PresetDefinition, name: string): boolean {
  return servers.some((pattern) => matchesPattern(name, pattern))
}

/** The tools of a server that a preset shows. */
function selectTools(
  preset: PresetDefinition,
  server: GatewayServer,
  tools: readonly RawTool[] = server.tools,
): readonly RawTool[] {
  if (!includesServer(preset, server.name)) return []
  const { include, exclude = [] } = preset
  if (!include && exclude.length === 0) return tools
  return tools.filter(({ name }) => {
    const paths = listToolNames(server, name).map((one) => `${server.name}/${one}`)
    const matches = (patterns: readonly string[]): boolean =>
      patterns.some((pattern) => paths.some((path) => matchesPattern(path, pattern)))
    return (!include || matches(include)) && !matches(exclude)
  })
}
