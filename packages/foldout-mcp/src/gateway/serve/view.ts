import { createCatalog, type Catalog, type Encoder, type RawTool } from 'foldout/catalog'
import { serveMcp, type ServedMcp } from 'foldout/mcp'
import type { ExposureName, PresetDefinition } from '../config/definition.ts'
import { dropUndefined, hasParts } from '../fields.ts'
import type { GatewayServer } from '../server.ts'
import { watchTools, type Traffic } from '../traffic/traffic.ts'
import { createExposure } from './expose.ts'
import { createFeatures } from './features.ts'

/** What the clients of a preset see. */
export interface View {
  readonly catalog: Catalog
  readonly served: ServedMcp
  /** Takes the tools of a server as they are now. */
  show(server: GatewayServer): void
  /** Takes the tools of a server away. */
  hide(server: string): void
  /** Passes on what a server tells its clients. */
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
  readonly onError: (error: Error) => void
  /** The name of the preset, for those who watch. */
  readonly name: string
  readonly onTraffic: ((traffic: Traffic) => void) | undefined
}

export async function createView({
  preset,
  getServers,
  name: view,
  onTraffic,
  ...options
}: ViewOptions): Promise<View> {
  const select = (server: string, tools: readonly RawTool[]): readonly RawTool[] =>
    watchTools(selectTools(preset, server, tools), view, onTraffic)
  const getShown = (): readonly GatewayServer[] => getServers().filter(({ name }) => includesServer(preset, name))
  const shown = getShown()
  const features = createFeatures(getShown)
  const exposure = await createExposure(options.expose)
  const catalog = createCatalog(
    shown.flatMap(({ name, tools }) => select(name, tools)),
    {
      sources: Object.fromEntries(shown.map((server) => [server.name, describeServer(server)])),
      ...dropUndefined({ embed: options.embed }),
    },
  )
  catalog.subscribe((event) => {
    if (event.type === 'search/problem') options.onError(new Error(event.message))
  })
  // Tools are embedded before the first search, because a gateway is searched sooner or later.
  if (options.embed) catalog.ready().catch(options.onError)
  if (onTraffic) catalog.subscribe((event) => onTraffic({ type: 'catalog', preset: view, catalog, event }))
  const served = serveMcp(catalog, {
    name: 'foldout',
    version: options.version,
    expose: exposure,
    onError: options.onError,
    features: (client) => features.forClient(client),
    ...dropUndefined({ instructions: options.instructions }),
  })
  return {
    catalog,
    served,
    show({ name, tools }) {
      catalog.replace(name, select(name, tools))
      features.refresh()
    },
    hide(server) {
      catalog.replace(server, [])
      features.refresh()
    },
    hear(server, method, params, client) {
      if (includesServer(preset, server.name)) features.hear(server, method, params, client)
    },
  }
}

function describeServer({ config, snapshot, name }: GatewayServer): string {
  return config.description ?? snapshot?.server.title ?? name
}

/** Whether a text fits a pattern in which `*` stands for any text. */
function matchesPattern(text: string, pattern: string): boolean {
  return hasParts(text, pattern.split('*'))
}

/** Whether a preset has a server. */
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
