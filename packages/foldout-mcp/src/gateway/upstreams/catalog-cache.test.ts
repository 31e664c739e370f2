import { promises, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ServerConfig } from '../config/config.ts'
import type { ServerDefinition } from '../config/definition.ts'
import { readDefinition } from '../config/read-config.ts'
import { createCatalogCache, type CatalogCache } from './catalog-cache.ts'
import type { Snapshot } from '../model/snapshot.ts'
import { removeFolder } from '../../remove-folder.fixtures.ts'

/** Lets every write fail as on a full disk, which leaves half a file. */
function fillDisk(): void {
  const { writeFile } = promises
  vi.spyOn(promises, 'writeFile').mockImplementation(async (file, text, options) => {
    if (typeof text === 'string') await writeFile(file, text.slice(0, text.length / 2), options)
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  })
  syncBuiltinESMExports()
}

function emptyDisk(): void {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
}

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

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-cache-'))
})
afterEach(async () => {
  emptyDisk()
  await removeFolder(folder)
})

function openCache(env: NodeJS.ProcessEnv = {}, problems: string[] = []): CatalogCache {
  return createCatalogCache(join(folder, 'cache'), {
    env,
    keyFile: join(folder, 'data', 'cache.key'),
    onProblem: (message) => problems.push(message),
  })
}

function readServer(definition: ServerDefinition): ServerConfig {
  const [server] = readDefinition({ mcpServers: { a: definition } }, { file: 'test', folder }).servers
  if (!server) throw new Error('There is no server.')
  return server
}

describe('R54 a full disk', () => {
  it('leaves the old list, and never half of a new one', async () => {
    const problems: string[] = []
    const cache = openCache({}, problems)
    const server = readServer({ command: 'a' })
    expect(await cache.write(server, snapshot('old'))).toBe(true)
    fillDisk()
    expect(await cache.write(server, snapshot('new'))).toBe(false)
    expect(problems).toEqual([expect.stringContaining('ENOSPC')])
    const files = readdirSync(join(folder, 'cache'))
    expect(files).toHaveLength(1)
    expect(readFileSync(join(folder, 'cache', files[0] ?? ''), 'utf8')).toContain('"old"')
    expect((await cache.read(server))?.snapshot.tools).toEqual([{ name: 'old' }])
  })
})

describe('R54 a server that did not start', () => {
  it('is remembered until it has other settings or values, or starts', async () => {
    const define = (level: string, command = 'a'): ServerConfig => readServer({ command, env: { LEVEL: level } })
    expect(await openCache().hasFailed(define('few'))).toBe(false)
    await openCache().noteFailure(define('few'))
    expect(await openCache().hasFailed(define('few'))).toBe(true)
    expect(await openCache().hasFailed(define('many'))).toBe(false)
    expect(await openCache().hasFailed(define('few', 'b'))).toBe(false)
    await openCache().write(define('few'), snapshot('echo'))
    expect(await openCache().hasFailed(define('few'))).toBe(false)
  })

  it.each(['', '{"val', '[]', 'null', 'x'.repeat(10_000)])(
    'is waited for again if the note is damaged: %.10s',
    async (text) => {
      const server = readServer({ command: 'a' })
      await openCache().noteFailure(server)
      const [name = ''] = readdirSync(join(folder, 'cache'))
      writeFileSync(join(folder, 'cache', name), text)
      expect(await openCache().hasFailed(server)).toBe(false)
    },
  )

  it('is reported, and nothing else, if it cannot be noted', async () => {
    const problems: string[] = []
    fillDisk()
    await openCache({}, problems).noteFailure(readServer({ command: 'a' }))
    expect(problems).toEqual([expect.stringMatching(/^Failed starts cannot be noted: ENOSPC/)])
  })
})

describe('R54 the values of variables', () => {
  const kinds = {
    env: (value: string) => ({ command: 'a', env: { LEVEL: value } }),
    args: (value: string) => ({ command: 'a', args: ['${LEVEL:-}', '--'], env: { LEVEL: value } }),
    headers: (value: string) => ({ url: 'https://tools.example/mcp', headers: { 'X-Level': value } }),
  } as const

  it.each(Object.entries(kinds))('in %s make a list old if they change', async (_, define) => {
    expect(await openCache().write(readServer(define('few')), snapshot('echo'))).toBe(true)
    expect((await openCache().read(readServer(define('few'))))?.savedAt).toBeGreaterThan(0)
    expect(await openCache().read(readServer(define('many')))).toMatchObject({
      snapshot: { tools: [{ name: 'echo' }] },
      savedAt: -Infinity,
    })
  })

  it('of the environment and of an env file count, and the folder of a client does not', async () => {
    const file = join(folder, 'values.env')
    writeFileSync(file, 'MORE=1')
    const server = readServer({ command: 'a', env: { LEVEL: '${LEVEL}', FOLDER: '${ROOT}' }, envFile: file })
    await openCache({ LEVEL: 'few' }).write(server, snapshot('echo'))
    expect((await openCache({ LEVEL: 'few', ROOT: '/elsewhere' }).read(server))?.savedAt).toBeGreaterThan(0)
    expect((await openCache({ LEVEL: 'many' }).read(server))?.savedAt).toBe(-Infinity)
    // Its start says what is missing.
    expect((await openCache().read(server))?.savedAt).toBeGreaterThan(0)
    writeFileSync(file, 'MORE=2')
    expect((await openCache({ LEVEL: 'few' }).read(server))?.savedAt).toBe(-Infinity)
  })

  it('cannot be guessed from the cache, because the key is elsewhere', async () => {
    const server = readServer({ command: 'a', env: { PIN: '1234' } })
    await openCache().write(server, snapshot('echo'))
    const key = join(folder, 'data', 'cache.key')
    const read = (): string => readFileSync(join(folder, 'cache', readdirSync(join(folder, 'cache'))[0] ?? ''), 'utf8')
    const first = read()
    expect(first).not.toContain(readFileSync(key, 'utf8'))
    expect(process.platform === 'win32' || (statSync(key).mode & 0o777) === 0o600).toBe(true)
    rmSync(key)
    await openCache().write(server, snapshot('echo'))
    const getValues = (text: string): unknown => (JSON.parse(text) as { readonly values: unknown }).values
    expect(getValues(first)).toMatch(/^[0-9a-f]{64}$/)
    expect(getValues(read())).not.toBe(getValues(first))
  })

  it('are not compared without a key', async () => {
    writeFileSync(join(folder, 'data'), 'a file where the folder should be')
    await openCache().write(readServer(kinds.env('few')), snapshot('echo'))
    expect((await openCache().read(readServer(kinds.env('many'))))?.savedAt).toBeGreaterThan(0)
  })
})

it('R54 a cache that cannot be written is told once for all servers, and again after it worked', async () => {
  const problems: string[] = []
  const cache = openCache({}, problems)
  const servers = ['b', 'c', 'd'].map((command) => readServer({ command }))
  fillDisk()
  for (const server of servers) expect(await cache.write(server, snapshot('x'))).toBe(false)
  expect(problems).toEqual(['Tools cannot be cached: ENOSPC: no space left on device, write'])
  emptyDisk()
  expect(await cache.write(servers[0]!, snapshot('x'))).toBe(true)
  fillDisk()
  await cache.write(servers[1]!, snapshot('x'))
  expect(problems).toHaveLength(2)
})
