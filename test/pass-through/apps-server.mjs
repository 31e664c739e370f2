// A server whose tools have UI pages (MCP Apps): `node apps-server.mjs <name>`.
import { createInterface } from 'node:readline'

const [name = 'apps'] = process.argv.slice(2)
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
let canShow = false
const tools = [
  { name: `${name}_chart`, _meta: { ui: { resourceUri: 'ui://charts/chart.html', visibility: ['model', 'app'] } } },
  { name: `${name}_map`, _meta: { 'ui/resourceUri': `ui://${name}/map.html` } },
  { name: `${name}_refresh`, _meta: { ui: { visibility: ['app'] } } },
  { name: `${name}_plain` },
]
const answers = {
  initialize({ protocolVersion, capabilities }) {
    canShow = capabilities.extensions?.['io.modelcontextprotocol/ui'] !== undefined
    return { protocolVersion, capabilities: { tools: {}, resources: {} }, serverInfo: { name, version: '1' } }
  },
  'tools/list': () => ({
    tools: tools.map((tool) => ({ description: tool.name, inputSchema: { type: 'object' }, ...tool })),
  }),
  'tools/call': (params) => ({
    content: [{ type: 'text', text: `${params.name} ${canShow}` }],
    structuredContent: { points: [1, 2, 3] },
    _meta: { from: name },
  }),
  'resources/list': () => ({ resources: [] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': ({ uri }) => ({
    contents: [
      { uri, mimeType: 'text/html;profile=mcp-app', text: `<p>${name}</p>`, _meta: { ui: { prefersBorder: true } } },
    ],
  }),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line)
  if (id === undefined) continue
  const result = answers[method]?.(params)
  send(result ? { id, result } : { id, error: { code: -32_601, message: 'Method not found' } })
}
