import { Anthropic } from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../contract.ts'
import {
  ask,
  block,
  refuse,
  says,
  START,
  useClaude,
  stream,
  TEXT,
  toolNamed,
  type Provider,
} from './harness.fixtures.ts'

let provider: Provider
const claude = useClaude((started) => (provider = started))

const retries = (events: readonly ModelEvent[]) => events.filter(({ type }) => type === 'request/retried')

describe('anthropic failures', () => {
  it('R38 waits as long as a 429 requests, then retries', async () => {
    provider.intercept((_request, response, number) =>
      number === 0 ? refuse(response, 429, 'Too many requests', { 'retry-after': '0.05' }) : false,
    )
    provider.answer({ content: 'Yes.' })
    const { result, events } = await ask(claude())
    expect(result).toMatchObject({ text: 'Yes.' })
    expect(retries(events)).toMatchObject([
      { attempt: 1, delayMs: 50, reason: expect.stringContaining('Too many requests') },
    ])
  })

  it('R38 retries while the provider is overloaded, and gives up after the configured number of retries', async () => {
    provider.intercept((_request, response) => refuse(response, 529, 'Overloaded', { 'retry-after-ms': '1' }))
    const events: ModelEvent[] = []
    await expect(ask(claude({ maxRetries: 2 }), { onEvent: (event) => events.push(event) })).rejects.toMatchObject({
      code: 'adapter-unavailable',
      message: expect.stringContaining('Overloaded'),
    })
    expect(provider.requests).toHaveLength(3)
    expect(retries(events)).toHaveLength(2)
  })

  it('R38 retries if the stream reports an overload before any text', async () => {
    provider.intercept((_request, response, number) =>
      number > 0
        ? false
        : stream(response, [
            START,
            { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } as { type: string },
          ]),
    )
    provider.answer({ content: 'Yes.' })
    expect((await ask(claude())).result).toMatchObject({ text: 'Yes.' })
  })

  it('R77 counts what a reply cost that was cut off, and one that the model refused', async () => {
    const refusal = { type: 'message_delta', delta: { stop_reason: 'refusal' }, usage: { output_tokens: 7 } }
    provider.intercept((_request, response, number) =>
      number === 0 ? stream(response, [START]) : stream(response, [START, refusal, { type: 'message_stop' }]),
    )
    const events: ModelEvent[] = []
    const asked = ask(claude({ maxRetries: 1 }), { onEvent: (event) => events.push(event) })
    await expect(asked).rejects.toMatchObject({ code: 'model-refused' })
    const usage = { inputTokens: 240, outputTokens: 1, cachedInputTokens: 200, cacheWriteTokens: 30 }
    expect(events.filter(({ type }) => type === 'reply/lost')).toEqual([
      { type: 'reply/lost', usage },
      { type: 'reply/lost', usage: { ...usage, outputTokens: 7 } },
    ])
  })

  it.each([400, 401, 403, 404])('R38 does not retry after status %i', async (status) => {
    provider.intercept((_request, response) => refuse(response, status, 'No such model'))
    await expect(ask(claude(), { tools: [toolNamed('look')] })).rejects.toMatchObject({
      code: 'adapter-refused',
      message: expect.stringMatching(new RegExp(`status ${status}.*No such model`)),
    })
    expect(provider.requests).toHaveLength(1)
  })

  it('R38 retries a reply that was cut off before its text, but not after', async () => {
    provider.intercept((_request, response, number) => (number > 0 ? false : stream(response, [START])))
    provider.answer({ content: 'Yes.' })
    const { result, events } = await ask(claude())
    expect(result).toMatchObject({ text: 'Yes.' })
    expect(retries(events)).toMatchObject([{ reason: 'The stream ended before the reply was complete.' }])

    provider.intercept((_request, response) => stream(response, [START, ...block(0, TEXT, says('Half of'))]))
    await expect(ask(claude())).rejects.toMatchObject({ code: 'adapter-stream-cut' })
    expect(provider.requests).toHaveLength(3)
  })

  it.each(['lost', 'damaged'])('R38 retries when the connection is %s in the middle of a reply', async (how) => {
    provider.intercept((_request, response, number) => {
      if (number > 0) return false
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`event: message_start\ndata: ${how === 'damaged' ? '{"type":' : JSON.stringify(START)}\n\n`)
      if (how === 'damaged') response.end()
      else setTimeout(() => response.destroy(), 20)
      return true
    })
    // Otherwise, the SDK would print the text that it cannot parse.
    const client = new Anthropic({ apiKey: 'test', baseURL: provider.url, logLevel: 'off' })
    provider.answer({ content: 'Yes.' })
    const { result, events } = await ask(claude({ client }))
    expect(result).toMatchObject({ text: 'Yes.' })
    expect(retries(events)).toHaveLength(1)
  })

  it('R38 stops at once when cancelled in the middle of a reply, and closes the connection', async () => {
    const closed = new Promise<void>((resolve) => {
      provider.intercept((_request, response) => {
        response.on('close', resolve)
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (const event of [START, ...block(0, TEXT, says('Half of')).slice(0, 2)]) {
          response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
        }
        return true
      })
    })
    const abort = new AbortController()
    const reason = new Error('The user left.')
    const asking = ask(claude(), {
      signal: abort.signal,
      onEvent: (event) => event.type === 'text/delta' && abort.abort(reason),
    })
    await expect(asking).rejects.toBe(reason)
    await closed
    expect(provider.requests).toHaveLength(1)
  })
})
