import { execFileSync } from 'node:child_process'
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { filesystemSuite, refusal } from '../testing/filesystem-suite.ts'
import { FilesystemError, type Filesystem } from './filesystem.ts'
import { createMemoryFilesystem } from './memory-filesystem.ts'
import { createHostFilesystem } from './host-filesystem.ts'
import { startCpuClock } from '../core/cpu.fixtures.ts'

const made: string[] = []
afterAll(async () => {
  for (const folder of made) await rm(folder, { recursive: true, force: true })
})

interface Place {
  readonly files: Filesystem
  readonly root: string
  /** A folder beside the root that nothing may touch. It holds `secret.txt` and `deep/secret.txt`. */
  readonly beside: string
  /**
   * Contains both folders, and is nested so deeply in the temporary folder that a few extra `..` would still stay
   * inside it.
   */
  readonly around: string
}

async function createPlace(): Promise<Place> {
  const base = await mkdtemp(join(tmpdir(), 'foldout-'))
  made.push(base)
  const around = join(base, '1/2/3/4/5')
  const root = join(around, 'root')
  const beside = join(around, 'root-beside')
  await mkdir(root, { recursive: true })
  await mkdir(join(beside, 'deep'), { recursive: true })
  await writeFile(join(beside, 'secret.txt'), 'secret')
  await writeFile(join(beside, 'deep/secret.txt'), 'secret')
  return { files: createHostFilesystem(root), root, beside, around }
}

const empty = async (): Promise<Filesystem> => (await createPlace()).files

/** Maps everything below a folder, without following links. */
async function picture(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const place = relative(folder, path)
    if (entry.isSymbolicLink()) found[place] = `-> ${await readlink(path)}`
    else if (entry.isFile()) found[place] = await readFile(path, 'utf8')
    else found[place] = '/'
  }
  return found
}

const SECRETS = { 'secret.txt': 'secret', deep: '/', 'deep/secret.txt': 'secret' }

filesystemSuite('hostFilesystem', empty)

