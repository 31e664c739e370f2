import type { CallContext } from 'foldout/catalog'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Callers } from './callers.ts'
import { ROOTS_ANSWERED_MS, ROOTS_ASKED_MS, ROOTS_TAKEN_MS } from './limits.ts'
import { OutsideQuestions } from './outside.ts'
import { Roots } from './roots.ts'

const callers = new Callers()
const outside = new OutsideQuestions({ callers, listClients: () => [], onEnd: () => undefined })
const NOBODY = { callers, outside }

function createServer() {
  const notify = vi.fn(async () => undefined)
  return { notify, connection: { session: { notify, request: async () => ({}) } } }
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
    const { connection, notify } = createServer()
    await roots.offer(connection, createContext())
    expect(notify).toHaveBeenCalledTimes(1)
    expect(roots.isNews(createContext())).toBe(false)
  })

  it('waits a limited time for a server that does not ask again, and only once', async () => {
    const roots = new Roots()
    const { connection, notify } = createServer()
    expect(await roots.answer(NOBODY, new AbortController().signal)).toEqual({ roots: [] })
    const offered = roots.offer(connection, createContext())
    await vi.advanceTimersByTimeAsync(ROOTS_ASKED_MS)
    await offered
    roots.change('one')
    expect(roots.isNews(createContext())).toBe(true)
    await roots.offer(connection, createContext())
    expect(notify).toHaveBeenCalledTimes(2)
  })

  it('waits a limited time for a client that does not answer', async () => {
    const roots = new Roots()
    const { connection } = createServer()
    await roots.answer(NOBODY, new AbortController().signal)
    const offered = roots.offer(
      connection,
      createContext(() => new Promise(() => {})),
    )
    await vi.advanceTimersByTimeAsync(0)
    void roots.answer(NOBODY, new AbortController().signal)
    await vi.advanceTimersByTimeAsync(ROOTS_ASKED_MS + ROOTS_ANSWERED_MS)
    await new Promise((resolve) => setImmediate(resolve))
    await vi.advanceTimersByTimeAsync(ROOTS_TAKEN_MS)
    await expect(offered).resolves.toBeUndefined()
  })

  it('waits until the server has had time to apply an answer, and only once', async () => {
    const roots = new Roots()
    const { connection, notify } = createServer()
    const context = createContext()
    const { client, peer } = context as Required<CallContext>
    const calling = new Callers()
    const { capabilities, ask } = peer
    const tell = (): void => undefined
    calling.add({
      client: client.id,
      user: undefined,
      owner: 'client one',
      capabilities,
      ask,
      notify: tell,
      waiting: 0,
      era: 'legacy',
      logLevel: undefined,
    })
    await roots.answer({ callers: calling, outside }, new AbortController().signal)
    expect(roots.isNews(context)).toBe(true)
    const offers = [roots.offer(connection, context), roots.offer(connection, context)]
    await new Promise((resolve) => setImmediate(resolve))
    await vi.advanceTimersByTimeAsync(ROOTS_TAKEN_MS - 1)
    expect(roots.isNews(context)).toBe(true)
    await vi.advanceTimersByTimeAsync(1)
    await Promise.all(offers)
    expect(roots.isNews(context)).toBe(false)
    expect(notify).not.toHaveBeenCalled()
  })

  it('does not wait for an answer that the server got a while ago', async () => {
    const roots = new Roots()
    const { connection } = createServer()
    await roots.offer(connection, createContext())
    await roots.answer(NOBODY, new AbortController().signal)
    expect(roots.isNews(createContext())).toBe(true)
    await vi.advanceTimersByTimeAsync(ROOTS_ASKED_MS)
    expect(roots.isNews(createContext())).toBe(false)
  })
})
