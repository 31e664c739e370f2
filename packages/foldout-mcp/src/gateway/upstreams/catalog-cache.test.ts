import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import type * as FsPromises from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readDefinition } from '../config/read-config.ts'
import { createCatalogCache } from './catalog-cache.ts'
import type { Snapshot } from './snapshot.ts'
import { removeFolder } from '../../remove-folder.fixtures.ts'

const disk = vi.hoisted(() => ({ isFull: false }))

vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof FsPromises>()
  return {
    ...real,
    async writeFile(file: string, text: string, options: object) {
      if (!disk.isFull) return real.writeFile(file, text, options)
      // What a full disk leaves: half a file.
      await real.writeFile(file, text.slice(0, text.length / 2), options)
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    },
  }
})

const snapshot = (tool: string): Snapshot => ({
  server: { name: 'a' },
  capabilities: {},
  instructions: undefined,
  era: 'legacy',
  tools: [{ name: tool }],
  resources: [],
  templates: [],
  prompts: [],
})

describe('R54 a full disk', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'foldout-cache-'))
  })
  afterEach(async () => {
    disk.isFull = false
    await removeFolder(folder)
  })

  it('leaves the old list, and never half of a new one', async () => {
    const problems: string[] = []
    const cache = createCatalogCache(folder, (message) => problems.push(message))
    const [server] = readDefinition({ mcpServers: { a: { command: 'a' } } }, { file: 'test', folder }).servers
    if (!server) throw new Error('There is no server.')
    expect(await cache.write(server, snapshot('old'))).toBe(true)
    disk.isFull = true
    expect(await cache.write(server, snapshot('new'))).toBe(false)
    expect(problems).toEqual([expect.stringContaining('ENOSPC')])
    expect(readdirSync(folder)).toHaveLength(1)
    expect(readFileSync(join(folder, readdirSync(folder)[0] ?? ''), 'utf8')).toContain('"old"')
    expect((await cache.read(server))?.snapshot.tools).toEqual([{ name: 'old' }])
  })
})
