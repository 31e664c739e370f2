import {
  changeExposed,
  createCatalog,
  type CallClient,
  type Catalog,
  type Encoder,
  type ExposedCatalog,
  type Exposure,
  type RawTool,
} from 'foldout/catalog'
import { serveMcp, type ServedMcp } from 'foldout/mcp'
import type { SessionStore } from 'foldout/session'
import type { ExposureName, PresetDefinition } from '../config/definition.ts'
import { dropUndefined, hasParts } from '../fields.ts'
import { logDeniedCalls, type DeniedCalls } from '../policy/denied-calls.ts'
import { createGuard, toWho } from '../policy/guard.ts'
import { MAX_PROFILES } from '../policy/limits.ts'
import type { Policy } from '../policy/policy.ts'
import { NOBODY, type Who } from '../policy/rules.ts'
import type { GatewayServer } from '../server.ts'
import type { ViewResults } from '../results/results.ts'
import { getRequest, toClient, watchClients, watchTools, type OnTraffic } from '../traffic/traffic.ts'
import { createExposure } from './expose.ts'
import { getPage, withPage } from './directory.ts'
import { createFeatures, type ViewFeatures } from './features.ts'

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
}

export interface ViewOptions {
  readonly preset: PresetDefinition
  readonly expose: ExposureName
  readonly instructions: string | undefined
  /** The servers as they are now. */
  getServers(): readonly GatewayServer[]
  readonly version: string
  readonly embed: Encoder | undefined
  /** Folds large results. */
  readonly results: ViewResults
  readonly onError: (error: Error) => void
  /** Whether servers are being started whose tools are not known. */
  isStarting(): boolean
  /** Resolves when no such server is left, or after a while. */
  untilStarted(): Promise<void>
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

export async function createView({ preset, name, policy, onTraffic, ...options }: ViewOptions): Promise<View> {
  const guard = createGuard(policy, name, onTraffic)
  const select = (server: GatewayServer, who: Who, features: ViewFeatures): readonly RawTool[] => {
    const tools = guard.filter(server, selectTools(preset, server.name, server.tools), who)
    return guard.protect(server, watchTools(tools, name, onTraffic)).map((tool) => showPage(tool, server, features))
  }
  const getShown = (who: Who): readonly GatewayServer[] =>
    options
      .getServers()
      .filter((server) => includesServer(preset, server.name))
      .filter((server) => !policy.getRules(name).deniesServer(who, name, server.name))
  const toScoped = createScope(`view-${++lastView}`)
  const listed = await createExposure(options.expose, { isComplete: () => !options.isStarting() })
  const awaited = awaitTools(options.results.expose(listed), options)
  const getTools: DeniedCalls['getTools'] = () =>
    options.getServers().map((server) => [server, selectTools(preset, server.name, server.tools)])
  const logged = logDeniedCalls(awaited, { audit: policy.audit, preset: name, guard, getTools })
  const exposure = watchClients(scopeClients(logged, toScoped), name, onTraffic)

  const profiles = createProfiles(
    (who) => {
      const features = createFeatures(() => getShown(who), {
        toScoped,
        explainTask: options.explainTask,
        fold: (result, server, client) => options.results.foldTask(result, server, client),
        onGone(client) {
          options.results.dropClient(client)
          for (const server of options.getServers()) void server.release(client).catch(() => undefined)
        },
      })
      const shown = getShown(who)
      const tools = shown.flatMap((server) => select(server, who, features))
      return { who, features, catalog: createViewCatalog(shown, tools, { name, onTraffic, ...options }) }
    },
    (who) => policy.getRules(name).getProfile(who),
  )
  const { catalog } = profiles.get(NOBODY)
  const served = serveMcp(catalog, {
    name: 'foldout',
    version: options.version,
    expose: exposure,
    onError: options.onError,
    // Calls go to servers, and nobody here keeps a signal.
    reuseSignals: true,
    ...dropUndefined({ authorize: policy.authorize }),
    catalogFor: (client) => profiles.get(toWho({ client })).catalog,
    features(client) {
      if (!client.isShared) onTraffic?.({ type: 'client', preset: name, ...toClient(client) })
      return profiles.get(toWho({ client })).features.forClient(client)
    },
    ...dropUndefined({ instructions: options.instructions }),
    // Presets do not share sessions.
    ...(options.sessions ? { sessions: { store: options.sessions, namespace: `foldout/${name}` } } : {}),
  })
  return {
    catalog,
    served,
    show(server) {
      const pages = getPages(server)
      for (const profile of profiles.all()) {
        const { who, catalog: seen, features } = profile
        features.refresh()
        // The page's URI may now belong to another server.
        const others =
          pages.size === 0 ? [] : getShown(who).filter((other) => other !== server && sharesPage(other, pages))
        for (const one of [server, ...others]) seen.replace(one.name, select(one, who, features))
      }
    },
    hide(server) {
      for (const { catalog: seen, features } of profiles.all()) {
        seen.replace(server, [])
        features.refresh()
      }
    },
    hear(server, method, params, client) {
      for (const { who, features } of profiles.all())
        if (getShown(who).includes(server)) features.hear(server, method, params, client)
    },
  }
}

function createViewCatalog(
  shown: readonly GatewayServer[],
  tools: readonly RawTool[],
  { name, embed, onError, onTraffic }: Pick<ViewOptions, 'name' | 'embed' | 'onError' | 'onTraffic'>,
): Catalog {
  const catalog = createCatalog(tools, {
    sources: Object.fromEntries(shown.map((server) => [server.name, describeServer(server)])),
    // Many gateways run at a time, one per client, and most are idle.
    index: 'search',
    ...dropUndefined({ embed }),
  })
  catalog.subscribe((event) => {
    if (event.type === 'search/problem') onError(new Error(event.message))
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

/** An exposure that waits for servers that are still starting before it searches, because they may have the tool. */
function awaitTools(
  exposure: Exposure,
  { isStarting, untilStarted }: Pick<ViewOptions, 'isStarting' | 'untilStarted'>,
): Exposure {
  return {
    ...exposure,
    expose(catalog, reader) {
      const inner = exposure.expose(catalog, reader)
      const call: ExposedCatalog['call'] = async (name, args, context) => {
        if (isStarting() && !inner.target(name, args)) await untilStarted()
        return inner.call(name, args, context)
      }
      return changeExposed(inner, { call })
    },
  }
}

/** Gives clients ids that no client of another view has. */
function createScope(view: string): <Client extends CallClient>(client: Client) => Client {
  // A client is the same object in all of its calls.
  const scoped = new WeakMap<CallClient, CallClient>()
  return <Client extends CallClient>(client: Client): Client => {
    const known = scoped.get(client) as Client | undefined
    if (known) return known
    const one = { ...client, id: `${view}/${client.id}` }
    scoped.set(client, one)
    return one
  }
}

/** An exposure whose tools get clients with ids that no client of another view has. */
function scopeClients(exposure: Exposure, toScoped: (client: CallClient) => CallClient): Exposure {
  return {
    ...exposure,
    expose(catalog, reader) {
      const inner = exposure.expose(catalog, reader)
      const call: ExposedCatalog['call'] = (name, args, context) =>
        inner.call(name, args, context.client ? { ...context, client: toScoped(context.client) } : context)
      return changeExposed(inner, { call })
    },
  }
}

function getPages({ tools }: GatewayServer): ReadonlySet<string> {
  return new Set(tools.flatMap(({ meta }) => getPage(meta) ?? []))
}

function sharesPage(server: GatewayServer, pages: ReadonlySet<string>): boolean {
  return [...getPages(server)].some((page) => pages.has(page))
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
function includesServer({ servers = ['*'] }: PresetDefinition, name: string): boolean {
  return servers.some((pattern) => matchesPattern(name, pattern))
}

/** The tools of a server that a preset shows. */
function selectTools(preset: PresetDefinition, server: string, tools: readonly RawTool[]): readonly RawTool[] {
  if (!includesServer(preset, server)) return []
  const { include = ['*'], exclude = [] } = preset
  return tools.filter(({ name }) => {
    const path = `${server}/${name}`
    return (
      include.some((pattern) => matchesPattern(path, pattern)) &&
      !exclude.some((pattern) => matchesPattern(path, pattern))
    )
  })
}
