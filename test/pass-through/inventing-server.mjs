// A server of either era with fields and methods that no version of MCP has: `node inventing-server.mjs legacy|modern`.
import { createInterface } from 'node:readline'

const isModern = process.argv[2] === 'modern'
const VERSION = '2026-07-28'
const capabilities = {
  tools: {},
  'example/ability': { deep: [1] },
  experimental: { 'example/experiment': { deep: [1] } },
  extensions: { 'example/extension': { deep: [1] } },
}
const serverInfo = { name: 'inventing', version: '1.0.0' }
const tool = {
  name: 'echo',
  description: 'Returns what it got.',
  inputSchema: { type: 'object', 'x-example': { deep: [null] } },
  'example/tool': { deep: [1, null] },
  annotations: { 'example/annotation': true },
  _meta: { 'example/meta': [1] },
}
const end = isModern ? { resultType: 'complete' } : {}
const listing = isModern ? { ...end, ttlMs: 1_000, cacheScope: 'public' } : {}

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

const heard = []

function answer(method, params) {
  if (method === 'initialize' && !isModern) return { protocolVersion: '2025-11-25', capabilities, serverInfo }
  if (method === 'server/discover' && isModern)
    return { ...listing, supportedVersions: [VERSION], capabilities, serverInfo }
  if (method === 'tools/list') return { ...listing, tools: [tool], 'example/list': 1 }
  if (method === 'tools/call') {
    const { _meta, ...got } = params
    const meta = { 'example/meta': _meta?.['example/meta'] }
    const content = [{ type: 'text', text: JSON.stringify({ got, meta }), 'example/content': { deep: [1] } }]
    return { ...end, content, 'example/result': { deep: [null] }, _meta: { 'example/answer': 2 } }
  }
  if (method === 'example/heard') return { ...end, heard }
  if (method === 'example/fail')
    throw Object.assign(new Error('Not now.'), { code: -31_999, data: { 'example/data': [1] } })
  if (!method.startsWith('example/')) throw Object.assign(new Error('Method not found'), { code: -32_601 })
  const { _meta, ...got } = params
  return { ...end, method, got, meta: { 'example/meta': _meta?.['example/meta'] }, 'example/result': [null, 'ü'] }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line)
  if (method === 'notifications/example') heard.push(params)
  if (id === undefined || method === undefined) return
  try {
    const result = answer(method, params)
    if (method === 'tools/call') send({ method: 'notifications/example', params: { 'example/news': { deep: [1] } } })
    send({ id, result })
  } catch ({ code, message, data }) {
    send({ id, error: { code, message, data } })
  }
})
