// Combines two MCP servers that both have a tool `search`: the client sees three tools, and can use all tools of both servers.
import assert from 'node:assert/strict'
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { McpServer } from '@modelcontextprotocol/server'
import { createCatalog, hybrid } from 'foldout/catalog'
import { serveMcp, toolsFromMcp } from 'foldout/mcp'
import * as z from 'zod'

const wiki = new McpServer({ name: 'wiki', version: '1.0.0' })
const shop = new McpServer({ name: 'shop', version: '1.0.0' })
register(wiki, 'search', 'Search the pages of the wiki.', ({ query }) => `wiki: 3 pages on ${query}`)
register(wiki, 'delete_page', 'Delete a page of the wiki.', ({ query }) => `wiki: ${query} is gone`)
register(shop, 'search', 'Search the products of the shop.', ({ query }) => `shop: 12 products for ${query}`)

const catalog = createCatalog([])
for (const [name, server] of Object.entries({ wiki, shop })) {
  const upstream = await connectTo((transport) => server.connect(transport))
  // A server's tools may change while it is connected.
  catalog.add(await toolsFromMcp(upstream, { server: name, onChange: (tools) => catalog.replace(name, tools) }))
}
console.log('━━ The catalog ━━\n')
for (const { name, qualified, declared } of catalog.tools)
  console.log(`${name.padEnd(14)} ${qualified.padEnd(18)} sent upstream as ${declared}`)

const served = serveMcp(catalog, { name: 'all-in-one', version: '1.0.0', expose: hybrid({ core: ['delete_page'] }) })
const client = await connectTo((transport) => served.connect(transport))
const { tools } = await client.listTools()
console.log(`\n━━ What a client sees ━━\n\n${tools.map(({ name }) => name).join(', ')}\n`)
assert.deepEqual(
  tools.map(({ name }) => name),
  ['delete_page', 'search_tools', 'use_tool'],
)

const found = await call('search_tools', { query: 'look for a product', limit: 1 })
const name = /^(\w+)\(/m.exec(found)![1]!
assert.equal(await call('use_tool', { name, arguments: { query: 'lamps' } }), 'shop: 12 products for lamps')
assert.equal(await call('use_tool', { name: 'wiki/search', arguments: { query: 'lamps' } }), 'wiki: 3 pages on lamps')
// An ambiguous name is refused, not guessed.
assert.match(await call('use_tool', { name: 'search', arguments: { query: 'lamps' } }), /^More than one tool/)
assert.equal(await call('delete_page', { query: 'Home' }), 'wiki: Home is gone')

const changed = new Promise<void>((resolve) => {
  catalog.subscribe(({ type }) => type === 'catalog/changed' && resolve())
})
register(shop, 'refund', 'Give a customer the money back.', ({ query }) => `shop: ${query} is refunded`)
await changed
assert.match(await call('search_tools', { query: 'pay back a customer', limit: 1 }), /^refund\(/)

await served.close()
await Promise.all([wiki.close(), shop.close()])

function register(
  server: McpServer,
  tool: string,
  description: string,
  run: (args: { query: string }) => string,
): void {
  server.registerTool(tool, { description, inputSchema: z.object({ query: z.string() }) }, (args) => ({
    content: [{ type: 'text', text: run(args) }],
  }))
}

async function connectTo(serve: (transport: InMemoryTransport) => Promise<unknown>): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await serve(theirs)
  const connected = new Client({ name: 'example', version: '1.0.0' })
  await connected.connect(ours)
  return connected
}

async function call(tool: string, args: Readonly<Record<string, unknown>>): Promise<string> {
  const { content } = await client.callTool({ name: tool, arguments: args })
  const text = content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n')
  console.log(`→ ${tool} ${JSON.stringify(args)}\n  ${text}`)
  return text
}
