import {
  createCatalog,
  listModelNames,
  type BrokenTool,
  type CallClient,
  type Catalog,
  type Encoder,
  type Exposure,
  type RawTool,
} from 'foldout/catalog'
import { serveMcp, type ServedMcp, type ServedSkills } from 'foldout/mcp'
import type { SessionStore } from 'foldout/session'
import { ignore } from 'foldout/promises'
import type { GatewayConfig } from '../config/config.ts'
import type { ExposureName, PresetDefinition } from '../config/definition.ts'
import { dropUndefined } from 'foldout-shared/values'
import type { CallScope, CallStage } from '../calls/call/call.ts'
import { CallPipeline } from '../calls/pipeline.ts'
import type { FailedServer, StartingServers } from '../calls/requests/request.ts'
import { exposeThroughStages } from '../calls/pipeline.ts'
import { createGuard, toWho, type Guard } from '../policy/guard.ts'
import type { Policy } from '../policy/policy.ts'
import { NOBODY, type Who } from '../policy/rules/rules.ts'
import type { GatewayServer } from '../servers/server.ts'
import type { ServerTool } from '../servers/server-tool.ts'
import type { ViewResults } from '../results/results.ts'
import type { ConnectedClient } from '../upstreams/asking/outside.ts'
import { toClient, type OnTraffic } from '../traffic/traffic.ts'
import { CurrentExposure } from './current-exposure.ts'
import { createExposure } from './expose.ts'
import { getPage, withPage } from './features/directory.ts'
import { createFeatures, type ViewFeatures } from './features/features.ts'
import { renameInResult } from './features/links.ts'
import { createProfiles, createScope, type Profile, type Profiles } from './profiles.ts'
import { includesServer, selectTools } from './select-tools.ts'
import { createBrokenReport, formatInstructions, toTellingTitle } from './server-texts.ts'

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
  /** The gateway's own skills. */
  getSkills(): ServedSkills | undefined
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
  /** The user's own stages of calls. */
  readonly stages: readonly CallStage[]
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
    const { name, policy } = options
    this.#options = options
    this.#settings = options
    this.#guard = createGuard(policy, name)
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
    for (const profile of this.#profiles.all()) {
      const { who, catalog, features } = profile
      features.refresh()
      // The page's URI may now belong to another server.
      const others =
        pages.size === 0 ? [] : this.#getShown(who).filter((other) => other !== server && sharesPage(other, pages))
      for (const one of [server, ...others])
        catalog.replace(one.name, this.#select(one, profile), { description: describeServer(one) })
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
    // The skills may have changed, and there may be no server.
    for (const { features } of this.#profiles.all()) features.refresh()
  }

  #serve(): ServedMcp {
    const { name, policy, version, onError, onTraffic, sessions } = this.#options
    return serveMcp(this.catalog, {
      name: 'foldout',
      version,
      expose: this.#createExposure(),
      onError,
      get authorize() {
        return policy.authorize
      },
      catalogFor: (client) => this.#profiles.get(toWho({ client })).catalog,
      features: (client) => {
        if (!client.isShared) onTraffic?.({ type: 'client', preset: name, ...toClient(client) })
        return this.#profiles.get(toWho({ client })).features.forClient(client)
      },
      instructions: (client) => {
        const { features, who } = this.#profiles.get(toWho({ client }))
        return formatInstructions(this.#settings.instructions, this.#getShown(who), features.listSkills())
      },
      // Presets do not share sessions.
      ...(sessions && { sessions: { store: sessions, namespace: `foldout/${name}` } }),
    })
  }

  #createExposure(): Exposure {
    const { name, policy, results, onTraffic, isStarting, listStarting, untilStarted } = this.#options
    const getWho = (client: CallClient | undefined): Who => toWho({ client })
    return exposeThroughStages(this.#current.exposure, {
      preset: name,
      onTraffic,
      results,
      getAudit: () => policy.audit,
      toScoped: this.#toScoped,
      findDenied: (tool, client) => this.#findDenied(tool, getWho(client)),
      servers: {
        isStarting,
        listStarting,
        untilStarted,
        listFailed: (client) => listFailed(this.#getShown(getWho(client)), listStarting()),
        findHeld: (tool, client) => this.#findHeld(tool, getWho(client)),
        listHeld: (client) => this.#listHeld(getWho(client)),
      },
    })
  }

  #createProfile(who: Who): Profile {
    const { results, explainTask, getServers, getSkills } = this.#options
    const features = createFeatures(() => this.#getShown(who), {
      getSkills,
      toScoped: this.#toScoped,
      explainTask,
      fold: (result, server, client) => results.foldTask(result, server.name, client),
      onGone(client) {
        results.dropClient(client)
        for (const server of getServers()) void ignore(server.release(client), 'its processes end with the gateway')
      },
    })
    const calls = new CallPipeline(this.#createScope(features), this.#options.stages)
    // A rule may allow a tool before another one denies the rest of its server.
    const servers = getServers()
    const tools = servers.flatMap((server) => this.#select(server, { who, features, calls }))
    return { who, features, calls, catalog: createViewCatalog(servers, tools, this.#options) }
  }

  #createScope(features: ViewFeatures): CallScope {
    const { name, policy, onTraffic } = this.#options
    return {
      preset: name,
      policy,
      onTraffic,
      nameResources: ({ name: called }, result) =>
        renameInResult(result, (uri) => {
          const server = this.#options.getServers().find((one) => one.name === called)
          if (server) return features.name(server, uri)
          return uri
        }),
    }
  }

  /** The tools of a server that a client may use. */
  #select(server: GatewayServer, { who, features, calls }: Omit<Profile, 'catalog'>): readonly RawTool[] {
    const tools = this.#guard.filter(server.name, selectTools(this.#settings.preset, server), who)
    return tools.map((tool) => showPage(calls.toRawTool(server, tool), server, features))
  }

  /** Finds the denied tool that a client calls by this name, as `server/tool`. */
  #findDenied(wanted: string, who: Who): string | undefined {
    const isMeant = createNameFilter(wanted)
    for (const server of this.#options.getServers()) {
      const { name } = server
      const tools = selectTools(this.#settings.preset, server)
      const denied = tools.find((tool) => isMeant(name, tool) && this.#guard.denies(name, tool, who))
      if (denied) return `${name}/${denied.shown.name}`
    }
    return undefined
  }

  #findHeld(wanted: string, who: Who): string | undefined {
    const isMeant = createNameFilter(wanted)
    for (const server of this.#options.getServers()) {
      const { name } = server
      const held = this.#guard.filter(name, selectTools(this.#settings.preset, server, server.known.listHeld()), who)
      const tool = held.find((one) => isMeant(name, one))
      if (tool) return `${name}/${tool.shown.name}`
    }
    return undefined
  }

  #listHeld(who: Who): readonly string[] {
    return this.#options.getServers().flatMap((server) => {
      const { name } = server
      const held = this.#guard.filter(name, selectTools(this.#settings.preset, server, server.known.listHeld()), who)
      return held.map(({ shown }) => `${name}/${shown.name}`)
    })
  }

  /** Whether a client may use anything of a server. A preset or rule may deny every tool of a server that has nothing else. */
  #mayUse(who: Who, server: GatewayServer): boolean {
    if (!this.#getShown(who).includes(server)) return false
    const { capabilities } = server.snapshot ?? {}
    const isMore = !capabilities || 'resources' in capabilities || 'prompts' in capabilities
    return isMore || this.#guard.filter(server.name, selectTools(this.#settings.preset, server), who).length > 0
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
    catalog.subscribe((event) => {
      const request = 'request' in event ? event.request : undefined
      onTraffic({ type: 'catalog', preset: name, catalog, event, request })
    })
  return catalog
}

