import { getEventListeners } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import type { ToolCall } from './contract.ts'
import { INTERFACES, type RawCall } from './hostile-replies.fixtures.ts'
import { conversation, tool } from './openai/conversation.fixtures.ts'
import { takeTurns } from '../../../../test/turns.ts'

const WEATHER = [tool('weather')]
const done = { says: 'Done.' }

describe.each(Object.entries(INTERFACES))('hostile replies over %s', (name, serve) => {
  const isSdk = name === 'AI SDK'

  /** Makes the model call tools and then answer; the answer shows that the next request was sent. */
  async function call(...calls: readonly RawCall[]): Promise<readonly ToolCall[]> {
    const server = serve([{ calls }, done])
    const talk = conversation({ tools: WEATHER })
    expect(await server.adapter.evaluate(talk)).toMatchObject({ type: 'final', text: 'Done.' })
    expect(server.requests).toHaveLength(2)
    return talk.calls[0] ?? []
  }

  it('R37 four million characters of arguments that are not JSON are passed on unchanged', async () => {
    const text = `{"city": "${'x'.repeat(4_000_000)}`
    const [read] = await call({ id: 'a', name: 'weather', text })
    expect(read?.arguments).toBeUndefined()
    expect(read?.malformed === text).toBe(true)
  })

  it.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('R37 arguments nested in 100,000 %s are not parsed', async (_what, open, close) => {
    const text = `{"city": ${open.repeat(100_000)}${open === '[' ? '' : '1'}${close.repeat(100_000)}}`
    const outcome = await call({ id: 'a', name: 'weather', text }).then(
      ([read]) => [read?.arguments, typeof read?.malformed],
      (error: unknown) => error,
    )
    // The SDK itself recurses over the reply.
    const refused: unknown = expect.objectContaining({ code: 'adapter-reply-too-large' })
    expect(outcome).toEqual(isSdk ? refused : [undefined, 'string'])
  })

  it('R37 arguments with keys of Object.prototype are unchanged', async () => {
    const text = '{"__proto__":{"x":1},"constructor":"y"}'
    const [read] = await call({ id: 'a', name: 'weather', text })
    // The SDK rejects such keys, so the model has to write something else.
    expect(read?.malformed ?? JSON.stringify(read?.arguments)).toBe(text)
  })

  it('R39 numbers that JSON texts can have, but JavaScript cannot write back, do not reach the conversation', async () => {
    const [zero, infinite] = await call(
      { id: 'a', name: 'weather', text: '{"city":"Rome","days":-0,"of":[-0.0,1.5]}' },
      { id: 'b', name: 'weather', text: '{"city":"Rome","days":1e999}' },
    )
    expect(zero).toEqual({ id: 'a', name: 'weather', arguments: { city: 'Rome', days: 0, of: [0, 1.5] } })
    expect([infinite?.arguments, typeof infinite?.malformed]).toEqual([undefined, 'string'])
  })

  it('R37 thousands of calls in one reply get unique ids', async () => {
    // The SDK needs a millisecond for each call.
    const length = isSdk ? 1_000 : 10_000
    const odd = ['', '__proto__', 'constructor', 'toString', 'same', 'call_1_0', 'call_1_1']
    const calls = Array.from({ length }, (_, at) => ({
      id: odd[at % odd.length],
      name: 'weather',
      text: '{"city":"Rome"}',
    }))
    const read = await call(...calls)
    expect(read).toHaveLength(length)
    expect(new Set(read.map(({ id }) => id)).size).toBe(length)
    expect(read.every(({ id }) => id !== '')).toBe(true)
  })

  it('R37 a tool named like a property of Object.prototype can be called', async () => {
    const [read] = await call({ id: 'constructor', name: 'constructor', text: '{}' })
    expect(read).toMatchObject({ id: 'constructor', name: 'constructor' })
  })

  it('R38 an endless reply is abandoned as soon as the signal aborts', async () => {
    const server = serve([{ endless: 'and ' }])
    const controller = new AbortController()
    const reason = new Error('The user left.')
    let deltas = 0
    const talk = conversation({
      signal: controller.signal,
      emit: ({ type }) => {
        if (type === 'text/delta' && ++deltas === 10) setTimeout(() => controller.abort(reason), 0)
      },
    })
    await expect(server.adapter.evaluate(talk)).rejects.toBe(reason)
    await vi.waitFor(() => expect(server.givenUp()).toBe(1))
    const shown = deltas
    await takeTurns()
    expect(deltas).toBe(shown)
  })

  it('a reply larger than any model writes is not read to its end', async () => {
    const server = serve([{ endless: 'x'.repeat(1024 * 1024) }])
    await expect(server.adapter.evaluate(conversation())).rejects.toMatchObject({
      name: 'AdapterError',
      code: 'adapter-reply-too-large',
    })
    expect(server.requests).toHaveLength(1)
  })

  it('R38 a signal has no listener left after many requests', async () => {
    const turns = 15
    const calls = [{ id: 'a', name: 'weather', text: '{"city":"Rome"}' }]
    const server = serve([...Array.from({ length: turns }, () => ({ calls })), done])
    const { signal } = new AbortController()
    const most: number[] = []
    const talk = conversation({
      signal,
      tools: WEATHER,
      emit: () => void most.push(getEventListeners(signal, 'abort').length),
    })
    await server.adapter.evaluate(talk)
    expect(talk.calls).toHaveLength(turns)
    expect(Math.max(...most)).toBeLessThan(5)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
