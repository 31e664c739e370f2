import { describe, expect, it } from 'vitest'
import type { Message, ProviderAdapter } from '../../packages/foldout/src/adapters/contract.ts'
import { conversation, tool, warnings } from '../../packages/foldout/src/adapters/openai/conversation.fixtures.ts'
import { openai, openaiCompatible } from '../../packages/foldout/src/entries/openai.ts'
import { outputSpec } from '../../packages/foldout/src/prompt/definition/output.ts'
import type { AnyTool } from '../../packages/foldout/src/tools/tool.ts'
import {
  onFormatBesideTools,
  onLongCallIds,
  onMissingReasoning,
  onMissingSignature,
  onPassedReasoning,
  onToolSchemas,
  onUserAfterTool,
  startRefusingServer,
} from './openai-refusals.ts'

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason }],
})
const reply = (...deltas: readonly object[]): readonly object[] => [
  ...deltas.map((delta) => chunk(delta)),
  chunk({}, 'stop'),
]
const call = (rest: object = {}, args: unknown = '{"city":"Oslo"}'): object => ({
  tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: args }, ...rest }],
})
const done = reply({ content: 'Done.' })
const compatible = (baseURL: string): ProviderAdapter => openaiCompatible({ model: 'm', baseURL })
/** An adapter that believes the server is at another URL. */
const at = (address: string, url: string): ProviderAdapter =>
  openaiCompatible({
    model: 'm',
    baseURL: address,
    fetch: (to, init) => fetch((to as string).replace(address, url), init),
  })
const TOOLS = [tool('weather')]
const OUTPUT = outputSpec({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] })
const ran: readonly Message[] = [
  { role: 'user', text: 'Hello' },
  { role: 'assistant', text: '', toolCalls: [{ id: 'call_1', name: 'weather', arguments: {} }] },
  { role: 'tool', callId: 'call_1', name: 'weather', text: 'sunny', isError: false },
]

describe('schemas of tools that OpenAI would refuse', () => {
  const withSchema = (name: string, inputSchema: object): AnyTool => ({
    ...tool(name),
    inputSchema: { ...inputSchema },
  })
  const tools = [
    withSchema('bare', { type: 'object' }),
    withSchema('list', { type: 'object', properties: { all: { type: 'array' }, map: { type: 'object' } } }),
    withSchema('union', {
      anyOf: [
        { type: 'object', properties: { a: {} } },
        { type: 'object', required: ['b'] },
      ],
    }),
    withSchema('both', { type: 'object', allOf: [{ properties: { a: { type: 'array' } } }], not: { required: ['c'] } }),
  ]
  const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] }
  const response = [{ type: 'response.completed', response: { status: 'completed', output: [said] } }]

  it('are sent to Chat Completions in a form that it accepts', async () => {
    await using server = await startRefusingServer([onToolSchemas], done)
    expect(await compatible(server.url).evaluate(conversation({ tools }))).toMatchObject({ text: 'Done.' })
  })

  it('are sent to Responses in a form that it accepts', async () => {
    await using server = await startRefusingServer([onToolSchemas], response)
    const adapter = openai({ model: 'gpt-5', apiKey: 'k', baseURL: server.url })
    expect(await adapter.evaluate(conversation({ tools }))).toMatchObject({ text: 'Done.' })
  })
})