describe('hostFilesystem', () => {
  it('R19 rejects a root that does not exist or is a file', async () => {
    const { root, beside } = await createPlace()
    const missing = join(root, 'missing')
    expect(() => createHostFilesystem(missing)).toThrow(
      `The root '${missing}' does not exist. Pass an existing folder to createHostFilesystem().`,
    )
    const file = join(beside, 'secret.txt')
    expect(() => createHostFilesystem(file)).toThrow(
      `The root '${file}' is not a folder. Pass an existing folder to createHostFilesystem().`,
    )
    expect(() => createHostFilesystem(file)).toThrow(FilesystemError)
  })

  it('R19 reports that the root was removed in the meantime', async () => {
    const { files, root } = await createPlace()
    await rm(root, { recursive: true })
    expect(await refusal(files.list(''))).toEqual([
      'not-found',
      'The root does not exist. List the folder it should be in to see what is there.',
    ])
  })

  it('R19 has no transactions, because other programs see host files at once', async () => {
    expect((await empty()).begin).toBeUndefined()
  })

  it('R19 accepts a root that is a link', async () => {
    const { root, around } = await createPlace()
    await symlink('root', join(around, 'link-to-root'))
    await createHostFilesystem(join(around, 'link-to-root')).write('a/b', 'x')
    expect(await picture(root)).toEqual({ a: '/', 'a/b': 'x' })
  })

  describe('links that lead out', () => {
    async function withLinks(): Promise<Place> {
      const place = await createPlace()
      const { root, beside } = place
      await mkdir(join(root, 'in'))
      await writeFile(join(root, 'in/plain.txt'), 'plain')
      await symlink(beside, join(root, 'folder'))
      await symlink('../root-beside/secret.txt', join(root, 'file'))
      await symlink('../../root-beside/deep', join(root, 'in/folder'))
      await symlink('../root-beside/new.txt', join(root, 'dangling'))
      await symlink(join(beside, 'no/such/folder'), join(root, 'dangling-folder'))
      await symlink('dangling', join(root, 'dangling-twice'))
      await symlink('in/../../root-beside/new.txt', join(root, 'winding'))
      await symlink('..', join(root, 'up'))
      return place
    }

    const leadingOut = [
      'folder',
      'folder/secret.txt',
      'folder/deep/secret.txt',
      'folder/new.txt',
      'folder/new/new.txt',
      'file',
      'file/below',
      'in/folder',
      'in/folder/secret.txt',
      'dangling',
      'dangling/below',
      'dangling-folder',
      'dangling-folder/new.txt',
      'dangling-twice',
      'winding',
      'up',
      'up/root-beside/secret.txt',
      'up/root-beside/new.txt',
    ]

    it.each(leadingOut)('R19 are not read, written, listed or examined: %s', async (path) => {
      const { files, root, beside } = await withLinks()
      const before = await picture(root)
      const out = ['outside', `'${path}' leads out of the root through a link. Use a path inside the root.`]
      expect(await refusal(files.read(path))).toEqual(out)
      expect(await refusal(files.write(path, 'x'))).toEqual(out)
      expect(await refusal(files.list(path))).toEqual(out)
      expect(await refusal(files.stat(path))).toEqual(out)
      expect(await picture(beside)).toEqual(SECRETS)
      expect(await picture(root)).toEqual(before)
    })

    it('R19 are followed if they lead up and back in', async () => {
      const { files } = await withLinks()
      expect(await files.read('up/root/in/plain.txt')).toBe('plain')
    })

    it.each(leadingOut.filter((path) => path.includes('/') && path !== 'in/folder'))(
      'R19 do not let a removal through: %s',
      async (path) => {
        const { files, beside } = await withLinks()
        expect((await refusal(files.remove(path)))[0]).toBe('outside')
        expect(await picture(beside)).toEqual(SECRETS)
      },
    )

    it.each(['folder', 'file', 'in/folder', 'dangling', 'dangling-folder', 'up'])(
      'R19 are removed without their targets: %s',
      async (path) => {
        const { files, root, beside } = await withLinks()
        await files.remove(path)
        await expect(lstat(join(root, path))).rejects.toThrow('ENOENT')
        expect(await picture(beside)).toEqual(SECRETS)
      },
    )

    it('R19 are removed with their folder, without their targets', async () => {
      const { files, root, beside } = await withLinks()
      await files.remove('in')
      await expect(lstat(join(root, 'in'))).rejects.toThrow('ENOENT')
      expect(await picture(beside)).toEqual(SECRETS)
    })

    it('R19 are left out of lists', async () => {
      const { files } = await withLinks()
      expect(await files.list('')).toEqual([{ path: 'in', kind: 'folder', size: 0 }])
      expect(await files.list('in')).toEqual([{ path: 'in/plain.txt', kind: 'file', size: 5 }])
    })
  })

  describe('links that stay inside', () => {
    it('R19 are followed, marked as links, and written through', async () => {
      const { files, root } = await createPlace()
      await files.write('real/a.txt', 'one')
      await symlink('real', join(root, 'folder'))
      await symlink('real/a.txt', join(root, 'file'))
      expect(await files.list('')).toEqual([
        { path: 'file', kind: 'file', size: 3, link: true },
        { path: 'folder', kind: 'folder', size: 0, link: true },
        { path: 'real', kind: 'folder', size: 0 },
      ])
      expect(await files.stat('folder')).toEqual({ path: 'folder', kind: 'folder', size: 0, link: true })
      expect(await files.stat('folder/a.txt')).toEqual({ path: 'folder/a.txt', kind: 'file', size: 3 })
      await files.write('file', 'two')
      await files.write('folder/b/c.txt', 'three')
      expect(await picture(root)).toEqual({
        file: '-> real/a.txt',
        folder: '-> real',
        real: '/',
        'real/a.txt': 'two',
        'real/b': '/',
        'real/b/c.txt': 'three',
      })
    })

    it('R19 lead to a folder that is removed with its last file', async () => {
      const { files, root } = await createPlace()
      await files.write('real/a/f', '')
      await symlink('real/a', join(root, 'link'))
      await files.remove('link/f')
      expect(await picture(root)).toEqual({ link: '-> real/a' })
    })

    it('R19 are followed to create a missing target', async () => {
      const { files, root } = await createPlace()
      await symlink('not/yet.txt', join(root, 'link'))
      expect(await files.stat('link')).toBeUndefined()
      expect(await files.list('')).toEqual([])
      await files.write('link', 'x')
      expect(await picture(root)).toEqual({ link: '-> not/yet.txt', not: '/', 'not/yet.txt': 'x' })
    })

    it.each([
      ['self', 'self'],
      ['winding', 'missing/../winding'],
    ])('R19 do not loop if they lead to themselves: %s', async (name, target) => {
      const { files, root } = await createPlace()
      await symlink(target, join(root, name))
      expect(await refusal(files.read(name))).toEqual(['failed', `'${name}' could not be read (ELOOP).`])
      expect(await refusal(files.write(name, 'x'))).toEqual(['failed', `'${name}' could not be written (ELOOP).`])
      expect(await files.list('')).toEqual([])
      await files.remove(name)
      expect(await picture(root)).toEqual({})
    })
  })

  it('R19 replaces a file in one step and leaves nothing behind', async () => {
    const { files, root } = await createPlace()
    const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(200_000))
    await files.write('f', texts[0]!)
    const seen = new Set<string>()
    const writing = Array.from({ length: 30 }, (_, index) => files.write('f', texts[index % 3]!))
    for (const write of writing) {
      seen.add(await readFile(join(root, 'f'), 'utf8'))
      await write
    }
    expect(texts).toEqual(expect.arrayContaining([...seen]))
    expect(await readdir(root)).toEqual(['f'])
  })

  it('R19 leaves the old file and nothing else when a write fails', async () => {
    const { files, root } = await createPlace()
    const long = 'x'.repeat(300)
    expect(await refusal(files.write(`a/${long}`, 'x'))).toEqual([
      'failed',
      `'a/${long}' could not be written (ENAMETOOLONG).`,
    ])
    expect(await picture(root)).toEqual({})
  })

  it('R19 does not show a file that is being written', async () => {
    const { files, root } = await createPlace()
    await writeFile(join(root, '.foldout-123e4567-e89b-12d3-a456-426614174000.tmp'), 'half')
    expect(await files.list('')).toEqual([])
  })

  it('R19 keeps the mode of a file it replaces', async () => {
    const { files, root } = await createPlace()
    await files.write('run.sh', 'one')
    await chmod(join(root, 'run.sh'), 0o751)
    await files.write('run.sh', 'two')
    expect((await stat(join(root, 'run.sh'))).mode & 0o777).toBe(0o751)
  })

  it('R19 rejects binary files, so no edit can corrupt them', async () => {
    const { files, root } = await createPlace()
    await writeFile(join(root, 'image.png'), new Uint8Array([0x89, 0x50, 0xff, 0xfe]))
    expect(await refusal(files.read('image.png'))).toEqual([
      'failed',
      "'image.png' is not a text file in UTF-8 and cannot be read.",
    ])
  })

  it.skipIf(process.platform === 'win32')('R19 rejects pipes, which would never end', async () => {
    const { files, root } = await createPlace()
    execFileSync('mkfifo', [join(root, 'pipe')])
    const sentence = ['failed', "'pipe' is neither a file nor a folder and cannot be used."]
    expect(await refusal(files.read('pipe'))).toEqual(sentence)
    expect(await refusal(files.write('pipe', 'x'))).toEqual(sentence)
    expect(await files.list('')).toEqual([])
  })

  it.skipIf(process.platform === 'win32')('R19 leaves out names that no path can contain', async () => {
    const { files, root } = await createPlace()
    for (const name of ['a\\b', 'C:', 'good']) await writeFile(join(root, name), '')
    expect((await files.list('')).map((entry) => entry.path)).toEqual(['good'])
  })

  it('R19 does not reveal where the root is', async () => {
    const { files, root } = await createPlace()
    const long = 'x'.repeat(300)
    for (const operation of ['read', 'list', 'stat', 'remove'] as const) {
      const [reason, sentence] = await refusal(files[operation](long))
      expect(reason).toBe('failed')
      expect(sentence).not.toContain(root)
    }
  })
})

