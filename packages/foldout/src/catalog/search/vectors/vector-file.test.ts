import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MAX_VECTOR_FILE_BYTES } from '../limits.ts'
import { createVectorFile } from './vector-file.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'foldout-vectors-'))
  path = join(folder, 'a/new/folder/vectors')
})
afterEach(async () => rm(folder, { recursive: true, force: true }))

const key = (n: number): string => n.toString(16).padStart(32, '0')
const vector = (n: number): Int8Array => Int8Array.from([n, -128, 127, 0])
const some = (...ns: readonly number[]): Map<string, Int8Array> => new Map(ns.map((n) => [key(n), vector(n)]))

describe('a file of vectors', () => {
  it('R61 returns what was written, even in another process', async () => {
    const file = createVectorFile(path)
    expect(await file.read([key(1)])).toEqual(new Map())
    await file.write(some(1, 2))
    await file.write(some(3))
    for (const reader of [file, createVectorFile(path)])
      expect(await reader.read([1, 3, 4].map(key))).toEqual(some(1, 3))
  })

  it('R61 sees what another process adds', async () => {
    const [one, two] = [createVectorFile(path), createVectorFile(path)]
    await one.write(some(1))
    expect(await two.read([key(1)])).toEqual(some(1))
    await one.write(some(2))
    expect(await two.read([key(2)])).toEqual(some(2))
  })

  it('R61 loses nothing when many write at once', async () => {
    const all = Array.from({ length: 40 }, (_, n) => n)
    await Promise.all(all.map((n) => createVectorFile(path).write(some(n))))
    expect(await createVectorFile(path).read(all.map(key))).toEqual(some(...all))
  })

  it.each([
    ['cut in the middle of a line', async () => truncate(path, (await stat(path)).size - 9)],
    ['ends in noise', () => appendFile(path, Buffer.from([0, 255, 10, 13, 200]))],
    ['starts with noise', async () => writeFile(path, Buffer.concat([Buffer.alloc(5_000, 7), await readFile(path)]))],
    ['has a wrong byte', async () => writeFile(path, (await readFile(path, 'latin1')).replace(/(?<=0003 )./, 'B'))],
  ])('R61 keeps the other vectors if it is damaged: %s', async (_, damage) => {
    await createVectorFile(path).write(some(1, 2, 3))
    await damage()
    const file = createVectorFile(path)
    const found = await file.read([1, 2, 3].map(key))
    expect([...found.keys()]).toEqual(expect.arrayContaining([key(1), key(2)]))
    for (const [name, bytes] of found) expect(bytes).toEqual(vector(Number.parseInt(name, 16)))
    await file.write(some(3, 4))
    expect(await createVectorFile(path).read([1, 2, 3, 4].map(key))).toEqual(some(1, 2, 3, 4))
  })

  it('R61 is empty if it contains anything else', async () => {
    await mkdir(join(folder, 'a/new/folder'), { recursive: true })
    await writeFile(path, `${'x'.repeat(100_000)}\n{"__proto__":1}\n`)
    expect(await createVectorFile(path).read([key(1), '__proto__'])).toEqual(new Map())
  })

  it('R61 starts over with what is in use when it is too large, and leaves no other file', async () => {
    const file = createVectorFile(path)
    await file.write(some(1, 2))
    await appendFile(path, `${'y'.repeat(200)}\n`.repeat(MAX_VECTOR_FILE_BYTES / 200))
    await file.write(some(3))
    expect((await stat(path)).size).toBeLessThan(1_000)
    expect(await createVectorFile(path).read([1, 2, 3].map(key))).toEqual(some(1, 2, 3))
    expect(await readdir(join(folder, 'a/new/folder'))).toEqual(['vectors'])
  })

  it('R61 rejects if it cannot be written or is a folder', async () => {
    await mkdir(path, { recursive: true })
    await expect(createVectorFile(path).read([key(1)])).rejects.toThrow('EISDIR')
    await expect(createVectorFile(path).write(some(1))).rejects.toThrow('EISDIR')
    await expect(createVectorFile('/dev/full').write(some(1))).rejects.toThrow('ENOSPC')
  })
})
