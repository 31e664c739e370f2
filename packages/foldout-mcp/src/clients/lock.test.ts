import { mkdtemp, open, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { holdLock } from './lock.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'foldout-lock-'))
})
afterEach(async () => {
  vi.restoreAllMocks()
  await rm(folder, { recursive: true, force: true })
})

describe('a lock', () => {
  it('is not left behind by a full disk, and the error names it', async () => {
    const lock = join(folder, 'lock')
    const handle = await open(join(folder, 'other'), 'w')
    const prototype = Object.getPrototypeOf(handle) as typeof handle
    await handle.close()
    vi.spyOn(prototype, 'writeFile').mockRejectedValueOnce(new Error('ENOSPC: no space left on device, write'))
    const work = vi.fn(async () => 'done')
    await expect(holdLock(lock, work)).rejects.toThrow(
      `Nothing was changed, because ${lock} cannot be written: ENOSPC: no space left on device, write.`,
    )
    expect(work).not.toHaveBeenCalled()
    expect(await readdir(folder)).toEqual(['other'])
    expect(await holdLock(lock, work)).toBe('done')
  })
})
