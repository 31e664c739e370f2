import { createCatalog } from '../../../catalog/live/catalog.ts'
import { all } from '../../../catalog/exposures/all.ts'
import { serveMcp } from '../serve-mcp.ts'

// A server in its own process, so clients do not compete with it for one event loop.
const catalog = createCatalog([
  {
    name: 'echo',
    description: 'Says the same again.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    call: async ({ text }) => ({ content: [{ type: 'text', text: String(text) }] }),
  },
])
const { url } = await serveMcp(catalog, { name: 'load', version: '1.0.0', expose: all() }).http()
process.send?.({ url })
