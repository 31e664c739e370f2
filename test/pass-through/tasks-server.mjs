// A server that runs tools as tasks: `node tasks-server.mjs legacy|modern`.
import { createInterface } from 'node:readline'

const TASKS = 'io.modelcontextprotocol/tasks'
const RELATED = 'io.modelcontextprotocol/related-task'
const [era = 'legacy'] = process.argv.slice(2)
const say = (text) => ({ content: [{ type: 'text', text }] })
const question = {
  method: 'elicitation/create',
  params: { message: 'Which color?', requestedSchema: { type: 'object', properties: { color: { type: 'string' } } } },
}
const support = {
  slow: 'optional',
  large: 'optional',
  must: 'required',
  ask: 'required',
  endless: 'optional',
  fail: 'optional',
}
const tools = [...Object.keys(support), 'plain'].map((name) => ({
  name,
  description: `Runs ${name}.`,
  inputSchema: { type: 'object', properties: {} },
  ...(era === 'legacy' && name in support ? { execution: { taskSupport: support[name] } } : {}),
}))

/** The tasks of all clients. */
const tasks = new Map()
const DONE = new Set(['completed', 'failed', 'cancelled'])
const finish = (task, status, more = {}) => {
  if (!DONE.has(task.state.status)) Object.assign(task.state, { status }, more.state)
  task.result = more.result
  task.resolve()
}

function start(name, ttl, fields, report) {
  const taskId = `task-${tasks.size + 1}`
  const now = new Date().toISOString()
  const task = { state: { taskId, status: 'working', createdAt: now, lastUpdatedAt: now, ...fields(ttl) } }
  task.done = new Promise((resolve) => (task.resolve = resolve))
  tasks.set(taskId, task)
  if (name === 'ask') task.state.status = 'input_required'
  if (name === 'large') setTimeout(() => finish(task, 'completed', { result: say('x'.repeat(100_000)) }), 20)
  if (name === 'fail') setTimeout(() => finish(task, 'failed', { state: { statusMessage: 'No luck.' } }), 60)
  if (name === 'slow' || name === 'must') {
    for (const progress of [1, 2, 3]) setTimeout(() => report?.(taskId, progress), progress * 10)
    setTimeout(() => finish(task, 'completed', { result: { ...say(`${name} is done.`), _meta: { kept: 1 } } }), 60)
  }
  return task
}

if (era === 'legacy') serveLegacy()
else await serveModern()

function serveLegacy() {
  const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const waiting = new Map()
  const refuse = (code, message) => Object.assign(new Error(message), { code })
  const get = ({ taskId }) => tasks.get(taskId) ?? fault(refuse(-32_602, `There is no task ${taskId}.`))
  const fault = (error) => {
    throw error
  }
  const ask = (taskId) =>
    new Promise((resolve) => {
      waiting.set(`ask-${taskId}`, resolve)
      send({ id: `ask-${taskId}`, ...question, params: { ...question.params, _meta: { [RELATED]: { taskId } } } })
    })
  const answers = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
      serverInfo: { name: 'tasks', version: '1' },
    }),
    'tools/list': () => ({ tools }),
    'tools/call'({ name, task: wanted, _meta: { progressToken } = {} }) {
      if (!wanted && support[name] === 'required') throw refuse(-32_601, 'This tool runs as a task only.')
      if (!wanted || !(name in support)) return say(`${name} without a task.`)
      const report = (taskId, progress) => {
        const params = { progressToken, progress, total: 3, _meta: { [RELATED]: { taskId } } }
        if (progressToken !== undefined) send({ method: 'notifications/progress', params })
      }
      const task = start(name, wanted.ttl, (ttl) => ({ ttl: ttl ?? null, pollInterval: 20 }), report)
      const { state } = task
      void task.done.then(() => send({ method: 'notifications/tasks/status', params: state }))
      return { task: { ...state } }
    },
    'tasks/get': (params) => get(params).state,
    'tasks/list': () => ({ tasks: Array.from(tasks.values(), ({ state }) => state) }),
    'tasks/cancel'(params) {
      const task = get(params)
      finish(task, 'cancelled')
      return task.state
    },
    async 'tasks/result'(params) {
      const task = get(params)
      if (task.state.status === 'input_required') {
        const { result, error } = await ask(params.taskId)
        finish(task, 'completed', { result: say(error ? error.message : `The color is ${result.content?.color}.`) })
      }
      await task.done
      if (!task.result) throw refuse(-32_603, task.state.statusMessage ?? `It was ${task.state.status}.`)
      const { _meta: meta, ...result } = task.result
      return { ...result, _meta: { ...meta, [RELATED]: { taskId: params.taskId } } }
    },
  }
  const answer = async (method, params) => answers[method]?.(params) ?? fault(refuse(-32_601, 'Method not found'))
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params = {}, ...rest } = JSON.parse(line)
    if (method === undefined) return waiting.get(id)?.(rest)
    if (id === undefined) return undefined
    return answer(method, params).then(
      (result) => send({ id, result }),
      ({ code, message }) => send({ id, error: { code, message } }),
    )
  })
}

async function serveModern() {
  const { Server, ProtocolError } = await import('@modelcontextprotocol/server')
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
  const anything = { params: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } } }
  const get = ({ taskId }) => {
    const task = tasks.get(taskId)
    if (!task) throw new ProtocolError(-32_602, `There is no task ${taskId}.`)
    return task
  }
  serveStdio(
    () => {
      const server = new Server(
        { name: 'tasks', version: '1' },
        { capabilities: { tools: {}, extensions: { [TASKS]: {} } } },
      )
      server.setRequestHandler('tools/list', () => ({ tools }))
      server.fallbackRequestHandler = async ({ method, params }, { mcpReq }) => {
        if (method !== 'tools/call') throw new ProtocolError(-32_601, 'Method not found')
        const capabilities = mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {}
        const canWait = TASKS in (capabilities.extensions ?? {})
        if (!canWait && support[params.name] === 'required')
          throw new ProtocolError(-32_021, 'Missing required client capability', {
            requiredCapabilities: { extensions: { [TASKS]: {} } },
          })
        if (!canWait || params.name === 'plain') return say(`${String(params.name)} without a task.`)
        const { state } = start(params.name, undefined, () => ({ ttlMs: null, pollIntervalMs: 20 }))
        return { resultType: 'task', ...state }
      }
      server.setRequestHandler('tasks/get', anything, (params) => {
        const { state, result } = get(params)
        const { status } = state
        if (status === 'completed') return { ...state, result }
        if (status === 'failed') return { ...state, error: { code: -32_603, message: 'No luck.' } }
        return status === 'input_required' ? { ...state, inputRequests: { color: question } } : { ...state }
      })
      server.setRequestHandler('tasks/cancel', anything, (params) => {
        finish(get(params), 'cancelled')
        return {}
      })
      server.setRequestHandler('tasks/update', anything, (params, { mcpReq }) => {
        const { color } = mcpReq.inputResponses ?? {}
        finish(get(params), 'completed', { result: say(`The color is ${color?.content?.color}.`) })
        return {}
      })
      return server
    },
    { legacy: 'reject' },
  )
}