/** The servers whose tools are not known, and will not be known soon. */
function listFailed(servers: readonly GatewayServer[], starting: readonly string[]): readonly FailedServer[] {
  return servers
    .filter(({ name, snapshot }) => !snapshot && !starting.includes(name))
    .map(({ name, state }) => ({ name, needsSignIn: state.type === 'failed' && state.needsSignIn === true }))
}

/** Says which tools a client may mean by a name. As for the tools that it may call, case and separators do not matter. */
function createNameFilter(wanted: string): (server: string, tool: ServerTool) => boolean {
  const loose = toLooseName(wanted)
  return (server, { shown: { name } }) =>
    [name, `${server}/${name}`, ...listModelNames(server, name)].some((known) => toLooseName(known) === loose)
}

/** No tool has a longer name, and clients may send any. */
const MAX_COMPARED = 600

function toLooseName(name: string): string {
  return name
    .slice(0, MAX_COMPARED)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '')
}

function getPages({ tools }: GatewayServer): ReadonlySet<string> {
  return new Set(tools.flatMap(({ shown }) => getPage(shown.meta) ?? []))
}

function sharesPage(server: GatewayServer, pages: ReadonlySet<string>): boolean {
  return [...getPages(server)].some((page) => pages.has(page))
}

/** A tool whose UI page has the URI that clients use. */
function showPage(tool: RawTool, server: GatewayServer, { toSeen }: Pick<ViewFeatures, 'toSeen'>): RawTool {
  const page = getPage(tool.meta)
  if (page === undefined || tool.meta === undefined) return tool
  const seen = toSeen(server, page)
  if (seen === page) return tool
  return { ...tool, meta: withPage(tool.meta, seen) }
}

function describeServer({ config, snapshot, name }: GatewayServer): string {
  return config.description ?? toTellingTitle(snapshot?.server.title, name)
}
