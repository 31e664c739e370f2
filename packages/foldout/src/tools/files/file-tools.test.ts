import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHostFilesystem } from '../../files/host-filesystem.ts'
import { call, hostFolder, tools } from './file-tools.fixtures.ts'
import { fileTools } from './file-tools.ts'
import { createMemoryFilesystem } from '../../files/memory-filesystem.ts'

const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('')

describe('fileTools', () => {
  it('R19 has the usual tools, or only the read-only ones', () => {
    expect(fileTools().map((tool) => tool.name)).toEqual([
      'list_files',
      'read_file',
      'write_file',
      'edit_file',
      'glob',
      'grep',
      'remove_file',
    ])
    expect(fileTools({ readOnly: true }).map((tool) => tool.name)).toEqual(['list_files', 'read_file', 'glob', 'grep'])
  })

  it('R19 describes every field and accepts no others', async () => {
    for (const { inputSchema, description } of tools.values()) {
      expect(description).not.toBe('')
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
      for (const field of Object.values(inputSchema['properties'] as object)) {
        expect(field).toEqual(expect.objectContaining({ description: expect.stringMatching(/\.$/) }))
      }
    }
    expect(await call(createMemoryFilesystem(), 'list_files', { folder: 'a' })).toContain('FAILED: Wrong arguments')
    expect(await call(createMemoryFilesystem(), 'read_file', { path: 'a', start_line: 0 })).toContain(
      'FAILED: Wrong arguments',
    )
  })

  it.each([
    ['list_files', {}],
    ['read_file', { path: 'a' }],
    ['write_file', { path: 'a', content: '' }],
    ['edit_file', { path: 'a', old_text: 'a', new_text: 'b' }],
    ['glob', { pattern: '*' }],
    ['grep', { pattern: 'a' }],
    ['remove_file', { path: 'a' }],
  ])('R19 %s reports a missing filesystem', async (name, args) => {
    expect(await call(undefined, name, args)).toBe('FAILED: No filesystem is available.')
  })

  it.each([
    ['list_files', { path: '../x' }],
    ['read_file', { path: '../x' }],
    ['write_file', { path: '../x', content: '' }],
    ['edit_file', { path: '../x', old_text: 'a', new_text: 'b' }],
    ['glob', { pattern: '../x/*' }],
    ['grep', { pattern: 'a', path: '../x' }],
    ['remove_file', { path: '../x' }],
  ])('R19 %s passes on the reason why a path is rejected', async (name, args) => {
    expect(await call(createMemoryFilesystem(), name, args)).toMatch(
      /^FAILED: '\.\.\/x' has a '\.\.' in it\. Give the path from the root down\.$/,
    )
  })
})

describe('list_files', () => {
  const files = createMemoryFilesystem({ 'src/a.ts': 'x', 'src/deep/b.ts': '', 'README.md': '12' })

  it('R19 lists a folder with paths that other tools accept', async () => {
    expect(await call(files, 'list_files', {})).toBe('README.md (2 bytes)\nsrc/')
    expect(await call(files, 'list_files', { path: 'src' })).toBe('src/a.ts (1 byte)\nsrc/deep/')
    expect(await call(files, 'list_files', { path: 'src/' })).toBe('src/a.ts (1 byte)\nsrc/deep/')
  })

  it('R19 says if a folder is empty, a file or missing', async () => {
    expect(await call(createMemoryFilesystem(), 'list_files', { path: '.' })).toBe('The root is empty.')
    const root = await hostFolder()
    await mkdir(join(root, 'a'))
    expect(await call(createHostFilesystem(root), 'list_files', { path: 'a' })).toBe("'a' is empty.")
    expect(await call(files, 'list_files', { path: 'README.md' })).toBe(
      "FAILED: 'README.md' is a file, not a folder. Give the path of a folder.",
    )
    expect(await call(files, 'list_files', { path: 'x' })).toBe(
      "FAILED: 'x' does not exist. List the folder it should be in to see what is there.",
    )
  })

  it('R19 stops at 1000 and says so', async () => {
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`f${index}`, '']))
    const lines = (await call(createMemoryFilesystem(many), 'list_files', {})).split('\n')
    expect(lines.length).toBe(1002)
    expect(lines.slice(-2)).toEqual(['', '(The first 1000 of 1001. Use glob to find the others by name.)'])
  })
})

