// An MCP server over stdio in a few lines, for tests: `node server.fixtures.mjs '{"tools": […]}'`.
import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, closeSync, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const given = JSON.parse(process.argv[2] ?? '{}')
// Options in a file may change while the command stays the same.
const options = given.file ? JSON.parse(readFileSync(given.file, 'utf8')) : given
const { tools = [], pids, starts, isStubborn = false, isMute = false, says, crashes = false, cancels } = options
for (let i = 0; i < (options.many ?? 0); i++) tools.push({ name: `tool_${i}`, description: `Does thing ${i}.` })
if (says) process.stderr.write(`${says}\n`)
// One line per start.
if (starts) appendFileSync(starts, `${process.pid}\n`)
if (crashes) process.exit(3)
if (pids) {
  // A separate process, like a server behind `npx`.
  const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'], {
    stdio: 'ignore',
    detached: options.isDetached === true,
  })
  writeFileSync(pids, `${process.pid} ${child.pid}`)
}
if (options.daemon) {
  // A process whose parent has ended, in a group and session of its own.
  const start = `const { pid } = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
    stdio: 'ignore', detached: true })
  require('node:fs').writeFileSync(process.argv[1], String(pid))
  process.exit()`
  spawnSync(process.execPath, ['-e', start, options.daemon])
}
if (isStubborn) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
  setInterval(() => {}, 1000)
}

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (value) => ({ content: [{ type: 'text', text: value }] })

/** What a tool does when it is called, by its field `does`. */
const actions = {
  echo: (args) => text(JSON.stringify({ args, pid: process.pid, env: process.env.FIXTURE, cwd: process.cwd() })),
  /** Answers with the arguments as the result. */
  answer: (result) => result,
  crash: () => process.exit(1),
  /** Ends, while a process that it has started keeps its input and output open. */
  orphan({ pids: file }) {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })
    writeFileSync(file, String(child.pid))
    process.exit(1)
  },
  /** Keeps running, and can no longer answer. */
  close() {
    closeSync(1)
    setInterval(() => {}, 1000)
  },
  /** Leaves a trace outside the process. */
  effect(args) {
    appendFileSync(options.effects, `${JSON.stringify(args)}\n`)
    return text('done')
  },
  hang: () => undefined,
  garbage() {
    process.stdout.write('Not a message\n{"half": \n\n[1, 2]\n')
    return text('after garbage')
  },
  big: ({ bytes }) => text('x'.repeat(bytes)),
  flood({ bytes }) {
    const line = `${'Not a message. '.repeat(100)}\n`
    for (let written = 0; written < bytes; written += line.length) {
      process.stdout.write(line)
      process.stderr.write(line)
    }
    return text('after the flood')
  },
  /** Answers in a list, as version 2025-03-26 of the protocol allows, next to what is not a message. */
  batch(_, id) {
    const note = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'in a list' } }
    const answer = { jsonrpc: '2.0', id, result: text('in a list') }
    process.stdout.write(`${JSON.stringify([note, 5, null, { half: true }, answer])}\n`)
  },
  stir() {
    for (let i = 0; i < 5; i++) send({ method: 'notifications/tools/list_changed' })
    return text('stirred')
  },
  grow() {
    tools.push({ name: `grown_${tools.length}`, description: 'A tool that came later.' })
    send({ method: 'notifications/tools/list_changed' })
    return text('grown')
  },
}

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'fixture', version: '1' },
  }),
  'tools/list': () => ({
    tools: tools.map((tool) => ({ inputSchema: { type: 'object' }, ...tool, does: undefined })),
    _meta: { environment: process.env.FIXTURE, folder: process.cwd() },
  }),
  'tools/call': ({ name, arguments: args }, id) =>
    actions[tools.find((tool) => tool.name === name)?.does ?? 'echo'](args, id),
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (cancels && method === 'notifications/cancelled') appendFileSync(cancels, 'cancelled\n')
  if (id === undefined || isMute) continue
  if (!Object.hasOwn(answers, method)) {
    send({ id, error: { code: -32601, message: `There is no method ${method}.` } })
    continue
  }
  const result = answers[method](params, id)
  if (result !== undefined) send({ id, result })
}
