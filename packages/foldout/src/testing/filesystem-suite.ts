import { describe, expect, it } from 'vitest'
import { FilesystemError, type Filesystem, type FilesystemErrorReason } from '../files/filesystem.ts'

/** Returns the reason and the message with which a filesystem rejected something. */
export async function refusal(work: Promise<unknown>): Promise<readonly [FilesystemErrorReason, string]> {
  try {
    await work
  } catch (error) {
    if (error instanceof FilesystemError) return [error.reason, error.message]
    throw error
  }
  throw new Error('The filesystem did not reject it.')
}

/**
 * Tests the required behavior of every filesystem, on vitest. `create` returns an empty filesystem each time.
 *
 * @example
 * ```ts
 * filesystemSuite('createMemoryFilesystem', () => createMemoryFilesystem())
 * ```
 */
export function filesystemSuite(name: string, create: () => Filesystem | Promise<Filesystem>): void {
  describe(`R19 ${name} as a filesystem`, () => {
    it('R19 returns written text unchanged', async () => {
      const files = await create()
      const texts = ['', 'plain\n', 'a\r\nb', '\ufeffmark', 'ünï – 👩‍👩‍👧', '\0', '${x} $& $1']
      for (const [index, text] of texts.entries()) await files.write(`${index}.txt`, text)
      for (const [index, text] of texts.entries()) expect(await files.read(`${index}.txt`)).toBe(text)
    })

    it('R19 writes a lone surrogate as the replacement character', async () => {
      const files = await create()
      await files.write('a', 'x\ud83d')
      expect(await files.read('a')).toBe('x\ufffd')
    })

    it('R19 replaces a file, and creates missing parent folders', async () => {
      const files = await create()
      await files.write('a/b/c.txt', 'one')
      await files.write('a/b/c.txt', 'two')
      expect(await files.read('a/b/c.txt')).toBe('two')
      expect(await files.stat('a/b')).toEqual({ path: 'a/b', kind: 'folder', size: 0 })
    })

    it('R19 reports sizes in bytes', async () => {
      const files = await create()
      await files.write('ü.txt', 'ü€😀')
      expect(await files.stat('ü.txt')).toEqual({ path: 'ü.txt', kind: 'file', size: 9 })
    })

    it('R19 lists the direct contents of a folder, sorted by code units', async () => {
      const files = await create()
      for (const path of ['b.txt', 'a/x/deep.txt', 'a/y.txt', 'a.txt', 'B.txt', '.hidden', 'a-b']) {
        await files.write(path, '12')
      }
      expect((await files.list('')).map((entry) => entry.path)).toEqual([
        '.hidden',
        'B.txt',
        'a',
        'a-b',
        'a.txt',
        'b.txt',
      ])
      expect(await files.list('a')).toEqual([
        { path: 'a/x', kind: 'folder', size: 0 },
        { path: 'a/y.txt', kind: 'file', size: 2 },
      ])
    })

    it('R19 ignores . in paths, and treats an empty path or . as the root', async () => {
      const files = await create()
      await files.write('./a/./b', 'x')
      expect(await files.read('a/b')).toBe('x')
      expect(await files.list('.')).toEqual(await files.list(''))
      expect(await files.stat('.')).toEqual({ path: '', kind: 'folder', size: 0 })
    })

    it('R19 says that a missing file does not exist', async () => {
      const files = await create()
      await files.write('file', '')
      const sentence = (path: string) =>
        ['not-found', `'${path}' does not exist. List the folder it should be in to see what is there.`] as const
      for (const path of ['x', 'x/y', 'file/x', 'file/x/y']) {
        expect(await files.stat(path)).toBeUndefined()
        expect(await refusal(files.read(path))).toEqual(sentence(path))
        expect(await refusal(files.list(path))).toEqual(sentence(path))
        expect(await refusal(files.remove(path))).toEqual(sentence(path))
      }
    })

    it('R19 distinguishes files from folders', async () => {
      const files = await create()
      await files.write('folder/file', 'kept')
      const folder = ['is-folder', "'folder' is a folder, not a file. Give the path of a file."]
      expect(await refusal(files.read('folder'))).toEqual(folder)
      expect(await refusal(files.write('folder', 'x'))).toEqual(folder)
      const root = ['is-folder', 'The root is a folder, not a file. Give the path of a file.']
      expect(await refusal(files.read(''))).toEqual(root)
      expect(await refusal(files.write('', 'x'))).toEqual(root)
      expect(await refusal(files.list('folder/file'))).toEqual([
        'not-folder',
        "'folder/file' is a file, not a folder. Give the path of a folder.",
      ])
      for (const path of ['folder/file/x', 'folder/file/x/y']) {
        expect(await refusal(files.write(path, 'x'))).toEqual([
          'not-folder',
          `'${path}' cannot be written: 'folder/file' is a file, not a folder. Choose another path.`,
        ])
      }
      expect(await files.read('folder/file')).toBe('kept')
    })

    it('R19 removes a file, and the folders that become empty', async () => {
      const files = await create()
      await files.write('a/b/c', '')
      await files.write('a/d', '')
      await files.remove('a/b/c')
      expect(await files.stat('a/b')).toBeUndefined()
      expect((await files.list('a')).map((entry) => entry.path)).toEqual(['a/d'])
      await files.remove('a/d')
      expect(await files.list('')).toEqual([])
      await files.write('a', 'a file now')
      expect(await files.read('a')).toBe('a file now')
    })

    it('R19 removes a folder with everything in it', async () => {
      const files = await create()
      for (const path of ['a/b/c', 'a/b/d/e', 'a/f']) await files.write(path, '')
      await files.remove('a/b')
      expect((await files.list('a')).map((entry) => entry.path)).toEqual(['a/f'])
    })

    it('R19 does not remove the root', async () => {
      const files = await create()
      await files.write('a', '')
      for (const path of ['', '.']) {
        expect(await refusal(files.remove(path))).toEqual([
          'invalid-path',
          'The root cannot be removed. Remove its contents.',
        ])
      }
      expect(await files.read('a')).toBe('')
    })

    const absolute = (path: string) =>
      `'${path}' is an absolute path. Give it relative to the root, as in 'folder/file.txt'.`
    it.each([
      ['the parent', '..', "'..' has a '..' in it. Give the path from the root down."],
      ['.. inside', 'a/../b', "'a/../b' has a '..' in it. Give the path from the root down."],
      ['an absolute path', '/etc/x', absolute('/etc/x')],
      ['a network path', '//host/x', absolute('//host/x')],
      ['a path on a drive', 'C:x', absolute('C:x')],
      ['an absolute path on a drive', 'c:/x', absolute('c:/x')],
      ['a backslash', '..\\x', "'..\\x' has a backslash. Separate the parts of a path with '/'."],
      ['an empty part', 'a//b', "'a//b' has an empty part. Separate parts with one '/', and end without one."],
      ['an empty last part', 'a/', "'a/' has an empty part. Separate parts with one '/', and end without one."],
      ['a NUL', 'a\0b', 'A path cannot contain a NUL character.'],
      ['half a surrogate pair', 'a\ud800', 'A path must be well-formed Unicode.'],
      ['too long a path', 'a'.repeat(1025), 'A path can have at most 1024 characters.'],
    ])('R19 refuses %s', async (_, path, sentence) => {
      const files = await create()
      for (const work of [
        files.read(path),
        files.write(path, 'x'),
        files.list(path),
        files.stat(path),
        files.remove(path),
      ]) {
        expect(await refusal(work)).toEqual(['invalid-path', sentence])
      }
      expect(await files.list('')).toEqual([])
    })

    it('R19 accepts names that only look dangerous', async () => {
      const files = await create()
      for (const path of ['...', '..a', 'a..', '~', '__proto__', 'constructor', ' ', '*', '%2e%2e/x']) {
        await files.write(path, path)
        expect(await files.read(path)).toBe(path)
      }
    })

    it('R19 keeps concurrent changes', async () => {
      const files = await create()
      await files.write('a/0', '')
      const names = Array.from({ length: 20 }, (_, index) => `${index + 1}`)
      await Promise.all([...names.map((name) => files.write(`a/${name}`, name)), files.remove('a/0')])
      expect((await files.list('a')).map((entry) => entry.path)).toEqual(names.map((name) => `a/${name}`).sort())
    })

    it('R19 writes to a folder while its last file is being removed', async () => {
      const files = await create()
      const removeLater = async (steps: number): Promise<void> => {
        for (let step = 0; step < steps; step++) await files.stat('')
        await files.remove('a/old')
      }
      for (let round = 0; round < 60; round++) {
        await files.write('a/old', '')
        await Promise.all([files.write('a/new', `${round}`), removeLater(round % 4)])
        expect(await files.read('a/new')).toBe(`${round}`)
        await files.remove('a/new')
      }
      expect(await files.list('')).toEqual([])
    })
  })
}
