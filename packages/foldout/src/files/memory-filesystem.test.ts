import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { filesystemSuite, refusal } from '../testing/filesystem-suite.ts'
import type { Filesystem, FilesystemTransaction } from './filesystem.ts'
import { createMemoryFilesystem } from './memory-filesystem.ts'

filesystemSuite('memoryFilesystem', () => createMemoryFilesystem())
filesystemSuite('a transaction of createMemoryFilesystem', () => begin(createMemoryFilesystem()).filesystem)

function begin(files: Filesystem): FilesystemTransaction {
  return files.begin!()
}

/** Every file with its text. */
async function contents(files: Filesystem, folder = ''): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const { kind, path } of await files.list(folder)) {
    if (kind === 'file') found[path] = await files.read(path)
    else Object.assign(found, await contents(files, path))
  }
  return found
}

describe('memoryFilesystem', () => {
  it('R19 starts with the given files', async () => {
    expect(await contents(createMemoryFilesystem({ './a/b': 'x', c: 'y' }))).toEqual({ 'a/b': 'x', c: 'y' })
  })

  it('R19 rejects files that cannot coexist', () => {
    expect(() => createMemoryFilesystem({ a: '', 'a/b': '' })).toThrow(
      "'a/b' cannot be written: 'a' is a file, not a folder. Choose another path.",
    )
    expect(() => createMemoryFilesystem({ '../a': '' })).toThrow("'../a' has a '..' in it.")
  })
})

