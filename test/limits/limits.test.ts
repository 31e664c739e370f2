import { describe, expect, it } from 'vitest'
import { findLimitModules, formatPage, readLimits } from './page.ts'

const limits = (await Promise.all(findLimitModules().map(readLimits))).flat()

describe('default limits', () => {
  it('are listed on one page, as in the modules', async () => {
    expect(limits.length).toBeGreaterThan(50)
    await expect(formatPage(limits)).toMatchFileSnapshot('../../docs/limits.md')
  })

  it('say what they bound', () => {
    expect(limits.filter(({ comment }) => comment === '').map(({ room, name }) => `${room} ${name}`)).toEqual([])
  })

  it('are finite numbers above zero', () => {
    expect(limits.filter(({ value }) => typeof value === 'number' && !(value > 0 && Number.isFinite(value)))).toEqual(
      [],
    )
  })
})
