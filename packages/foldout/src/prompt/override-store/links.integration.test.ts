import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOverrideStore, type OverrideStore } from '../../entries/node.ts'
import { prompt, tag, temporaryStore, type TemporaryStore } from './store.fixtures.ts'

let temporary: TemporaryStore
let store: OverrideStore
let root: string
let path: string
let outside: string
beforeEach(() => {
  temporary = temporaryStore()
  ;({ store, root, path } = temporary)
  outside = mkdtempSync(join(tmpdir(), 'foldout-outside-'))
})
afterEach(() => {
  temporary.remove()
  rmSync(outside, { recursive: true, force: true })
})

const operations: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['seed', () => store.seed(prompt, { tag })],
  ['resolve', () => store.resolve(prompt, { tag })],
  ['upsert', () => store.upsert(prompt, { tag, section: { path: 'task', body: 'Hi.' } })],
  ['delete', () => store.delete(prompt, { tag })],
]

describe('links in the folder of an override store', () => {
  it.each(operations)('R16 are rejected if they lead to a folder outside of it: %s', async (_, run) => {
    await createOverrideStore({ root: outside }).seed(prompt, { tag })
    const before = readFileSync(join(outside, 'agents/support/triage', `${tag}.json`), 'utf8')
    symlinkSync(join(outside, 'agents'), join(root, 'agents'))
    await expect(run()).rejects.toMatchObject({
      code: 'override-file',
      message: expect.stringContaining(`is a link that leads out of ${root}`) as string,
    })
    expect(readFileSync(join(outside, 'agents/support/triage', `${tag}.json`), 'utf8')).toBe(before)
    expect(readdirSync(join(outside, 'agents/support/triage'))).toEqual([`${tag}.json`])
  })

  it.each(operations)('R16 do not create folders outside of it: %s', async (_, run) => {
    symlinkSync(outside, join(root, 'agents'))
    await run().catch(() => undefined)
    expect(readdirSync(outside)).toEqual([])
  })

  it.each(operations)('R16 are rejected if they lead to a file outside of it: %s', async (_, run) => {
    const secret = join(outside, 'secret.json')
    writeFileSync(secret, '{}')
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(secret, path)
    await expect(run()).rejects.toThrow(`is a link that leads out of ${root}`)
    expect(readFileSync(secret, 'utf8')).toBe('{}')
  })

  it('R16 are rejected if their target does not exist', async () => {
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(join(outside, 'nothing.json'), path)
    await expect(store.resolve(prompt, { tag })).rejects.toThrow('is a link to nothing')
    await expect(store.seed(prompt, { tag })).rejects.toThrow('is a link to nothing')
    expect(existsSync(join(outside, 'nothing.json'))).toBe(false)
  })

  it('R16 are followed if they stay inside it', async () => {
    await store.seed(prompt, { tag: 'v2' })
    symlinkSync(join(dirname(path), 'v2.json'), path)
    // The file says which tag it is for.
    await expect(store.resolve(prompt, { tag })).rejects.toThrow('tag is "v2"')
    const link = join(outside, 'link')
    symlinkSync(root, link)
    expect(await createOverrideStore({ root: link }).resolve(prompt, { tag: 'v2' })).toBeDefined()
    await createOverrideStore({ root: link }).upsert(prompt, { tag: 'v2', section: { path: 'task', body: 'Hi.' } })
  })
})

describe('anything but a file in the folder of an override store', () => {
  it('R16 is rejected at once: a pipe', async () => {
    mkdirSync(dirname(path), { recursive: true })
    execFileSync('mkfifo', [path])
    await expect(store.resolve(prompt, { tag })).rejects.toThrow('is not a file')
    rmSync(path)
  })

  it('R16 is rejected at once: a folder', async () => {
    mkdirSync(path, { recursive: true })
    await expect(store.resolve(prompt, { tag })).rejects.toThrow('is a folder')
  })

  it('R16 is rejected at once: a file that is too large', async () => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, Buffer.alloc(17 * 1024 * 1024, 32))
    await expect(store.resolve(prompt, { tag })).rejects.toThrow('at most 16777216 are read')
  })
})
