import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMachine } from './machine.fixtures.ts'

const SERVER = join(import.meta.dirname, '../../gateway/server.fixtures.mjs')
const machine = createMachine()

describe('R52 R58 foldout install --start', () => {
  it('starts every server once, says what works, and leaves the tools in the cache', async () => {
    await machine.write('home/.cursor/mcp.json', '{}')
    await machine.write('foldout.config.json', {
      mcpServers: {
        good: { command: process.execPath, args: [SERVER] },
        bad: { command: process.execPath, args: ['-e', 'throw new Error("no token")'] },
      },
    })
    const { code, stdout, stderr } = await machine.run('install', 'cursor', '--config', machine.config, '--start')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Foldout is installed in Cursor/)
    expect(stdout).toContain(
      `\n1 of 2 servers work. For more about the others: foldout doctor --config ${machine.config}`,
    )
    expect(stderr).toMatch(/^bad: .*\n[^]*no token/)
    const tools = await machine.run('tools', '--config', machine.config)
    expect(tools.stderr).toMatch(/tools? of 1 server from the cache/)
  })

  it('is left to the user without a terminal, and is a part of the JSON', async () => {
    await machine.write('home/.cursor/mcp.json', '{}')
    await machine.write('foldout.config.json', { mcpServers: { good: { command: process.execPath, args: [SERVER] } } })
    const quiet = await machine.run('install', 'cursor', '--config', machine.config)
    expect(quiet.stdout).not.toContain('works')
    const { stdout } = await machine.run('install', 'cursor', '--config', machine.config, '--start', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ status: 'unchanged', started: { working: ['good'], failed: [] } })
    expect(await readFile(machine.config, 'utf8')).toContain('good')
  })
})
