import { describe, expect, it } from 'vitest'
import { Turns } from './uses.ts'

describe('turns', () => {
  it('are taken at once while there is room, and in order otherwise', async () => {
    const turns = new Turns(2)
    const begun: string[] = []
    const begin = async (name: string): Promise<void> => {
      await turns.begin()
      begun.push(name)
    }
    const all = ['a', 'b', 'c', 'd'].map(begin)
    await Promise.all(all.slice(0, 2))
    expect({ begun, running: turns.runCount, waiting: turns.waitCount, isFree: turns.isFree }).toEqual({
      begun: ['a', 'b'],
      running: 2,
      waiting: 2,
      isFree: false,
    })
    turns.end()
    await all[2]
    expect(begun).toEqual(['a', 'b', 'c'])
    turns.end()
    await all[3]
    expect({ begun, running: turns.runCount, waiting: turns.waitCount }).toEqual({
      begun: ['a', 'b', 'c', 'd'],
      running: 2,
      waiting: 0,
    })
  })

  it('go to those that wait when there is more room, and come back when there is less', async () => {
    const turns = new Turns(1)
    await turns.begin()
    const second = turns.begin()
    turns.addRoom(1)
    await second
    expect(turns.runCount).toBe(2)
    turns.addRoom(-1)
    turns.end()
    expect(turns.isFree).toBe(false)
    turns.end()
    expect(turns.isFree).toBe(true)
  })
})
