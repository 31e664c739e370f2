import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../remove-folder.fixtures.ts'
import { runCommand } from './main.ts'

const SERVER = join(import.meta.dirname, '../gateway/server.fixtures.mjs')
const REFUND = { name: 'refund_order', description: 'Give a customer the money back.' }

let folder: string
let config: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-doctor-'))
  config = join(folder, 'servers.json')
})
afterEach(() => removeFolder(folder))

async function examine(...more: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  let [stdout, stderr] = ['', '']
  const code = await runCommand(['node', 'foldout', 'doctor', '--config', config, ...more], {
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    env: { XDG_CACHE_HOME: join(folder, 'cache'), XDG_DATA_HOME: join(folder, 'data') },
    signal: new AbortController().signal,
    version: '1.2.3',
  })
  return { code, stdout: stdout.replace(/in \d+ ms$/gm, 'in 7 ms'), stderr }
}

/** A server that reads its tools from a file, so that they may change. */
function serve(...tools: readonly object[]): object {
  const file = join(folder, 'tools.json')
  writeFileSync(file, JSON.stringify({ tools }))
  return { command: process.execPath, args: [SERVER, JSON.stringify({ file })] }
}

describe('R58 foldout doctor', () => {
  it('reports problems of the configuration on standard output, and fails', async () => {
    const rules = [{ action: 'deny', server: 'shpo' }]
    const shop = { ...serve(REFUND), requried: true }
    writeFileSync(config, JSON.stringify({ mcpServers: { shop }, rules, Presets: {} }))
    const problems = [
      "A rule names the server 'shpo', which matches nothing in the configuration.",
      `${config} has a setting "Presets", which has no effect. Did you mean "presets"?`,
      `The server 'shop' in ${config} has a setting "requried", which has no effect. Did you mean "required"?`,
    ]
    expect(await examine()).toEqual({
      code: 1,
      stderr: '',
      stdout: `shop: works, 1 tool, started in 7 ms\nOther problems:\n  ${problems.join('\n  ')}\n`,
    })
    const { code, stdout, stderr } = await examine('--json')
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(JSON.parse(stdout)).toEqual({
      servers: [{ name: 'shop', isWorking: true, startMs: expect.any(Number), tools: 1, problems: [] }],
      problems,
    })
  })

  it('reports problems of a configuration without servers', async () => {
    writeFileSync(config, '{ "mcpServers": {}, "rulez": [] }')
    expect(await examine()).toMatchObject({
      code: 1,
      stdout: `The configuration has no servers.\nOther problems:\n  ${config} has a setting "rulez", which has no effect. Did you mean "rules"?\n`,
    })
  })

  it('reports tools that differ from the ones the user accepted', async () => {
    writeFileSync(config, JSON.stringify({ mcpServers: { shop: serve(REFUND) } }))
    expect(await examine()).toEqual({ code: 0, stderr: '', stdout: 'shop: works, 1 tool, started in 7 ms\n' })
    serve({ ...REFUND, description: 'Give the money back twice.' })
    expect(await examine()).toMatchObject({
      code: 0,
      stdout:
        'shop: works, 1 tool, started in 7 ms\n  Its tools differ from the ones you accepted (changed: refund_order). Run foldout pins to see what changed.\n',
    })
  })
})
