import { open, readFile, rm, stat, utimes, type FileHandle } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { ignore } from 'foldout/promises'
import { isRunning } from '../shared/surroundings.ts'
import { retryIfInUse } from 'foldout-shared/in-use'
import { LOCK_STALE_MS, LOCK_TIMEOUT_MS } from './limits.ts'

/** Runs work while no other command holds the lock. */
export async function holdLock<Result>(lock: string, work: () => Promise<Result>): Promise<Result> {
  const end = Date.now() + LOCK_TIMEOUT_MS
  while (!(await takeLock(lock))) {
    if (Date.now() > end)
      throw new Error(`Another command is changing the same file. If none is running, remove ${lock}.`)
    await wait(20)
  }
  const refresh = setInterval(() => {
    const now = new Date()
    void ignore(utimes(lock, now, now), 'the lock was taken away, which its owner notices')
  }, LOCK_STALE_MS / 4)
  try {
    return await work()
  } finally {
    clearInterval(refresh)
    await retryIfInUse(() => rm(lock, { force: true }))
  }
}

async function takeLock(lock: string): Promise<boolean> {
  try {
    const handle = await retryIfInUse(() => open(lock, 'wx', 0o600))
    await sign(lock, handle)
    return true
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    if (await isStale(lock)) await rm(lock, { force: true })
    return false
  }
}

/** Writes who holds the lock. On a full disk, nobody does: an empty lock would keep all other commands waiting. */
async function sign(lock: string, handle: FileHandle): Promise<void> {
  try {
    try {
      await handle.writeFile(String(process.pid))
    } finally {
      await handle.close()
    }
  } catch (error) {
    await retryIfInUse(() => rm(lock, { force: true }))
    throw new Error(`Nothing was changed, because ${lock} cannot be written: ${(error as Error).message}.`, {
      cause: error,
    })
  }
}

/** Whether the process that took a lock has ended without releasing it. */
async function isStale(lock: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(lock)
    if (Date.now() - mtimeMs > LOCK_STALE_MS) return true
    const pid = Number(await readFile(lock, 'utf8'))
    return pid > 0 && !isRunning(pid)
  } catch {
    return false
  }
}
