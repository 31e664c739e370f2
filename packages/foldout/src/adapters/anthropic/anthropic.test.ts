import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { outputSpec } from '../../prompt/definition/output.ts'
import type { ModelEvent } from '../contract.ts'
import {
  ask,
  block,
  end,
  HELLO,
  refuse,
  says,
  START,
  useClaude,
  stream,
  TEXT,
  toolNamed,
  type Provider,
} from './harness.fixtures.ts'
import type { AnthropicOptions } from '../../entries/anthropic.ts'

let provider: Provider
const claude = useClaude((started) => (provider = started))

const warnings = (events: readonly ModelEvent[]) => events.filter(({ type }) => type === 'warning')
const deltas = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'text/delta' ? [event.text] : []))

describe('anthropic', () => {
  it('R35 supports adding tools at any time', () => {
    expect(claude({ contextWindow: 1_000_000 })).toMatchObject({
      name: 'anthropic',
      model: 'claude-opus-5-5',
      supportsDynamicTools: true,
      contextWindow: 1_000_000,
    })
  })

  it('streams text as it arrives', async () => {
    provider.answer({ content: 'A text of a few words, in some pieces.' })
    const { result, events, recorded } = await ask(claude())
    expect(result).toMatchObject({ type: 'final', text: 'A text of a few words, in some pieces.' })
    expect(deltas(events).length).toBeGreaterThan(1)
    expect(deltas(events).join('')).toBe('A text of a few words, in some pieces.')
    expect(recorded).toEqual([{ role: 'assistant', text: 'A text of a few words, in some pieces.', toolCalls: [] }])
  })

  it('sends only the given settings', async () => {
    provider.answer({ content: 'Yes.' })
    await ask(claude({ cache: false, parameters: { metadata: { user_id: 'u' }, output_config: { effort: 'low' } } }))
    const [{ text, headers, url }] = provider.requests as [Provider['requests'][0]]
    expect(text).toBe(
      '{"model":"claude-opus-5-5","max_tokens":128000,"metadata":{"user_id":"u"},"output_config":{"effort":"low"},"stream":true,' +
        '"system":[{"type":"text","text":"You are a test."}],' +
        '"messages":[{"role":"user","content":[{"type":"text","text":"Hello."}]}]}',
    )
    expect(url).toMatch(/^\/v1\/messages/)
    expect(headers.authorization).toBe('Bearer test')
    expect(headers['anthropic-beta']).toBeUndefined()
  })

  it('leaves out an empty system text', async () => {
    provider.answer({ content: 'Yes.' })
    await ask(claude({ maxTokens: 5 }), { system: '' })
    expect(provider.requests[0]!.body).not.toHaveProperty('system')
    expect(provider.requests[0]!.body).toHaveProperty('max_tokens', 5)
  })

  it('sends all results of a turn in one message, and marks the failed ones', async () => {
    provider.answer(
      {
        content: 'I look.',
        toolCalls: [
          { id: 'toolu_1', name: 'look', arguments: '{"text":"left"}' },
          { id: 'toolu_2', name: 'look', arguments: '{"text":"right"}' },
        ],
      },
      { content: 'Seen.' },
    )
    const { result, recorded } = await ask(claude({ cache: false }), {
      tools: [toolNamed('look')],
      results: ({ id }) => (id === 'toolu_2' ? { text: 'It is dark.', error: true } : 'A door.'),
    })
    expect(result).toMatchObject({ type: 'final', text: 'Seen.' })
    expect(recorded[0]).toEqual({
      role: 'assistant',
      text: 'I look.',
      toolCalls: [
        { id: 'toolu_1', name: 'look', arguments: { text: 'left' } },
        { id: 'toolu_2', name: 'look', arguments: { text: 'right' } },
      ],
    })
    expect(provider.requests[1]!.body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hello.' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'look', input: { text: 'left' } },
          { type: 'tool_use', id: 'toolu_2', name: 'look', input: { text: 'right' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'A door.', is_error: false },
          { type: 'tool_result', tool_use_id: 'toolu_2', content: 'It is dark.', is_error: true },
        ],
      },
    ])
    expect(provider.requests[0]!.body.tools).toEqual([
      {
        name: 'look',
        description: 'Does look.',
        input_schema: { type: 'object', properties: { text: { type: 'string' } } },
      },
    ])
  })

  it('calls a tool with an empty object if there are no arguments', async () => {
    provider.intercept((_request, response, number) =>
      number > 0
        ? false
        : stream(response, [
            START,
            ...block(
              0,
              { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
              { type: 'input_json_delta', partial_json: '' },
            ),
            ...end('tool_use'),
          ]),
    )
    const { recorded } = await ask(claude(), { tools: [toolNamed('look')] })
    expect(recorded[0]).toMatchObject({ toolCalls: [{ id: 'toolu_1', name: 'look', arguments: {} }] })
  })

  it.each([
    ['are not valid JSON', 'tool_use', '{"text": lef', { text: '{"text": lef' }, 0],
    ['are cut off at the output limit', 'max_tokens', '{"text": "le', { text: '{"text": "le' }, 1],
    ['are cut off before they begin', 'max_tokens', '', { text: '' }, 1],
  ])('R37 passes on arguments that %s, and shows them to the model', async (_, stopReason, json, { text }, warned) => {
    provider.intercept((_request, response, number) =>
      number > 0
        ? false
        : stream(response, [
            START,
            ...block(
              0,
              { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
              { type: 'input_json_delta', partial_json: json },
            ),
            ...end(stopReason),
          ]),
    )
    provider.answer({ content: 'Sorry.' })
    const { result, recorded, events } = await ask(claude({ cache: false }), {
      tools: [toolNamed('look')],
      results: ({ malformed }) => ({ text: `No JSON: ${malformed}`, error: true }),
    })
    expect(result).toMatchObject({ text: 'Sorry.' })
    expect(recorded[0]).toEqual({
      role: 'assistant',
      text: '',
      toolCalls: [
        { id: 'toolu_1', name: 'look', malformed: text, ...(stopReason === 'max_tokens' && { isCutOff: true }) },
      ],
      ...(stopReason === 'max_tokens' && { cut: 'cut-off' }),
    })
    expect(provider.requests[1]!.body.messages[1]!.content).toEqual([
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: { INVALID_JSON: text } },
    ])
    expect(warnings(events)).toHaveLength(warned)
  })

  it('sends thinking back unchanged, in its place', async () => {
    const thought = { type: 'thinking', thinking: 'Left or right?', signature: 'c2ln' }
    const hidden = { type: 'redacted_thinking', data: 'aGlkZGVu' }
    provider.intercept((_request, response, number) =>
      number > 0
        ? false
        : stream(response, [
            START,
            ...block(
              0,
              { type: 'thinking', thinking: '', signature: '' },
              { type: 'thinking_delta', thinking: 'Left or ' },
              { type: 'thinking_delta', thinking: 'right?' },
              { type: 'signature_delta', signature: 'c2ln' },
            ),
            ...block(1, hidden),
            ...block(2, TEXT, says('I look.')),
            ...block(
              3,
              { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
              { type: 'input_json_delta', partial_json: '{"text":"left"}' },
            ),
            ...end('tool_use'),
          ]),
    )
    provider.answer({ content: 'Seen.' })
    const adapter = claude({ cache: false })
    const { recorded } = await ask(adapter, { tools: [toolNamed('look')] })
    const content = [
      thought,
      hidden,
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: { text: 'left' } },
    ]
    expect(recorded[0]).toMatchObject({
      text: 'I look.',
      native: { adapter: 'anthropic', content: { blocks: content } },
    })
    expect(provider.requests[1]!.body.messages[1]).toEqual({ role: 'assistant', content })
    // Also after the conversation was stored and loaded again.
    provider.answer({ content: 'Yes.' })
    await ask(adapter, {
      tools: [toolNamed('look')],
      messages: JSON.parse(JSON.stringify([HELLO, ...recorded, HELLO])),
    })
    expect(provider.requests[2]!.body.messages[1]).toEqual({ role: 'assistant', content })
  })

  it('continues a conversation that started with another provider', async () => {
    provider.answer({ content: 'Yes.' })
    await ask(claude({ cache: false }), {
      messages: [
        HELLO,
        {
          role: 'assistant',
          text: ' ',
          toolCalls: [{ id: 'call:1', name: 'look', arguments: {} }],
          native: { adapter: 'openai', content: 'reasoning' },
        },
        { role: 'tool', callId: 'call:1', name: 'look', text: 'A door.', isError: false },
        { role: 'assistant', text: '', toolCalls: [] },
        { role: 'user', text: 'And?' },
      ],
    })
    expect(provider.requests[0]!.body.messages.slice(1)).toEqual([
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: 'A door.', is_error: false },
          { type: 'text', text: 'And?' },
        ],
      },
    ])
  })

  it('counts cache reads and writes as input', async () => {
    provider.intercept((_request, response) =>
      stream(response, [START, ...block(0, TEXT, says('Yes.')), ...end('end_turn')]),
    )
    const { result, events } = await ask(claude())
    const usage = { inputTokens: 240, outputTokens: 7, cachedInputTokens: 200, cacheWriteTokens: 30 }
    expect(result).toEqual({ type: 'final', text: 'Yes.', usage })
    expect(events.at(-1)).toMatchObject({ type: 'reply/received', usage })
  })

  it('reports that the model declined, and runs none of its calls', async () => {
    provider.intercept((_request, response) =>
      stream(response, [
        START,
        ...block(0, { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }),
        ...end('refusal', { stop_details: { type: 'refusal', category: 'cyber', explanation: 'No malware.' } }),
      ]),
    )
    await expect(ask(claude(), { tools: [toolNamed('look')] })).rejects.toMatchObject({
      code: 'model-refused',
      message:
        'The model declined to answer (cyber), so this conversation cannot continue. Change the request, or use another model. It said: No malware.',
    })
    expect(provider.requests).toHaveLength(1)
  })

  it('says how to pass a missing key', async () => {
    const client = {
      beta: { messages: { create: () => Promise.reject(new Error('Could not resolve authentication method.')) } },
    }
    const adapter = claude({ client: client as unknown as NonNullable<AnthropicOptions['client']> })
    await expect(ask(adapter)).rejects.toMatchObject({ code: 'adapter-config' })
  })
})

