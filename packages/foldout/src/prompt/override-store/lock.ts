import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { getErrorCode } from 'foldout-shared/error-codes'
import { ignore } from '../../core/promises.ts'
import { FoldoutError } from '../../core/errors.ts'
import { retryIfInUseSync } from 'foldout-shared/in-use'
import { isObject } from 'foldout-shared/values'

/**
 * A lock that this process holds.
 *
 * @example
 * const change = (lock: HeldLock, write: () => void): void => lock.commit(write)
 */
export interface HeldLock {
  /**
   * Makes the change that the lock protects, unless another process has taken over the lock; in that case, `withLock`
   * starts over. No other code of this process runs between the check and the change, which keeps the gap as short as
   * possible. On Windows, a change that fails because another program has the file open is made again.
   */
  commit(change: () => void): void
}

/** How long to wait for one holder. */
const PATIENCE_MS = 5_000
/** The limit for all holders together, as a multiple of the wait for one. */
const PATIENCE_WITH_ALL = 6
/** No change takes this long; a process that holds a lock for longer is stuck. */
const LONGEST_HELD_MS = 30_000
/** How long a lock may be without its owner's name, which is written right after the file is created. */
const LONGEST_NAMELESS_MS = 2_000

/** A larger file is not a lock. */
const MAX_LOCK_BYTES = 4_096

/**
 * Runs work while holding the lock file, exclusively among processes and within this one. The work may run more than once,
 * and must change nothing outside `commit`. The lock of a process that has died, or holds it for more than 30 seconds, is taken
 * over. `patience` is how long to wait for one holder, in milliseconds.
 *
 * @example
 * await withLock('state.json.lock', async (lock) => {
 *   lock.commit(() => console.log('No other process is here now.'))
 * })
 */
export function withLock<Value>(
  path: string,
  work: (lock: HeldLock) => Promise<Value>,
  patience = PATIENCE_MS,
): Promise<Value> {
  return inTurn(path, async () => {
    for (;;) {
      const mine = JSON.stringify({ pid: process.pid, host: hostname(), token: randomUUID() })
      await acquire(path, mine, patience)
      try {
        return await work({
          commit(change) {
            if (lockAt(path)?.text !== mine) throw new LockLost()
            retryIfInUseSync(change)
          },
        })
      } catch (error) {
        if (!(error instanceof LockLost)) throw error
      } finally {
        if (lockAt(path)?.text === mine) retryIfInUseSync(() => rmSync(path, { force: true }))
      }
    }
  })
}

/**
 * Holds a lock file until the returned function is called, however long that takes. The lock of a process that has died is
 * taken over. Throws if another one holds it.
 */
export function holdLock(path: string): () => void {
  const mine = JSON.stringify({ pid: process.pid, host: hostname(), token: randomUUID() })
  while (!tryCreate(path, mine)) {
    const found = lockAt(path)
    if (found && !(isAbandoned(found, Infinity) && tryRemove(path, found))) throw stillHeld(path, found)
  }
  return () => {
    if (lockAt(path)?.text === mine) retryIfInUseSync(() => rmSync(path, { force: true }))
  }
}

class LockLost extends Error {}

const turns = new Map<string, Promise<unknown>>()

/** Queues callers of this process in call order, so only one of them competes with other processes. */
function inTurn<Value>(path: string, work: () => Promise<Value>): Promise<Value> {
  const done = (turns.get(path) ?? Promise.resolve()).then(work)
  const settled = ignore(done, 'the caller is told').finally(() => {
    if (turns.get(path) === settled) turns.delete(path)
  })
  turns.set(path, settled)
  return done
}

async function acquire(path: string, mine: string, patience: number): Promise<void> {
  const last = Date.now() + patience * PATIENCE_WITH_ALL
  let holder: string | undefined
  let deadline = Date.now() + patience
  for (let pause = 2; ; pause = Math.min(pause * 2, 20)) {
    if (tryCreate(path, mine)) return
    const found = lockAt(path)
    if (found && isAbandoned(found) && tryRemove(path, found)) continue
    const now = Date.now()
    if (found && found.text !== holder) {
      holder = found.text
      deadline = Math.min(now + patience, last)
    }
    if (now >= deadline) throw stillLocked(path, found)
    await sleep(pause * (0.5 + Math.random()))
  }
}

