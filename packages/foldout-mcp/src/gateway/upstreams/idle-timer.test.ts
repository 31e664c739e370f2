import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { IdleTimer } from './idle-timer.ts'

describe('an idle timer', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('tells that nothing was done for the whole time since the last use', () => {
    const onIdle = vi.fn()
    const timer = new IdleTimer(1_000, { isIdle: () => true, onIdle })
    timer.touch()
    vi.advanceTimersByTime(900)
    timer.touch()
    vi.advanceTimersByTime(990)
    expect(onIdle).not.toHaveBeenCalled()
    vi.advanceTimersByTime(20)
    expect(onIdle).toHaveBeenCalledTimes(1)
  })

  it('waits for a use that lasts longer, and begins again when it has ended', () => {
    const onIdle = vi.fn()
    let isIdle = false
    const timer = new IdleTimer(1_000, { isIdle: () => isIdle, onIdle })
    timer.touch()
    vi.advanceTimersByTime(5_000)
    expect(onIdle).not.toHaveBeenCalled()
    isIdle = true
    timer.touch()
    vi.advanceTimersByTime(1_010)
    expect(onIdle).toHaveBeenCalledTimes(1)
  })

  it('says nothing after it was cleared, or if there is no limit', () => {
    const onIdle = vi.fn()
    const cleared = new IdleTimer(1_000, { isIdle: () => true, onIdle })
    cleared.touch()
    cleared.clear()
    new IdleTimer(Infinity, { isIdle: () => true, onIdle }).touch()
    vi.advanceTimersByTime(1e9)
    expect(onIdle).not.toHaveBeenCalled()
  })
})