type Operation =
  | { readonly do: 'write'; readonly path: string; readonly text: string }
  | { readonly do: 'read' | 'list' | 'stat' | 'remove'; readonly path: string }

/** The result of an operation, or how it was rejected. */
async function outcome(files: Filesystem, operation: Operation): Promise<unknown> {
  try {
    if (operation.do === 'write') return await files.write(operation.path, operation.text)
    return await files[operation.do](operation.path)
  } catch (error) {
    if (!(error instanceof FilesystemError)) throw error
    return { path: error.path, reason: error.reason, message: error.message }
  }
}

function operations(path: fc.Arbitrary<string>): fc.Arbitrary<Operation[]> {
  // No text is six bytes long, so that length identifies the secret.
  const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 1 }), fc.constantFrom('\ufeff', 'a\r\nb', 'x\udc00'))
  return fc.array(
    fc.oneof(
      fc.record({ do: fc.constant('write' as const), path, text }),
      fc.record({ do: fc.constantFrom('read' as const, 'list' as const, 'stat' as const, 'remove' as const), path }),
    ),
    { maxLength: 25 },
  )
}

describe('hostFilesystem under any operations', () => {
  it('R19 touches nothing outside the root', async () => {
    const { files, root, beside, around } = await createPlace()
    const parts = fc.constantFrom(
      '..',
      '.',
      '',
      'a',
      'b',
      'out',
      'up',
      'new',
      'root',
      'root-beside',
      'deep',
      'secret.txt',
    )
    const hostile = fc.oneof(
      fc.array(parts, { minLength: 1, maxLength: 4 }).map((chosen) => chosen.join('/')),
      fc.array(parts, { minLength: 1, maxLength: 4 }).map((chosen) => chosen.join('\\')),
      fc.constantFrom(beside, `${beside}/secret.txt`, `${root}/../root-beside/new`, `file://${beside}/secret.txt`),
      fc.constantFrom('..\0', '../root-beside\0', 'a/..', '%2e%2e/root-beside/new', '..;/root-beside/new', '~/x'),
      fc.string({ unit: 'binary', maxLength: 6 }).filter((text) => !text.startsWith('/') && !text.startsWith('..')),
    )
    await fc.assert(
      fc.asyncProperty(operations(hostile), async (sequence) => {
        await rm(root, { recursive: true })
        await mkdir(join(root, 'a'), { recursive: true })
        await symlink(beside, join(root, 'out'))
        await symlink('../root-beside/new', join(root, 'new'))
        await symlink('../../root-beside/deep', join(root, 'a/deep'))
        await symlink('..', join(root, 'up'))
        for (const operation of sequence) {
          expect(JSON.stringify(await outcome(files, operation)) ?? '').not.toMatch(/^"secret"$|"size":6/)
        }
        expect(await picture(beside)).toEqual(SECRETS)
        expect(await readdir(around)).toEqual(['root', 'root-beside'])
      }),
      { numRuns: 150 },
    )
  }, 60_000)

  it('R19 gives the same results as files in memory', async () => {
    const { files, root } = await createPlace()
    const path = fc.oneof(
      fc.constantFrom('a', 'b', 'a/b', 'a/b/c', 'a/c', 'b/c', 'b/c/d', './a', 'a/./b', '', '.'),
      fc.constantFrom('a/', 'a//b', '../a', '/a', 'a\\b', 'C:a', 'a/..', '\0', '__proto__'),
    )
    await fc.assert(
      fc.asyncProperty(operations(path), async (sequence) => {
        await rm(root, { recursive: true })
        await mkdir(root)
        const memory = createMemoryFilesystem()
        for (const operation of [...sequence, { do: 'list', path: '' } as const]) {
          expect(await outcome(files, operation)).toEqual(await outcome(memory, operation))
        }
      }),
      { numRuns: 150 },
    )
  }, 60_000)
})

