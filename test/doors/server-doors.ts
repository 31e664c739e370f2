import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMemoryStore, definePrompt, defineSection } from 'foldout'
import { createCatalog } from 'foldout/catalog'
import { createSandbox } from 'foldout/code'
import { connectToMcp, createHttpTransport, serveMcp, toolsFromMcp, type McpClient } from 'foldout/mcp'
import { createOverrideStore } from 'foldout/node'
import { createTemporaryFolder } from '../temporary-folder.ts'
import { jsonDoor, textDoor, type AnyDoor } from './door.ts'

const answer = async () => ({ content: [{ type: 'text' as const, text: 'Done.' }] })
const served = serveMcp(createCatalog([{ name: 'ping', description: 'Answers.', call: answer }]), {
  name: 'doors',
  version: '1.0.0',
})

/** Sends a body as a client of MCP 2026-07-28 would. */
async function post(body: string): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'ping',
  }
  const response = await served.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }))
  await response.text()
}

const kept = serveMcp(createCatalog([{ name: 'ping', description: 'Answers.', call: answer }]), {
  name: 'doors',
  version: '1.0.0',
  sessions: { store: createMemoryStore(), keepMs: 0 },
})

/** Sends a body as a client whose session is kept in a store. Returns the session it started. */
async function postKept(message: object, session?: string): Promise<string | undefined> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  }
  const body = write({ jsonrpc: '2.0', ...message })
  const response = await kept.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }))
  await response.text()
  return response.headers.get('mcp-session-id') ?? undefined
}

function initialize(experimental: unknown): Promise<string | undefined> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: { experimental },
    clientInfo: { name: 'd', version: '1' },
  }
  return postKept({ id: 1, method: 'initialize', params })
}

/** An answer to a question from another machine, and a notification for another one. */
async function answerElsewhere(json: unknown): Promise<void> {
  // A new session each time, so that leftovers are not counted.
  const session = await initialize({})
  await postKept({ id: 'foldout:00000000-0000-4000-8000-000000000000:1', result: { json } }, session)
  await postKept({ method: 'notifications/cancelled', params: { requestId: 7, json } }, session)
}

function callPing(params: object): Promise<void> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'doors', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return post(write({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { _meta: meta, name: 'ping', ...params } }))
}

/** An upstream that answers everything with one result. */
function createUpstream(result: unknown): McpClient {
  return {
    transport: {},
    getServerVersion: () => ({ name: 'upstream' }),
    getServerCapabilities: () => ({ tools: {} }),
    request: async () => result,
  }
}

const prompt = definePrompt({
  ns: 'doors',
  key: 'p',
  sections: [defineSection({ key: 'a', title: 'A', template: 'x' })],
})
const root = createTemporaryFolder('foldout-doors-')
const store = createOverrideStore({ root })
mkdirSync(join(root, 'doors/p'), { recursive: true })

function readOverrides(text: string): unknown {
  writeFileSync(join(root, 'doors/p/stable.json'), text)
  return store.resolve(prompt, { tag: 'stable' })
}

async function callUpstream(result: unknown): Promise<void> {
  const list = { tools: [{ name: 'ping', inputSchema: { type: 'object' } }] }
  const client = createUpstream(list)
  const catalog = createCatalog(await toolsFromMcp(client))
  Object.assign(client, createUpstream(result))
  await catalog.call('ping', {})
}

/** Calls a tool of a server over HTTP that answers the call with a body. */
async function callOverHttp(type: string, body: string): Promise<void> {
  const send = async (_url: unknown, { body: sent }: RequestInit = {}): Promise<Response> => {
    const { id, method = '' } = JSON.parse(typeof sent === 'string' ? sent : '{}') as Record<string, unknown>
    const result = ANSWERS.get(String(method))
    if (method === 'tools/call') return new Response(body, { headers: { 'content-type': type } })
    if (id === undefined) return new Response(null, { status: 202 })
    if (!result) return new Response(null, { status: 405 })
    return Response.json({ jsonrpc: '2.0', id, result })
  }
  const transport = createHttpTransport(new URL('http://localhost/mcp'), { fetch: send })
  const session = await connectToMcp(transport, { name: 'doors', version: '1.0.0', era: 'legacy' })
  const catalog = createCatalog(await toolsFromMcp(session, { timeoutMs: 1_000 }))
  await catalog.call('ping', {})
  await session.close()
}

const ANSWERS: ReadonlyMap<string, object> = new Map([
  [
    'initialize',
    { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } },
  ],
  ['tools/list', { tools: [{ name: 'ping', inputSchema: { type: 'object' } }] }],
])

/** JavaScript cannot serialize very deeply nested values, so a client could not send them either. */
function write(json: unknown): string {
  try {
    return JSON.stringify(json) ?? 'null'
  } catch {
    return 'null'
  }
}

const sandbox = createSandbox()

export const serverDoors: readonly AnyDoor[] = [
  textDoor('MCP over HTTP, the body', post),
  jsonDoor('MCP over HTTP, a message', (json) => post(write(json))),
  jsonDoor('MCP over HTTP, params of a call', (params) => callPing(Object(params) as object)),
  jsonDoor('MCP over HTTP, arguments of a call', (args) => callPing({ arguments: args })),
  jsonDoor('MCP session in a store, what a client says of itself', initialize),
  // Small enough that no size makes the journal so long that it is rewritten as a snapshot, which would double the cost.
  jsonDoor('MCP session in a store, an answer for another machine', answerElsewhere, { size: 500 }),
  jsonDoor('MCP upstream, the list of tools', async (json) =>
    createCatalog(await toolsFromMcp(createUpstream({ tools: Array.isArray(json) ? json : [json] }))),
  ),
  jsonDoor('MCP upstream, a page', async (json) => createCatalog(await toolsFromMcp(createUpstream(json)))),
  jsonDoor('MCP upstream, a result', callUpstream),
  jsonDoor('MCP upstream, a content', (json) => callUpstream({ content: Array.isArray(json) ? json : [json] })),
  textDoor('MCP upstream, a text', (text) => callUpstream({ content: [{ type: 'text', text }], isError: true })),
  textDoor('MCP upstream over HTTP, a body', (text) => callOverHttp('application/json', text)),
  textDoor('MCP upstream over HTTP, events', (text) => callOverHttp('text/event-stream', text)),
  jsonDoor('MCP upstream over HTTP, a message', (json) =>
    callOverHttp('text/event-stream', `data: ${write(json)}\n\n`),
  ),
  textDoor('override file', readOverrides),
  jsonDoor('override file as JSON', (json) => readOverrides(write(json))),
  jsonDoor('sections of an override file', (json) => readOverrides(write({ version: 1, sections: json, tools: json }))),
  textDoor('program', (source) => sandbox.run(source, { functions: new Map() }), { size: 500 }),
  textDoor('value of a program', (text) => sandbox.run(`return ${JSON.stringify(text)}`, { functions: new Map() }), {
    size: 500,
  }),
  textDoor(
    'what a program throws',
    (text) => sandbox.run(`throw new Error(${JSON.stringify(text)})`, { functions: new Map() }),
    { size: 500 },
  ),
]
