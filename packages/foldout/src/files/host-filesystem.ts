import { randomUUID } from 'node:crypto'
import { realpathSync, statSync, type Stats } from 'node:fs'
import {
  access,
  constants,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  unlink,
} from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { FilesystemError, type FileEntry, type Filesystem } from './filesystem.ts'
import { belowFile, couldNotBe, isFolder, notFolder, notFound, rootRemoved } from './filesystem-faults.ts'
import { getAncestors, byPath, childPath, normalizePath } from './path.ts'

/**
 * The files of a folder on this machine. No path and no link leads out of it. That holds against what a model asks for;
 * it cannot hold against another program that swaps folders for links while an operation runs.
 *
 * There is intentionally no `begin()`: other programs see host files at once and may have acted on them, so that undoing
 * a change would promise what cannot be kept. Single writes are atomic.
 */
export function createHostFilesystem(root: string): Filesystem {
  // At once, and not at the first use: a mistake in the setup is the developer's to see, not the model's.
  const top = realFolder(root)

  /** Where a path really leads, also if nothing is there yet. What it returns has no link in it. */
  async function follow(path: string, asked = path): Promise<string> {
    const real = await realPlace(join(top, path))
    if (!isWithin(top, real)) throw outside(asked)
    return real
  }
  /** As {@link follow}, but a link at the end of the path stays a link. */
  async function place(path: string): Promise<string> {
    return path === '' ? top : join(await follow(dirname(path), path), basename(path))
  }
  async function entryAt(where: string, path: string): Promise<FileEntry | undefined> {
    const found = await lstatOrNothing(where)
    if (!found?.isSymbolicLink()) return found && getEntry(path, found)
    const target = await lstatOrNothing(await follow(path))
    const entry = target && getEntry(path, target)
    return entry && { ...entry, link: true }
  }
  const stat = async (path: string): Promise<FileEntry | undefined> => entryAt(await place(path), path)

  async function write(path: string, text: string): Promise<void> {
    const real = await follow(path)
    const old = await lstatOrNothing(real)
    if (old?.isDirectory()) throw isFolder(path)
    if (old && !old.isFile()) throw noFile(path)
    // The file itself is replaced and not opened, so its own protection has to be asked for.
    if (old) await access(real, constants.W_OK)
    try {
      await mkdir(dirname(real), { recursive: true })
    } catch (error) {
      for (const ancestor of getAncestors(path))
        if ((await stat(ancestor))?.kind === 'file') throw belowFile(path, ancestor)
      throw error
    }
    try {
      await replaceFile(real, text, old?.mode)
    } catch (error) {
      await removeEmptyFolders(dirname(real))
      throw error
    }
  }

  async function remove(path: string): Promise<void> {
    const at = await place(path)
    const found = await lstatOrNothing(at)
    if (!found) throw notFound(path)
    if (found.isDirectory()) await rm(at, { recursive: true })
    else await unlink(at)
    await removeEmptyFolders(dirname(at))
  }

  /** Takes away a folder and those above it, as far as nothing is in them. */
  async function removeEmptyFolders(folder: string): Promise<void> {
    for (let at = folder; at !== top && isWithin(top, at); at = dirname(at)) {
      try {
        await rmdir(at)
      } catch {
        return
      }
    }
  }

  // One change at a time: a removal takes away empty folders, and must not do so while a write fills one.
  let changing: Promise<unknown> = Promise.resolve()
  function change(work: () => Promise<void>): Promise<void> {
    const done = changing.then(work)
    changing = done.catch(() => undefined)
    return done
  }

  return {
    read: (path) =>
      guarded(path, 'read', async (at) => {
        const real = await follow(at)
        const found = await lstatOrNothing(real)
        if (!found) throw notFound(at)
        if (found.isDirectory()) throw isFolder(at)
        // A pipe or a device may never end.
        if (!found.isFile()) throw noFile(at)
        return decoded(at, await readFile(real))
      }),
    write: (path, text) =>
      guarded(path, 'written', async (at) => {
        if (at === '') throw isFolder(at)
        await change(() => write(at, text))
      }),
    list: (folder) =>
      guarded(folder, 'listed', async (at) => {
        const real = await follow(at)
        const found = await lstatOrNothing(real)
        if (!found) throw notFound(at)
        if (!found.isDirectory()) throw notFolder(at)
        const entries: FileEntry[] = []
        const add = async (name: string): Promise<void> => {
          const path = childPath(at, name)
          if (TEMPORARY.test(name) || !isNameable(path)) return
          // What cannot be looked at, a link that leads out say, is left out.
          const entry = await entryAt(join(real, name), path).catch(() => undefined)
          if (entry) entries.push(entry)
        }
        await Promise.all((await readdir(real)).map(add))
        return entries.sort(byPath)
      }),
    stat: (path) => guarded(path, 'looked at', stat),
    remove: (path) =>
      guarded(path, 'removed', async (at) => {
        if (at === '') throw rootRemoved()
        await change(() => remove(at))
      }),
  }
}

