// An MCP server over stdio with fifty tools, one of which reports progress and asks the user something.
import { createInterface } from 'node:readline'

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (value) => ({ content: [{ type: 'text', text: value }] })
const waiting = new Map()
let asked = 0
const ask = (method, params) =>
  new Promise((resolve) => {
    const id = `ask-${++asked}`
    waiting.set(id, resolve)
    send({ id, method, params })
  })

const lamps = Array.from({ length: 50 }, (_, i) => `switch_lamp_${i}`)
const tools = [
  { name: 'choose_color', description: 'Lets the user choose a color for the lamps.' },
  ...lamps.map((name) => ({ name, description: `Switches the lamp of room ${name.slice(12)}.` })),
].map((tool) => ({ ...tool, inputSchema: { type: 'object' } }))

async function call({ name, _meta = {} }) {
  if (name !== 'choose_color') return text(`${name} is on`)
  const { progressToken } = _meta
  const report = (progress) =>
    progressToken !== undefined &&
    send({ method: 'notifications/progress', params: { progressToken, progress, total: 2 } })
  report(1)
  const requestedSchema = { type: 'object', properties: { color: { type: 'string' } } }
  const { result, error } = await ask('elicitation/create', { message: 'Which color?', requestedSchema })
  report(2)
  return text(error ? `Nobody answered: ${error.message}` : `The color is ${result.content?.color}.`)
}

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'lamps', version: '1' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': call,
}
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  const { id, method, params = {} } = message
  if (method === undefined) waiting.get(id)?.(message)
  else if (id !== undefined) {
    const answer = answers[method]
    if (!answer) send({ id, error: { code: -32601, message: method } })
    else void Promise.resolve(answer(params)).then((result) => send({ id, result }))
  }
}
