import { APICallError } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { describe, expect, it, vi } from 'vitest'
import { FoldoutError, defineTool, fail, ok } from '../../entries/index.ts'
import { outputSpec } from '../../prompt/definition/output.ts'
import type { ModelEvent } from '../contract.ts'
import { aiSdk } from './ai-sdk.ts'
import { evaluate } from './evaluation.fixtures.ts'
import { call, finish, says, scripted, toolNames, type StreamPart } from './model.fixtures.ts'

const inputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const
const weather = defineTool({
  name: 'weather',
  description: 'Tells the weather.',
  params: inputSchema,
  execute: ({ city }) => ok(`Sunny in ${String(city)}.`),
})
const broken = defineTool({ name: 'broken', description: 'Fails.', execute: () => fail('It is out of order.') })
const extra = defineTool({ name: 'extra', description: 'Comes later.', execute: () => ok('Extra done.') })

const apiError = (statusCode: number, message: string, responseHeaders: Record<string, string> = {}): APICallError =>
  new APICallError({ message, url: 'http://localhost', requestBodyValues: {}, statusCode, responseHeaders })
const deltas = (events: readonly ModelEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'text/delta' ? [event.text] : []))

describe('aiSdk', () => {
  it('reports its name, model and abilities', () => {
    expect(aiSdk({ model: scripted(), contextWindow: 1000 })).toMatchObject({
      name: 'test',
      model: 'test-1',
      supportsDynamicTools: true,
      contextWindow: 1000,
    })
    expect(aiSdk({ model: 'openai/gpt-5' })).toMatchObject({ name: 'openai', model: 'openai/gpt-5' })
    expect(aiSdk({ model: scripted(), name: 'other' }).name).toBe('other')
  })

  it('streams text and reports usage, including cached tokens', async () => {
    const model = scripted([...says('Hel', 'lo', '.'), finish()])
    const { result, messages, events } = await evaluate(aiSdk({ model }))
    const used = { inputTokens: 100, outputTokens: 7, cachedInputTokens: 30, cacheWriteTokens: 10, reasoningTokens: 0 }
    expect(result).toEqual({ type: 'final', text: 'Hello.', usage: used })
    expect(deltas(events)).toEqual(['Hel', 'lo', '.'])
    expect(messages.at(-1)).toEqual({ role: 'assistant', text: 'Hello.', toolCalls: [] })
    expect(events.at(-1)).toEqual({ type: 'reply/received', message: messages.at(-1), usage: used })
    expect(model.doStreamCalls[0]).toMatchObject({
      prompt: [
        { role: 'system', content: 'System.' },
        { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
      ],
    })
  })

  it("sends a tool's schema, runs the call and returns the result", async () => {
    const model = scripted(
      [...says('Let me see.'), call('weather', { city: 'Rome' }), finish('tool-calls')],
      [...says('Sunny.'), finish()],
    )
    const { result, calls } = await evaluate(aiSdk({ model, providerOptions: { test: { effort: 'low' } } }), {
      tools: [weather],
    })
    expect(calls).toEqual([{ id: 'call_weather', name: 'weather', arguments: { city: 'Rome' } }])
    expect(result).toMatchObject({ text: 'Sunny.', usage: { inputTokens: 200, outputTokens: 14 } })
    expect(model.doStreamCalls[0]).toMatchObject({
      tools: [{ type: 'function', name: 'weather', description: 'Tells the weather.', inputSchema }],
      toolChoice: { type: 'auto' },
      providerOptions: { test: { effort: 'low' } },
    })
    expect(model.doStreamCalls[1]!.prompt.slice(2)).toMatchObject([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me see.' },
          { type: 'tool-call', toolCallId: 'call_weather', toolName: 'weather', input: { city: 'Rome' } },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'call_weather', output: { type: 'text', value: 'Sunny in Rome.' } },
        ],
      },
    ])
  })

  it('runs parallel calls, and marks the result of a failed one', async () => {
    const model = scripted(
      [call('weather', { city: 'Rome' }, 'a'), call('broken', {}, 'b'), call('weather', {}, 'c'), finish('tool-calls')],
      [...says('Done.'), finish()],
    )
    const { calls } = await evaluate(aiSdk({ model }), { tools: [weather, broken] })
    expect(calls.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    const results = model.doStreamCalls[1]!.prompt.at(-1)
    expect(results).toMatchObject({
      role: 'tool',
      content: [
        { toolCallId: 'a', output: { type: 'text', value: 'Sunny in Rome.' } },
        { toolCallId: 'b', output: { type: 'error-text', value: 'It is out of order.' } },
        { toolCallId: 'c', output: { type: 'error-text' } },
      ],
    })
  })

  it('R37 passes on wrong and malformed arguments, and sends both back to the model', async () => {
    const model = scripted(
      [call('weather', '{"city": "Ro', 'cut'), call('nobody', { a: 1 }, 'odd'), finish('tool-calls')],
      [...says('Sorry.'), finish()],
    )
    const { calls, result } = await evaluate(aiSdk({ model }), { tools: [weather] })
    expect(calls).toEqual([
      { id: 'cut', name: 'weather', arguments: undefined, malformed: '{"city": "Ro' },
      { id: 'odd', name: 'nobody', arguments: { a: 1 } },
    ])
    expect(result).toMatchObject({ text: 'Sorry.' })
    expect(model.doStreamCalls[1]!.prompt.slice(2)).toMatchObject([
      {
        content: [
          { toolCallId: 'cut', input: { malformed: '{"city": "Ro' } },
          { toolCallId: 'odd', input: { a: 1 } },
        ],
      },
      {
        content: [
          { toolCallId: 'cut', output: { type: 'error-text', value: 'No JSON: {"city": "Ro' } },
          { toolCallId: 'odd', output: { type: 'error-text', value: "There is no tool 'nobody'." } },
        ],
      },
    ])
  })

  it('R35 R42 appends added tools to the list of the next request, and changes nothing before them', async () => {
    const model = scripted(
      [call('weather', { city: 'Rome' }), finish('tool-calls')],
      [call('extra', {}), finish('tool-calls')],
      [...says('Done.'), finish()],
    )
    const { messages, calls } = await evaluate(aiSdk({ model }), {
      tools: [weather, broken],
      adds: { weather: [extra] },
    })
    expect(model.doStreamCalls.map(toolNames)).toEqual([
      ['weather', 'broken'],
      ['weather', 'broken', 'extra'],
      ['weather', 'broken', 'extra'],
    ])
    expect(calls.map(({ name }) => name)).toEqual(['weather', 'extra'])
    expect(messages).toContainEqual({ role: 'tools', names: ['extra'] })
    const [first, second, third] = model.doStreamCalls.map(({ prompt }) => JSON.stringify(prompt).slice(0, -1))
    expect(second!.startsWith(first!)).toBe(true)
    expect(third!.startsWith(second!)).toBe(true)
  })

  it('R39 sends its own reasoning back unchanged, even after a round trip through JSON', async () => {
    const providerMetadata = { test: { signature: 'abc' } }
    const reasoning: StreamPart[] = [
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
      { type: 'reasoning-end', id: 'r', providerMetadata },
    ]
    const model = scripted([...reasoning, call('weather', '{', 'x'), finish('tool-calls')], [...says('Ok.'), finish()])
    const { messages } = await evaluate(aiSdk({ model }), { tools: [weather] })
    const assistant = {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.', providerOptions: providerMetadata },
        { type: 'tool-call', toolCallId: 'x', input: { malformed: '{' } },
      ],
    }
    expect(model.doStreamCalls[1]!.prompt[2]).toMatchObject(assistant)

    const kept = JSON.parse(JSON.stringify(messages)) as typeof messages
    const later = scripted([...says('Ok.'), finish()])
    await evaluate(aiSdk({ model: later }), { messages: kept, tools: [weather] })
    expect(later.doStreamCalls[0]!.prompt[2]).toMatchObject(assistant)

    const other = scripted([...says('Ok.'), finish()])
    await evaluate(aiSdk({ model: other, name: 'other' }), { messages: kept, tools: [weather] })
    expect(other.doStreamCalls[0]!.prompt[2]!.content).toHaveLength(1)
  })

  it('R17 sends the schema of an object, but not of an array, and not when disabled', async () => {
    const schema = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] } as const
    const ask = async (output: ReturnType<typeof outputSpec>, structuredOutput?: boolean) => {
      const model = scripted([...says('{"answer":"x"}'), finish()])
      await evaluate(aiSdk({ model, ...(structuredOutput === undefined ? {} : { structuredOutput }) }), { output })
      return model.doStreamCalls[0]!.responseFormat
    }
    expect(await ask(outputSpec(schema))).toMatchObject({ type: 'json', schema })
    expect(await ask(outputSpec({ type: 'array', items: schema }))).toBeUndefined()
    expect(await ask(outputSpec(schema), false)).toBeUndefined()
  })

  it('starts a conversation without input the same way in every request', async () => {
    const model = scripted([call('weather', { city: 'Rome' }), finish('tool-calls')], [...says('Done.'), finish()])
    await evaluate(aiSdk({ model }), { system: '', tools: [weather], messages: [] })
    for (const { prompt } of model.doStreamCalls) {
      expect(prompt[0]).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'Begin.' }] })
    }
    expect(model.doStreamCalls[1]!.prompt).toHaveLength(3)
  })

  it('warns about incomplete replies and about unsupported settings', async () => {
    vi.stubGlobal('AI_SDK_LOG_WARNINGS', false)
    const model = scripted([
      { type: 'stream-start', warnings: [{ type: 'unsupported', feature: 'seed', details: 'It is ignored.' }] },
      ...says('Long'),
      finish('length'),
    ])
    const { events, result } = await evaluate(aiSdk({ model }))
    expect(result).toMatchObject({ type: 'final', text: 'Long' })
    expect(events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))).toEqual([
      "The model's provider does not fully support 'seed'. It is ignored.",
      'The model stopped before it was finished: length.',
    ])
  })
})

