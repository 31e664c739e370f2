import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installServers } from './harness.ts'
import { removeFolder } from '../remove-folder.ts'

const BIN = join(import.meta.dirname, '../../packages/foldout-mcp/bin/foldout.js')
const getServer = (name: string): string =>
  join(import.meta.dirname, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`)

describe('the foldout command with real servers', () => {
  let folder: string
  beforeAll(() => {
    installServers()
    folder = mkdtempSync(join(tmpdir(), 'foldout-command-'))
    const mcpServers = {
      everything: { command: 'node', args: [getServer('everything')] },
      // Through a shell, like `npx`.
      memory: { command: 'sh', args: ['-c', `node ${getServer('memory')}; true`], env: { MEMORY_FILE_PATH: 'm.json' } },
      files: { command: 'node', args: [getServer('filesystem'), '.'], cwd: folder },
      thinking: { command: 'node', args: [getServer('sequential-thinking')] },
    }
    writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers }))
  }, 300_000)
  afterAll(() => removeFolder(folder))

  const run = (...args: readonly string[]): ReturnType<typeof spawnSync> & { stdout: string; stderr: string } =>
    spawnSync(process.execPath, [BIN, ...args], { cwd: folder, encoding: 'utf8', timeout: 60_000 })

  it('lists the tools of all of them', () => {
    const { stdout, stderr, status } = run('tools', '--json', '--trust')
    const { servers, failed } = JSON.parse(stdout) as {
      servers: readonly { name: string }[]
      failed: readonly unknown[]
    }
    expect({ failed, status, stderr }).toMatchObject({ failed: [], status: 0 })
    expect(servers.map(({ name }) => name)).toEqual(['everything', 'memory', 'files', 'thinking'])
  }, 90_000)

  it('finds a tool by what it does', () => {
    const { stdout, status } = run('search', '--trust', '-q', '-n', '3', 'change a file on disk')
    expect(stdout).toMatch(/^(edit_file|write_file) +files +/m)
    expect(status).toBe(0)
  }, 90_000)
})
