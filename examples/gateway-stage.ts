// A rule of your own in the gateway: card numbers never reach a server, in any call of any tool.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createGateway, type CallStage } from 'foldout-mcp'

const redacted: string[] = []

/** Replaces card numbers in the arguments of every call. */
const redactCards: CallStage = (call, next) => {
  const text = JSON.stringify(call.arguments)
  const safe = text.replaceAll(/\b\d{4}(?:[ -]?\d{4}){3}\b/g, '[card]')
  if (safe === text) return next(call)
  redacted.push(call.path)
  return next({ ...call, arguments: JSON.parse(safe) as Record<string, unknown> })
}

const folder = mkdtempSync(join(tmpdir(), 'foldout-stage-'))
const memory = {
  command: process.execPath,
  args: [fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js'))],
  env: { MEMORY_FILE_PATH: join(folder, 'memory.json') },
}
const gateway = await createGateway(
  { mcpServers: { memory } },
  { stages: [redactCards], cache: join(folder, 'cache'), data: join(folder, 'data') },
)
try {
  await gateway.ready()
  const catalog = await gateway.getCatalog()
  const ada = { name: 'Ada', entityType: 'person', observations: ['pays with 4242 4242 4242 4242'] }
  await catalog.call('create_entities', { entities: [ada] })
  const { content } = await catalog.call('read_graph', {})
  const kept = content.map(({ text }) => String(text)).join('\n')

  assert.match(kept, /pays with \[card\]/)
  assert.doesNotMatch(kept, /4242/)
  assert.deepEqual(redacted, ['memory/create_entities'])
  console.log(`The server keeps "pays with [card]". Redacted: ${redacted.join(', ')}.`)
  console.log('Rules, approvals, quotas and the audit log saw the same arguments as the server.')
} finally {
  await gateway.close()
  rmSync(folder, { recursive: true, force: true })
}
