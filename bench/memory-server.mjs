// The server for the memory and gateway benches, in its own process and in plain JavaScript, so that only the server is in
// memory. Tool names may get a prefix, so that several such servers have different ones.
import { createServer } from 'node:http'

const TOOLS = 36
const [, , kind, transport, prefix = ''] = process.argv

process.on('message', () => {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  process.send({ rss, heapUsed, heapTotal, external, cpuMs: (user + system) / 1_000 })
})

const inputSchema = {
  type: 'object',
  properties: { text: { type: 'string', description: 'What to say.' }, times: { type: 'integer', minimum: 1 } },
  required: ['text'],
}
const tools = Array.from({ length: TOOLS }, (_, i) => ({
  name: `${prefix}tool_${i}`,
  description: `Says what it is given, in the voice of number ${i}.`,
}))
const answer = ({ text }) => ({ content: [{ type: 'text', text: `It says: ${text}` }] })
const identity = { name: 'bench', version: '1.0.0' }

const servers = { floor: serveFloor, sdk: serveSdk, foldout: serveFoldout }
await servers[kind]()

/** The baseline: no protocol at all. */
async function serveFloor() {
  const reply = (body) => JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, result: answer({ text: 'floor' }) })
  if (transport === 'stdio') {
    const { createInterface } = await import('node:readline')
    createInterface({ input: process.stdin }).on('line', (line) => void process.stdout.write(`${reply(line)}\n`))
    process.send?.({ ready: true })
    return
  }
  listen(async (request, response) => {
    const body = reply(await readBody(request))
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'floor' }).end(body)
  })
}

/** The official SDK as its documentation uses it, with a session per client over HTTP. */
async function serveSdk() {
  const sdk = await import('@modelcontextprotocol/server')
  const create = () => {
    const server = new sdk.McpServer(identity)
    for (const { name, description } of tools)
      server.registerTool(name, { description, inputSchema: sdk.fromJsonSchema(inputSchema) }, async (args) =>
        answer(args),
      )
    return server
  }
  if (transport === 'stdio') {
    const { StdioServerTransport } = await import('@modelcontextprotocol/server/stdio')
    await create().connect(new StdioServerTransport())
    process.send?.({ ready: true })
    return
  }
  const sessions = new Map()
  listen(async (request, response) => {
    let session = sessions.get(request.headers['mcp-session-id'])
    if (!session) {
      session = new sdk.WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: (id) => void sessions.set(id, session),
      })
      await create().connect(session)
    }
    const { method, headers, url } = request
    const web = new Request(`http://127.0.0.1${url}`, { method, headers, body: await readBody(request) })
    const answered = await session.handleRequest(web)
    response.writeHead(answered.status, Object.fromEntries(answered.headers))
    response.end(Buffer.from(await answered.arrayBuffer()))
  })
}

async function serveFoldout() {
  const { all, createCatalog } = await import('foldout/catalog')
  const { serveMcp } = await import('foldout/mcp')
  const catalog = createCatalog(
    tools.map((tool) => ({ ...tool, inputSchema, call: async (args) => answer(args) })),
    process.env.EMBED ? { embed: false } : {},
  )
  const served = serveMcp(catalog, { ...identity, expose: all() })
  if (transport === 'stdio') {
    await served.stdio()
    process.send?.({ ready: true })
  } else {
    const { url } = await served.http()
    process.send?.({ ready: true, url })
  }
}

function listen(handle) {
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, '127.0.0.1', () =>
    process.send?.({ ready: true, url: `http://127.0.0.1:${server.address().port}/mcp` }),
  )
}

async function readBody(request) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
