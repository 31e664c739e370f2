import { isMissing } from 'foldout-shared/error-codes'
import { formatNumber } from 'foldout-shared/numbers'
import { retryIfInUse } from 'foldout-shared/in-use'
import { randomUUID } from 'node:crypto'
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import {
  chmod,
  chown,
  lstat,
  mkdir,
  open,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
} from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { ignore } from 'foldout/promises'
import { UsageError } from '../gateway/config/config.ts'
import { MAX_CONFIG_BYTES } from '../gateway/config/limits.ts'

/** A file as it was found. */
export interface FoundFile {
  /** The target file, if the path is a link. */
  readonly path: string
  /** Undefined if there is no file. */
  readonly text: string | undefined
  readonly mode: number
}

/** A file that cannot be used. */
export class FileError extends UsageError {
  /** Continues a sentence that begins with the file. */
  readonly reason: string

  constructor(file: string, reason: string) {
    super(`${file} ${reason}.`)
    this.reason = reason
  }
}

const PRIVATE_FILE = 0o600
const WRITE_BITS = 0o222

/**
 * Reads a file whose text can be written back without loss.
 *
 * @throws FileError if it is not a text file or is too large.
 */
export async function findFile(file: string): Promise<FoundFile> {
  const path = await followLinks(file)
  try {
    const { mode, size, isFile } = await describe(path)
    if (!isFile) throw new FileError(file, 'is not a file')
    if (size > MAX_CONFIG_BYTES) throw new FileError(file, `is too large: ${formatNumber(size)} bytes`)
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(path))
    return { path, text, mode }
  } catch (error) {
    if (isMissing(error)) return { path, text: undefined, mode: PRIVATE_FILE }
    if (error instanceof TypeError) throw new FileError(file, 'is not UTF-8 text')
    if (error instanceof UsageError) throw error
    throw new FileError(file, `cannot be read: ${(error as Error).message}`)
  }
}

/**
 * Fails if a file cannot be replaced. Replacing a read-only file would succeed, against its owner's wish; in a read-only
 * folder, it fails.
 */
export function checkWritable({ path, text, mode }: FoundFile): void {
  if (text !== undefined && (mode & WRITE_BITS) === 0)
    throw new Error(`${path} is read-only. Make it writable, then try again.`)
  const folder = findExisting(dirname(path))
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw new Error(
      `${path} cannot be written, because its folder ${folder} is read-only for you. Make it writable, then try again.`,
      { cause: error },
    )
  }
}

/** The folder, or the nearest one above it that exists. */
function findExisting(folder: string): string {
  let path = folder
  while (!existsSync(path) && dirname(path) !== path) path = dirname(path)
  return path
}

/** Replaces a file atomically: a reader sees the old text or the new one. Returns the folders it created. */
export async function replaceFile({ path, mode, text: before }: FoundFile, text: string): Promise<readonly string[]> {
  const created = await createFolders(dirname(path))
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    const handle = await open(temporary, 'wx', mode)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (before !== undefined) await copyOwner(path, temporary, mode)
    await retryIfInUse(() => rename(temporary, path))
    return created
  } catch (error) {
    await ignore(rm(temporary, { force: true }), 'the first error is the one to tell')
    throw new Error(`${path} cannot be written: ${(error as Error).message}`, { cause: error })
  }
}

/** Removes a file, and the given folders if that leaves them empty. */
export async function removeFile(path: string, folders: readonly string[] = []): Promise<void> {
  await retryIfInUse(() => rm(path, { force: true }))
  const deepestFirst = folders.toSorted((a, b) => b.length - a.length)
  // The folder stays if something else is in it.
  for (const folder of deepestFirst) await ignore(rmdir(folder), 'something else is in it')
}

/** The folder and its parents that do not exist yet. */
export function listMissingFolders(folder: string): readonly string[] {
  const missing: string[] = []
  for (let path = folder; !existsSync(path); path = dirname(path)) missing.push(path)
  return missing
}

async function describe(path: string): Promise<{ mode: number; size: number; isFile: boolean }> {
  const stats = await stat(path)
  return { mode: stats.mode & 0o7777, size: stats.size, isFile: stats.isFile() }
}

/** Copies mode and owner: the umask narrows a new file's mode, and its owner may differ. */
async function copyOwner(from: string, to: string, mode: number): Promise<void> {
  const { uid, gid } = await stat(from)
  await ignore(chown(to, uid, gid), 'only root may give a file away')
  await chmod(to, mode)
}

/**
 * Creates a folder and its parents. Returns those that did not exist.
 *
 * @throws FileError that says why a folder cannot be created.
 */
export async function createFolders(folder: string, mode?: number): Promise<readonly string[]> {
  checkFolder(folder)
  const missing = listMissingFolders(folder)
  try {
    await mkdir(folder, { recursive: true, ...(mode !== undefined && { mode }) })
  } catch (error) {
    throw new FileError(folder, `cannot be created: ${(error as Error).message}`)
  }
  return missing
}

/** Fails if a folder cannot exist because a file has its name or the name of one of its parents. */
export function checkFolder(folder: string): void {
  const path = findExisting(folder)
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats && !stats.isDirectory())
    throw new FileError(path, 'is a file, but must be a folder. Rename or remove the file, then try again')
}

/** The file that a path leads to. Links are followed by hand, because they may point to a file that does not exist yet. */
export async function followLinks(file: string, depth = 0): Promise<string> {
  const path = resolve(file)
  try {
    if (depth > 40 || !(await lstat(path)).isSymbolicLink()) return path
    return await followLinks(resolve(dirname(path), await readlink(path)), depth + 1)
  } catch (error) {
    if (isMissing(error)) return path
    throw error
  }
}

/**
 * Fails if links lead a file of a folder out of it. Somebody else may have made the links, and what is written would go anywhere.
 *
 * @throws FileError that says where it leads.
 */
export async function requireInside(file: string, folder: string): Promise<void> {
  const [target, root] = [await toRealPath(await followLinks(file)), await toRealPath(folder)]
  const path = relative(root, target)
  if (/^\.\.(?:[/\\]|$)/.test(path) || isAbsolute(path))
    throw new FileError(file, `is a link to ${target}, outside of ${folder}, so nothing is written to it`)
}

/** The path without links. The last folders may not exist yet. */
async function toRealPath(path: string): Promise<string> {
  const missing = listMissingFolders(path)
  const [highest = path] = missing.toReversed()
  const existing = missing.length === 0 ? path : dirname(highest)
  return join(await realpath(existing), relative(existing, path))
}
