import { createCatalog, type Catalog } from 'foldout/catalog'
import { serveMcp, type ServedMcp } from 'foldout/mcp'
import type { ExposureName, PresetDefinition } from '../config/definition.ts'
import { includesServer, selectTools } from '../patterns.ts'
import type { GatewayServer } from '../server.ts'
import { createExposure } from './expose.ts'

/** What the clients of a preset see. */
export interface View {
  readonly catalog: Catalog
  readonly served: ServedMcp
  /** Takes the tools of a server as they are now. */
  show(server: GatewayServer): void
  /** Takes the tools of a server away. */
  hide(server: string): void
}

export interface ViewOptions {
  readonly preset: PresetDefinition
  readonly expose: ExposureName
  readonly instructions: string | undefined
  readonly servers: readonly GatewayServer[]
  readonly version: string
  readonly onError: (error: Error) => void
}

export async function createView({ preset, servers, ...options }: ViewOptions): Promise<View> {
  const shown = servers.filter(({ name }) => includesServer(preset, name))
  const exposure = await createExposure(options.expose)
  const catalog = createCatalog(
    shown.flatMap(({ name, tools }) => selectTools(preset, name, tools)),
    { sources: Object.fromEntries(shown.map((server) => [server.name, describeServer(server)])) },
  )
  const served = serveMcp(catalog, {
    name: 'foldout',
    version: options.version,
    expose: exposure,
    onError: options.onError,
    ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
  })
  return {
    catalog,
    served,
    show: ({ name, tools }) => catalog.replace(name, selectTools(preset, name, tools)),
    hide: (server) => catalog.replace(server, []),
  }
}

function describeServer({ config, snapshot, name }: GatewayServer): string {
  return config.description ?? snapshot?.server.title ?? name
}
