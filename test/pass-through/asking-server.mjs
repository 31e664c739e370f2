// A legacy server that asks a lot and tells a lot: `node asking-server.mjs`.
import { createInterface } from 'node:readline'

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const say = (text) => ({ content: [{ type: 'text', text }] })
let asked = 0
const waiting = new Map()
const ask = () =>
  new Promise((resolve) => {
    const id = `ask-${++asked}`
    waiting.set(id, resolve)
    const requestedSchema = { type: 'object', properties: { color: { type: 'string' } } }
    send({ id, method: 'elicitation/create', params: { message: 'Which color?', requestedSchema } })
  })

const tools = {
  echo: () => say('echo'),
  async ask_color() {
    const { result, error } = await ask()
    return say(error ? `Nobody answered: ${error.message}` : `The color is ${result?.content?.color}.`)
  },
  async ask_often() {
    for (let i = 0; i < 100; i++) await ask()
    return say('Asked 100 times.')
  },
  flood() {
    for (let i = 0; i < 5_000; i++) {
      send({ method: 'notifications/message', params: { level: 'emergency', data: `flood ${i}` } })
      send({ method: 'notifications/resources/updated', params: { uri: '__proto__' } })
      send({ method: 'notifications/resources/list_changed' })
    }
    return say('Flooded.')
  },
}
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: { subscribe: true, listChanged: true }, logging: {} },
    serverInfo: { name: 'asking', version: '1' },
  }),
  'tools/list': () => ({
    tools: Object.keys(tools).map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
  }),
  'tools/call': ({ name }) => tools[name](),
  'resources/list': () => ({ resources: ['__proto__', 'constructor'].map((uri) => ({ uri, name: uri })) }),
  'resources/templates/list': () => ({
    resourceTemplates: [{ uriTemplate: `x://${'{a}'.repeat(1_000)}${'a{b}'.repeat(1_000)}!`, name: 'long' }],
  }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, text: uri.slice(0, 20) }] }),
  'resources/subscribe': () => ({}),
  'resources/unsubscribe': () => ({}),
  'logging/setLevel': () => ({}),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {}, ...answer } = JSON.parse(line)
  if (method === undefined) waiting.get(id)?.(answer)
  else if (id !== undefined)
    void Promise.resolve(answers[method]?.(params)).then((result) =>
      send(result ? { id, result } : { id, error: { code: -32_601, message: 'Method not found' } }),
    )
}