describe('read_file', () => {
  const files = createMemoryFilesystem({
    'a.txt': 'one\ntwo\r\nthree\n',
    'no-break.txt': 'one\ntwo',
    empty: '',
    break: '\n',
    long: numbered(4500),
    wide: `${'x'.repeat(60_000)}\n${'y'.repeat(60_000)}\nend\n`,
    giant: `${'x'.repeat(99_999)}😀${'x'.repeat(50_000)}\nend`,
    exact: 'x\n'.repeat(2000),
  })
  const read = (args: Record<string, unknown>): Promise<string> => call(files, 'read_file', args)

  it('R19 returns a whole file unchanged', async () => {
    expect(await read({ path: './a.txt' })).toBe('one\ntwo\r\nthree\n')
    expect(await read({ path: 'no-break.txt' })).toBe('one\ntwo')
    expect(await read({ path: 'break' })).toBe('\n')
    expect(await read({ path: 'exact' })).toBe('x\n'.repeat(2000))
    expect(await read({ path: 'empty' })).toBe("'empty' is empty.")
    expect(await read({ path: 'empty', start_line: 3 })).toBe("'empty' is empty.")
  })

  it('R19 returns the requested lines, and says which they are', async () => {
    expect(await read({ path: 'long', start_line: 2, end_line: 3 })).toBe('long (lines 2-3 of 4500)\nline 2\nline 3')
    expect(await read({ path: 'a.txt', start_line: 3 })).toBe('a.txt (lines 3-3 of 3)\nthree')
    expect(await read({ path: 'a.txt', end_line: 1 })).toBe('a.txt (lines 1-1 of 3)\none')
    expect(await read({ path: 'no-break.txt', start_line: 1, end_line: 99 })).toBe(
      'no-break.txt (lines 1-2 of 2)\none\ntwo',
    )
  })

  it('R19 rejects lines that do not exist', async () => {
    expect(await read({ path: 'a.txt', start_line: 4 })).toBe("FAILED: 'a.txt' has 3 lines; there is no line 4.")
    expect(await read({ path: 'break', start_line: 2 })).toBe("FAILED: 'break' has 1 line; there is no line 2.")
    expect(await read({ path: 'a.txt', start_line: 3, end_line: 2 })).toBe(
      'FAILED: end_line 2 is before start_line 3. Give an end_line that is not before start_line.',
    )
  })

  it('R19 stops after 2000 lines and says how to continue', async () => {
    const first = (await read({ path: 'long' })).split('\n')
    expect(first[0]).toBe('long (lines 1-2000 of 4500; continue with start_line 2001)')
    expect(first.slice(1)).toEqual(numbered(2000).trimEnd().split('\n'))
    const second = (await read({ path: 'long', start_line: 2001, end_line: 4400 })).split('\n')
    expect(second[0]).toBe('long (lines 2001-4000 of 4500; continue with start_line 4001)')
    const third = (await read({ path: 'long', start_line: 4001 })).split('\n')
    expect(third[0]).toBe('long (lines 4001-4500 of 4500)')
  })

  it('R19 stops after 100,000 characters, between lines if possible', async () => {
    expect(await read({ path: 'wide' })).toBe(
      `wide (lines 1-1 of 3; continue with start_line 2)\n${'x'.repeat(60_000)}`,
    )
    expect(await read({ path: 'wide', start_line: 2 })).toBe(`wide (lines 2-3 of 3)\n${'y'.repeat(60_000)}\nend`)
    expect(await read({ path: 'giant' })).toBe(
      `giant (lines 1-1 of 2; line 1 is cut after 99999 of its 150001 characters; continue with start_line 2)\n${'x'.repeat(99_999)}`,
    )
    expect(await read({ path: 'giant', end_line: 1 })).toBe(
      `giant (lines 1-1 of 2; line 1 is cut after 99999 of its 150001 characters)\n${'x'.repeat(99_999)}`,
    )
  })

  it('R19 loses no line, however a file is read in parts', async () => {
    const line = fc.oneof(
      fc.string({ maxLength: 5 }),
      fc.integer({ min: 0, max: 60_000 }).map((n) => 'z'.repeat(n)),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          line.map((text) => text.replaceAll('\n', '')),
          { minLength: 1 },
        ),
        async (lines) => {
          const text = `${lines.join('\n')}\n`
          const filesystem = createMemoryFilesystem({ f: text })
          const found: string[] = []
          for (let start: number | undefined = 1; start !== undefined;) {
            const [header, ...rest]: string[] = (
              await call(filesystem, 'read_file', { path: 'f', start_line: start })
            ).split('\n')
            found.push(...rest)
            const next: string | undefined = /continue with start_line (\d+)/.exec(header ?? '')?.[1]
            start = next === undefined ? undefined : Number(next)
          }
          expect(found).toEqual(lines)
        },
      ),
      { numRuns: 50 },
    )
  })
})

describe('write_file', () => {
  it('R19 creates and replaces', async () => {
    const files = createMemoryFilesystem()
    expect(await call(files, 'write_file', { path: './a/b.txt', content: 'ü' })).toBe("Created 'a/b.txt' (2 bytes).")
    expect(await call(files, 'write_file', { path: 'a/b.txt', content: 'x' })).toBe("Replaced 'a/b.txt' (1 byte).")
    expect(await files.read('a/b.txt')).toBe('x')
  })

  it('R19 does not write over folders or below files', async () => {
    const files = createMemoryFilesystem({ 'a/b': '' })
    expect(await call(files, 'write_file', { path: 'a', content: '' })).toBe(
      "FAILED: 'a' is a folder, not a file. Give the path of a file.",
    )
    expect(await call(files, 'write_file', { path: 'a/b/c', content: '' })).toBe(
      "FAILED: 'a/b/c' cannot be written: 'a/b' is a file, not a folder. Choose another path.",
    )
  })
})

