import { query } from '@anthropic-ai/claude-agent-sdk'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { ListToolsRequestSchema, CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { LLMock } from '/work/main/node_modules/@copilotkit/aimock/dist/index.js'
import http from 'node:http'
import { mkdtempSync } from 'node:fs'
const t0 = Date.now(); const log = (...a) => console.log(Date.now() - t0, ...a)
const mock = new LLMock({ port: 0 })
mock.on({ predicate: (r) => !JSON.stringify(r.messages).includes('"tool"') , userMessage: /go/ }, { content: 'Let me look.', toolCalls: [{ name: process.env.NP ? 'open_it' : 'mcp__foldout__open_it', arguments: { key: 'a' } }, { name: process.env.NP ? 'open_it' : 'mcp__foldout__open_it', arguments: { key: 'b' } }] })
mock.on({ hasToolResult: true }, { content: 'All done.' })
await mock.start()
const raw = []
const proxy = http.createServer((q, s) => { let b = ''; q.on('data', c => b += c).on('end', () => { raw.push({ url: q.url, body: b, headers: q.headers }); const u = new URL(mock.url); const r = http.request({ host: u.hostname, port: u.port, path: q.url, method: q.method, headers: q.headers }, (x) => { s.writeHead(x.statusCode, x.headers); x.pipe(s) }); r.end(b) }) }).listen(0, '127.0.0.1')
await new Promise(r => proxy.once('listening', r))
const home = mkdtempSync('/tmp/probe/h-')
const tools = [{ name: 'open_it', description: 'opens', inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'], additionalProperties: false } }]
const server = new Server({ name: 'foldout', version: '1' }, { capabilities: { tools: { listChanged: true } } })
let listed; 
server.setRequestHandler(ListToolsRequestSchema, async () => { log('tools/list', tools.length); listed?.(); return { tools } })
server.setRequestHandler(CallToolRequestSchema, async (req, extra) => { log('call', JSON.stringify(req), Object.keys(extra));
  if (tools.length < 2) { tools.push({ name: 'added', description: 'added', inputSchema: { type: 'object' } }); const p = new Promise(r => listed = r); await server.sendToolListChanged(); await p }
  log('answer'); return { content: [{ type: 'text', text: 'ok ' + req.params.arguments.key }], isError: req.params.arguments.key === 'b' } })
const q = query({ prompt: 'go now', options: {
  abortController: new AbortController(), mcpServers: { foldout: { type: 'sdk', name: 'foldout', instance: server, alwaysLoad: true } }, tools: [], settingSources: [], systemPrompt: 'SYS', includePartialMessages: true, persistSession: false, verbatimPrompts: true,
  model: 'claude-sonnet-4-5', permissionMode: 'dontAsk', allowedTools: ['mcp__foldout__*', 'mcp__foldout'], cwd: home,
  env: { PATH: process.env.PATH, HOME: home, CLAUDE_CONFIG_DIR: home + '/c', ANTHROPIC_BASE_URL: `http://127.0.0.1:${proxy.address().port}`, ANTHROPIC_API_KEY: 'sk-x', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ...(process.env.NP ? { CLAUDE_AGENT_SDK_MCP_NO_PREFIX: '1' } : {}) },
  stderr: (d) => log('ERR', d) } })
for await (const m of q) log(JSON.stringify(m).slice(0, 1400))
log('end')
for (const r of raw) { log(r.url, r.headers['anthropic-beta']); try { const b = JSON.parse(r.body); console.log(JSON.stringify({ ...b, }, null, 1).slice(0, 6000)) } catch {} }
proxy.close(); await mock.stop()
