import { getEventListeners } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { FoldoutError } from '../core/errors.ts'
import { AdapterError, type AdapterErrorCode } from './adapter-error.ts'
import type { ModelEvent } from './contract.ts'
import { cutStream } from './failure.ts'
import { withRetries, type Attempt, type RetryOptions } from './retry.ts'

function apiError(status: number | undefined, message: string, details: object = {}): Error {
  return Object.assign(new Error(message), { status, ...details })
}

async function attempt(failures: readonly unknown[], options: Partial<RetryOptions> = {}) {
  const events: ModelEvent[] = []
  const delays: number[] = []
  const left = [...failures]
  let calls = 0
  const work: Attempt<string> = async () => {
    calls++
    if (left.length > 0) throw left.shift()
    return 'done'
  }
  const outcome = await withRetries(work, {
    adapter: 'acme',
    signal: new AbortController().signal,
    emit: (event) => events.push(event),
    sleep: async (milliseconds) => void delays.push(milliseconds),
    ...options,
  }).catch((error: unknown) => error)
  return { outcome, events, delays, calls }
}

describe('retries of requests', () => {
  it.each([408, 409, 429, 500, 502, 503, 529])('retries after status %i', async (status) => {
    const { outcome, events, delays, calls } = await attempt([apiError(status, `${status} busy`)])
    expect({ outcome, calls }).toEqual({ outcome: 'done', calls: 2 })
    expect(events).toEqual([{ type: 'request/retried', attempt: 1, delayMs: delays[0], reason: `${status} busy` }])
  })

  it.each([400, 401, 403, 404, 413, 422])('does not retry after status %i', async (status) => {
    const error = apiError(status, `${status} No such model.`)
    const { outcome, events, calls } = await attempt([error])
    expect({ events, calls }).toEqual({ events: [], calls: 1 })
    expect(outcome).toBeInstanceOf(FoldoutError)
    expect(outcome).toMatchObject({
      code: 'adapter-refused',
      message: `The provider rejected the request with status ${status}, and a retry would not help. It said: ${status} No such model.`,
      cause: error,
    })
  })

  it.each([
    ['a lost connection', Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } })],
    ['a reset deep inside', new Error('odd', { cause: Object.assign(new Error('read'), { code: 'ECONNRESET' }) })],
    ['a stream that broke', new TypeError('terminated')],
    ['a stream that ended too early', cutStream('acme', 'The reply has no end.')],
    [
      'an overload told in the stream',
      apiError(undefined, 'Overloaded', { error: { error: { type: 'overloaded_error' } } }),
    ],
    ['a status told in the stream', apiError(undefined, 'Bad gateway', { code: '502' })],
    ['a refusal that asks for a retry', apiError(400, 'Again', { headers: new Headers({ 'x-should-retry': 'true' }) })],
  ])('retries after %s', async (_what, error) => {
    expect(await attempt([error])).toMatchObject({ outcome: 'done', calls: 2 })
  })

  it.each([
    ['a used up quota', apiError(429, 'Quota', { code: 'insufficient_quota' })],
    ['an error told to be final', apiError(500, 'No', { headers: { 'X-Should-Retry': 'false' } })],
    ['an unknown error in the stream', apiError(undefined, 'Odd', { type: 'invalid_request_error' })],
  ])('does not retry after %s', async (_what, error) => {
    expect(await attempt([error])).toMatchObject({ outcome: { code: 'adapter-refused' }, calls: 1 })
  })

  it.each([new TypeError('x is not a function'), new FoldoutError('peer-missing', 'Install it.')])(
    'rethrows anything that is not a failed request: %s',
    async (error) => {
      const { outcome, calls } = await attempt([error])
      expect(outcome).toBe(error)
      expect(calls).toBe(1)
    },
  )

  it('waits as long as the provider requests, in any format', async () => {
    vi.useFakeTimers({ now: new Date('2026-01-01T00:00:00Z') })
    try {
      const { delays } = await attempt(
        [
          apiError(429, 'a', { headers: new Headers({ 'retry-after-ms': '20', 'retry-after': '9' }) }),
          apiError(429, 'b', { headers: new Headers({ 'retry-after': '7' }) }),
          apiError(503, 'c', { responseHeaders: { 'Retry-After': 'Thu, 01 Jan 2026 00:00:05 GMT' } }),
          apiError(503, 'd', { headers: new Headers({ 'retry-after': 'Thu, 01 Jan 2025 00:00:05 GMT' }) }),
        ],
        { retries: 4 },
      )
      expect(delays).toEqual([20, 7000, 5000, 0])
    } finally {
      vi.useRealTimers()
    }
  })

  it.each([
    ['nonsense', 'soon'],
    ['nothing', ' '],
    ['NaN', 'NaN'],
    ['infinity', 'Infinity'],
    ['more than a number holds', '1e400'],
    ['a time in the past', '-5'],
    ['a date that is none', 'Thu, 99 Foo 2026'],
  ])('ignores an invalid delay: %s', async (_what, advice) => {
    const headers = [{ 'retry-after': advice }, { 'retry-after-ms': advice }]
    const { delays } = await attempt(headers.map((each) => apiError(429, 'x', { headers: new Headers(each) })))
    expect(delays).toHaveLength(2)
    for (const delay of delays) expect(delay).toBeGreaterThanOrEqual(375)
    for (const delay of delays) expect(delay).toBeLessThanOrEqual(1000)
  })

  it.each(['1e9', '1e300', 'Thu, 01 Jan 9999 00:00:00 GMT'])('does not wait until %s', async (after) => {
    const error = apiError(429, 'Full.', { headers: new Headers({ 'retry-after': after }) })
    const { outcome, delays } = await attempt([error])
    expect(delays).toEqual([])
    expect(outcome).toMatchObject({ code: 'adapter-unavailable', adapter: 'acme', status: 429 })
  })

  it.each([NaN, -1, Infinity, 1e300])('never sets a timer to a computed delay of %s', async (computed) => {
    const { delays } = await attempt([apiError(503, 'x')], { computeDelay: () => computed })
    for (const delay of delays) expect(delay >= 0 && delay <= 120_000).toBe(true)
  })

  it("retries after an adapter's own error if it is marked retryable, and not after others", async () => {
    const create = (code: AdapterErrorCode): AdapterError =>
      new AdapterError(code, 'Hm.', { adapter: 'acme', status: 503, retryAfterMs: 7 })
    const again = await attempt([create('adapter-unavailable'), create('adapter-stream-cut')])
    expect(again).toMatchObject({ outcome: 'done', delays: [7, 7] })
    const final = create('model-refused')
    expect((await attempt([final])).outcome).toBe(final)
  })

  it('reports which adapter failed, how, and how long to wait', async () => {
    const headers = new Headers({ 'retry-after': '7200' })
    const { outcome } = await attempt([apiError(429, 'Daily limit.', { headers })])
    expect(outcome).toBeInstanceOf(AdapterError)
    expect(outcome).toMatchObject({ adapter: 'acme', status: 429, retryAfterMs: 7_200_000 })
  })

  it('aborts the request of a failed attempt', async () => {
    const signals: AbortSignal[] = []
    const work: Attempt<string> = async (_emit, signal) => {
      signals.push(signal)
      if (signals.length === 1) throw apiError(503, 'busy')
      return 'done'
    }
    const { signal } = new AbortController()
    await withRetries(work, { adapter: 'acme', signal, emit: () => undefined, sleep: async () => undefined })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('otherwise doubles the delay each time, with up to a quarter of jitter, up to 8 s', async () => {
    const { delays } = await attempt(Array<Error>(7).fill(apiError(500, 'busy')), { retries: 7 })
    expect(delays).toHaveLength(7)
    for (const [i, most] of [500, 1000, 2000, 4000, 8000, 8000, 8000].entries()) {
      expect(delays[i]).toBeGreaterThanOrEqual(most * 0.75)
      expect(delays[i]).toBeLessThanOrEqual(most)
    }
  })

  it("gives up after 3 retries and quotes the provider's last answer", async () => {
    const { outcome, events, calls } = await attempt(Array<Error>(9).fill(apiError(503, '503 No capacity.')))
    expect(calls).toBe(4)
    expect(events.map((event) => (event.type === 'request/retried' ? event.attempt : event))).toEqual([1, 2, 3])
    expect(outcome).toMatchObject({
      code: 'adapter-unavailable',
      message: 'The provider could not be reached or had no capacity in 4 attempts. The last answer: 503 No capacity.',
    })
    expect(await attempt([apiError(503, 'x')], { retries: 0 })).toMatchObject({
      calls: 1,
      outcome: { code: 'adapter-unavailable' },
    })
  })

  it('does not wait for hours, and says that the provider requested it', async () => {
    const error = apiError(429, 'Daily limit.', { headers: new Headers({ 'retry-after': '7200' }) })
    const { outcome, delays } = await attempt([error])
    expect(delays).toEqual([])
    expect(outcome).toMatchObject({ code: 'adapter-unavailable', message: expect.stringContaining('wait 7200 s') })
  })

  it('does not retry once text was shown, but does after other events', async () => {
    const events: ModelEvent[] = []
    const options = {
      adapter: 'acme',
      signal: new AbortController().signal,
      emit: (event: ModelEvent) => void events.push(event),
      sleep: async () => undefined,
    }
    let calls = 0
    const failing =
      (event: ModelEvent): Attempt<string> =>
      async (emit) => {
        if (++calls > 1) return 'done'
        emit(event)
        throw new TypeError('terminated')
      }
    await expect(withRetries(failing({ type: 'text/delta', text: 'Hel' }), options)).rejects.toMatchObject({
      code: 'adapter-stream-cut',
      message:
        'The reply was cut off after some of its text had been shown, so the request was not retried. The reason: terminated',
    })
    expect(events).toEqual([{ type: 'text/delta', text: 'Hel' }])
    calls = 0
    await expect(withRetries(failing({ type: 'warning', message: 'Hm.' }), options)).resolves.toBe('done')
  })
})