describe('R19 large and odd host files', () => {
  it('R19 reads lines of a large file without loading it', async () => {
    const { files, root } = await createPlace()
    await writeFile(join(root, 'large.txt'), `first\n${'x'.repeat(60_000_000)}\r\nthird ü\n`)
    const before = process.memoryUsage().rss
    const range = { maxLines: 10, maxBytes: 1_000 }
    expect(await files.readLines?.('large.txt', { ...range, first: 1, last: 1 })).toEqual({
      lines: ['first'],
      total: 3,
    })
    expect(await files.readLines?.('large.txt', { ...range, first: 3 })).toEqual({ lines: ['third ü'], total: 3 })
    expect(await files.readLines?.('large.txt', { ...range, first: 4 })).toEqual({ lines: [], total: 3 })
    const cut = await files.readLines?.('large.txt', { ...range, first: 2 })
    expect(cut).toEqual({ lines: ['x'.repeat(1_000)], total: 3, cutLineBytes: 60_000_001 })
    expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000)
    expect(await refusal(files.read('large.txt'))).toEqual([
      'failed',
      "'large.txt' has 60000017 bytes and cannot be read as a whole; at most 50000000 can. Read some of its lines with start_line and end_line.",
    ])
  })

  it('R19 returns the same lines as a read of the whole file, for any range', async () => {
    const { files, root } = await createPlace()
    const line = fc.string({ unit: fc.constantFrom('a', 'ü', '😀', '\r', ' '), maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 6 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 7 }),
        async (lines, isEnded, first, last) => {
          const text = lines.join('\n') + (isEnded && lines.length > 0 ? '\n' : '')
          await writeFile(join(root, 'f'), text)
          const all = text.split('\n')
          if (all.at(-1) === '') all.pop()
          const found = await files.readLines?.('f', { first, last, maxLines: 3, maxBytes: 1_000 })
          const expected = all.slice(first - 1, last).slice(0, 3)
          expect(found).toEqual({ lines: expected.map((one) => one.replace(/\r$/, '')), total: all.length })
        },
      ),
      { numRuns: 150 },
    )
  })

  it('R19 does not follow a link that replaces a file or one of its parent folders', async () => {
    const { files, root, beside } = await createPlace()
    await mkdir(join(root, 'folder'))
    await writeFile(join(root, 'folder/secret.txt'), 'mine')
    const swapping = new AbortController()
    // Files written in the meantime may be in the way.
    const swapOnce = async (): Promise<void> => {
      await rm(join(root, 'folder'), { recursive: true, force: true })
      await symlink(join(beside, 'deep'), join(root, 'folder'))
      await rm(join(root, 'folder'), { recursive: true, force: true })
      await mkdir(join(root, 'folder'))
      await writeFile(join(root, 'folder/secret.txt'), 'mine')
    }
    const swap = async (): Promise<void> => {
      while (!swapping.signal.aborted) await swapOnce().catch(() => undefined)
    }
    const swapped = swap()
    const seen = new Set<string>()
    for (let round = 0; round < 400; round++) {
      seen.add(
        await files
          .read('folder/secret.txt')
          .catch((error: unknown) => (error instanceof FilesystemError ? 'refused' : 'other')),
      )
      await files.write('folder/secret.txt', 'mine').catch(() => undefined)
    }
    swapping.abort()
    await swapped
    expect([...seen].filter((text) => text !== 'mine' && text !== 'refused' && text !== '')).toEqual([])
    expect(await readFile(join(beside, 'deep/secret.txt'), 'utf8')).not.toBe('mine')
  })

  it('R19 lists many files in one go', async () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`folder/f${index}`, '']))
    const getCpuMs = startCpuClock()
    const files = createMemoryFilesystem(many)
    expect(await files.list('folder')).toHaveLength(50_000)
    expect(getCpuMs()).toBeLessThan(2_000)
  })
})
