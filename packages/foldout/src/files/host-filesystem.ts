import { getErrorCode, isCode, isMissing } from 'foldout-shared/error-codes'
import { realpathSync, statSync, type Stats } from 'node:fs'
import { access, constants, lstat, mkdir, readdir, readlink, realpath, rm, rmdir, unlink } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { ignore } from '../core/promises.ts'
import { FilesystemError, type FileEntry, type Filesystem } from './filesystem.ts'
import { belowFile, couldNotBe, isFolder, notFolder, notFound, rootRemoved } from './filesystem-faults.ts'
import {
  TEMPORARY_NAME,
  isWithin,
  leadsOut,
  notFileOrFolder,
  readBytes,
  readLines,
  readWhole,
  replaceFile,
  type HostPlace,
} from './host-files.ts'
import { getAncestors, byPath, childPath, normalizePath } from './path.ts'

/**
 * Creates a filesystem for a folder on this machine. No path or link can lead out of the folder. Files are opened without
 * following a link at the end of their path, and on Linux the opened file is checked to be inside the folder. On other
 * systems, a program that replaces folders with links during an operation could still lead it out.
 *
 * There is intentionally no `begin()`: other programs see changes to host files at once and may act on them, so undoing a
 * change would be an empty promise. Single writes are atomic.
 *
 * @example
 * ```ts
 * import { createHostFilesystem } from 'foldout/node'
 *
 * const files = createHostFilesystem('.')
 * const readme = await files.read('README.md')
 * ```
 */
export function createHostFilesystem(root: string): Filesystem {
  // Checked now rather than on first use, so a setup mistake reaches the developer and not the model.
  const host = new HostFolder(realFolder(root))
  return {
    read: (path) => runOnHost(path, 'read', async (at) => readWhole(await host.find(at))),
    readBytes: (path) => runOnHost(path, 'read', async (at) => readBytes(await host.find(at))),
    readLines: (path, range) => runOnHost(path, 'read', async (at) => readLines(await host.find(at), range)),
    write: (path, text) => runOnHost(path, 'written', (at) => host.write(at, text)),
    list: (folder) => runOnHost(folder, 'listed', (at) => host.list(at)),
    stat: (path) => runOnHost(path, 'looked at', (at) => host.stat(at)),
    remove: (path) => runOnHost(path, 'removed', (at) => host.remove(at)),
  }
}

/** How many entries of a folder are examined at once, so a large folder does not occupy all file threads. */
const LISTED_TOGETHER = 64

/** A folder on this machine, accessed by normalized paths. */
class HostFolder {
  private readonly top: string
  // One change at a time: a removal also removes empty folders, and must not do so while a write fills one.
  private changing: Promise<unknown> = Promise.resolve()

  constructor(top: string) {
    this.top = top
  }

  /** Resolves the location of something to read. */
  async find(path: string): Promise<HostPlace> {
    const real = await this.follow(path)
    if (!(await lstatOrNothing(real))) throw notFound(path)
    return { real, top: this.top, path }
  }

  async stat(path: string): Promise<FileEntry | undefined> {
    return this.entryAt(await this.locate(path), path)
  }

  async list(folder: string): Promise<readonly FileEntry[]> {
    const real = await this.follow(folder)
    const found = await lstatOrNothing(real)
    if (!found) throw notFound(folder)
    if (!found.isDirectory()) throw notFolder(folder)
    const entries: FileEntry[] = []
    const add = async (name: string): Promise<void> => {
      const path = childPath(folder, name)
      if (TEMPORARY_NAME.test(name) || !isNameable(path)) return
      // Entries that cannot be examined, such as a link that leads out, are left out.
      const entry = await ignore(this.entryAt(join(real, name), path), 'an entry that cannot be examined is left out')
      if (entry) entries.push(entry)
    }
    const names = await readdir(real)
    for (let start = 0; start < names.length; start += LISTED_TOGETHER)
      await Promise.all(names.slice(start, start + LISTED_TOGETHER).map(add))
    return entries.sort(byPath)
  }

  async write(path: string, text: string): Promise<void> {
    if (path === '') throw isFolder(path)
    await this.change(() => this.writeNow(path, text))
  }

  async remove(path: string): Promise<void> {
    if (path === '') throw rootRemoved()
    await this.change(() => this.removeNow(path))
  }

