import { createSession, executeTool } from 'foldout'
import { FilesystemError, fileTools, type FileEntry, type Filesystem, type FilesystemErrorReason } from 'foldout/files'
import { filesystemSuite } from 'foldout/testing/suites'
import { describe, expect, it } from 'vitest'

// Written with public exports only, as a third party would to keep files elsewhere.

function refuse(path: string, reason: FilesystemErrorReason, message: string): FilesystemError {
  return new FilesystemError(message, { path, reason })
}

const name = (path: string): string => (path === '' ? 'The root' : `'${path}'`)

function normalize(path: string): string {
  const invalid = (message: string): never => {
    throw refuse(path, 'invalid-path', message)
  }
  if (path === '') return ''
  if (path.length > 1024) invalid('A path can have at most 1024 characters.')
  if (path.includes('\0')) invalid('A path cannot contain a NUL character.')
  if (/\p{Surrogate}/u.test(path)) invalid('A path must be well-formed Unicode.')
  if (path.includes('\\')) invalid(`'${path}' has a backslash. Separate the parts of a path with '/'.`)
  if (path.startsWith('/') || /^[a-z]:/i.test(path))
    invalid(`'${path}' is an absolute path. Give it relative to the root, as in 'folder/file.txt'.`)
  const parts = path.split('/')
  if (parts.includes('..')) invalid(`'${path}' has a '..' in it. Give the path from the root down.`)
  if (parts.includes('')) invalid(`'${path}' has an empty part. Separate parts with one '/', and end without one.`)
  return parts.filter((part) => part !== '.').join('/')
}

/** Files in one flat table, as a database would keep them. */
function createTableFilesystem(): Filesystem {
  const table = new Map<string, string>()
  const below = (folder: string): string[] =>
    [...table.keys()].filter((path) => folder === '' || path.startsWith(`${folder}/`))
  const stat = async (given: string): Promise<FileEntry | undefined> => {
    const path = normalize(given)
    const text = table.get(path)
    if (text !== undefined) return { path, kind: 'file', size: Buffer.byteLength(text) }
    return path === '' || below(path).length > 0 ? { path, kind: 'folder', size: 0 } : undefined
  }
  const find = async (given: string): Promise<FileEntry> => {
    const entry = await stat(given)
    const path = normalize(given)
    if (!entry)
      throw refuse(
        path,
        'not-found',
        `${name(path)} does not exist. List the folder it should be in to see what is there.`,
      )
    return entry
  }
  return {
    stat,
    async read(given) {
      const { path, kind } = await find(given)
      if (kind === 'folder')
        throw refuse(path, 'is-folder', `${name(path)} is a folder, not a file. Give the path of a file.`)
      return table.get(path) ?? ''
    },
    async write(given, text) {
      const path = normalize(given)
      if ((await stat(path))?.kind === 'folder')
        throw refuse(path, 'is-folder', `${name(path)} is a folder, not a file. Give the path of a file.`)
      const parts = path.split('/')
      const inTheWay = parts.map((_, index) => parts.slice(0, index).join('/')).find((ancestor) => table.has(ancestor))
      if (inTheWay !== undefined)
        throw refuse(
          path,
          'not-folder',
          `'${path}' cannot be written: '${inTheWay}' is a file, not a folder. Choose another path.`,
        )
      table.set(path, Buffer.from(text).toString())
    },
    async list(given) {
      const { path: folder, kind } = await find(given)
      if (kind === 'file')
        throw refuse(folder, 'not-folder', `${name(folder)} is a file, not a folder. Give the path of a folder.`)
      const start = folder === '' ? 0 : folder.length + 1
      const names = new Set(below(folder).map((path) => path.slice(start).split('/')[0] ?? ''))
      const entries: FileEntry[] = []
      for (const child of names) entries.push(await find(folder === '' ? child : `${folder}/${child}`))
      return entries.sort((a, b) => (a.path < b.path ? -1 : 1))
    },
    async remove(given) {
      if (normalize(given) === '') throw refuse('', 'invalid-path', 'The root cannot be removed. Remove its contents.')
      const { path } = await find(given)
      for (const one of [path, ...below(path)]) table.delete(one)
    },
  }
}

filesystemSuite('a filesystem from outside', createTableFilesystem)

describe('the file tools on a third-party filesystem', () => {
  it('R19 work without its optional parts', async () => {
    const filesystem = createTableFilesystem()
    await filesystem.write('docs/a.md', 'one\ntwo\n')
    const context = {
      session: createSession(),
      signal: new AbortController().signal,
      deadline: undefined,
      filesystem,
      prompt: undefined,
    }
    const call = async (tool: string, args: object): Promise<string> => {
      const found = fileTools().find((one) => one.name === tool)
      if (!found) throw new Error(`There is no tool '${tool}'.`)
      return (await executeTool(found, args, context)).message
    }
    expect(await call('read_file', { path: 'docs/a.md', start_line: 2 })).toBe('docs/a.md (lines 2-2 of 2)\ntwo')
    expect(await call('grep', { pattern: 'o' })).toBe('docs/a.md:1: one\ndocs/a.md:2: two')
    expect(await call('glob', { pattern: '**/*.md' })).toBe('docs/a.md')
    expect(await call('edit_file', { path: 'docs/a.md', old_text: 'two', new_text: '2' })).toBe(
      "Edited 'docs/a.md': replaced 1 occurrence.",
    )
  })
})
