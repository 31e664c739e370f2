import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLinkedPeers, createLonePeer } from './peer.fixtures.ts'
import type { IncomingRequest } from './incoming.ts'
import type { JsonObject } from './messages.ts'

const getCode = (error: unknown): unknown => (error as { readonly code: unknown }).code

describe('requests of a peer', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('end each at its own time, whatever the order in which they were sent', async () => {
    const { peer, listCancelled } = createLonePeer()
    const ended: string[] = []
    const watch = (name: string, options: object): Promise<unknown> =>
      peer.request(name, {}, options).catch((error: unknown) => ended.push(`${name} ${String(getCode(error))}`))
    const all = [watch('slow', { timeoutMs: 250 }), watch('fast', { timeoutMs: 30 }), watch('overdue', { maxMs: 120 })]
    await vi.advanceTimersByTimeAsync(60)
    all.push(watch('later', { timeoutMs: 20 }))
    await vi.advanceTimersByTimeAsync(250)
    await Promise.all(all)
    expect(ended).toEqual(['fast REQUEST_TIMEOUT', 'later REQUEST_TIMEOUT', 'overdue OVERDUE', 'slow REQUEST_TIMEOUT'])
    expect(new Set(listCancelled()).size).toBe(4)
  })

  it('are given more time by progress of their own', async () => {
    const { peer, report } = createLonePeer()
    const ended: string[] = []
    const onProgress = (): void => undefined
    const heard = peer.request('heard', {}, { timeoutMs: 150, onProgress }).catch(() => ended.push('heard'))
    const quiet = peer.request('quiet', {}, { timeoutMs: 150, onProgress }).catch(() => ended.push('quiet'))
    await vi.advanceTimersByTimeAsync(100)
    report('heard', { progress: 1 })
    await vi.advanceTimersByTimeAsync(250)
    await Promise.all([heard, quiet])
    expect(ended).toEqual(['quiet', 'heard'])
  })

  it('wait forever without a limit, and nothing is left to do after they are answered', async () => {
    const { peer, answer } = createLonePeer()
    const patient = peer.request('patient')
    await vi.advanceTimersByTimeAsync(10_000_000)
    answer('patient')
    expect(await patient).toEqual({ method: 'patient' })
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a peer', () => {
  it('answers with exactly what was sent, and knows no field', async () => {
    const result = { invented: [1, { deep: null }], _meta: { 'x/y': 1 }, isError: 'maybe', resultType: 'telepathy' }
    const seen: unknown[] = []
    const { one } = createLinkedPeers(
      {},
      {
        onRequest: async ({ method, params, message }) => {
          seen.push(method, params, message)
          return result
        },
      },
    )
    const params = { a: 1, _meta: { b: 2 }, __proto__x: [] }
    expect(await one.request('tools/teleport', params)).toEqual(result)
    expect(seen).toEqual([
      'tools/teleport',
      params,
      { jsonrpc: '2.0', id: expect.any(Number) as number, method: 'tools/teleport', params },
    ])
  })

  it('rejects with the code, message and data of an answer', async () => {
    const { one } = createLinkedPeers(
      {},
      {
        onRequest: async () => {
          throw Object.assign(new Error('No.'), { code: -32_042, data: { why: ['a'] } })
        },
      },
    )
    await expect(one.request('any')).rejects.toMatchObject({ code: -32_042, message: 'No.', data: { why: ['a'] } })
    await expect(createLinkedPeers().one.request('any')).rejects.toMatchObject({
      code: -32_601,
      message: 'Method not found: any',
    })
  })

  it.each([
    ['null', { result: null }, 'Its answer has no result.'],
    ['a text', { result: 'done' }, 'Its answer has no result.'],
    ['a list', { result: [] }, 'Its answer has no result.'],
    ['nothing', {}, 'Its answer has no result.'],
    ['an empty error', { error: {} }, 'Its error has no message.'],
    ['a text as an error', { error: 'bad' }, 'bad'],
    ['a result and an error', { result: {}, error: { code: 5, message: 'both' } }, 'both'],
  ])('fails a request that is answered with %s', async (_what, fields, message) => {
    const { peer, answer } = createLonePeer()
    const asked = peer.request('ask')
    answer('ask', fields)
    await expect(asked).rejects.toThrow(message)
  })

  it('takes a result next to an error that is null, as some servers write it', async () => {
    const { peer, answer } = createLonePeer()
    const asked = peer.request('ask')
    answer('ask', { result: { fine: true }, error: null })
    expect(await asked).toEqual({ fine: true })
  })

  it('takes answers and progress whose numbers are written as texts', async () => {
    const { peer, find, report } = createLonePeer()
    const heard: unknown[] = []
    const asked = peer.request('ask', {}, { onProgress: (progress) => heard.push(progress) })
    report('ask', { progress: 1, more: [2] }, String)
    peer.receive({ jsonrpc: '2.0', id: String(find('ask')['id']), result: { ok: 1 } })
    expect(await asked).toEqual({ ok: 1 })
    expect(heard).toEqual([{ progress: 1, more: [2] }])
  })

  it('hears all progress that arrives with the answer, and gives the rest to its listener', async () => {
    const rest: unknown[] = []
    const { peer, find } = createLonePeer({ onNotification: (method, params) => rest.push(method, params) })
    const heard: unknown[] = []
    const results: unknown[] = []
    const asked = peer.request(
      'ask',
      { _meta: { trace: 'x' } },
      { onProgress: ({ progress }) => heard.push(progress), onResult: (result, id) => results.push(result, id) },
    )
    const { id, params } = find('ask')
    expect(params).toEqual({ _meta: { trace: 'x', progressToken: id } })
    const report = (progress: number): JsonObject => ({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: id, progress },
    })
    peer.receive([report(1), report(2), { jsonrpc: '2.0', id, result: { a: 1 } }, report(3)])
    expect(results).toEqual([{ a: 1 }, id])
    expect(await asked).toEqual({ a: 1 })
    expect(heard).toEqual([1, 2])
    expect(rest).toEqual(['notifications/progress', { progressToken: id, progress: 3 }])
  })

  it('has ids that fit into 31 bits', async () => {
    const { peer, sent } = createLonePeer()
    for (let i = 0; i < 3; i++) peer.request('ask').catch(() => undefined)
    expect(sent.map(({ id }) => id)).toEqual([1, 2, 3])
    peer.close()
  })

  it('cancels a request once, by a notification, by its stream, or not at all', async () => {
    const { peer, listCancelled, sentWith, sent } = createLonePeer({ hasRequestStreams: true })
    const stop = new AbortController()
    const { signal } = stop
    const all = (['notification', 'stream', 'nothing'] as const).map((cancelBy) =>
      peer.request(cancelBy, {}, { signal, cancelBy }),
    )
    const [, byStream] = sentWith
    stop.abort(new Error('Enough.'))
    for (const each of all) await expect(each).rejects.toThrow('Enough.')
    expect(listCancelled()).toEqual([1])
    expect(sent.at(-1)).toMatchObject({ params: { requestId: 1, reason: 'Enough.' } })
    expect(byStream?.signal?.aborted).toBe(true)
    expect(sentWith[0]?.signal).toBeUndefined()
    await expect(peer.request('late', {}, { signal })).rejects.toThrow('Enough.')
    expect(sent).toHaveLength(4)
  })

  it('fails a request whose stream ends without the answer', async () => {
    const { peer, sentWith } = createLonePeer({ hasRequestStreams: true })
    const asked = peer.request('ask')
    sentWith[0]?.onStreamEnd?.()
    await expect(asked).rejects.toMatchObject({ code: 'CONNECTION_CLOSED', message: 'Connection closed' })
    const askedAgain = peer.request('ask')
    sentWith[1]?.onStreamEnd?.('It is too long.')
    await expect(askedAgain).rejects.toMatchObject({ code: 'CONNECTION_CLOSED', message: 'It is too long.' })
  })

  it('fails a request that cannot be sent, with the reason', async () => {
    const why = new Error('The pipe is broken.')
    const { peer } = createLonePeer({
      send: async () => {
        throw why
      },
    })
    await expect(peer.request('ask')).rejects.toBe(why)
    await expect(peer.notify('tell')).rejects.toBe(why)
  })

  it('aborts a request that it answers when the other side cancels it, and does not answer', async () => {
    const requests: IncomingRequest[] = []
    let finish: (result: JsonObject) => void = () => undefined
    const { peer, sent } = createLonePeer({
      onRequest: (request) => {
        requests.push(request)
        return new Promise((resolve) => (finish = resolve))
      },
    })
    peer.receive({ jsonrpc: '2.0', id: 'a', method: 'act' })
    peer.receive({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a', reason: 'Bored.' } })
    expect(requests[0]?.signal.reason).toEqual(new Error('Bored.'))
    finish({ done: true })
    await Promise.resolve()
    expect(sent).toEqual([])
    // The id may be used again.
    peer.receive({ jsonrpc: '2.0', id: 'a', method: 'act' })
    finish({ done: 2 })
    await vi.waitFor(() => expect(sent).toEqual([{ jsonrpc: '2.0', id: 'a', result: { done: 2 } }]))
  })

  it('passes on cancellations of what it does not know', () => {
    const heard: unknown[] = []
    const { peer } = createLonePeer({ onNotification: (method, params) => heard.push([method, params]) })
    const params = { requestId: 'listen:1' }
    peer.receive({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
    expect(heard).toEqual([['notifications/cancelled', params]])
  })

  it('refuses a second request with an id that is in use', async () => {
    const { peer, sent } = createLonePeer({ onRequest: () => new Promise(() => undefined) })
    peer.receive({ jsonrpc: '2.0', id: 7, method: 'act' })
    peer.receive({ jsonrpc: '2.0', id: 7, method: 'act' })
    await vi.waitFor(() => expect(sent).toMatchObject([{ id: 7, error: { code: -32_600 } }]))
  })

  it('ends everything when it is closed, once', async () => {
    const requests: IncomingRequest[] = []
    const { peer, sent } = createLonePeer({
      onRequest: (request) => {
        requests.push(request)
        return new Promise(() => undefined)
      },
    })
    peer.receive({ jsonrpc: '2.0', id: 1, method: 'act' })
    const asked = peer.request('ask')
    peer.close()
    peer.close()
    await expect(asked).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
    expect(requests[0]?.signal.aborted).toBe(true)
    await expect(peer.request('ask')).rejects.toMatchObject({ code: 'NOT_CONNECTED' })
    await expect(peer.notify('tell')).rejects.toMatchObject({ code: 'NOT_CONNECTED' })
    peer.receive({ jsonrpc: '2.0', id: 2, method: 'act' })
    expect(requests).toHaveLength(1)
    expect(sent).toHaveLength(1)
  })

  it('survives an answer that cannot be sent', async () => {
    const { peer, errors } = createLonePeer({
      send: async () => {
        throw new Error('Gone.')
      },
      onRequest: async () => ({}),
    })
    peer.receive({ jsonrpc: '2.0', id: 1, method: 'act' })
    await vi.waitFor(() => expect(errors).toEqual(['An answer was not sent: Gone.']))
  })
})

describe('a peer and anything', () => {
  const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>
  const field = fc.oneof(
    json,
    fc.constantFrom('2.0', 1, '1', null, 'notifications/progress', 'notifications/cancelled'),
  )
  const message = fc.oneof(
    json,
    fc.dictionary(fc.constantFrom('jsonrpc', 'id', 'method', 'params', 'result', 'error', '__proto__'), field),
    fc.array(json, { maxLength: 3 }),
  )

  it('takes any JSON, and still answers its own request', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 20 }), async (messages) => {
        const { peer, answer } = createLonePeer({ onRequest: async () => ({}) })
        const asked = peer.request('ask').catch(() => undefined)
        for (const each of messages) expect(() => peer.receive(each)).not.toThrow()
        answer('ask')
        await asked
        peer.close()
      }),
      { numRuns: 300 },
    )
  })

  it('settles each request exactly once, by its own answer, however answers, cancellations and progress interleave', async () => {
    const step = fc.record({
      what: fc.constantFrom('ask', 'answer', 'refuse', 'cancel', 'report', 'repeat'),
      at: fc.nat({ max: 9 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { peer, listCancelled } = createLonePeer()
        const outcomes: string[][] = []
        const expected: (string | undefined)[] = []
        const stops: AbortController[] = []
        const heard: number[] = []
        const expectedHeard: number[] = []
        const end = (at: number, how: string): void => void (expected[at] ??= how)
        for (const { what, at: wanted } of steps) {
          if (what === 'ask') {
            const at = outcomes.push([]) - 1
            expected.push(undefined)
            heard.push(0)
            expectedHeard.push(0)
            const stop = new AbortController()
            stops.push(stop)
            const onProgress = (): void => void heard[at]!++
            peer.request('ask', { at }, { signal: stop.signal, onProgress }).then(
              ({ at: answered }) => outcomes[at]?.push(`answered ${String(answered)}`),
              (error: Error) => outcomes[at]?.push(error.message),
            )
            continue
          }
          if (outcomes.length === 0) continue
          const at = wanted % outcomes.length
          const id = at + 1
          if (what === 'report') {
            if (expected[at] === undefined) expectedHeard[at]!++
            peer.receive({
              jsonrpc: '2.0',
              method: 'notifications/progress',
              params: { progressToken: id, progress: 1 },
            })
          } else if (what === 'cancel') {
            end(at, 'stopped')
            stops[at]?.abort(new Error('stopped'))
          } else if (what === 'refuse') {
            end(at, 'refused')
            peer.receive({ jsonrpc: '2.0', id, error: { code: 1, message: 'refused' } })
          } else {
            end(at, `answered ${at}`)
            peer.receive({ jsonrpc: '2.0', id, result: { at } })
            if (what === 'repeat') peer.receive({ jsonrpc: '2.0', id, result: { at: 'again' } })
          }
        }
        peer.close(new Error('closed'))
        await new Promise((resolve) => setImmediate(resolve))
        expect(outcomes).toEqual(expected.map((how) => [how ?? 'closed']))
        expect(heard).toEqual(expectedHeard)
        const cancelled = expected.flatMap((how, at) => (how === 'stopped' ? [at + 1] : []))
        expect(new Set(listCancelled())).toEqual(new Set(cancelled))
        expect(listCancelled()).toHaveLength(cancelled.length)
      }),
      { numRuns: 300 },
    )
  })

  it('answers every request of the other side exactly once, whichever finishes first', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 12 }), async (delays) => {
        const onRequest = async ({ params }: IncomingRequest): Promise<JsonObject> => {
          for (let i = 0; i < Number(params['delay']); i++) await Promise.resolve()
          return { of: params['of'] }
        }
        const { one, other } = createLinkedPeers({ onRequest }, { onRequest })
        const asked = delays.flatMap((delay, of) => [one, other].map((peer) => peer.request('ask', { delay, of })))
        expect(await Promise.all(asked)).toEqual(delays.flatMap((_, of) => [{ of }, { of }]))
      }),
      { numRuns: 100 },
    )
  })
})