function realFolder(root: string): string {
  const wrong = (what: string, reason: 'not-found' | 'not-folder', cause?: unknown): FilesystemError =>
    new FilesystemError(`The root '${root}' ${what}. Give createHostFilesystem() a folder that exists.`, {
      path: root,
      reason,
      cause,
    })
  let real: string
  try {
    real = realpathSync(root)
  } catch (error) {
    throw wrong('does not exist', 'not-found', error)
  }
  if (!statSync(real).isDirectory()) throw wrong('is not a folder', 'not-folder')
  return real
}

// As many as Linux follows.
const MOST_LINKS = 40

/** As `realpath`, but of a path at whose end something is missing: the real place of what exists, and then the rest. */
async function realPlace(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  // The top of a drive that is not there.
  if (dirname(path) === path) return path
  const parent = await realPlace(dirname(path), links)
  const target = await linkTarget(join(parent, basename(path)))
  if (target === undefined) return join(parent, basename(path))
  // A link to what does not exist: a write would go through it, so what counts is where it leads.
  if (links === MOST_LINKS) throw Object.assign(new Error('Too many links.'), { code: 'ELOOP' })
  return realPlace(resolve(parent, target), links + 1)
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path)
  } catch (error) {
    if (isMissing(error) || getCode(error) === 'EINVAL') return undefined
    throw error
  }
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

const TEMPORARY = /^\.foldout-[0-9a-f-]{36}\.tmp$/

/** Whoever reads meanwhile sees the old text or the new, never a part of it. */
async function replaceFile(path: string, text: string, mode: number | undefined): Promise<void> {
  const temporary = join(dirname(path), `.foldout-${randomUUID()}.tmp`)
  try {
    const file = await open(temporary, 'wx')
    try {
      await file.writeFile(text, 'utf8')
      if (mode !== undefined) await file.chmod(mode & 0o777)
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

async function lstatOrNothing(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Nothing for what is neither file nor folder. */
function getEntry(path: string, found: Stats): FileEntry | undefined {
  if (found.isDirectory()) return { path, kind: 'folder', size: 0 }
  return found.isFile() ? { path, kind: 'file', size: found.size } : undefined
}

/** Whether a path found on the host can be given back to us. */
function isNameable(path: string): boolean {
  try {
    return normalizePath(path) === path
  } catch {
    return false
  }
}

// Refuses what is no text: a file that was read with characters replaced would be spoilt by writing it back.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decoded(path: string, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    throw new FilesystemError(`'${path}' is not a text file in UTF-8 and cannot be read.`, {
      path,
      reason: 'failed',
      cause: error,
    })
  }
}

/** Gives work a normal path, and says what the machine refuses without telling where the root lies. */
async function guarded<Value>(path: string, done: string, work: (path: string) => Promise<Value>): Promise<Value> {
  const at = normalizePath(path)
  try {
    return await work(at)
  } catch (error) {
    if (error instanceof FilesystemError) throw error
    throw couldNotBe(done, at, getCode(error) ?? 'unknown error', error)
  }
}

function outside(path: string): FilesystemError {
  return new FilesystemError(
    `'${path}' leads out of the root through a link. Only what lies in the root can be used.`,
    {
      path,
      reason: 'outside',
    },
  )
}

function noFile(path: string): FilesystemError {
  return new FilesystemError(`'${path}' is neither a file nor a folder and cannot be used.`, { path, reason: 'failed' })
}

function getCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

function isMissing(error: unknown): boolean {
  const code = getCode(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}
