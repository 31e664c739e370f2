import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Ask } from './asking/callers.ts'
import { MAX_HELD, MAX_HELD_EACH } from './asking/limits.ts'
import { IdleTimer, Uses } from './uses.ts'

describe('questions that wait for answers', () => {
  const NEVER: Ask = () => new Promise(() => {})

  function ask(uses: Uses, principal: string | undefined): Promise<unknown> | undefined {
    const client = { id: randomUUID(), name: undefined, version: undefined, principal }
    const end = uses.beginNow({ client, ask: NEVER })
    const asked = uses.callers.list().at(-1)?.ask?.('elicitation/create', {})
    end()
    return asked
  }

  it('are limited for each user, so that nobody keeps others from being asked', async () => {
    const uses = new Uses(16, () => undefined)
    for (let i = 0; i < MAX_HELD_EACH; i++) void ask(uses, 'ann')
    await expect(ask(uses, 'ann')).rejects.toThrow('Answer or cancel some of them first.')
    await expect(Promise.race([ask(uses, 'bob'), Promise.resolve('asked')])).resolves.toBe('asked')
  })

  it('are limited only together if there are no users', async () => {
    const uses = new Uses(16, () => undefined)
    for (let i = 0; i < MAX_HELD; i++) void ask(uses, undefined)
    await expect(ask(uses, undefined)).rejects.toThrow('Too many calls')
  })
})

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
