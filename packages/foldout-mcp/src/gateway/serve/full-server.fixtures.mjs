// A legacy MCP server over stdio with every feature besides tools, for tests: `node full-server.fixtures.mjs [name] [instructions]`.
import { createInterface } from 'node:readline'

const [, , name = 'full', instructions] = process.argv
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (value) => ({ content: [{ type: 'text', text: value }] })
const prompts = [{ name: 'greet', arguments: [{ name: 'who', required: true }] }]

let asked = 0
const waiting = new Map()
const ask = (method, params) =>
  new Promise((resolve) => {
    const id = `ask-${++asked}`
    waiting.set(id, resolve)
    send({ id, method, params })
  })

const requestedSchema = { type: 'object', properties: { color: { type: 'string' } } }
let level = 'debug'
const levels = ['debug', 'info', 'error']
const tools = {
  log() {
    for (const one of levels.slice(levels.indexOf(level)))
      send({ method: 'notifications/message', params: { level: one, data: one } })
    return text('logged')
  },
  async ask_color() {
    const { result, error } = await ask('elicitation/create', { message: 'Which color?', requestedSchema })
    return text(error ? `Nobody answered: ${error.message}` : `The color is ${result.content.color}.`)
  },
  stir() {
    const params = { uri: 'test://static', title: 'Static', _meta: { by: 'stir' } }
    send({ method: 'notifications/resources/updated', params })
    send({ method: 'notifications/message', params: { level: 'info', data: 'stirred' } })
    prompts.push({ name: 'later' })
    send({ method: 'notifications/prompts/list_changed' })
    return text('stirred')
  },
  /** Announces other lists, though they are the same. */
  touch({ times = 1 }) {
    for (let i = 0; i < times; i++)
      for (const kind of ['resources', 'prompts']) send({ method: `notifications/${kind}/list_changed` })
    return text('touched')
  },
  update({ uri }) {
    send({ method: 'notifications/resources/updated', params: { uri } })
    return text('updated')
  },
  where: () => text(process.cwd()),
  link: () => ({
    content: [
      { type: 'resource_link', uri: 'test://static', name: 'static' },
      { type: 'resource', resource: { uri: 'test://item/7', text: 'seven' } },
      { type: 'resource_link', uri: `test://only/${name}`, name: 'only' },
    ],
  }),
}

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: {
      tools: {},
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {},
    },
    serverInfo: { name, version: '1' },
    instructions,
  }),
  'tools/list': () => ({
    tools: Object.keys(tools).map((tool) => ({
      name: tool,
      description: tool,
      inputSchema: { type: 'object' },
      ...(tool === 'where' ? { securitySchemes: [{ type: 'noauth' }] } : {}),
    })),
  }),
  'tools/call': (params) => tools[params.name](params.arguments),
  'resources/list': () => ({ resources: [{ uri: 'test://static', name: 'static' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'test://item/{id}', name: 'item' }] }),
  'resources/read'({ uri }) {
    const item = /^test:\/\/item\/(\d+)$/.exec(uri)
    if (item) return { contents: [{ uri, text: `item ${item[1]} of ${name}` }] }
    if (uri === `test://only/${name}`) return { contents: [{ uri, text: `only in ${name}` }] }
    if (uri === 'test://static/part') return { contents: [{ uri, text: `part of ${name}` }] }
    if (uri === 'test://static') return { contents: [{ uri, text: `static of ${name}` }] }
    throw Object.assign(new Error(`Resource not found: ${uri}`), { code: -32002, data: { uri, where: name } })
  },
  'resources/subscribe': () => ({}),
  'resources/unsubscribe': () => ({}),
  'prompts/list': () => ({ prompts }),
  'prompts/get': (params) => ({
    messages: [
      { role: 'user', content: { type: 'text', text: `Greet ${params.arguments.who}.` } },
      { role: 'user', content: { type: 'resource_link', uri: 'test://static', name: 'static' } },
    ],
  }),
  'completion/complete': () => ({ completion: { values: ['Ann', 'Alf'] } }),
  'logging/setLevel'(params) {
    level = params.level
    return {}
  },
}

const answer = async ({ id, method, params }) => {
  try {
    if (!Object.hasOwn(answers, method)) throw Object.assign(new Error(`No method ${method}`), { code: -32601 })
    send({ id, result: await answers[method](params ?? {}) })
  } catch (error) {
    send({ id, error: { code: error.code ?? -32603, message: error.message, data: error.data } })
  }
}
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  if (message.method === undefined) waiting.get(message.id)?.(message)
  else if (message.id !== undefined) void answer(message)
}
