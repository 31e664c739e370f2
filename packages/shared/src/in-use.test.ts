import { describe, expect, it } from 'vitest'
import { retryIfInUse, retryIfInUseSync } from './in-use.ts'

/** A change that fails some times, as on Windows while another program has the file open. */
function failTimes(times: number, code = 'EPERM'): { change: () => string; getTries: () => number } {
  let tries = 0
  const change = (): string => {
    if (++tries <= times) throw Object.assign(new Error('operation not permitted'), { code })
    return 'done'
  }
  return { change, getTries: () => tries }
}

describe('R16 a file that another program has open', () => {
  it.each(['EPERM', 'EACCES', 'EBUSY'])('is changed again on Windows after %s', async (code) => {
    const later = failTimes(3, code)
    await expect(retryIfInUse(async () => later.change(), { platform: 'win32' })).resolves.toBe('done')
    expect(later.getTries()).toBe(4)
    expect(retryIfInUseSync(failTimes(3, code).change, { platform: 'win32' })).toBe('done')
  })

  it('fails on Windows with the reason if it stays open', async () => {
    const options = { platform: 'win32', waitMs: 30 } as const
    await expect(retryIfInUse(async () => failTimes(Infinity).change(), options)).rejects.toThrow('not permitted')
    expect(() => retryIfInUseSync(failTimes(Infinity).change, options)).toThrow('not permitted')
  })

  it('fails at once for other reasons and on other systems', async () => {
    for (const [code, platform] of [
      ['ENOENT', 'win32'],
      ['EPERM', 'linux'],
    ] as const) {
      const never = failTimes(1, code)
      await expect(retryIfInUse(async () => never.change(), { platform })).rejects.toThrow('not permitted')
      expect(() => retryIfInUseSync(failTimes(1, code).change, { platform })).toThrow('not permitted')
      expect(never.getTries()).toBe(1)
    }
  })
})
