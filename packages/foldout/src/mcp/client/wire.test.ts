import { afterEach, describe, expect, it, vi } from 'vitest'
import type { McpClient } from './client.ts'
import { callOnWire, type DirectOptions } from './wire.ts'

interface Sent {
  readonly id?: number
  readonly method: string
  readonly params: { readonly name?: string; readonly requestId?: number; readonly _meta?: { progressToken: number } }
}

/** A client whose server answers only when the test does. */
function createSilent() {
  const sent: Sent[] = []
  const transport: { send(message: Sent): Promise<void>; onmessage?(message: object): void } = {
    async send(message) {
      sent.push(message)
    },
  }
  const client = { transport } as unknown as McpClient
  const ask = (name: string, options: Partial<DirectOptions> = {}): Promise<unknown> =>
    callOnWire(
      client,
      { name, arguments: {}, meta: {} },
      {
        signal: undefined,
        timeoutMs: 60_000,
        maxMs: 60_000,
        onProgress: undefined,
        ...options,
      },
    )
  const find = (name: string): Sent => sent.find(({ params }) => params.name === name)!
  return {
    sent,
    ask,
    /** Servers may write numbers as strings. */
    answer: (name: string, toId: (id: number) => unknown = Number) =>
      transport.onmessage?.({ jsonrpc: '2.0', id: toId(find(name).id!), result: { name } }),
    report: (name: string, toId: (id: number) => unknown = Number) =>
      transport.onmessage?.({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: toId(find(name).id!), progress: 1 },
      }),
  }
}

describe('requests that bypass the client', () => {
  afterEach(() => void vi.useRealTimers())

  it('end each at its own time, whatever the order in which they were sent', async () => {
    const { sent, ask } = createSilent()
    const ended: string[] = []
    const watch = (name: string, options: Partial<DirectOptions>): Promise<unknown> =>
      ask(name, options).catch((error: { code: string }) => ended.push(`${name} ${error.code}`))
    vi.useFakeTimers()
    const all = [watch('slow', { timeoutMs: 250 }), watch('fast', { timeoutMs: 30 }), watch('overdue', { maxMs: 120 })]
    await vi.advanceTimersByTimeAsync(60)
    all.push(watch('later', { timeoutMs: 20 }))
    await vi.advanceTimersByTimeAsync(250)
    await Promise.all(all)
    expect(ended).toEqual(['fast REQUEST_TIMEOUT', 'later REQUEST_TIMEOUT', 'overdue OVERDUE', 'slow REQUEST_TIMEOUT'])
    const cancelled = sent.filter(({ method }) => method === 'notifications/cancelled')
    expect(new Set(cancelled.map(({ params }) => params.requestId)).size).toBe(4)
  })

  it('are given more time by progress, and none of them by another one’s', async () => {
    vi.useFakeTimers()
    const { ask, report } = createSilent()
    const ended: string[] = []
    const heard = ask('heard', { timeoutMs: 150 }).catch(() => ended.push('heard'))
    const quiet = ask('quiet', { timeoutMs: 150 }).catch(() => ended.push('quiet'))
    await vi.advanceTimersByTimeAsync(100)
    report('heard')
    await vi.advanceTimersByTimeAsync(250)
    await Promise.all([heard, quiet])
    expect(ended).toEqual(['quiet', 'heard'])
  })

  it('are answered, or stopped by their signal, and leave nothing on it', async () => {
    const { sent, ask, answer } = createSilent()
    const stop = new AbortController()
    const first = ask('first', { signal: stop.signal })
    answer('first')
    expect(await first).toEqual({ name: 'first' })
    const second = ask('second', { signal: stop.signal })
    stop.abort(new Error('enough'))
    await expect(second).rejects.toThrow('enough')
    expect(sent.filter(({ method }) => method === 'notifications/cancelled')).toHaveLength(1)
  })

  it('have ids that fit into 32 bits, because some servers cut off the rest', async () => {
    const { ask, answer } = createSilent()
    const asked = ask('small')
    answer('small', (id) => id % 2 ** 31)
    expect(await asked).toEqual({ name: 'small' })
  })

  it('are answered by servers that write their ids as strings', async () => {
    const { ask, answer, report } = createSilent()
    const heard: unknown[] = []
    const asked = ask('text', { onProgress: (progress) => heard.push(progress) })
    report('text', String)
    answer('text', String)
    expect(await asked).toEqual({ name: 'text' })
    expect(heard).toEqual([{ progress: 1 }])
  })
})
