import type { CallClient } from 'foldout/catalog'
import { describe, expect, it } from 'vitest'
import { Audience } from './audience.ts'

const toClient = (id: string, principal?: string, isShared = false): CallClient => ({
  id,
  principal,
  isShared,
  name: id,
  version: '1',
})

describe('R53 the clients that have used a process', () => {
  it('are one, however often it calls', () => {
    const audience = new Audience()
    for (let i = 0; i < 3; i++) audience.meet(toClient('one'))
    expect(audience.isShared).toBe(false)
    expect([audience.isFree(toClient('one')), audience.isFree(toClient('two'))]).toEqual([true, false])
  })

  it('are one if they have no connection and one user', () => {
    const audience = new Audience()
    audience.meet(toClient('here', 'ann', true))
    audience.meet(toClient('there', 'ann', true))
    expect(audience.isShared).toBe(false)
    audience.meet(toClient('there', 'bob', true))
    expect(audience.isShared).toBe(true)
  })

  it('do not count when they have left, unless the next one is of another user', () => {
    const audience = new Audience()
    audience.meet(toClient('one'))
    audience.leave(toClient('one'))
    expect(audience.isFree(toClient('two'))).toBe(true)
    audience.meet(toClient('three', 'ann'))
    audience.leave(toClient('three', 'ann'))
    expect([audience.isFree(toClient('four', 'ann')), audience.isFree(toClient('five', 'bob'))]).toEqual([true, false])
    audience.meet(toClient('five', 'bob'))
    expect(audience.isShared).toBe(true)
    expect([...audience.users]).toEqual(['ann', 'bob'])
  })
})