describe('edit_file', () => {
  async function edit(text: string, args: Record<string, unknown>): Promise<readonly [string, string]> {
    const files = createMemoryFilesystem({ f: text })
    return [await call(files, 'edit_file', { path: 'f', ...args }), await files.read('f')]
  }

  it('R19 replaces text that occurs once', async () => {
    expect(await edit('a b c', { old_text: 'b', new_text: 'x' })).toEqual([
      "Edited 'f': replaced 1 occurrence.",
      'a x c',
    ])
    expect(await edit('a b c', { old_text: ' b', new_text: '' })).toEqual(["Edited 'f': replaced 1 occurrence.", 'a c'])
  })

  it('R19 treats texts literally, not as patterns', async () => {
    expect((await edit('a.c abc', { old_text: 'a.c', new_text: '$& $1 $$' }))[1]).toBe('$& $1 $$ abc')
  })

  it('R19 replaces all occurrences on request', async () => {
    expect(await edit('a a a', { old_text: 'a', new_text: 'aa', replace_all: true })).toEqual([
      "Edited 'f': replaced 3 occurrences.",
      'aa aa aa',
    ])
  })

  it('R19 changes nothing if the text is ambiguous', async () => {
    expect(await edit('a a a', { old_text: 'a', new_text: 'b' })).toEqual([
      "FAILED: old_text occurs 3 times in 'f'. Include more of the surrounding text until it occurs once, or set replace_all.",
      'a a a',
    ])
    for (const replace_all of [true, false]) {
      expect(await edit('a', { old_text: 'A', new_text: 'b', replace_all })).toEqual([
        "FAILED: old_text does not occur in 'f'. Read the file and copy the text exactly, with its spaces and line breaks.",
        'a',
      ])
    }
    expect(await edit('a', { old_text: '', new_text: 'b' })).toEqual([
      'FAILED: old_text is empty. Give the text to replace, or use write_file for a whole file.',
      'a',
    ])
    expect(await edit('a', { old_text: 'a', new_text: 'a' })).toEqual([
      'FAILED: old_text and new_text are the same, so nothing would change.',
      'a',
    ])
  })

  it('R19 keeps the line breaks of a file', async () => {
    expect((await edit('a\r\nb\r\nc', { old_text: 'a\nb', new_text: 'x\ny\nz' }))[1]).toBe('x\r\ny\r\nz\r\nc')
    expect((await edit('a\r\nb\nc', { old_text: 'b\nc', new_text: 'x\ny' }))[1]).toBe('a\r\nx\ny')
  })

  it('R19 applies two concurrent edits of one host file', async () => {
    const files = createHostFilesystem(await hostFolder())
    await files.write('f', 'one two')
    await Promise.all([
      call(files, 'edit_file', { path: 'f', old_text: 'one', new_text: '1' }),
      call(files, 'edit_file', { path: 'f', old_text: 'none', new_text: '0' }),
      call(files, 'edit_file', { path: 'f', old_text: 'two', new_text: '2' }),
    ])
    expect(await files.read('f')).toBe('1 2')
  })

  it('R19 replaces one occurrence exactly as cutting and joining would', async () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\r', '$'), maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(letters, letters, letters, letters, async (before, old, after, replacement) => {
        const text = `${before}${old}${after}`
        fc.pre(old !== '' && old !== replacement && text.split(old).length === 2)
        const at = text.indexOf(old)
        const [message, now] = await edit(text, { old_text: old, new_text: replacement })
        expect(message).toBe("Edited 'f': replaced 1 occurrence.")
        expect(now).toBe(text.slice(0, at) + replacement + text.slice(at + old.length))
      }),
    )
  })
})

describe('remove_file', () => {
  it('R19 removes files and folders', async () => {
    const files = createMemoryFilesystem({ 'a/b': '', 'a/c': '', d: '' })
    expect(await call(files, 'remove_file', { path: './d' })).toBe("Removed 'd'.")
    expect(await call(files, 'remove_file', { path: 'a/' })).toBe("Removed 'a'.")
    expect(await files.list('')).toEqual([])
    expect(await call(files, 'remove_file', { path: 'd' })).toBe(
      "FAILED: 'd' does not exist. List the folder it should be in to see what is there.",
    )
    expect(await call(files, 'remove_file', { path: '.' })).toBe(
      'FAILED: The root cannot be removed. Remove its contents.',
    )
  })
})
