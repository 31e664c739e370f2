import OpenAI from 'openai'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { outputSpec } from '../../prompt/definition/output.ts'
import type { ProviderAdapter } from '../contract.ts'
import { conversation, results, shownText, tool, warnings } from './conversation.fixtures.ts'
import { openai, openaiCompatible } from '../../entries/openai.ts'
import { failing, startWire, type Wire } from './wire.fixtures.ts'

let wire: Wire
beforeEach(async () => {
  wire = await startWire()
})
afterEach(() => wire[Symbol.asyncDispose]())

const interfaces: readonly [string, (maxRetries?: number) => ProviderAdapter][] = [
  ['responses', (maxRetries = 3) => openai({ model: 'gpt-4o', apiKey: 'k', baseURL: `${wire.url}/v1`, maxRetries })],
  [
    'chat',
    (maxRetries = 3) =>
      openai({ model: 'gpt-4o', apiKey: 'k', baseURL: `${wire.url}/v1`, interface: 'chat', maxRetries }),
  ],
  ['compatible', (maxRetries = 3) => openaiCompatible({ model: 'qwen3', baseURL: `${wire.url}/v1`, maxRetries })],
]

describe.each(interfaces)('openai, %s', (kind, adapter) => {
  const isChat = kind !== 'responses'

  it('streams text and counts tokens', async () => {
    wire.mock.onMessage(
      'Hello',
      { content: 'It is sunny today.', usage: { prompt_tokens: 20, completion_tokens: 5 } },
      { chunkSize: 4 },
    )
    const talk = conversation()
    const usage = { inputTokens: 20, outputTokens: 5, cachedInputTokens: 0, cacheWriteTokens: 0 }
    expect(await adapter().evaluate(talk)).toEqual({ type: 'final', text: 'It is sunny today.', usage })
    expect(shownText(talk.events)).toEqual(['It i', 's su', 'nny ', 'toda', 'y.'])
    const message = { role: 'assistant', text: 'It is sunny today.', toolCalls: [] }
    expect(talk.events[0]).toEqual({ type: 'request/sent', messages: 1, tools: [] })
    expect(talk.events.at(-1)).toEqual({ type: 'reply/received', message, usage })
    expect(talk.recorded).toEqual([message])
    expect(wire.requests[0]?.path).toBe(isChat ? '/v1/chat/completions' : '/v1/responses')
    expect(wire.requests[0]?.body).toMatchObject({ stream: true })
  })

  it('runs one call and returns its result', async () => {
    wire.mock.on({ userMessage: 'Hello', hasToolResult: true }, { content: 'Sunny in Oslo.' })
    wire.mock.on({ userMessage: 'Hello' }, { toolCalls: [{ id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' }] })
    const talk = conversation({ tools: [tool('weather')] })
    expect(await adapter().evaluate(talk)).toMatchObject({ type: 'final', text: 'Sunny in Oslo.' })
    expect(talk.calls).toEqual([[{ id: 'c1', name: 'weather', arguments: { city: 'Oslo' } }]])
    expect(talk.recorded.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant'])
    expect(wire.requests.map(({ body }) => body)).toMatchObject(
      isChat
        ? [
            {
              messages: [
                { role: 'system', content: 'You tell the weather.' },
                { role: 'user', content: 'Hello' },
              ],
            },
            {
              messages: [
                { role: 'system', content: 'You tell the weather.' },
                { role: 'user', content: 'Hello' },
                {
                  role: 'assistant',
                  content: null,
                  tool_calls: [
                    { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
                  ],
                },
                { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
              ],
            },
          ]
        : [
            { instructions: 'You tell the weather.', store: false, input: [{ role: 'user', content: 'Hello' }] },
            {
              instructions: 'You tell the weather.',
              store: false,
              input: [
                { role: 'user', content: 'Hello' },
                { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' },
                { type: 'function_call_output', call_id: 'c1', output: 'sunny' },
              ],
            },
          ],
    )
  })

  it('accepts parallel calls in order, with text next to them', async () => {
    wire.mock.on({ userMessage: 'Hello', hasToolResult: true }, { content: 'Done.' })
    wire.mock.on(
      { userMessage: 'Hello' },
      {
        content: 'I look.',
        toolCalls: ['Oslo', 'Rome', 'Bern'].map((city, i) => ({
          id: `c${i}`,
          name: 'weather',
          arguments: JSON.stringify({ city }),
        })),
      },
      { chunkSize: 3 },
    )
    const talk = conversation({ tools: [tool('weather')] })
    expect(await adapter().evaluate(talk)).toMatchObject({ text: 'Done.' })
    expect(talk.calls).toEqual([
      ['Oslo', 'Rome', 'Bern'].map((city, i) => ({ id: `c${i}`, name: 'weather', arguments: { city } })),
    ])
    expect(talk.recorded[0]).toMatchObject({ role: 'assistant', text: 'I look.' })
    const { body } = wire.requests[1]!
    const answered = isChat
      ? body.messages.slice(-3).map((message: { tool_call_id: string }) => message.tool_call_id)
      : body.input.slice(-3).map((item: { call_id: string }) => item.call_id)
    expect(answered).toEqual(['c0', 'c1', 'c2'])
  })

  it('R37 tells the model that a call failed', async () => {
    wire.mock.on({ userMessage: 'Hello', hasToolResult: true }, { content: 'Sorry.' })
    wire.mock.on({ userMessage: 'Hello' }, { toolCalls: [{ id: 'c1', name: 'weather', arguments: '{}' }] })
    const talk = conversation({
      tools: [tool('weather')],
      callTools: async () => ({
        type: 'continue',
        added: [],
        results: [{ role: 'tool', callId: 'c1', name: 'weather', text: 'No such city.', isError: true }],
      }),
    })
    await adapter().evaluate(talk)
    const { body } = wire.requests[1]!
    expect(isChat ? body.messages.at(-1).content : body.input.at(-1).output).toBe('Error: No such city.')
  })

  it('R37 passes on arguments that are not valid JSON, and treats an empty text as no arguments', async () => {
    wire.mock.on({ userMessage: 'Hello', hasToolResult: true }, { content: 'Sorry.' })
    wire.mock.on(
      { userMessage: 'Hello' },
      {
        toolCalls: [
          { id: 'c1', name: 'weather', arguments: '{"city": Oslo' },
          { id: 'c2', name: 'weather', arguments: '' },
        ],
      },
    )
    const talk = conversation({ tools: [tool('weather')] })
    await adapter().evaluate(talk)
    expect(talk.calls[0]?.[0]).toEqual({ id: 'c1', name: 'weather', arguments: undefined, malformed: '{"city": Oslo' })
    expect(talk.calls[0]?.[1]).toEqual({ id: 'c2', name: 'weather', arguments: {} })
    const { body } = wire.requests[1]!
    const written = isChat ? body.messages[2].tool_calls[0].function.arguments : body.input[1].arguments
    expect(written).toBe(isChat ? '{"malformed":"{\\"city\\": Oslo"}' : '{"city": Oslo')
  })

  it('R33 stops when the caller says so, with the usage so far', async () => {
    wire.mock.on(
      { userMessage: 'Hello' },
      {
        toolCalls: [{ id: 'c1', name: 'weather', arguments: '{}' }],
        usage: { prompt_tokens: 7, completion_tokens: 3 },
      },
    )
    const talk = conversation({ tools: [tool('weather')], callTools: async () => ({ type: 'halt', results: [] }) })
    expect(await adapter().evaluate(talk)).toMatchObject({ type: 'halted', usage: { inputTokens: 7, outputTokens: 3 } })
    expect(wire.requests).toHaveLength(1)
  })

  it('R35 appends added tools to the list and keeps them there', async () => {
    wire.mock.on({ userMessage: 'Hello', hasToolResult: true }, { content: 'Done.' })
    wire.mock.on({ userMessage: 'Hello' }, { toolCalls: [{ id: 'c1', name: 'weather', arguments: '{}' }] })
    const one = adapter()
    expect(one.supportsDynamicTools).toBe(true)
    const talk = conversation({
      tools: [tool('weather')],
      callTools: async (calls) => ({ ...results(calls), added: [tool('wind'), tool('rain')] }),
    })
    await one.evaluate(talk)
    const names = wire.requests.map(({ body }) =>
      body.tools.map((sent: { name?: string; function?: { name: string } }) => sent.name ?? sent.function?.name),
    )
    expect(names).toEqual([['weather'], ['weather', 'wind', 'rain']])
    expect(wire.requests[1]!.body.tools.slice(0, 1)).toEqual(wire.requests[0]!.body.tools)
    expect(wire.requests[1]!.raw).not.toContain('additional_tools')
    expect(talk.recorded.at(-2)).toEqual({ role: 'tools', names: ['wind', 'rain'] })
  })

  it('requests structured output for an object, but not for an array', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const
    wire.mock.onMessage('Hello', { content: '{"city":"Oslo"}' })
    const output = outputSpec(schema)
    expect(await adapter().evaluate(conversation({ output }))).toMatchObject({ text: '{"city":"Oslo"}' })
    const format = { name: 'output', schema: output.jsonSchema, strict: false }
    expect(wire.requests[0]?.body).toMatchObject(
      isChat
        ? { response_format: { type: 'json_schema', json_schema: format } }
        : { text: { format: { type: 'json_schema', ...format } } },
    )
    await adapter().evaluate(conversation({ output: outputSpec({ type: 'array', items: schema }) }))
    expect(wire.requests[1]?.body).not.toHaveProperty(isChat ? 'response_format' : 'text')
  })

  it('drops structured output if the endpoint does not support it, and remembers that', async () => {
    wire.mock.onMessage('Hello', { content: '{}' })
    wire.answerNext(failing(400, "Unsupported parameter: 'json_schema' is not known to this model."))
    const one = adapter()
    const first = conversation({ output: outputSpec({ type: 'object' }) })
    expect(await one.evaluate(first)).toMatchObject({ type: 'final', text: '{}' })
    expect(warnings(first.events)).toEqual([
      expect.stringMatching(/^The endpoint does not support structured output\./),
    ])
    const second = conversation({ output: outputSpec({ type: 'object' }) })
    await one.evaluate(second)
    expect(warnings(second.events)).toEqual([])
    expect(wire.requests.map(({ raw }) => raw.includes('json_schema'))).toEqual([true, false, false])
  })

  it('drops a rejected feature only once, whatever a second rejection says', async () => {
    wire.mock.onMessage('Hello', { content: '{}' })
    wire.answerNext(failing(422, 'No json_schema here.'), failing(422, 'No json_schema here.'))
    const talk = conversation({ output: outputSpec({ type: 'object' }) })
    await expect(adapter().evaluate(talk)).rejects.toMatchObject({ code: 'adapter-refused' })
    expect(wire.requests.map(({ raw }) => raw.includes('json_schema'))).toEqual([true, false])
    expect(warnings(talk.events)).toEqual([])
  })

  it('sends additional parameters', async () => {
    wire.mock.onMessage('Hello', { content: 'Hi.' })
    const common = { model: 'm', baseURL: `${wire.url}/v1`, parameters: { temperature: 0, model: 'other' } }
    const one = isChat ? openaiCompatible(common) : openai({ ...common, apiKey: 'k', contextWindow: 1000 })
    await one.evaluate(conversation())
    expect(one.contextWindow).toBe(isChat ? undefined : 1000)
    expect(wire.requests[0]?.body).toMatchObject({ temperature: 0, model: 'm' })
    expect(wire.requests[0]?.body).not.toHaveProperty('tools')
  })
})

describe('clients', () => {
  it('is named after the provider by default, and can be renamed', () => {
    expect(openai({ model: 'gpt-5' })).toMatchObject({ name: 'openai', model: 'gpt-5' })
    expect(openaiCompatible({ model: 'm', baseURL: 'http://x/v1' }).name).toBe('openai-compatible')
    expect(openaiCompatible({ model: 'm', baseURL: 'http://x/v1', name: 'ollama' }).name).toBe('ollama')
  })

  it('sends a compatible server its own key or none, and nothing from the environment', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'secret')
    vi.stubEnv('OPENAI_ORG_ID', 'secret')
    vi.stubEnv('OPENAI_PROJECT_ID', 'secret')
    try {
      wire.mock.onMessage('Hello', { content: 'Hi.' })
      const common = { model: 'm', baseURL: `${wire.url}/v1` }
      await openaiCompatible(common).evaluate(conversation())
      await openaiCompatible({ ...common, apiKey: 'mine' }).evaluate(conversation())
    } finally {
      vi.unstubAllEnvs()
    }
    expect(wire.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer mine'])
    expect(JSON.stringify(wire.requests.map(({ headers }) => headers))).not.toContain('secret')
  })

  it('uses a given client', async () => {
    wire.mock.onMessage('Hello', { content: 'Hi.' })
    const client = new OpenAI({ apiKey: 'theirs', baseURL: `${wire.url}/v1` })
    await openai({ model: 'gpt-4o', client }).evaluate(conversation())
    expect(wire.requests[0]?.headers.authorization).toBe('Bearer theirs')
  })

  it('says how to pass a missing key', async () => {
    vi.stubEnv('OPENAI_API_KEY', undefined)
    try {
      await expect(openai({ model: 'gpt-4o' }).evaluate(conversation())).rejects.toMatchObject({
        code: 'adapter-config',
        message: expect.stringContaining('Pass an apiKey or set OPENAI_API_KEY.'),
      })
    } finally {
      vi.unstubAllEnvs()
    }
  })
})
