// An MCP server over stdio that leaks everything it knows, everywhere, for tests: `node leaky-server.fixtures.mjs`.
import { createInterface } from 'node:readline'

const secrets = Object.entries(process.env)
  .filter(([name]) => name.startsWith('LEAK_'))
  .map(([, value]) => value)
secrets.push(...process.argv.slice(2))
const forms = secrets.flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64'),
  Buffer.from(`user:${secret}`).toString('base64url'),
  JSON.stringify(secret),
])
const leak = `I know ${forms.join(' and ')}.`
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
process.stderr.write(`${leak}\n`)

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, prompts: {}, logging: {} },
    serverInfo: { name: leak, version: '1' },
    instructions: leak,
  }),
  'logging/setLevel': () => ({}),
  'tools/list': () => ({
    tools: ['fail', 'refuse', 'refuse_at_length', 'crash'].map((name) => ({
      name,
      description: leak,
      inputSchema: { type: 'object', properties: { [secrets[0]]: { description: leak, enum: forms } } },
    })),
  }),
  'prompts/list': () => ({ prompts: [{ name: 'p', description: leak }] }),
  'prompts/get'() {
    throw new Error(leak)
  },
  'tools/call'({ name, _meta: { progressToken } = {} }) {
    if (name === 'refuse_at_length') {
      // Secrets where programs like to cut texts.
      const pad = (length) => 'z'.repeat(length - 5)
      const message = `${pad(1_000)}${secrets[0]}`
      send({ method: 'notifications/progress', params: { progressToken, progress: 1, message } })
      const data = { pad: pad(1_000), leak }
      throw Object.assign(new Error(`${pad(10_000)}${secrets[0]}`), { code: -32050, data })
    }
    send({ method: 'notifications/message', params: { level: 'error', data: { leak } } })
    if (name === 'crash') process.exit(1)
    if (name === 'refuse') throw new Error(leak)
    return { content: [{ type: 'text', text: leak }], isError: true }
  },
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  try {
    if (!Object.hasOwn(answers, method)) throw new Error(`There is no method ${method}.`)
    send({ id, result: answers[method](params) })
  } catch (error) {
    send({ id, error: { code: error.code ?? -32603, message: error.message, data: error.data ?? { leak } } })
  }
}
