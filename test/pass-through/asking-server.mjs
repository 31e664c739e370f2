// A legacy server with many questions, notifications and items: `node asking-server.mjs [how many of everything]`.
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

const many = Number(process.argv[2] ?? 0)
const list = (entry) => Array.from({ length: many }, (_, i) => entry(i))

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

function needPage(elicitationId) {
  setTimeout(() => send({ method: 'notifications/elicitation/complete', params: { elicitationId } }), 50)
  const page = { mode: 'url', message: 'Go there.', url: 'https://example.com/', elicitationId }
  throw Object.assign(new Error('Sign in first.'), { code: -32_042, data: { elicitations: [page] } })
}

const tools = {
  pid: () => say(String(process.pid)),
  /** Takes longer than its timeout, and reports progress. */
  async steps(_, { progressToken }) {
    for (let progress = 1; progress <= 6; progress++) {
      await delay(150)
      send({ method: 'notifications/progress', params: { progressToken, progress, total: 6 } })
    }
    return say('All steps.')
  },
  silent: () => delay(60_000),
  /** Asks a question, and withdraws it before anyone has answered. */
  async take_back() {
    const answer = ask()
    const requestId = `ask-${asked}`
    await delay(150)
    send({ method: 'notifications/cancelled', params: { requestId, reason: 'Never mind.' } })
    return say((await Promise.race([answer, delay(100)])) ? 'Answered.' : 'Taken back.')
  },
  /** Sends the user to a page, and reports completion after the call. */
  async ask_page(_, { progressToken: _token, page = 'page-1' } = {}) {
    const id = `ask-${++asked}`
    const params = { mode: 'url', message: 'Go there.', url: 'https://example.com/', elicitationId: page }
    const answer = new Promise((resolve) => waiting.set(id, resolve))
    send({ id, method: 'elicitation/create', params })
    await answer
    setTimeout(() => send({ method: 'notifications/elicitation/complete', params: { elicitationId: page } }), 50)
    return say('Sent there.')
  },
  /** Refuses to run before the user has visited a page, and reports completion after the call. */
  need_page() {
    needPage('page-2')
  },
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
      send({ method: 'notifications/message', params: { level: 'alert', data: `flood ${i}` } })
      send({ method: 'notifications/resources/updated', params: { uri: '__proto__' } })
      send({ method: 'notifications/resources/list_changed' })
    }
    return say('Flooded.')
  },
}
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, prompts: {}, resources: { subscribe: true, listChanged: true }, logging: {} },
    serverInfo: { name: 'asking', version: '1' },
  }),
  'tools/list': () => ({
    tools: Object.keys(tools).map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
  }),
  'tools/call': ({ name, arguments: args, _meta: meta = {} }) => tools[name](args, meta),
  'prompts/list': () => ({
    prompts: [{ name: 'ask_color' }, { name: 'need_page' }, ...list((i) => ({ name: `prompt_${i}` }))],
  }),
  async 'prompts/get'({ name }) {
    if (name === 'need_page') needPage('page-3')
    const { content } = name === 'ask_color' ? await tools.ask_color() : say(name)
    return { messages: [{ role: 'user', content: content[0] }] }
  },
  'resources/list': () => ({
    resources: [
      ...['__proto__', 'constructor', 'ask://color'].map((uri) => ({ uri, name: uri })),
      ...list((i) => ({ uri: `many://${i}`, name: `Resource ${i}`, description: 'x'.repeat(400) })),
    ],
  }),
  'resources/templates/list': () => ({
    resourceTemplates: [
      ...list((i) => ({ uriTemplate: `many-${i}://{id}`, name: `Template ${i}` })),
      { uriTemplate: `x://${'{a}'.repeat(1_000)}${'a{b}'.repeat(1_000)}!`, name: 'long' },
    ],
  }),
  async 'resources/read'({ uri }) {
    const text = uri === 'ask://color' ? (await tools.ask_color()).content[0].text : uri.slice(0, 20)
    return { contents: [{ uri, text }] }
  },
  'resources/subscribe': () => ({}),
  'resources/unsubscribe': () => ({}),
  'logging/setLevel': () => ({}),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {}, ...answer } = JSON.parse(line)
  if (method === undefined) waiting.get(id)?.(answer)
  else if (id !== undefined)
    void Promise.resolve(params)
      .then(answers[method])
      .then(
        (result) => send(result ? { id, result } : { id, error: { code: -32_601, message: 'Method not found' } }),
        ({ code = -32_603, message, data }) => send({ id, error: { code, message, data } }),
      )
}