  private change(work: () => Promise<void>): Promise<void> {
    const done = this.changing.then(work)
    this.changing = ignore(done, 'the caller is told')
    return done
  }

  /** Resolves all links in a path, even if nothing exists there yet. */
  private async follow(path: string, asked = path): Promise<string> {
    const real = await realPlace(join(this.top, path))
    if (!isWithin(this.top, real)) throw leadsOut(asked)
    return real
  }

  /** Like {@link follow}, but does not resolve a link at the end of the path. */
  private async locate(path: string): Promise<string> {
    if (path === '') return this.top
    return join(await this.follow(dirname(path), path), basename(path))
  }

  private async entryAt(where: string, path: string): Promise<FileEntry | undefined> {
    const found = await lstatOrNothing(where)
    if (!found?.isSymbolicLink()) return found && getEntry(path, found)
    const target = await lstatOrNothing(await this.follow(path))
    const entry = target && getEntry(path, target)
    return entry && { ...entry, link: true }
  }

  private async writeNow(path: string, text: string): Promise<void> {
    const real = await this.follow(path)
    const old = await lstatOrNothing(real)
    if (old?.isDirectory()) throw isFolder(path)
    if (old && !old.isFile()) throw notFileOrFolder(path)
    // The file is replaced rather than opened, so its write permission must be checked here.
    if (old) await access(real, constants.W_OK)
    try {
      await mkdir(dirname(real), { recursive: true })
    } catch (error) {
      for (const ancestor of getAncestors(path))
        if ((await this.stat(ancestor))?.kind === 'file') throw belowFile(path, ancestor)
      throw error
    }
    try {
      await replaceFile({ real, top: this.top, path }, text, old?.mode)
    } catch (error) {
      await this.removeEmptyFolders(dirname(real))
      throw error
    }
  }

  private async removeNow(path: string): Promise<void> {
    const at = await this.locate(path)
    const found = await lstatOrNothing(at)
    if (!found) throw notFound(path)
    if (found.isDirectory()) await rm(at, { recursive: true })
    else await unlink(at)
    await this.removeEmptyFolders(dirname(at))
  }

  /** Removes a folder and its parents while they are empty. */
  private async removeEmptyFolders(folder: string): Promise<void> {
    for (let at = folder; at !== this.top && isWithin(this.top, at); at = dirname(at)) {
      try {
        await rmdir(at)
      } catch {
        return
      }
    }
  }
}

function realFolder(root: string): string {
  const wrong = (what: string, reason: 'not-found' | 'not-folder', cause?: unknown): FilesystemError =>
    new FilesystemError(`The root '${root}' ${what}. Pass an existing folder to createHostFilesystem().`, {
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

// The same limit as on Linux.
const MOST_LINKS = 40

/** Like `realpath`, but for paths whose end may not exist: the real path of the existing part, followed by the rest. */
async function realPlace(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  // The root of a drive that does not exist.
  if (dirname(path) === path) return path
  const parent = await realPlace(dirname(path), links)
  const target = await linkTarget(join(parent, basename(path)))
  if (target === undefined) return join(parent, basename(path))
  // A dangling link: a write would follow it, so its target counts.
  if (links === MOST_LINKS) throw Object.assign(new Error('Too many links.'), { code: 'ELOOP' })
  return realPlace(resolve(parent, target), links + 1)
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path)
  } catch (error) {
    if (isMissing(error) || isCode(error, 'EINVAL')) return undefined
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

/** Returns `undefined` for anything that is neither a file nor a folder. */
function getEntry(path: string, found: Stats): FileEntry | undefined {
  if (found.isDirectory()) return { path, kind: 'folder', size: 0 }
  if (found.isFile()) return { path, kind: 'file', size: found.size }
  return undefined
}

/** Whether a path found on the host is valid as an input path. */
function isNameable(path: string): boolean {
  try {
    return normalizePath(path) === path
  } catch {
    return false
  }
}

/** Runs work with a normalized path, and reports system errors without revealing the location of the root. */
async function runOnHost<Value>(path: string, done: string, work: (path: string) => Promise<Value>): Promise<Value> {
  const at = normalizePath(path)
  try {
    return await work(at)
  } catch (error) {
    if (error instanceof FilesystemError) throw error
    throw couldNotBe(done, at, getErrorCode(error) ?? 'unknown error', error)
  }
}
