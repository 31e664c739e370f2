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
import { FoldoutError } from '../../core/errors.ts'
import { isPlainObject } from '../../core/json/json.ts'

export interface HeldLock {
  /**
   * Does what the lock protects, unless another process has taken the lock over; then `withLock` starts over. Between the
   * look and the deed no other code of this process runs, so that they are as close together as can be.
   */
  commit(deed: () => void): void
}

/** As long as one holder is waited for. */
const PATIENCE_MS = 5_000
/** As many times that long all holders are waited for: while others get their turn, so will this one. */
const PATIENCE_WITH_ALL = 6
/** No change takes this long: a process that holds a lock for longer hangs. */
const LONGEST_HELD_MS = 30_000
/** A lock that does not yet say whose it is: it is written right after it was created. */
const LONGEST_NAMELESS_MS = 2_000

/** A larger file is not a lock. */
const MAX_LOCK_BYTES = 4_096

/**
 * Runs work while no other process, and nothing else in this one, holds the lock file. Work may run more than once, and
 * must change nothing outside `commit`.
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
          commit(deed) {
            if (lockAt(path)?.text !== mine) throw new LockLost()
            deed()
          },
        })
      } catch (error) {
        if (!(error instanceof LockLost)) throw error
      } finally {
        if (lockAt(path)?.text === mine) rmSync(path, { force: true })
      }
    }
  })
}

class LockLost extends Error {}

const turns = new Map<string, Promise<unknown>>()

/** One after the other within this process, in the order asked: only one of them competes with other processes. */
function inTurn<Value>(path: string, work: () => Promise<Value>): Promise<Value> {
  const done = (turns.get(path) ?? Promise.resolve()).then(work)
  const settled = done
    .catch(() => undefined)
    .finally(() => {
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
    file = openSync(path, 'wx')
  } catch (error) {
    if (getCode(error) === 'EEXIST') return false
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
  /** Tells apart two files with the same text. */
  readonly inode: number
  readonly writtenAt: number
}

export function lockAt(path: string): FoundLock | undefined {
  let file: number
  try {
    // Not through a link, and without waiting for the writer of a pipe.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    if (getCode(error) === 'ENOENT' || getCode(error) === 'ELOOP') return undefined
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

function isAbandoned(lock: FoundLock): boolean {
  const age = Date.now() - lock.writtenAt
  if (age > LONGEST_HELD_MS) return true
  const holder = getHolder(lock)
  if (!holder) return age > LONGEST_NAMELESS_MS
  // Of a process on another machine that shares the folder nothing can be known but the age of its lock.
  if (holder.host !== hostname()) return false
  // In containers one id is used again and again: what is older than this process was its predecessor's.
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
  if (!isPlainObject(json)) return undefined
  const { pid, host } = json
  return Number.isSafeInteger(pid) && (pid as number) > 0 && typeof host === 'string'
    ? { pid: pid as number, host }
    : undefined
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // The process of another user may not be signalled, but it is there.
    return getCode(error) !== 'ESRCH'
  }
}

/**
 * Removes the abandoned lock that was found, and no other: another waiter may have removed it meanwhile, and what lies
 * there now may be the lock of one that is at work. So it is moved away first, where nobody else can touch it, looked at,
 * and put back if it is not the one.
 */
export function tryRemove(path: string, found: FoundLock): boolean {
  const aside = `${path}.${randomUUID()}.old`
  try {
    renameSync(path, aside)
  } catch (error) {
    if (getCode(error) === 'ENOENT') return true
    throw error
  }
  const moved = lockAt(aside)
  const isTheOne = moved?.text === found.text && moved.inode === found.inode
  try {
    // Unlike a rename, a link does not replace a lock that was made meanwhile. Where there are no links, or there is such
    // a lock, the one who was at work finds out before it commits, and starts over.
    if (!isTheOne) linkSync(aside, path)
  } catch {
    return false
  } finally {
    rmSync(aside, { force: true })
  }
  return isTheOne
}

function stillLocked(path: string, lock: FoundLock | undefined): FoldoutError {
  const holder = lock && getHolder(lock)
  const who = holder ? `process ${holder.pid} on ${holder.host}` : 'a process that is not known'
  return new FoldoutError(
    'override-locked',
    `The lock '${path}' is held by ${who} and did not become free in time. Try again; a lock that is older than ${LONGEST_HELD_MS / 1000} seconds is taken over.`,
  )
}

export function getCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
