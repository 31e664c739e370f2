// The home as an MCP server.
import { createCatalog, hybrid } from 'foldout/catalog'
import { serveMcp, type ServedMcp } from 'foldout/mcp'
import { createHome, type Home } from './home.ts'
import { coreTools, homeMetadata } from './metadata.ts'
import { homeTools } from './tools.ts'

interface HomeServerOptions {
  /** Lists all fourteen tools, for clients that expect them. Default: the core tools, and two tools to find and run the others. */
  readonly everything?: boolean
}

export interface HomeServer {
  readonly home: Home
  readonly served: ServedMcp
}

export function homeServer({ everything = false }: HomeServerOptions = {}): HomeServer {
  const home = createHome()
  const catalog = createCatalog(homeTools(home), { metadata: homeMetadata })
  const served = serveMcp(catalog, {
    name: 'home',
    title: 'Home',
    version: '1.0.0',
    expose: hybrid({ core: coreTools }),
    everything,
  })
  return { home, served }
}
