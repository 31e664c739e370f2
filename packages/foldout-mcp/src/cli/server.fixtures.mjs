// An MCP server over stdio in a few lines, for tests: `node server.fixtures.mjs '{"tools": […]}'`.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const { tools = [], pids, isStubborn = false, isMute = false, says } = JSON.parse(process.argv[2] ?? '{}')
if (says) process.stderr.write(`${says}\n`)
if (pids) {
  // A separate process, like a server behind `npx`.
  const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'], {
    stdio: 'ignore',
  })
  writeFileSync(pids, `${process.pid} ${child.pid}`)
}
if (isStubborn) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
  setInterval(() => {}, 1000)
}

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'fixture', version: '1' },
  }),
  'tools/list': () => ({
    tools: tools.map((tool) => ({ inputSchema: { type: 'object' }, ...tool })),
    _meta: { environment: process.env.FIXTURE, folder: process.cwd() },
  }),
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined || isMute) continue
  const answer = Object.hasOwn(answers, method)
    ? { result: answers[method](params) }
    : { error: { code: -32601, message: `There is no method ${method}.` } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
}