describe('R38 an aborted request', () => {
  const reason = new Error('The user left.')

  it('R38 ends at once with the reason, even if the work ignores the signal, and emits nothing afterwards', async () => {
    const controller = new AbortController()
    const events: ModelEvent[] = []
    let tell: (event: ModelEvent) => void = () => undefined
    const promise = withRetries(
      (emit) => {
        tell = emit
        return new Promise<never>(() => undefined)
      },
      { adapter: 'acme', signal: controller.signal, emit: (event) => events.push(event) },
    )
    controller.abort(reason)
    await expect(promise).rejects.toBe(reason)
    tell({ type: 'text/delta', text: 'late' })
    expect(events).toEqual([])
  })

  it('R38 ends while it waits for the next attempt, and before the first', async () => {
    const controller = new AbortController()
    vi.useFakeTimers()
    try {
      const work = vi.fn(() => Promise.reject(apiError(503, 'busy')))
      const promise = withRetries(work, {
        adapter: 'acme',
        signal: controller.signal,
        emit: () => setTimeout(() => controller.abort(reason), 10),
      })
      const rejection = promise.catch((error: unknown) => error)
      await vi.advanceTimersByTimeAsync(10)
      expect(await rejection).toBe(reason)
      expect(vi.getTimerCount()).toBe(0)
      await expect(
        withRetries(work, { adapter: 'acme', signal: controller.signal, emit: () => undefined }),
      ).rejects.toBe(reason)
      expect(work).toHaveBeenCalledTimes(1)
    } finally {
      vi.useRealTimers()
    }
  })

  it('R38 waits the whole delay otherwise', async () => {
    vi.useFakeTimers()
    try {
      const failures = [apiError(429, 'busy', { headers: new Headers({ 'retry-after': '5' }) })]
      let calls = 0
      const work = async (): Promise<void> => {
        calls++
        const failure = failures.shift()
        if (failure) throw failure
      }
      const done = withRetries(work, { adapter: 'acme', signal: new AbortController().signal, emit: () => undefined })
      await vi.advanceTimersByTimeAsync(4999)
      expect(calls).toBe(1)
      await vi.advanceTimersByTimeAsync(1)
      expect(calls).toBe(2)
      await done
    } finally {
      vi.useRealTimers()
    }
  })
})
