// A legacy server that asks its client: for folders, which it keeps, and for whatever a call or an argument tells it to.
// `node asking-server.fixtures.mjs [a question to ask as soon as it is connected]`
// It writes the answers into the file ANSWERS, because a call that asks for them would run while it asks.
import { renameSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const TOOLS = [
  'folders',
  'ask',
  'ask_later',
  'ask_at_once',
  'crash',
  'report',
  'reason',
  'fail',
  'hold',
  'let_go',
  'log',
  'log_later',
  'pid',
]
const inputSchema = { type: 'object' }
const waiting = new Map()
let count = 0
let folders = []
const answers = []
let reason = 'none'
const held = []

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const toText = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] })

function ask(method, params = {}) {
  const id = `question-${++count}`
  send({ id, method, params })
  return new Promise((resolve) => waiting.set(id, resolve))
}

async function askForFolders() {
  const { result } = await ask('roots/list')
  // A real server checks that they exist.
  await new Promise((resolve) => setTimeout(resolve, 10))
  if (result) folders = result.roots.map(({ uri }) => uri)
}

async function askInBackground({ method, params, withdrawMs }) {
  const asked = ask(method, params)
  if (withdrawMs !== undefined) {
    const requestId = `question-${count}`
    setTimeout(() => send({ method: 'notifications/cancelled', params: { requestId } }), withdrawMs)
  }
  const { result, error } = await asked
  answers.push(result ?? error)
  const file = process.env.ANSWERS
  if (file === undefined) return
  writeFileSync(`${file}.new`, JSON.stringify(answers))
  renameSync(`${file}.new`, file)
}

async function call({ name, arguments: args, _meta }, id) {
  if (name === 'folders') return toText(folders)
  if (name === 'ask') {
    const { result, error } = await ask(args.method, args.params)
    return toText(result ?? error)
  }
  if (name === 'ask_later') {
    const { times = 1, ...question } = args
    setTimeout(() => {
      for (let asked = 0; asked < times; asked++) void askInBackground(question)
    }, 50)
    return toText('soon')
  }
  if (name === 'pid') return toText(process.pid)
  if (name === 'crash') process.exit(1)
  if (name === 'report') {
    const { progressToken } = _meta
    send({ method: 'notifications/progress', params: { progressToken, progress: 1, _meta: { note: 'first' } } })
    return toText('reported')
  }
  // Goes on when it is cancelled, as servers may.
  if (name === 'hold') return new Promise((resolve) => held.push(() => resolve(toText('held'))))
  if (name === 'let_go') return toText(held.splice(0).map((letGo) => letGo()).length)
  if (name === 'log') {
    send({ method: 'notifications/message', params: { level: 'error', data: args.data } })
    return toText('logged')
  }
  if (name === 'log_later') {
    setTimeout(() => send({ method: 'notifications/message', params: { level: 'error', data: args.data } }), 50)
    return toText('soon')
  }
  if (name === 'reason') {
    if (args.isAsked) return toText(reason)
    waiting.set(`call ${id}`, undefined)
    return new Promise(() => {})
  }
  return { content: [{ type: 'text', text: 'x'.repeat(args.characters) }], isError: true }
}

async function getResult({ id, method, params }) {
  const capabilities = { tools: {}, logging: {}, resources: { subscribe: true } }
  const { protocolVersion } = params ?? {}
  if (method === 'initialize') return { protocolVersion, capabilities, serverInfo: { name: 'asking', version: '1' } }
  if (method === 'tools/list') return { tools: TOOLS.map((name) => ({ name, description: name, inputSchema })) }
  if (method === 'resources/list') return { resources: [{ uri: 'note://a', name: 'a' }] }
  if (method === 'resources/templates/list') return { resourceTemplates: [] }
  return method === 'tools/call' ? call(params, id) : {}
}

async function answerRequest(request) {
  const { id, method, params } = request
  if (params?.name === 'ask_at_once') {
    // The answer and the question arrive together.
    process.stdout.cork()
    send({ id, result: toText('asking') })
    void askInBackground(params.arguments)
    return process.stdout.uncork()
  }
  send({ id, result: await getResult(request) })
  if (method === 'resources/subscribe') send({ method: 'notifications/resources/updated', params: { uri: params.uri } })
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  const { id, method, params } = message
  if (method === undefined) waiting.get(id)?.(message)
  else if (id !== undefined) void answerRequest(message)
  else if (method === 'notifications/cancelled') reason = params.reason
  else if (['notifications/initialized', 'notifications/roots/list_changed'].includes(method)) void askForFolders()
  if (method === 'notifications/initialized' && process.argv[2]) void askInBackground(JSON.parse(process.argv[2]))
})
