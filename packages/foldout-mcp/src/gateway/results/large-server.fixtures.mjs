// A server with large results: `node large-server.fixtures.mjs`.
import { createInterface } from 'node:readline'

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const rows = (count) => Array.from({ length: count }, (_, i) => ({ id: i + 1, name: `Row ${i + 1}` }))
const schema = { type: 'object', properties: { rows: { type: 'array' } }, required: ['rows'] }

const tools = {
  rows: ({ count = 2_000 }) => ({ content: [{ type: 'text', text: JSON.stringify(rows(count)) }] }),
  text: ({ length }) => ({ content: [{ type: 'text', text: 'x'.repeat(length) }] }),
  checked: ({ count = 2_000 }) => ({
    content: [{ type: 'text', text: JSON.stringify({ rows: rows(count) }) }],
    structuredContent: { rows: rows(count) },
  }),
  list: () => ({ content: [{ type: 'text', text: JSON.stringify(rows(2_000)) }], structuredContent: rows(2_000) }),
}
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'large', version: '1' },
  }),
  'tools/list': () => ({
    tools: Object.keys(tools).map((name) => ({
      name,
      description: `Gives ${name}.`,
      inputSchema: { type: 'object', properties: { count: { type: 'integer' }, length: { type: 'integer' } } },
      ...(name === 'checked' ? { outputSchema: schema } : {}),
      ...(name === 'list' ? { outputSchema: { type: 'array' } } : {}),
    })),
  }),
  'tools/call': ({ name, arguments: args }) => tools[name](args),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line)
  if (id === undefined) continue
  const result = answers[method]?.(params)
  send(result ? { id, result } : { id, error: { code: -32_601, message: 'Method not found' } })
}
