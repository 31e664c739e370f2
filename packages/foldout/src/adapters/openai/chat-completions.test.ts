import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ToolCall } from '../contract.ts'
import { conversation, results, shownText, tool } from './conversation.fixtures.ts'
import { openaiCompatible } from '../../entries/openai.ts'
import { events, startWire, type Answer, type Wire } from './wire.fixtures.ts'

let wire: Wire
beforeEach(async () => {
  wire = await startWire()
})
afterEach(() => wire[Symbol.asyncDispose]())

const evaluate = (talk: ReturnType<typeof conversation>) =>
  openaiCompatible({ model: 'm', baseURL: `${wire.url}/v1` }).evaluate(talk)

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason }],
})
const reply = (...deltas: readonly object[]): Answer =>
  events([...deltas.map((delta) => chunk(delta)), chunk({}, 'stop'), '[DONE]'])

describe('Chat Completions', () => {
  it('counts cached tokens as input, even if they are reported after the end', async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 80 } }
    wire.answerNext(events([chunk({ content: 'Hi.' }), chunk({}, 'stop'), { choices: [], usage }, '[DONE]']))
    expect(await evaluate(conversation())).toMatchObject({
      usage: { inputTokens: 100, outputTokens: 7, cachedInputTokens: 80, cacheWriteTokens: 0 },
    })
    expect(wire.requests[0]!.body.stream_options).toEqual({ include_usage: true })
  })

  it('R42 sends the system text and the initial tools with the same bytes in every request', async () => {
    const names = ['wind', 'rain', 'snow']
    const call = (id: string): object => ({
      tool_calls: [{ index: 0, id, function: { name: 'weather', arguments: '{}' } }],
    })
    wire.answerNext(reply(call('a')), reply(call('b')), reply(call('c')), reply({ content: 'Done.' }))
    await evaluate(
      conversation({
        tools: [tool('weather'), tool('time')],
        callTools: async (called) => ({ ...results(called), added: [tool(names.shift()!)] }),
      }),
    )
    const sent = wire.requests.map(({ body }) => [JSON.stringify(body.tools), JSON.stringify(body.messages)] as const)
    expect(sent).toHaveLength(4)
    for (const [i, [tools, messages]] of sent.slice(1).entries()) {
      expect(tools.startsWith(`${sent[i]![0].slice(0, -1)},`)).toBe(true)
      expect(messages.startsWith(`${sent[i]![1].slice(0, -1)},`)).toBe(true)
    }
    expect(wire.requests[3]!.body.tools.map((one: { function: { name: string } }) => one.function.name)).toEqual([
      'weather',
      'time',
      'wind',
      'rain',
      'snow',
    ])
  })

  it('assembles calls whose parts arrive interleaved', async () => {
    const part = (index: number, rest: object): object => ({ tool_calls: [{ index, ...rest }] })
    wire.answerNext(
      reply(
        part(0, { function: { name: 'weather', arguments: '' } }),
        part(0, { id: 'a', type: 'function' }),
        part(1, { id: 'b', type: 'function', function: { name: 'time', arguments: '{"ci' } }),
        part(0, { function: { arguments: '{"city":"Oslo"}' } }),
        part(1, { function: { arguments: 'ty":"Rome"}' } }),
      ),
      reply({ content: 'Done.' }),
    )
    const talk = conversation()
    await evaluate(talk)
    expect(talk.calls).toEqual([
      [
        { id: 'a', name: 'weather', arguments: { city: 'Oslo' } },
        { id: 'b', name: 'time', arguments: { city: 'Rome' } },
      ],
    ])
  })

  it('distinguishes calls even if the server gives them all the same index', async () => {
    const call = (id: string): object => ({
      index: 0,
      id,
      function: { name: 'weather', arguments: `{"city":"${id}"}` },
    })
    wire.answerNext(reply({ tool_calls: [call('a'), call('b')] }), reply({ content: 'Done.' }))
    const talk = conversation()
    await evaluate(talk)
    expect(talk.calls[0]).toMatchObject([
      { id: 'a', arguments: { city: 'a' } },
      { id: 'b', arguments: { city: 'b' } },
    ])
  })

  it('gives calls new ids if the server gives none, or repeats one', async () => {
    const call = (index: number, id?: string): object => ({ index, id, function: { name: 'weather', arguments: '{}' } })
    wire.answerNext(
      reply({ tool_calls: [call(0), call(1, '')] }),
      reply({ tool_calls: [call(0, 'x'), call(1, 'x')] }),
      reply({ tool_calls: [call(0, 'x')] }),
      reply({ content: 'Done.' }),
    )
    const talk = conversation()
    await evaluate(talk)
    const ids = talk.calls.flat().map(({ id }: ToolCall) => id)
    expect(new Set(ids).size).toBe(5)
    expect(ids[2]).toBe('x')
    const answered = wire.requests
      .at(-1)!
      .body.messages.flatMap((message: { tool_call_id?: string }) => message.tool_call_id ?? [])
    expect(answered).toEqual(ids)
  })

  it('shows a refusal as text, and leaves out an empty system text', async () => {
    wire.answerNext(reply({ refusal: 'I cannot.' }))
    const talk = conversation({ system: '' })
    expect(await evaluate(talk)).toMatchObject({ text: 'I cannot.' })
    expect(shownText(talk.events)).toEqual(['I cannot.'])
    expect(wire.requests[0]!.body.messages).toEqual([{ role: 'user', content: 'Hello' }])
  })
})