describe('what a compatible server sent and expects back', () => {
  it('R39 is the reasoning of DeepSeek, even after a round trip through JSON, and only for the server that sent it', async () => {
    const thinks = reply({ reasoning_content: 'Let me ' }, { reasoning_content: 'see.' }, call())
    await using server = await startRefusingServer([onMissingReasoning], thinks, done, done)
    const talk = conversation({ tools: TOOLS })
    await compatible(server.url).evaluate(talk)
    expect(server.requests[1]?.messages?.[2]).toMatchObject({ reasoning_content: 'Let me see.' })
    const thoughts = talk.events.flatMap((event) => (event.type === 'reasoning/delta' ? [event.text] : []))
    expect(thoughts).toEqual(['Let me ', 'see.'])

    const messages = JSON.parse(JSON.stringify([...talk.messages, ...talk.recorded])) as Message[]
    await compatible(server.url).evaluate(conversation({ tools: TOOLS, messages }))
    expect(server.requests).toHaveLength(3)

    await using other = await startRefusingServer([onPassedReasoning], done)
    await at('http://other.test/v1', other.url).evaluate(conversation({ tools: TOOLS, messages }))
    expect(other.requests).toHaveLength(1)
  })

  it('is empty reasoning if the calls are those of another model', async () => {
    await using server = await startRefusingServer([onMissingReasoning], done, done)
    const adapter = compatible(server.url)
    for (const expected of [2, 3]) {
      await adapter.evaluate(conversation({ tools: TOOLS, messages: ran }))
      // Learned from the first refusal.
      expect(server.requests).toHaveLength(expected)
    }
    await using known = await startRefusingServer([onMissingReasoning], done)
    await at('https://api.deepseek.com/v1', known.url).evaluate(conversation({ tools: TOOLS, messages: ran }))
    expect(known.requests).toHaveLength(1)
  })

  it('is not reasoning if the server refuses the field that it sent itself', async () => {
    const thinks = reply({ reasoning_content: 'Hm.' }, call())
    await using server = await startRefusingServer([onPassedReasoning], thinks, done)
    const talk = conversation({ tools: TOOLS })
    expect(await compatible(server.url).evaluate(talk)).toMatchObject({ text: 'Done.' })
    expect(warnings(talk.events)).toEqual([expect.stringMatching(/^The endpoint does not accept the reasoning/)])
  })

  it('is the signature of a call of Gemini, in every later request', async () => {
    const signed = call({ extra_content: { google: { thought_signature: 'c2ln' } } })
    const second = { tool_calls: [{ index: 1, id: 'call_2', function: { name: 'weather', arguments: '{}' } }] }
    await using server = await startRefusingServer([onMissingSignature], reply(signed, second), done)
    expect(await compatible(server.url).evaluate(conversation({ tools: TOOLS }))).toMatchObject({ text: 'Done.' })
    expect(server.requests[1]?.messages?.[2]?.tool_calls).toMatchObject([
      { extra_content: { google: { thought_signature: 'c2ln' } } },
      { id: 'call_2' },
    ])
    expect(server.requests[1]?.messages?.[2]?.tool_calls?.[1]).not.toHaveProperty('extra_content')
  })

  it('is a signature that Google provides if the calls are those of another model', async () => {
    await using server = await startRefusingServer([onMissingSignature], done)
    const address = 'https://generativelanguage.googleapis.com/v1beta/openai'
    await at(address, server.url).evaluate(conversation({ tools: TOOLS, messages: ran }))
    expect(server.requests).toHaveLength(1)
  })

  it('is the details of reasoning, assembled from their parts', async () => {
    const part = (rest: object): object => ({
      reasoning: 'same text',
      reasoning_details: [{ type: 'reasoning.text', index: 0, ...rest }],
    })
    const sealed = { type: 'reasoning.encrypted', data: 'c2Vh', index: 1 }
    const thinks = reply(
      part({ text: 'Let me ', format: 'f' }),
      part({ text: 'see.' }),
      part({ signature: 's', text: null }),
      { reasoning_details: [sealed, { ...sealed, data: 'bGVk' }] },
      call(),
    )
    await using server = await startRefusingServer([], thinks, done)
    await compatible(server.url).evaluate(conversation({ tools: TOOLS }))
    expect(server.requests[1]?.messages?.[2]).toMatchObject({
      reasoning_details: [
        { type: 'reasoning.text', index: 0, text: 'Let me see.', format: 'f', signature: 's' },
        sealed,
        { ...sealed, data: 'bGVk' },
      ],
    })
    expect(server.requests[1]?.messages?.[2]).not.toHaveProperty('reasoning')
  })
})

