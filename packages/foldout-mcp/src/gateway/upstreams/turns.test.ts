import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BUSY_MS } from './limits.ts'
import { Turns } from './turns.ts'

describe('turns', () => {
  it('are taken at once while there is room, and in order otherwise', async () => {
    const turns = new Turns(2)
    const begun: string[] = []
    const begin = async (name: string): Promise<void> => {
      await turns.begin(undefined)
      begun.push(name)
    }
    const all = ['a', 'b', 'c', 'd'].map(begin)
    await Promise.all(all.slice(0, 2))
    expect({ begun, running: turns.runCount, waiting: turns.waitCount, isFree: turns.isFreeFor(undefined) }).toEqual({
      begun: ['a', 'b'],
      running: 2,
      waiting: 2,
      isFree: false,
    })
    turns.end(undefined)
    await all[2]
    expect(begun).toEqual(['a', 'b', 'c'])
    turns.end(undefined)
    await all[3]
    expect({ begun, running: turns.runCount, waiting: turns.waitCount }).toEqual({
      begun: ['a', 'b', 'c', 'd'],
      running: 2,
      waiting: 0,
    })
  })

  it('go to those that wait when there is more room, and come back when there is less', async () => {
    const turns = new Turns(1)
    await turns.begin(undefined)
    const second = turns.begin(undefined)
    turns.addRoom(1)
    await second
    expect(turns.runCount).toBe(2)
    turns.addRoom(-1)
    turns.end(undefined)
    expect(turns.isFreeFor(undefined)).toBe(false)
    turns.end(undefined)
    expect(turns.isFreeFor(undefined)).toBe(true)
  })
})

describe('turns of several users', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it.each([4, 16])('are never all taken by one user, if there are %i', async (most) => {
    const turns = new Turns(most)
    for (let i = 0; i < most; i++) void turns.begin('ann')
    expect(turns.runCount).toBeLessThan(most)
    await turns.begin('bob')
    expect(turns.waitCount).toBe(most - turns.runCount + 1)
  })

  it.each([1, 2, 3])('may all be taken by one user, if there are only %i', async (most) => {
    const turns = new Turns(most)
    for (let i = 0; i < most; i++) await turns.begin('ann')
    expect(turns.runCount).toBe(most)
  })

  it('go to one user after the other', async () => {
    const turns = new Turns(1)
    const begun: string[] = []
    for (const user of ['cat', 'ann', 'ann', 'bob']) void turns.begin(user).then(() => begun.push(user))
    for (const user of ['cat', 'ann', 'bob']) {
      await vi.advanceTimersByTimeAsync(0)
      turns.end(user)
    }
    await vi.advanceTimersByTimeAsync(0)
    expect(begun).toEqual(['cat', 'ann', 'bob', 'ann'])
  })

  it('are refused after a while if others keep all of them', async () => {
    const turns = new Turns(1)
    await turns.begin('ann')
    const own = turns.begin('ann')
    const why = turns.begin('bob').catch(({ message }: Error) => message)
    await vi.advanceTimersByTimeAsync(BUSY_MS)
    expect(await why).toMatch(/^The server is busy: calls of other users/)
    expect(turns.waitCount).toBe(1)
    turns.end('ann')
    await own
  })
})