describe('aiSdk when requests fail', () => {
  it('R38 retries after a 429 when the provider says so, and emits an event', async () => {
    const model = scripted(apiError(429, 'Slow down.', { 'retry-after-ms': '3' }), [...says('Hello.'), finish()])
    const { result, events } = await evaluate(aiSdk({ model }))
    expect(result).toMatchObject({ text: 'Hello.' })
    expect(events).toContainEqual({ type: 'request/retried', attempt: 1, delayMs: 3, reason: 'Slow down.' })
  })

  it('R38 gives up after the configured number of retries', async () => {
    const busy = apiError(503, 'Busy.', { 'retry-after-ms': '1' })
    const model = scripted(busy, busy, busy, busy)
    await expect(evaluate(aiSdk({ model, maxRetries: 1 }))).rejects.toMatchObject({ code: 'adapter-unavailable' })
    expect(model.doStreamCalls).toHaveLength(2)
  })

  it.each([400, 401, 403, 404, 422])('R38 does not retry after %i', async (status) => {
    const model = scripted(apiError(status, 'No such model.'))
    const error: unknown = await evaluate(aiSdk({ model })).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(FoldoutError)
    expect(error).toMatchObject({ code: 'adapter-refused' })
    expect((error as Error).message).toContain(`status ${status}`)
    expect((error as Error).message).toContain('No such model.')
    expect(model.doStreamCalls).toHaveLength(1)
  })

  it.each<[string, readonly StreamPart[]]>([
    ['ends without anything', []],
    ['ends in the middle of a call', [call('weather', { city: 'Rome' })]],
    [
      'reports an overload',
      [{ type: 'error', error: { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } } }],
    ],
  ])('R38 retries a reply that %s, as long as no text was emitted', async (_what, parts) => {
    const model = scripted(parts, [...says('Hello.'), finish()])
    const { result, calls } = await evaluate(aiSdk({ model }), { tools: [weather] })
    expect(result).toMatchObject({ text: 'Hello.' })
    expect(calls).toEqual([])
    expect(model.doStreamCalls).toHaveLength(2)
  })

  it('R38 fails if a reply breaks off after text was emitted', async () => {
    const model = scripted(says('Hel'), [...says('Hello.'), finish()])
    await expect(evaluate(aiSdk({ model }))).rejects.toMatchObject({ code: 'adapter-stream-cut' })
    expect(model.doStreamCalls).toHaveLength(1)
  })

  it('treats errors in the stream as final if the provider does', async () => {
    const model = scripted([
      { type: 'error', error: { message: 'Your prompt was flagged.', type: 'invalid_request_error' } },
    ])
    await expect(evaluate(aiSdk({ model }))).rejects.toMatchObject({
      code: 'adapter-refused',
      message: expect.stringContaining('Your prompt was flagged.') as string,
    })
  })

  it('R38 rejects at once with the reason of an abort, even if the model ignores the signal', async () => {
    const controller = new AbortController()
    const reason = new Error('Enough.')
    const model = new MockLanguageModelV3({
      doStream: async () => ({
        stream: new ReadableStream<StreamPart>({
          start(stream) {
            for (const part of says('Hel').slice(0, 2)) stream.enqueue(part)
          },
        }),
      }),
    })
    const evaluation = evaluate(aiSdk({ model }), {
      signal: controller.signal,
      onEvent: ({ type }) => void (type === 'text/delta' && controller.abort(reason)),
    })
    await expect(evaluation).rejects.toBe(reason)
    expect(model.doStreamCalls[0]!.abortSignal!.aborted).toBe(true)
  })
})
