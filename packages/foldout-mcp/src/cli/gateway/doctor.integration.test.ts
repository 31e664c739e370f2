import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../remove-folder.fixtures.ts'
import { runCommand } from '../main.ts'

const SERVER = join(import.meta.dirname, '../../gateway/server.fixtures.mjs')
const REFUND = { name: 'refund_order', description: 'Give a customer the money back.' }

let folder: string
let config: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-doctor-'))
  config = join(folder, 'servers.json')
})
afterEach(() => removeFolder(folder))

const examine = (...more: readonly string[]) => run('doctor', ...more)

async function run(
  command: string,
  ...more: readonly string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  let [stdout, stderr] = ['', '']
  const code = await runCommand(['node', 'foldout', command, '--config', config, ...more], {
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

  it('refuses a preset that does not exist', async () => {
    writeFileSync(config, JSON.stringify({ mcpServers: { shop: serve(REFUND) }, presets: { work: {} } }))
    expect(await examine('--preset', 'wrok')).toMatchObject({
      code: 2,
      stderr: "Unknown preset 'wrok'. Choose from: work.\n",
    })
    expect(await examine('--preset', 'work')).toMatchObject({ code: 0 })
  })

  it('reports tools that cannot be used once, as a problem of their server', async () => {
    writeFileSync(config, JSON.stringify({ mcpServers: { shop: serve(REFUND, { ...REFUND, name: 'x'.repeat(300) }) } }))
    expect(await examine()).toEqual({
      code: 0,
      stderr: '',
      stdout: `shop: works, 2 tools, started in 7 ms\n  The tool ${'x'.repeat(80)}… cannot be used: Its name or source has 300 characters. At most 256 are allowed.\n`,
    })
    const listed = await run('tools')
    expect(`${listed.stdout}${listed.stderr}`.match(/cannot be used/g)).toHaveLength(1)
  })

  it('leaves out servers outside the preset, as foldout tools does', async () => {
    const other = { command: process.execPath, args: ['-e', 'process.exit(3)'] }
    const mcpServers = { shop: serve(REFUND), other, wrong: {} }
    writeFileSync(config, JSON.stringify({ mcpServers, presets: { work: { servers: ['shop'] } } }))
    expect(await examine('--preset', 'work')).toEqual({
      code: 0,
      stderr: '',
      stdout: 'shop: works, 1 tool, started in 7 ms\n',
    })
    const { stdout, stderr } = await run('tools', '--preset', 'work')
    expect(`${stdout}${stderr}`).toMatch(/^shop/m)
    expect(`${stdout}${stderr}`).not.toMatch(/other|wrong/)
    const json = JSON.parse((await run('tools', '--preset', 'work', '--json')).stdout) as object
    expect(json).toMatchObject({ servers: [{ name: 'shop' }], failed: [] })
  })

  it('says where the arguments of a command belong', async () => {
    writeFileSync(config, JSON.stringify({ mcpServers: { shop: { command: 'node server.js' } } }))
    expect((await examine()).stdout).toContain(
      '  Its command was not found: spawn node server.js ENOENT. If the command has arguments, put each of them in "args".\n',
    )
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

  it('reports a server that fails while others still start, although it is tried again meanwhile', async () => {
    const broken = { command: process.execPath, args: ['-e', 'setTimeout(() => process.exit(3), 1500)'] }
    const { args = [] } = serve(REFUND) as { args?: readonly string[] }
    const start = `setTimeout(() => import(process.argv[1]), 3500)`
    const slow = { command: process.execPath, args: ['-e', start, ...args] }
    writeFileSync(config, JSON.stringify({ mcpServers: { broken, slow } }))
    const [{ code, stdout }, listed] = await Promise.all([examine(), run('tools', '--json', '--refresh')])
    expect(JSON.parse(listed.stdout)).toMatchObject({ failed: [{ name: 'broken' }] })
    expect({ code, stdout }).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^broken: does not work\n/) as string,
    })
    expect(stdout).toMatch(/^slow: works, 1 tool, /m)
  })
})
