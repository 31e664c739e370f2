import { expect, vi } from 'vitest'
import { LimitReachedError, RunAbortedError } from '../agent/errors.ts'
import { FoldoutError } from '../core/errors.ts'
import { createSession } from '../session/session.ts'
import type { AdapterSuiteOptions } from './adapter-peer.ts'
import {
  LONG_TEXT,
  calls,
  catchError,
  deltas,
  done,
  getRequest,
  retries,
  toolTexts,
  type TestCase,
} from './adapter-stage.ts'

/** How many runs are tried, each with more time. */
const MAX_DEADLINES = 3

/** Cases for limits, cancellation, and failures of the provider or the connection. The codes are listed at `adapterSuite`. */
export function failureCases<Request>(
  test: TestCase<Request>,
  {
    getPrefixes,
    hasForeignRetries = false,
    firstTextMs = 2_000,
  }: Pick<AdapterSuiteOptions<Request>, 'getPrefixes' | 'hasForeignRetries' | 'firstTextMs'>,
): void {
  test(
    'token limit',
    'R38 sends no request once the tokens are used up',
    [{ ...calls('forecast', { city: 'Rome' }), usage: { inputTokens: 100, outputTokens: 10 } }, done],
    async ({ peer, run }) => {
      const error = await catchError(run({ limits: { totalTokens: 110 } }))
      expect(error).toBeInstanceOf(LimitReachedError)
      expect(error).toMatchObject({ kind: 'total-tokens' })
      expect(peer.requests()).toHaveLength(1)
    },
  )

  test(
    'cancellation',
    'R38 ends at once when it is cancelled during a reply, and aborts the request',
    [{ says: LONG_TEXT, ends: { how: 'stalled', where: 'in text' } }],
    async ({ peer, events, run }) => {
      const controller = new AbortController()
      const reason = new Error('The user left.')
      const running = catchError(run({ signal: controller.signal }))
      await vi.waitFor(() => expect(deltas(events)).not.toEqual([]), { timeout: 20_000, interval: 5 })
      controller.abort(reason)
      // The reply never ends on its own.
      const error = await running
      expect(error).toBeInstanceOf(RunAbortedError)
      expect((error as Error).cause).toBe(reason)
      await vi.waitFor(() => expect(peer.isGivenUp(getRequest(peer, 0))).toBe(true), { timeout: 20_000, interval: 5 })
      expect(peer.requests()).toHaveLength(1)
    },
  )

  test(
    'deadline',
    'R38 ends at the deadline during a reply, and aborts the request',
    // On a busy machine, the first text may be late. In that case, there is another run with more time.
    Array.from({ length: MAX_DEADLINES }, () => ({ says: LONG_TEXT, ends: { how: 'stalled', where: 'in text' } })),
    async ({ peer, events, run }) => {
      let runs = 0
      while (deltas(events).length === 0 && runs < MAX_DEADLINES) {
        const deadline = new Date(Date.now() + firstTextMs * 4 ** runs++)
        // The reply never ends on its own.
        const error = await catchError(run({ deadline, session: createSession() }))
        expect(error).toBeInstanceOf(LimitReachedError)
        expect(error).toMatchObject({ kind: 'deadline' })
      }
      expect(deltas(events)).not.toEqual([])
      const last = getRequest(peer, peer.requests().length - 1)
      await vi.waitFor(() => expect(peer.isGivenUp(last)).toBe(true), { timeout: 20_000, interval: 5 })
      expect(peer.requests().length).toBeLessThanOrEqual(runs)
    },
  )

  test(
    'rate limit',
    'R34 retries a request after 429, at the time that the provider sets',
    [{ refuses: 429, message: 'Slow down.', headers: { 'retry-after': '1' } }, { says: LONG_TEXT }],
    async ({ peer, events, run }) => {
      const started = performance.now()
      expect(await run()).toMatchObject({ text: LONG_TEXT })
      expect(performance.now() - started).toBeGreaterThan(990)
      const reason = expect.stringContaining(hasForeignRetries ? '429' : 'Slow down.')
      // An agent with retries of its own may wait a little longer than it is told.
      const delayMs: unknown = hasForeignRetries ? expect.any(Number) : 1000
      expect(retries(events)).toEqual([{ type: 'request/retried', attempt: 1, delayMs, reason }])
      expect(peer.requests()).toHaveLength(2)
    },
  )

  test(
    'overload',
    'R34 retries a request after 529 in the middle of a conversation',
    [calls('forecast', { city: 'Rome' }), { refuses: 529, headers: { 'retry-after-ms': '5' } }, done],
    async ({ peer, events, run }) => {
      expect(toolTexts(await run())).toEqual([['forecast', 'Rome: sun.', false]])
      expect(retries(events)).toMatchObject([{ attempt: 1, ...(!hasForeignRetries && { delayMs: 5 }) }])
      expect(getPrefixes(getRequest(peer, 2))).toEqual(getPrefixes(getRequest(peer, 1)))
    },
  )

  test(
    'no capacity',
    'R34 gives up after three retries',
    Array.from({ length: 4 }, () => ({ refuses: 503, message: 'Full.', headers: { 'retry-after-ms': '5' } })),
    async ({ peer, events, run }) => {
      const error = await catchError(run())
      expect(error).toBeInstanceOf(FoldoutError)
      expect(error).toMatchObject({ code: 'adapter-unavailable', message: expect.stringContaining('Full.') })
      expect(retries(events)).toHaveLength(3)
      expect(peer.requests()).toHaveLength(4)
    },
  )

  for (const status of [400, 401, 403, 404, 422]) {
    test(
      'refusal',
      `R34 does not retry a request after ${status}, and says why it was rejected`,
      [{ refuses: status, message: 'This will not do.' }, done],
      async ({ peer, events, run }) => {
        const error = await catchError(run())
        expect(error).toBeInstanceOf(FoldoutError)
        expect(error).toMatchObject({ code: 'adapter-refused' })
        expect((error as Error).message).toContain('This will not do.')
        expect((error as Error).message).toContain(String(status))
        expect(retries(events)).toEqual([])
        expect(peer.requests()).toHaveLength(1)
      },
    )
  }

  for (const how of ['cut', 'closed'] as const) {
    test(
      'cut before text',
      `R34 retries a request whose reply was ${how} before any text`,
      [{ says: LONG_TEXT, ends: { how, where: 'before text' } }, { says: LONG_TEXT }],
      async ({ peer, events, run }) => {
        expect(await run()).toMatchObject({ text: LONG_TEXT })
        expect(retries(events)).toHaveLength(1)
        expect(deltas(events).join('')).toBe(LONG_TEXT)
        expect(peer.requests()).toHaveLength(2)
      },
    )

    test(
      'cut in text',
      `R34 fails if a reply was ${how} after some of its text was shown`,
      [{ says: LONG_TEXT, ends: { how, where: 'in text' } }, done],
      async ({ peer, events, run }) => {
        const error = await catchError(run())
        expect(error).toBeInstanceOf(FoldoutError)
        expect(error).toMatchObject({ code: 'adapter-stream-cut' })
        const shown = deltas(events).join('')
        expect(shown).not.toBe('')
        expect(LONG_TEXT.startsWith(shown)).toBe(true)
        expect(peer.requests()).toHaveLength(1)
      },
    )
  }
}
