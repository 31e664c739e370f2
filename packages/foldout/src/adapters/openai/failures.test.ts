import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ModelEvent, ProviderAdapter } from '../contract.ts'
import { conversation, shownText, tool, warnings } from './conversation.fixtures.ts'
import { openai } from '../../entries/openai.ts'
import { events, failing, startWire, type Answer, type Wire } from './wire.fixtures.ts'

let wire: Wire
beforeEach(async () => {
  wire = await startWire()
  wire.mock.onMessage('Hello', { content: 'Hi.' })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await wire[Symbol.asyncDispose]()
})

const textChunk = (content: string): object => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
const textEvent = (delta: string): object => ({ type: 'response.output_text.delta', output_index: 0, delta })

const interfaces: readonly [
  'responses' | 'chat',
  { readonly text: (text: string) => object; readonly start: object; readonly tail: object },
][] = [
  [
    'responses',
    {
      text: textEvent,
      start: { type: 'response.created', response: { status: 'in_progress', output: [] } },
      tail: {
        type: 'response.incomplete',
        response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [] },
      },
    },
  ],
  [
    'chat',
    {
      text: textChunk,
      start: { choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }] },
      tail: { choices: [{ index: 0, delta: {}, finish_reason: 'length' }] },
    },
  ],
]

describe.each(interfaces)('failures, %s', (kind, stream) => {
  const adapter = (maxRetries = 3): ProviderAdapter =>
    openai({ model: 'gpt-4o', apiKey: 'k', baseURL: `${wire.url}/v1`, interface: kind, maxRetries })
  const retried = (told: readonly ModelEvent[]): readonly ModelEvent[] =>
    told.filter(({ type }) => type === 'request/retried')

  it('waits as long as a 429 requests, then retries', async () => {
    wire.answerNext(
      failing(429, 'Slow down.', { 'retry-after-ms': '30' }),
      failing(503, 'Busy.', { 'retry-after': '0' }),
    )
    const talk = conversation()
    const began = performance.now()
    expect(await adapter().evaluate(talk)).toMatchObject({ type: 'final', text: 'Hi.' })
    expect(performance.now() - began).toBeGreaterThanOrEqual(29)
    expect(retried(talk.events)).toEqual([
      { type: 'request/retried', attempt: 1, delayMs: 30, reason: '429 Slow down.' },
      { type: 'request/retried', attempt: 2, delayMs: 0, reason: '503 Busy.' },
    ])
    expect(wire.requests).toHaveLength(3)
    expect(new Set(wire.requests.map(({ raw }) => raw)).size).toBe(1)
  })

  it('chooses its own delay after a 529', async () => {
    wire.answerNext(failing(529, 'Overloaded.'))
    const talk = conversation()
    expect(await adapter().evaluate(talk)).toMatchObject({ text: 'Hi.' })
    expect(retried(talk.events)).toMatchObject([{ attempt: 1, reason: '529 Overloaded.' }])
  })

  it('gives up after its own retries, without retries by the SDK', async () => {
    wire.answerNext(...Array<Answer>(2).fill(failing(500, 'Broken.', { 'retry-after-ms': '1' })))
    const talk = conversation()
    await expect(adapter(1).evaluate(talk)).rejects.toMatchObject({
      code: 'adapter-unavailable',
      message: expect.stringContaining('500 Broken.'),
    })
    expect(wire.requests).toHaveLength(2)
    expect(retried(talk.events)).toHaveLength(1)
  })

  it.each([400, 401, 403, 404, 422])('does not retry after %i', async (status) => {
    wire.answerNext(failing(status, 'No.'))
    const talk = conversation({ tools: [tool('weather')] })
    await expect(adapter().evaluate(talk)).rejects.toMatchObject({
      code: 'adapter-refused',
      message: expect.stringContaining(`with status ${status}`),
    })
    expect(wire.requests).toHaveLength(1)
    expect(talk.events.map(({ type }) => type)).toEqual(['request/sent'])
  })

  it.each(['cut', 'done'] as const)('retries a stream that ends early (%s) if it had no text', async (end) => {
    wire.answerNext(events([stream.start], { end }))
    const talk = conversation()
    expect(await adapter().evaluate(talk)).toMatchObject({ text: 'Hi.' })
    expect(retried(talk.events)).toHaveLength(1)
    expect(shownText(talk.events).join('')).toBe('Hi.')
  })

  it.each(['cut', 'done'] as const)('does not retry once it had text (%s)', async (end) => {
    wire.answerNext(events([stream.start, stream.text('It is ')], { end }))
    const talk = conversation()
    await expect(adapter().evaluate(talk)).rejects.toMatchObject({ code: 'adapter-stream-cut' })
    expect(wire.requests).toHaveLength(1)
    expect(shownText(talk.events)).toEqual(['It is '])
    expect(talk.recorded).toEqual([])
  })

  it('retries after half an event', async () => {
    wire.answerNext(events([stream.start, '{"choices":[{"del']))
    // The client itself reports the error to the console.
    vi.spyOn(console, 'error').mockReturnValue()
    expect(await adapter().evaluate(conversation())).toMatchObject({ text: 'Hi.' })
  })

  it('retries after a server error in the stream, but not after a rejection', async () => {
    wire.answerNext(events([stream.start, { error: { message: 'Broken.', type: 'server_error', code: null } }]))
    expect(await adapter().evaluate(conversation())).toMatchObject({ text: 'Hi.' })
    wire.answerNext(events([{ error: { message: 'Forbidden words.', type: 'invalid_request_error', code: null } }]))
    await expect(adapter().evaluate(conversation())).rejects.toMatchObject({
      code: 'adapter-refused',
      message: expect.stringContaining('Forbidden words.'),
    })
  })

  it('retries if nothing listens at the address', async () => {
    const talk = conversation()
    const nobody = openai({ model: 'm', apiKey: 'k', baseURL: 'http://127.0.0.1:1/v1', interface: kind, maxRetries: 1 })
    await expect(nobody.evaluate(talk)).rejects.toMatchObject({ code: 'adapter-unavailable' })
    expect(retried(talk.events)).toHaveLength(1)
  })

  it('warns about a reply that reached its limit', async () => {
    wire.answerNext(events([stream.text('It is'), stream.tail]))
    const talk = conversation()
    await adapter().evaluate(talk)
    expect(warnings(talk.events)).toEqual([expect.stringMatching(/^The model stopped before it was finished: /)])
  })

  it.each(['before the first byte', 'mid-stream'])(
    'R38 an abort %s rejects with its reason and closes the request',
    async (when) => {
      const controller = new AbortController()
      const reason = new Error('The user left.')
      const isEarly = when !== 'mid-stream'
      wire.answerNext(
        isEarly
          ? () => void setTimeout(() => controller.abort(reason), 20)
          : events([stream.text('It ')], { end: 'hang' }),
      )
      const talk = conversation({
        signal: controller.signal,
        ...(isEarly ? {} : { emit: ({ type }) => type === 'text/delta' && controller.abort(reason) }),
      })
      await expect(adapter().evaluate(talk)).rejects.toBe(reason)
      await expect.poll(() => wire.givenUp()).toBe(1)
      expect(wire.requests).toHaveLength(1)
      expect(talk.recorded).toEqual([])
    },
  )
})