describe('anthropic structured output', () => {
  const output = outputSpec(z.object({ city: z.string(), size: z.number().int().min(1).optional() }))

  it('constrains the model to the schema', async () => {
    provider.answer({ content: '{"city":"Rome"}' })
    const { result } = await ask(claude({ parameters: { output_config: { effort: 'low' } } }), { output })
    expect(output.parse((result as { text: string }).text)).toEqual({ city: 'Rome' })
    const { format, effort } = provider.requests[0]!.body['output_config'] as Record<string, Record<string, unknown>>
    expect(effort).toBe('low')
    expect(format).toMatchObject({
      type: 'json_schema',
      schema: {
        type: 'object',
        required: ['city'],
        additionalProperties: false,
        properties: { city: { type: 'string' } },
      },
    })
  })

  it.each([
    ['a list', outputSpec(z.array(z.string()))],
    ['free keys', outputSpec(z.object({ sizes: z.record(z.string(), z.number()) }))],
    ['anything', outputSpec(z.object({ value: z.unknown() }))],
  ])('omits a schema that the provider cannot express: %s', async (_, unsayable) => {
    provider.answer({ content: '[]' })
    await ask(claude(), { output: unsayable })
    expect(provider.requests[0]!.body).not.toHaveProperty('output_config')
  })

  it('drops a schema that the endpoint rejects, and remembers that', async () => {
    provider.intercept(({ body }, response) =>
      'output_config' in body ? refuse(response, 400, 'output_config: Extra inputs are not permitted') : false,
    )
    provider.answer({ content: '{"city":"Rome"}' }, { content: '{"city":"Oslo"}' })
    const adapter = claude()
    const first = await ask(adapter, { output, tools: [toolNamed('look')] })
    expect(first.result).toMatchObject({ text: '{"city":"Rome"}' })
    expect(warnings(first.events)).toMatchObject([
      { message: expect.stringMatching(/^The endpoint does not accept this output schema, .*not permitted/) },
    ])
    const second = await ask(adapter, { output, tools: [toolNamed('look')] })
    expect(second.result).toMatchObject({ text: '{"city":"Oslo"}' })
    expect(warnings(second.events)).toEqual([])
    expect(provider.requests.map(({ body }) => 'output_config' in body)).toEqual([true, false, false])
  })
})
