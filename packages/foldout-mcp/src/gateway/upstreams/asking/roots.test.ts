import type { CallContext } from 'foldout/catalog'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Callers } from '../callers.ts'
import { ROOTS_ANSWERED_MS, ROOTS_ASKED_MS, ROOTS_TAKEN_MS } from '../limits.ts'
import { Roots } from './roots.ts'

function createServer() {
  const notification = vi.fn(async () => undefined)
  return { notification, connection: { client: { notification, ping: async () => ({}) } } }
}

function createContext(ask: NonNullable<CallContext['peer']>['ask'] = async () => ({ roots: [] })): CallContext {
  const peer = { era: 'legacy', capabilities: { roots: {} }, notify: async () => undefined, ask } as const
  return { client: { id: 'one' } as CallContext['client'] & object, peer }
}

describe('R53 offering folders to a server', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  it('does not wait if the server has never asked for them', async () => {
    const roots = new Roots()
    const { connection, notification } = createServer()
    await roots.offer(connection, createContext())
    expect(notification).toHaveBeenCalledTimes(1)
    expect(roots.isNews(createContext())).toBe(false)
  })

  it('waits a limited time for a server that does not ask again, and only once', async () => {
    const roots = new Roots()
    const { connection, notification } = createServer()
    expect(await roots.answer(new Callers(), new AbortController().signal)).toEqual({ roots: [] })
    const offered = roots.offer(connection, createContext())
    await vi.advanceTimersByTimeAsync(ROOTS_ASKED_MS)
    await offered
    roots.change('one')
    expect(roots.isNews(createContext())).toBe(true)
    await roots.offer(connection, createContext())
    expect(notification).toHaveBeenCalledTimes(2)
  })

  it('waits a limited time for a client that does not answer', async () => {
    const roots = new Roots()
    const { connection } = createServer()
    await roots.answer(new Callers(), new AbortController().signal)
    const offered = roots.offer(
      connection,
      createContext(() => new Promise(() => {})),
    )
    await vi.advanceTimersByTimeAsync(0)
    void roots.answer(new Callers(), new AbortController().signal)
    await vi.advanceTimersByTimeAsync(ROOTS_ASKED_MS + ROOTS_ANSWERED_MS)
    await new Promise((resolve) => setImmediate(resolve))
    await vi.advanceTimersByTimeAsync(ROOTS_TAKEN_MS)
    await expect(offered).resolves.toBeUndefined()
  })
})
