import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FoldoutError } from '../../entries/index.ts'
import { lockAt, tryRemove, withLock } from './lock.ts'
import { takeTurns } from '../../../../../test/turns.ts'

let folder: string
let lock: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-lock-'))
  lock = join(folder, 'a.json.lock')
})
afterEach(() => rmSync(folder, { recursive: true }))

const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid
const held = (pid: number, host = hostname()): string => JSON.stringify({ pid, host, token: 'other' })
const written = (secondsAgo: number): void => utimesSync(lock, new Date(), new Date(Date.now() - secondsAgo * 1000))
/** The parent process is certainly alive. */
const alive = process.ppid

describe('withLock', () => {
  it('R16 names the holder while it is held, and removes the lock after success and after failure', async () => {
    const inside = await withLock(lock, async () => JSON.parse(readFileSync(lock, 'utf8')) as unknown)
    expect(inside).toEqual({ pid: process.pid, host: hostname(), token: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    await expect(withLock(lock, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(readdirSync(folder)).toEqual([])
  })

  it('R16 runs one caller at a time, in call order, even after one has failed', async () => {
    const order: string[] = []
    const enter = (name: string) =>
      withLock(lock, async () => {
        order.push(`${name} in`)
        await takeTurns()
        order.push(`${name} out`)
        if (name === 'a') throw new Error('a fails')
      })
    await Promise.allSettled([enter('a'), enter('b'), enter('c')])
    expect(order).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out'])
  })

  it('R16 gives up on a lock that stays held, names the holder and leaves the lock', async () => {
    writeFileSync(lock, held(alive))
    const error = await withLock(lock, async () => 'entered', 30).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(FoldoutError)
    expect(error).toMatchObject({
      code: 'override-locked',
      message: `The lock '${lock}' is held by process ${alive} on ${hostname()} and was not released in time. Try again; a lock that is older than 30 seconds is taken over.`,
    })
    expect(readFileSync(lock, 'utf8')).toBe(held(alive))
  })

  it.each([
    ['of a process that is dead', () => held(deadPid()), 0],
    ['older than 30 seconds', () => held(alive), 31],
    ['older than 30 seconds of another machine', () => held(deadPid(), 'elsewhere'), 31],
    ['that a killed process did not come to write', () => '', 3],
    ['that is not a lock at all', () => '[]', 3],
    // Older than this process when the test runs.
    ['that has the id of this process but is older', () => held(process.pid), () => process.uptime() + 3],
  ])('R16 takes over a lock %s', async (_, content, age) => {
    writeFileSync(lock, content())
    written(typeof age === 'number' ? age : age())
    expect(await withLock(lock, async () => 'entered', 30)).toBe('entered')
    expect(readdirSync(folder)).toEqual([])
  })

  it.each([
    ['of a process that is alive', () => held(alive), 29],
    ['of another machine, whose processes cannot be seen', () => held(deadPid(), 'elsewhere'), 29],
    ['that has just been made', () => '', 0],
    ['of this process itself, in another thread say', () => held(process.pid), 0],
  ])('R16 respects a lock %s', async (_, content, age) => {
    writeFileSync(lock, content())
    written(age)
    await expect(withLock(lock, async () => 'entered', 30)).rejects.toThrow('was not released in time')
    expect(existsSync(lock)).toBe(true)
  })

  it('R16 keeps waiting while the lock changes hands', async () => {
    writeFileSync(lock, held(alive))
    const entered = withLock(lock, async () => 'entered', 400)
    for (let turn = 0; turn < 4; turn++) {
      await sleep(150)
      writeFileSync(lock, held(alive, `elsewhere-${turn}`))
    }
    rmSync(lock)
    expect(await entered).toBe('entered')
  })

  it('R16 does not wait forever on a lock that keeps changing', async () => {
    writeFileSync(lock, held(alive))
    const changing = setInterval(() => writeFileSync(lock, held(alive, `elsewhere-${Math.random()}`)), 2)
    await expect(withLock(lock, async () => 'entered', 20)).rejects.toThrow('was not released in time')
    clearInterval(changing)
  })

  it.skipIf(process.platform === 'win32')('R16 does not wait forever on a lock that cannot be read', async () => {
    symlinkSync(join(folder, 'nothing'), lock)
    await expect(withLock(lock, async () => 'entered', 30)).rejects.toThrow(
      'is held by an unknown process and was not released in time',
    )
  })

  it('R16 commits nothing once another process has taken over the lock, and starts over', async () => {
    let runs = 0
    const deeds: number[] = []
    await withLock(lock, async ({ commit }) => {
      runs++
      if (runs === 1) writeFileSync(lock, held(deadPid()))
      commit(() => deeds.push(runs))
    })
    expect(deeds).toEqual([2])
    expect(readdirSync(folder)).toEqual([])
  })

  it('R16 does not remove the lock of the process that took over', async () => {
    await withLock(lock, async () => writeFileSync(lock, held(alive)))
    expect(readFileSync(lock, 'utf8')).toBe(held(alive))
  })
})

describe('a change on Windows', () => {
  const { platform } = process
  afterEach(() => Object.defineProperty(process, 'platform', { value: platform }))

  it('R16 is made again while another program has the file open', async () => {
    Object.defineProperty(process, 'platform', { value: 'win32' })
    let tries = 0
    const change = (): void => {
      if (++tries < 3) throw Object.assign(new Error('operation not permitted'), { code: 'EPERM' })
    }
    await withLock(lock, async (mine) => mine.commit(change))
    expect(tries).toBe(3)
  })
})

describe('removed', () => {
  it('R16 removes the abandoned lock', () => {
    writeFileSync(lock, held(1))
    expect(tryRemove(lock, lockAt(lock)!)).toBe(true)
    expect(readdirSync(folder)).toEqual([])
  })

  it.each([held(2), held(1)])(
    'R16 puts back the lock %s that another process has created in the meantime',
    (theirs) => {
      writeFileSync(lock, held(1))
      const found = lockAt(lock)!
      // Moved rather than removed, so its inode is not reused for the other lock.
      renameSync(lock, join(folder, 'first'))
      writeFileSync(lock, theirs)
      const now = lockAt(lock)
      expect(tryRemove(lock, found)).toBe(false)
      expect(lockAt(lock)).toEqual(now)
      expect(readdirSync(folder)).toEqual(['a.json.lock', 'first'])
    },
  )

  it('R16 does nothing when another process has removed it', () => {
    writeFileSync(lock, held(1))
    const found = lockAt(lock)!
    rmSync(lock)
    expect(tryRemove(lock, found)).toBe(true)
  })
})
