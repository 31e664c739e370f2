import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, chown, lstat, mkdir, open, readFile, readlink, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { UsageError } from '../gateway/config/config.ts'
import { MAX_CONFIG_BYTES } from './limits.ts'

/** A file as it was found. */
export interface FoundFile {
  /** The file itself, if the path is a link. */
  readonly path: string
  /** Undefined if there is no file. */
  readonly text: string | undefined
  readonly mode: number
}

const PRIVATE_FILE = 0o600
const WRITE_BITS = 0o222

/**
 * Reads a file, whose text may be written back without losing anything.
 *
 * @throws UsageError if it is not a file of text, or too large.
 */
export async function findFile(file: string): Promise<FoundFile> {
  const path = await followLinks(resolve(file))
  try {
    const { mode, size, isFile } = await describe(path)
    if (!isFile) throw new UsageError(`${file} is not a file.`)
    if (size > MAX_CONFIG_BYTES) throw new UsageError(`${file} is too large: ${size} bytes.`)
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(path))
    return { path, text, mode }
  } catch (error) {
    if (isMissing(error)) return { path, text: undefined, mode: PRIVATE_FILE }
    if (error instanceof TypeError) throw new UsageError(`${file} is not written in UTF-8.`)
    if (error instanceof UsageError) throw error
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

/** Fails if a file must not be changed. Replacing it would work even so, which is not what its owner wants. */
export function checkWritable({ path, text, mode }: FoundFile): void {
  if (text !== undefined && (mode & WRITE_BITS) === 0)
    throw new Error(`${path} is read-only. Make it writable, then try again.`)
}

/** Replaces a file at once: a reader sees the old text or the new one. Returns the folders that were created for it. */
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
    await rename(temporary, path)
    return created
  } catch (error) {
    await rm(temporary, { force: true })
    throw new Error(`${path} cannot be written: ${(error as Error).message}`, { cause: error })
  }
}

/** Removes a file, and the given folders if they are empty then. */
export async function removeFile(path: string, folders: readonly string[] = []): Promise<void> {
  await rm(path, { force: true })
  const deepestFirst = folders.toSorted((a, b) => b.length - a.length)
  // A folder that something else was put into stays.
  for (const folder of deepestFirst) await rmdir(folder).catch(() => undefined)
}

/** The folder and those around it that are not there yet. */
export function listMissingFolders(folder: string): readonly string[] {
  const missing: string[] = []
  for (let path = folder; !existsSync(path); path = dirname(path)) missing.push(path)
  return missing
}

export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

async function describe(path: string): Promise<{ mode: number; size: number; isFile: boolean }> {
  const stats = await stat(path)
  return { mode: stats.mode & 0o7777, size: stats.size, isFile: stats.isFile() }
}

/** The permissions of a new file are cut by the process, and its owner may be another one. */
async function copyOwner(from: string, to: string, mode: number): Promise<void> {
  const { uid, gid } = await stat(from)
  await chown(to, uid, gid).catch(() => undefined)
  await chmod(to, mode)
}

async function createFolders(folder: string): Promise<readonly string[]> {
  const missing = listMissingFolders(folder)
  await mkdir(folder, { recursive: true })
  return missing
}

/** Links are followed by hand, because one may point to a file that is not there yet. */
async function followLinks(path: string, depth = 0): Promise<string> {
  try {
    if (depth > 40 || !(await lstat(path)).isSymbolicLink()) return path
    return await followLinks(resolve(dirname(path), await readlink(path)), depth + 1)
  } catch (error) {
    if (isMissing(error)) return path
    throw error
  }
}