describe('what compatible servers send differently from OpenAI', () => {
  it('content in a list is joined, and its thinking is not part of the answer', async () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }
    const parts = reply(
      { content: [thinking] },
      {
        content: [
          { type: 'text', text: 'It is ' },
          { type: 'text', text: 'so' },
        ],
      },
    )
    await using server = await startRefusingServer([], [...parts.slice(0, -1), chunk({ content: '.' }, 'stop')])
    const talk = conversation()
    expect(await compatible(server.url).evaluate(talk)).toMatchObject({ text: 'It is so.' })
    expect(talk.events).toContainEqual({ type: 'reasoning/delta', text: 'Hm.' })
  })

  it('arguments given as an object are taken', async () => {
    await using server = await startRefusingServer([], reply(call({}, { city: 'Oslo' })), done)
    const talk = conversation({ tools: TOOLS })
    await compatible(server.url).evaluate(talk)
    expect(talk.calls[0]).toEqual([{ id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } }])
  })

  it.each([null, 7, 'text', { a: 1 }, [null], [7], [{ function: null }], [{ function: { name: 7 } }]])(
    'calls given as %j do not stop the run',
    async (tool_calls) => {
      await using server = await startRefusingServer([], reply({ content: 'Done.', tool_calls }), done)
      expect(await compatible(server.url).evaluate(conversation())).toMatchObject({ type: 'final' })
    },
  )

  it('Mistral, where the user may not speak after a tool and ids are short', async () => {
    const messages: readonly Message[] = [...ran, { role: 'user', text: 'Go on.' }]
    await using server = await startRefusingServer([onUserAfterTool, onLongCallIds], done, done)
    const adapter = compatible(server.url)
    for (const expected of [3, 4]) {
      await adapter.evaluate(conversation({ tools: TOOLS, messages }))
      expect(server.requests).toHaveLength(expected)
    }
    const sent = server.requests.at(-1)?.messages ?? []
    expect(sent.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'user'])
    expect(sent[2]?.tool_calls?.[0]?.id).toBe(sent[3]?.tool_call_id)
    await using known = await startRefusingServer([onUserAfterTool, onLongCallIds], done)
    await at('https://api.mistral.ai/v1', known.url).evaluate(conversation({ tools: TOOLS, messages }))
    expect(known.requests).toHaveLength(1)
  })
})

describe('structured output beside tools', () => {
  const answer = reply({ content: '{"city":"Oslo"}' })
  const fault = ((): string => {
    try {
      OUTPUT.parse('{}')
      return ''
    } catch (error) {
      return (error as Error).message
    }
  })()
  const repair: readonly Message[] = [
    { role: 'user', text: 'Hello' },
    { role: 'assistant', text: '{}', toolCalls: [] },
    { role: 'user', text: fault },
  ]

  it('is requested from a compatible server only without tools, or to fix an answer', async () => {
    await using server = await startRefusingServer([], answer, answer, answer, answer)
    const adapter = compatible(server.url)
    await adapter.evaluate(conversation({ output: OUTPUT }))
    await adapter.evaluate(conversation({ output: OUTPUT, tools: TOOLS }))
    await adapter.evaluate(conversation({ output: OUTPUT, tools: TOOLS, messages: repair }))
    const next = repair.with(2, { role: 'user', text: 'And in Rome?' })
    await adapter.evaluate(conversation({ output: OUTPUT, tools: TOOLS, messages: next }))
    expect(server.requests.map((body) => 'response_format' in body)).toEqual([true, false, true, false])
  })

  it('is requested from OpenAI every time', async () => {
    await using server = await startRefusingServer([], answer)
    const address = 'https://api.openai.com/v1'
    const adapter = openai({
      model: 'gpt-5',
      apiKey: 'k',
      interface: 'chat',
      baseURL: address,
      fetch: (to, init) => fetch((to as string).replace(address, server.url), init),
    })
    await adapter.evaluate(conversation({ output: OUTPUT, tools: TOOLS }))
    expect(server.requests[0]).toHaveProperty('response_format')
  })

  it.each([
    'json mode cannot be combined with tool/function calling',
    "Function calling with a response mime type: 'application/json' is unsupported",
    'Cannot use custom grammar constraints with tools.',
  ])('is not requested again after a refusal: %s', async (message) => {
    await using server = await startRefusingServer([onFormatBesideTools(message)], answer, answer, answer)
    const adapter = compatible(server.url)
    const talk = conversation({ output: OUTPUT, tools: TOOLS, messages: repair })
    expect(await adapter.evaluate(talk)).toMatchObject({ text: '{"city":"Oslo"}' })
    expect(warnings(talk.events)).toEqual([expect.stringContaining('while tools are offered')])
    await adapter.evaluate(conversation({ output: OUTPUT, tools: TOOLS, messages: repair }))
    await adapter.evaluate(conversation({ output: OUTPUT }))
    expect(server.requests.map((body) => 'response_format' in body)).toEqual([true, false, false, true])
  })
})

