// Ratel has no published command; this follows its documentation.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const { resolve } = createRequire(new URL('../peers/package.json', import.meta.url))
const load = (name) => import(pathToFileURL(resolve(name)).href)
const [{ buildGatewayFromConfig, createMcpServer, parseConfig }, { StdioServerTransport }] = await Promise.all([
  import(new URL('../peers/node_modules/@ratel-ai/mcp-server/dist/index.js', import.meta.url).href),
  load('@modelcontextprotocol/sdk/server/stdio.js'),
])
const config = parseConfig(JSON.parse(readFileSync(process.argv[2], 'utf8')))
const { catalog, upstreamServers } = await buildGatewayFromConfig(config)
await createMcpServer(catalog, {
  name: 'ratel',
  version: '1.0.0',
  transport: new StdioServerTransport(),
  upstreamServers,
})
process.stdin.on('end', () => process.exit())