function tryCreate(path: string, mine: string): boolean {
  mkdirSync(dirname(path), { recursive: true })
  let file: number
  try {
    // The previous holder's lock may be open in a process that looks at it.
    file = retryIfInUseSync(() => openSync(path, 'wx'))
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return false
    throw error
  }
  try {
    writeFileSync(file, mine)
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  return true
}

export interface FoundLock {
  readonly text: string
  /** Distinguishes two files with the same content. */
  readonly inode: number
  readonly writtenAt: number
}

export function lockAt(path: string): FoundLock | undefined {
  let file: number
  try {
    // Does not follow links, and does not wait for the writer of a pipe.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
    file = retryIfInUseSync(() => openSync(path, flags))
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT' || getErrorCode(error) === 'ELOOP') return undefined
    throw error
  }
  try {
    const found = fstatSync(file)
    const isOurs = found.isFile() && found.size <= MAX_LOCK_BYTES
    return { text: isOurs ? readFileSync(file, 'utf8') : '', inode: found.ino, writtenAt: found.mtimeMs }
  } finally {
    closeSync(file)
  }
}

function isAbandoned(lock: FoundLock, longestHeld = LONGEST_HELD_MS): boolean {
  const age = Date.now() - lock.writtenAt
  if (age > longestHeld) return true
  const holder = getHolder(lock)
  if (!holder) return age > LONGEST_NAMELESS_MS
  // For a process on another machine that shares the folder, only the age of its lock is known.
  if (holder.host !== hostname()) return false
  // Containers reuse process ids: a lock that is older than this process belonged to its predecessor.
  if (holder.pid === process.pid) return age > process.uptime() * 1000 + 1000
  return !isAlive(holder.pid)
}

function getHolder({ text }: FoundLock): { readonly pid: number; readonly host: string } | undefined {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(json)) return undefined
  const { pid, host } = json
  if (Number.isSafeInteger(pid) && (pid as number) > 0 && typeof host === 'string') return { pid: pid as number, host }
  return undefined
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Another user's process cannot be signaled, but it exists.
    return getErrorCode(error) !== 'ESRCH'
  }
}

/**
 * Removes an abandoned lock, but no other: another waiter may already have removed it, and the current file may belong
 * to an active process. The file is therefore moved to a private name first, compared, and put back if it is a
 * different lock.
 */
export function tryRemove(path: string, found: FoundLock): boolean {
  const aside = `${path}.${randomUUID()}.old`
  try {
    retryIfInUseSync(() => renameSync(path, aside))
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return true
    throw error
  }
  const moved = lockAt(aside)
  const isTheOne = moved?.text === found.text && moved.inode === found.inode
  try {
    // Unlike a rename, a link does not replace a lock that was created in the meantime. If linking fails, the process
    // that held the lock notices before it commits, and starts over.
    if (!isTheOne) linkSync(aside, path)
  } catch {
    return false
  } finally {
    rmSync(aside, { force: true })
  }
  return isTheOne
}

function describeHolder(lock: FoundLock | undefined): string {
  const holder = lock && getHolder(lock)
  if (holder) return `process ${holder.pid} on ${holder.host}`
  return 'an unknown process'
}

function stillHeld(path: string, lock: FoundLock): FoldoutError {
  return new FoldoutError(
    'override-locked',
    `It is in use by ${describeHolder(lock)}. Wait for it. If it has ended, remove '${path}'.`,
  )
}

function stillLocked(path: string, lock: FoundLock | undefined): FoldoutError {
  const who = describeHolder(lock)
  return new FoldoutError(
    'override-locked',
    `The lock '${path}' is held by ${who} and was not released in time. Try again; a lock that is older than ${LONGEST_HELD_MS / 1000} seconds is taken over.`,
  )
}
