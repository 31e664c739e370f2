// An MCP server over stdio in a few lines, for tests: `node server.fixtures.mjs '{"tools": […]}'`.
import { spawn } from 'node:child_process'
import { appendFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const options = JSON.parse(process.argv[2] ?? '{}')
const { tools = [], pids, starts, isStubborn = false, isMute = false, says, crashes = false } = options
if (says) process.stderr.write(`${says}\n`)
// One line for each start.
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
if (isStubborn) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
  setInterval(() => {}, 1000)
}

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (value) => ({ content: [{ type: 'text', text: value }] })

/** What a tool does when it is called, by its field `does`. */
const actions = {
  echo: (args) => text(JSON.stringify({ args, pid: process.pid, env: process.env.FIXTURE, cwd: process.cwd() })),
  crash: () => process.exit(1),
  hang: () => undefined,
  garbage() {
    process.stdout.write('Not a message\n{"half": \n\n[1, 2]\n')
    return text('after garbage')
  },
  big: ({ bytes }) => text('x'.repeat(bytes)),
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
  'tools/call': ({ name, arguments: args }) => actions[tools.find((tool) => tool.name === name)?.does ?? 'echo'](args),
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined || isMute) continue
  if (!Object.hasOwn(answers, method)) {
    send({ id, error: { code: -32601, message: `There is no method ${method}.` } })
    continue
  }
  const result = answers[method](params)
  if (result !== undefined) send({ id, result })
}