describe('calls that were cut off before their arguments arrived', () => {
  const begun = (args?: string): object => ({
    tool_calls: [
      { index: 0, id: 'c', function: { name: 'weather', ...(args === undefined ? {} : { arguments: args }) } },
    ],
  })
  it.each([
    ['length', undefined, ''],
    ['length', '', ''],
    ['length', ' ', ' '],
    ['content_filter', '', ''],
    ['length', '{"ci', '{"ci'],
  ])('Chat Completions, %s after %j: are malformed', async (reason, args, malformed) => {
    await using server = await startRefusingServer([], [chunk(begun(args)), chunk({}, reason)], done)
    const talk = conversation({ tools: TOOLS })
    await compatible(server.url).evaluate(talk)
    expect(talk.calls[0]).toEqual([{ id: 'c', name: 'weather', malformed, isCutOff: true }])
  })

  it('Responses: are malformed, whether the reply or the call says that it is incomplete', async () => {
    const item = { type: 'function_call', id: 'fc', call_id: 'c', name: 'weather', arguments: '' }
    const end = (status: string, output: readonly object[]): readonly object[] => [
      { type: `response.${status}`, response: { status, output } },
    ]
    const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] }
    const whole = end('completed', [said])
    for (const cut of [end('incomplete', [item]), end('completed', [{ ...item, status: 'incomplete' }])]) {
      await using server = await startRefusingServer([], cut, whole)
      const talk = conversation({ tools: TOOLS })
      await openai({ model: 'gpt-5', apiKey: 'k', baseURL: server.url }).evaluate(talk)
      expect(talk.calls[0]).toEqual([{ id: 'c', name: 'weather', malformed: '', isCutOff: true }])
    }
  })
})

describe('permanent refusals', () => {
  it.each(['violat', 'reasoning_content ', 'model ', 'tool call id ', 'missing '])(
    'are read in linear time if they repeat %j endlessly',
    async (word) => {
      await using server = await startRefusingServer([() => word.repeat(1_000_000)])
      const talk = conversation({ tools: TOOLS, messages: ran })
      await expect(compatible(server.url).evaluate(talk)).rejects.toMatchObject({ code: 'adapter-refused' })
      expect(server.requests.length).toBeLessThan(3)
    },
  )

  it.each([
    "This model's maximum context length is 8192 tokens.",
    'Your credit balance is too low to access the API.',
    'Invalid prompt: your prompt was flagged as potentially violating our usage policy.',
    'The model `gpt-9` does not exist or you do not have access to it.',
    'Incorrect API key provided.',
  ])('are not retried: %s', async (message) => {
    await using server = await startRefusingServer([() => message])
    const address = 'https://api.openai.com/v1'
    const talk = conversation({
      output: OUTPUT,
      messages: [...ran, { role: 'tools', names: ['wind'] }],
      addedTools: new Map([['wind', tool('wind')]]),
    })
    const adapter = openai({
      model: 'gpt-5',
      apiKey: 'k',
      baseURL: address,
      fetch: (to, init) => fetch((to as string).replace(address, server.url), init),
    })
    await expect(adapter.evaluate(talk)).rejects.toMatchObject({ code: 'adapter-refused' })
    expect(server.requests).toHaveLength(1)
  })
})