describe('transactions of createMemoryFilesystem', () => {
  it('R20 shows changes inside at once, and outside when committed', async () => {
    const files = createMemoryFilesystem({ old: '1', gone: '2' })
    const { filesystem, commit } = begin(files)
    await filesystem.write('new/x', '3')
    await filesystem.write('old', '4')
    await filesystem.remove('gone')
    expect(await contents(filesystem)).toEqual({ 'new/x': '3', old: '4' })
    expect(await contents(files)).toEqual({ old: '1', gone: '2' })
    commit()
    expect(await contents(files)).toEqual({ 'new/x': '3', old: '4' })
  })

  it('R20 forgets everything when abandoned', async () => {
    const files = createMemoryFilesystem({ 'a/b': '1', c: '2' })
    const { filesystem, abandon } = begin(files)
    await filesystem.remove('a')
    await filesystem.write('c', 'x')
    await filesystem.write('a', 'a file')
    abandon()
    expect(await contents(files)).toEqual({ 'a/b': '1', c: '2' })
  })

  it('R20 shows the files as they were when it began', async () => {
    const files = createMemoryFilesystem({ a: '1' })
    const { filesystem } = begin(files)
    await files.write('a', '2')
    await files.write('b', '2')
    expect(await contents(filesystem)).toEqual({ a: '1' })
  })

  it('R20 commits concurrently without undoing other changes', async () => {
    const files = createMemoryFilesystem({ 'f/a': '0', 'f/b': '0', 'f/c': '0' })
    const one = begin(files)
    const two = begin(files)
    const three = begin(files)
    await one.filesystem.write('f/a', '1')
    await two.filesystem.remove('f/b')
    await two.filesystem.write('f/d', '2')
    await three.filesystem.remove('f')
    two.commit()
    three.abandon()
    one.commit()
    expect(await contents(files)).toEqual({ 'f/a': '1', 'f/c': '0', 'f/d': '2' })
  })

  it('R20 removes only the files that a folder had at the time', async () => {
    const files = createMemoryFilesystem({ 'f/a': '' })
    const one = begin(files)
    const two = begin(files)
    await one.filesystem.remove('f')
    await two.filesystem.write('f/b', '')
    two.commit()
    one.commit()
    expect(await contents(files)).toEqual({ 'f/b': '' })
  })

  it('R20 lets the later of two blind writes win', async () => {
    const files = createMemoryFilesystem()
    const one = begin(files)
    const two = begin(files)
    await one.filesystem.write('a', '1')
    expect(await one.filesystem.read('a')).toBe('1')
    await two.filesystem.write('a', '2')
    two.commit()
    one.commit()
    expect(await contents(files)).toEqual({ a: '1' })
  })

  it('R20 refuses to commit over a change to a file it has read, and changes nothing', async () => {
    const files = createMemoryFilesystem({ a: '0', b: '0' })
    const one = begin(files)
    const two = begin(files)
    for (const { filesystem } of [one, two]) await filesystem.write('a', `${await filesystem.read('a')}+1`)
    await two.filesystem.write('b', '2')
    one.commit()
    expect(await refusal((async () => two.commit())())).toEqual([
      'failed',
      "'a' was changed by another call at the same time, so this change was not made. Read it again and repeat the change.",
    ])
    expect(await contents(files)).toEqual({ a: '0+1', b: '0' })
    two.abandon()
  })

  it('R20 commits even if files that were only read have changed', async () => {
    const files = createMemoryFilesystem({ a: '0' })
    const one = begin(files)
    await one.filesystem.read('a')
    await one.filesystem.write('b', '1')
    await files.write('a', '2')
    one.commit()
    expect(await contents(files)).toEqual({ a: '2', b: '1' })
  })

  it('R20 refuses to commit a file over a new folder, and vice versa', async () => {
    const files = createMemoryFilesystem()
    const one = begin(files)
    const two = begin(files)
    const three = begin(files)
    await one.filesystem.write('a/b', '')
    await two.filesystem.write('a', '')
    await three.filesystem.write('a/b/c', '')
    one.commit()
    expect(() => two.commit()).toThrow("'a' is a folder, not a file.")
    expect(() => three.commit()).toThrow("'a/b/c' cannot be written: 'a/b' is a file, not a folder.")
    expect(await contents(files)).toEqual({ 'a/b': '' })
  })

  it('R20 commits a folder in place of a file, and a file in place of a folder', async () => {
    const files = createMemoryFilesystem({ a: '1', 'b/c': '2' })
    const { filesystem, commit } = begin(files)
    await filesystem.remove('a')
    await filesystem.write('a/x', '3')
    await filesystem.remove('b')
    await filesystem.write('b', '4')
    commit()
    expect(await contents(files)).toEqual({ 'a/x': '3', b: '4' })
  })

  it('R20 nests', async () => {
    const files = createMemoryFilesystem({ a: '0' })
    const outer = begin(files)
    await outer.filesystem.write('b', '1')
    const kept = begin(outer.filesystem)
    await kept.filesystem.write('c', `${await kept.filesystem.read('b')}2`)
    kept.commit()
    const dropped = begin(outer.filesystem)
    await dropped.filesystem.remove('a')
    dropped.abandon()
    expect(await contents(outer.filesystem)).toEqual({ a: '0', b: '1', c: '12' })
    expect(await contents(files)).toEqual({ a: '0' })
    outer.commit()
    expect(await contents(files)).toEqual({ a: '0', b: '1', c: '12' })
  })

  it('R20 tracks in the outer transaction the files that a nested one has read and changed', async () => {
    const files = createMemoryFilesystem({ a: '0' })
    const outer = begin(files)
    const inner = begin(outer.filesystem)
    await inner.filesystem.write('a', `${await inner.filesystem.read('a')}1`)
    inner.commit()
    await files.write('a', 'changed')
    expect(() => outer.commit()).toThrow("'a' was changed by another call at the same time")
  })

  it('R20 ends once, and accepts no changes after that', async () => {
    const files = createMemoryFilesystem({ a: '0' })
    const transaction = begin(files)
    const inner = begin(transaction.filesystem)
    transaction.commit()
    const ended =
      'This transaction was already committed; its files cannot be changed now. Change them in the outer filesystem.'
    await expect(transaction.filesystem.write('a', '1')).rejects.toThrow(ended)
    await expect(transaction.filesystem.remove('a')).rejects.toThrow(ended)
    expect(() => inner.commit()).toThrow(ended)
    expect(await contents(files)).toEqual({ a: '0' })
    expect(() => transaction.abandon()).toThrow('This transaction was already committed; it cannot be abandoned now.')
    expect(() => transaction.commit()).toThrow('This transaction was already committed; it cannot be committed now.')
  })

  it('R20 has the same effect when committed as outside a transaction, and none when abandoned', async () => {
    const path = fc.constantFrom('a', 'b', 'a/b', 'a/c', 'a/b/c', 'd/e/f', 'd/e')
    const change = fc.record({ path, text: fc.option(fc.string({ maxLength: 3 }), { nil: undefined }) })
    const make = async (files: Filesystem, changes: readonly { path: string; text: string | undefined }[]) => {
      for (const { path, text } of changes) {
        await (text === undefined ? files.remove(path) : files.write(path, text)).catch(() => undefined)
      }
    }
    await fc.assert(
      fc.asyncProperty(fc.array(change), fc.array(change), async (before, changes) => {
        const direct = createMemoryFilesystem()
        const files = createMemoryFilesystem()
        await make(direct, before)
        await make(files, before)
        const was = await contents(files)
        const dropped = begin(files)
        await make(dropped.filesystem, changes)
        dropped.abandon()
        expect(await contents(files)).toEqual(was)
        const kept = begin(files)
        await make(kept.filesystem, changes)
        kept.commit()
        await make(direct, changes)
        expect(await contents(files)).toEqual(await contents(direct))
      }),
    )
  })
})
