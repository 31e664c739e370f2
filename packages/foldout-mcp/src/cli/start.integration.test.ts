import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../remove-folder.fixtures.ts'

const SERVER = join(import.meta.dirname, '../gateway/server.fixtures.mjs')
const BIN = join(import.meta.dirname, '../../bin/foldout.js')

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-start-'))
})
afterEach(() => removeFolder(folder))

const REQUESTS = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list', params: {} },
]

interface Loaded {
  readonly listed: readonly string[]
  /** The built-in modules of Node.js. */
  readonly builtins: readonly string[]
  readonly files: readonly string[]
}

/** Starts the built program, lists its tools as a legacy client does, and reports what it has loaded by then. */
async function start(args: readonly string[]): Promise<Loaded> {
  const report = join(folder, 'builtins.json')
  const hook = join(folder, 'hook.cjs')
  const list = `JSON.stringify(process.moduleLoadList)`
  writeFileSync(hook, `process.on('exit', () => require('fs').writeFileSync(${JSON.stringify(report)}, ${list}))`)
  const coverage = join(folder, 'coverage')
  const child = spawn(process.execPath, ['--require', hook, BIN, 'serve', ...args], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, NODE_V8_COVERAGE: coverage },
  })
  for (const request of REQUESTS) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...request })}\n`)
  let listed: readonly string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, result } = JSON.parse(line) as { id?: number; result?: { tools?: readonly { name: string }[] } }
    if (id !== 2) continue
    listed = (result?.tools ?? []).map(({ name }) => name)
    break
  }
  const ended = once(child, 'exit')
  child.stdin.end()
  await ended
  const builtins = (JSON.parse(readFileSync(report, 'utf8')) as readonly string[])
    .filter((name) => name.startsWith('NativeModule '))
    .map((name) => name.slice('NativeModule '.length))
  const files = readdirSync(coverage).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8')) as { result: readonly { url: string }[] }
    return result.map(({ url }) => url).filter((url) => url.startsWith('file:'))
  })
  return { listed, builtins, files }
}

describe('a start from the cache', () => {
  it('loads only what it needs', async () => {
    const config = join(folder, 'servers.json')
    const tools = [{ name: 'echo', description: 'Repeats its input.' }]
    const server = { command: process.execPath, args: [SERVER, JSON.stringify({ tools })] }
    writeFileSync(config, JSON.stringify({ mcpServers: { a: server } }))
    const args = ['--config', config, '--cache', join(folder, 'cache'), '--expose', 'all']
    expect(spawnSync(process.execPath, [BIN, 'tools', ...args.slice(0, 4)]).status).toBe(0)

    const { listed, builtins, files } = await start(args)
    expect(listed).toContain('echo')
    // Threads read folded results, child processes are servers, and the client connects to them.
    const late = ['worker_threads', 'child_process', 'http', 'https', 'readline', 'tls']
    expect(late.filter((name) => builtins.includes(name))).toEqual([])
    const packages = files.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [])
    expect([...new Set(packages)]).toEqual(['tokenx'])
    // Every file takes time to find and read.
    expect(files.length).toBeLessThan(16)
  })
})
