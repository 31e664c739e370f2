import { getErrorCode } from 'foldout-shared/error-codes'
import { randomUUID } from 'node:crypto'
import { readdirSync, renameSync, rmSync } from 'node:fs'
import { lstat, open, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type HeldLock } from './lock.ts'

/**
 * Replaces or creates a file atomically. Readers see the old text or the new one, never a part, even after a crash.
 */
export async function replaceFile(path: string, text: string, lock: HeldLock): Promise<void> {
  const mode = await getMode(path)
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`)
  try {
    const file = await open(temporary, 'wx')
    try {
      await file.writeFile(text, 'utf8')
      if (mode !== undefined) await file.chmod(mode)
      await file.sync()
    } finally {
      await file.close()
    }
    lock.commit(() => renameSync(temporary, path))
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

const UNIQUE = String.raw`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`
const LEFT_OVER = new RegExp(String.raw`^(?:\.(.+)\.${UNIQUE}\.tmp|(.+)\.lock\.${UNIQUE}\.old)$`)

/**
 * Removes the temporary files that killed processes left behind. Call it only while holding the lock: files in use look
 * the same.
 */
export function removeLeftOvers(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    const [, written, locked] = LEFT_OVER.exec(name) ?? []
    if ((written ?? locked) === basename(path)) rmSync(join(dirname(path), name), { force: true })
  }
}

async function getMode(path: string): Promise<number | undefined> {
  try {
    const found = await lstat(path)
    // A link is replaced with a file, wherever it pointed.
    if (found.isFile()) return found.mode & 0o777
    return undefined
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
