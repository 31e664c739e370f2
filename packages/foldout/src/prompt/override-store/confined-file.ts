import { constants, realpathSync } from 'node:fs'
import { lstat, open, realpath } from 'node:fs/promises'
import { dirname, sep } from 'node:path'
import { MAX_OVERRIDE_FILE_BYTES } from '../definition/limits.ts'
import { getErrorCode } from 'foldout-shared/error-codes'

/** Throws if the existing part of a file's folder is reached through a link that leads out of the root. */
export function checkInside(root: string, path: string): void {
  const realRoot = getRealPath(root)
  if (realRoot === undefined) return
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const real = getRealPath(folder)
    if (real === undefined && folder !== root && folder !== dirname(folder)) continue
    if (real === undefined || isInside(realRoot, real)) return
    throw leadsOut(folder, root)
  }
}

/**
 * Reads the bytes of a file below a root, or returns `undefined` if it does not exist. Links are followed only within the
 * root. The file that was checked is the one that is read: its name cannot be swapped for a link, a device or a pipe in
 * between.
 */
export async function readInside(root: string, path: string): Promise<Uint8Array | undefined> {
  const real = await findRealFile(path)
  if (real === undefined) return undefined
  if (!isInside(await realpath(root), real)) throw leadsOut(path, root)
  // Non-blocking, because opening a pipe could wait forever.
  const file = await open(real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    const found = await file.stat()
    if (found.isDirectory()) throw fileError('EISDIR', `EISDIR: ${path} is a folder`)
    if (!found.isFile()) throw fileError('EINVAL', `${path} is not a file`)
    if (found.size > MAX_OVERRIDE_FILE_BYTES) {
      throw fileError('EFBIG', `${path} has ${found.size} bytes; at most ${MAX_OVERRIDE_FILE_BYTES} are read`)
    }
    return await file.readFile()
  } finally {
    await file.close()
  }
}

async function findRealFile(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (error) {
    if (getErrorCode(error) !== 'ENOENT') throw error
  }
  const isLink = await lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  )
  if (isLink) throw fileError('ENOENT', `${path} is a link to nothing`)
  return undefined
}

function getRealPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)
}

function leadsOut(path: string, root: string): Error {
  return fileError('EACCES', `${path} is a link that leads out of ${root}`)
}

function fileError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
