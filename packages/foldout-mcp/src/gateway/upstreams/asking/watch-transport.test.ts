import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ANSWER_MS, MAX_ABANDONED } from './limits.ts'
import { Abandoned } from './watch-transport.ts'

describe('cancelled calls', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('count until the server has answered all of them', () => {
    const abandoned = new Abandoned()
    abandoned.cancel(1)
    abandoned.add('ann')
    abandoned.cancel(2)
    abandoned.add('bob')
    abandoned.settle('1')
    expect(abandoned.listUsers()).toEqual(['ann', 'bob'])
    abandoned.settle(2)
    expect(abandoned.listUsers()).toEqual([])
  })

  it('count for a limited time', () => {
    const abandoned = new Abandoned()
    abandoned.cancel(1)
    abandoned.add('ann')
    vi.advanceTimersByTime(ANSWER_MS - 1)
    expect(abandoned.listUsers()).toEqual(['ann'])
    vi.advanceTimersByTime(1)
    expect(abandoned.listUsers()).toEqual([])
  })

  it('do not count if the server never got them', () => {
    const abandoned = new Abandoned()
    abandoned.add('ann')
    expect(abandoned.listUsers()).toEqual([])
  })

  it('still count if there are too many to remember', () => {
    const abandoned = new Abandoned()
    for (let id = 0; id <= MAX_ABANDONED; id++) abandoned.cancel(id)
    abandoned.add('ann')
    for (let id = 0; id <= MAX_ABANDONED; id++) abandoned.settle(id)
    expect(abandoned.listUsers()).toEqual(['ann'])
  })
})
