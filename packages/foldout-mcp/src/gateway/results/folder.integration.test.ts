import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../remove-folder.fixtures.ts'
import { createResultFolder, removeDeadFolders } from './folder.ts'
import { KEPT_MS } from './limits.ts'

const BIN = join(import.meta.dirname, '../../../bin/foldout.js')
const SERVER = join(import.meta.dirname, 'large-server.fixtures.mjs')

let all: string
let parent: string
beforeAll(() => {
  all = mkdtempSync(join(tmpdir(), 'foldout-folders-'))
})
beforeEach(() => {
  parent = mkdtempSync(join(all, 'tmp-'))
  vi.stubEnv('TMPDIR', parent)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await removeFolder(all)
})

/** The id of a process that has ended. */
const getDeadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid

interface FolderChanges {
  readonly pid?: number
  readonly place?: string
  readonly start?: string
}

/** A folder with a result, as another gateway has left it. */
async function leave({ pid = getDeadPid(), place, start }: FolderChanges = {}): Promise<string> {
  const own = basename(await createResultFolder()).split('-')
  const parts = [...own.slice(0, 2), pid, place ?? own[3], start ?? own[4], own[5]]
  const folder = join(parent, parts.join('-'))
  mkdirSync(folder, { mode: 0o700, recursive: true })
  writeFileSync(join(folder, 'result'), 'secret')
  return basename(folder)
}

describe('the folder of results of another gateway', () => {
  it('is removed if its process has ended', async () => {
    const dead = await leave()
    const living = basename(await createResultFolder())
    await removeDeadFolders()
    expect(readdirSync(parent)).toContain(living)
    expect(readdirSync(parent)).not.toContain(dead)
  })

  it.runIf(process.platform === 'linux')('is removed if its process id belongs to another process now', async () => {
    const reused = await leave({ pid: process.pid, start: '1' })
    await removeDeadFolders()
    expect(readdirSync(parent)).not.toContain(reused)
  })

  it('stays for a while if its process may run where this one does not see it', async () => {
    const distant = await leave({ place: '01234567' })
    await removeDeadFolders()
    expect(readdirSync(parent)).toContain(distant)
    const before = (Date.now() - KEPT_MS) / 1_000 - 1
    utimesSync(join(parent, distant), before, before)
    await removeDeadFolders()
    expect(readdirSync(parent)).not.toContain(distant)
  })

  it.runIf(process.getuid)('stays if it is not a private folder of this user', async () => {
    const open = await leave()
    chmodSync(join(parent, open), 0o755)
    const target = await leave()
    const link = target.replace(/[^-]+$/, 'link')
    symlinkSync(join(all, 'elsewhere'), join(parent, link))
    await removeDeadFolders()
    expect(readdirSync(parent)).toEqual(expect.arrayContaining([open, link]))
    expect(readdirSync(parent)).not.toContain(target)
  })
})

it.skipIf(process.platform === 'win32')(
  'the results of a gateway are gone after SIGKILL',
  async () => {
    const config = join(all, 'config.json')
    writeFileSync(config, JSON.stringify({ mcpServers: { a: { command: process.execPath, args: [SERVER] } } }))
    const args = [BIN, 'serve', '--config', config, '--cache', join(all, 'cache'), '--expose', 'all']
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] })
    const ended = once(child, 'exit')
    const answers: unknown[] = []
    createInterface({ input: child.stdout }).on('line', (text) => answers.push(JSON.parse(text)))
    const clientInfo = { name: 'test', version: '1' }
    const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    const call = { name: 'rows', arguments: { count: 20_000 } }
    for (const [id, [method, params]] of [['initialize', initialize] as const, ['tools/call', call] as const].entries())
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const list = (): readonly string[] => readdirSync(parent).filter((name) => name.includes('results'))
    try {
      await vi.waitFor(() => expect(answers).toHaveLength(2), { timeout: 30_000 })
      expect(list()).toHaveLength(1)
    } finally {
      child.kill('SIGKILL')
      await ended
    }
    await vi.waitFor(() => expect(list()).toEqual([]), { timeout: 10_000 })
  },
  60_000,
)
