import pLimit from 'p-limit'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { CallResult } from 'foldout/catalog'
import { MAX_WAITING } from '../../upstreams/limits.ts'
import { UpstreamError } from '../../upstreams/failures/failures.ts'
import { createSecrets } from '../../policy/secrets/secrets.ts'
import { createCall, PAID, readText } from '../call/call.fixtures.ts'
import { explainFailure } from './explain-failure.ts'
import { limitConcurrency } from './limit-concurrency.ts'
import { limitSize } from './limit-size.ts'
import { CallTimeout, limitTime } from './limit-time.ts'

afterEach(() => vi.useRealTimers())

/** Ends with the signal. */
const untilStopped = (signal: AbortSignal | undefined): Promise<CallResult> =>
  new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))

describe('limitConcurrency', () => {
  it('runs so many calls at a time, in their order', async () => {
    const { call } = createCall({ limits: { turns: pLimit(1) } })
    const log: string[] = []
    const begin = (name: string): Promise<CallResult> =>
      limitConcurrency(call, async () => {
        log.push(`${name} begins`)
        await Promise.resolve()
        log.push(`${name} ends`)
        return PAID
      })
    await Promise.all([begin('a'), begin('b')])
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
  })

  it('refuses calls when too many wait, and drops those whose client has left', async () => {
    const turns = pLimit(1)
    const leave = new AbortController()
    const { call } = createCall({ limits: { turns }, context: { signal: leave.signal } })
    let finish: (result: CallResult) => void = () => undefined
    const first = limitConcurrency(call, () => new Promise((resolve) => (finish = resolve)))
    const waiting = Array.from({ length: MAX_WAITING }, () => limitConcurrency(call, async () => PAID))
    expect(readText(await limitConcurrency(call, async () => PAID))).toContain('calls are already waiting for it')
    leave.abort(new Error('gone'))
    finish(PAID)
    expect(await first).toBe(PAID)
    for (const { status } of await Promise.allSettled(waiting)) expect(status).toBe('rejected')
  })
})

describe('limitTime', () => {
  it('gives up a call, and progress gives it more time', async () => {
    vi.useFakeTimers()
    const { call } = createCall({ limits: { timeoutMs: 1_000 } })
    let reason: unknown
    const result = limitTime(call, ({ context }) => {
      setTimeout(() => context.onProgress?.({ progress: 1 }), 900)
      return untilStopped(context.signal).catch((error: unknown) => {
        reason = error
        throw error
      })
    })
    await vi.advanceTimersByTimeAsync(1_800)
    expect(reason).toBeUndefined()
    await vi.advanceTimersByTimeAsync(200)
    expect(readText(await result)).toContain('did not answer within its limit of 1 seconds')
    expect(reason).toBeInstanceOf(CallTimeout)
  })

  it('rejects if the client has left', async () => {
    const leave = new AbortController()
    const { call } = createCall({ limits: { timeoutMs: 60_000 }, context: { signal: leave.signal } })
    const result = limitTime(call, ({ context }) => untilStopped(context.signal))
    leave.abort(new Error('gone'))
    await expect(result).rejects.toThrow('gone')
  })
})

describe('limitSize', () => {
  it('refuses a larger result, and one that cannot be measured', async () => {
    const { call } = createCall({ limits: { maxResultBytes: 100 } })
    expect(await limitSize(call, async () => PAID)).toBe(PAID)
    const large = { content: [{ type: 'text', text: 'é'.repeat(50) }] }
    expect(readText(await limitSize(call, async () => large))).toContain('has run, but its result has')
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    const odd = { content: [], structuredContent: circle }
    expect((await limitSize(call, async () => odd)).isError).toBe(true)
  })
})

describe('explainFailure', () => {
  const secrets = createSecrets()
  secrets.add(['sk-0123456789abcdef'])

  it('hides secrets in failures, and leaves results as they are', async () => {
    const { call } = createCall({ secrets })
    const failure = { content: [{ type: 'text', text: 'Key sk-0123456789abcdef is wrong.' }], isError: true }
    expect(readText(await explainFailure(call, async () => failure))).not.toContain('sk-0123')
    const thrown = () => Promise.reject(new UpstreamError('sk-0123456789abcdef was refused.'))
    const result = await explainFailure(call, thrown)
    expect(readText(result)).toMatch(/^Tool 'pay' was not run: .* was refused\.$/)
    expect(readText(result)).not.toContain('sk-0123')
    expect(await explainFailure(call, async () => PAID)).toBe(PAID)
  })

  it('passes on errors that are not of the server', async () => {
    const { call } = createCall()
    await expect(explainFailure(call, () => Promise.reject(new RangeError('odd')))).rejects.toThrow('odd')
  })
})
