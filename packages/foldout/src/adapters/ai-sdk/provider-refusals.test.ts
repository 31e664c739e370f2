import { APICallError, simulateReadableStream } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { defineTool, ok } from '../../entries/index.ts'
import { outputSpec } from '../../prompt/definition/output.ts'
import { getErrorMessage } from '../../core/errors.ts'
import type { Message, ModelEvent } from '../contract.ts'
import { formatRepair } from '../repair.ts'
import { aiSdk } from './ai-sdk.ts'
import { evaluate } from './evaluation.fixtures.ts'
import { call, finish, says, scripted, type CallOptions, type StreamPart } from './model.fixtures.ts'

const weather = defineTool({
  name: 'weather',
  description: 'Tells the weather.',
  params: { type: 'object', properties: { city: { type: 'string' } } },
  execute: () => ok('Sunny.'),
})
const createOutput = () =>
  outputSpec({ type: 'object', properties: { city: { type: 'string' } }, required: [] } as const)
const done = [...says('{"city":"Rome"}'), finish()]

/** A model whose provider rejects a request if `refuse` returns a message. */
function refusing(
  refuse: (options: CallOptions) => string | undefined,
  {
    provider = 'test.chat',
    replies = [],
    statusCode = 400,
  }: { provider?: string; replies?: readonly (readonly StreamPart[])[]; statusCode?: number } = {},
): MockLanguageModelV3 {
  const left = [...replies]
  return new MockLanguageModelV3({
    provider,
    modelId: 'm',
    doStream: async (options) => {
      const message = refuse(options)
      if (message !== undefined)
        throw new APICallError({ message, url: 'http://localhost', requestBodyValues: {}, statusCode })
      const chunks = [...(left.shift() ?? done)]
      return { stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }) }
    },
  })
}

/** OpenAI as the AI SDK uses it: schemas are strict unless the options say otherwise. */
const refuseStrict = ({ responseFormat, providerOptions }: CallOptions): string | undefined =>
  responseFormat?.type === 'json' && providerOptions?.['openai']?.['strictJsonSchema'] !== false
    ? "Invalid schema for response_format 'response': In context=(), 'additionalProperties' is required to be supplied and to be false."
    : undefined
const refuseFormat = ({ responseFormat }: CallOptions): string | undefined =>
  responseFormat?.type === 'json' ? 'json mode cannot be combined with tool/function calling' : undefined
function getFault(parse: () => unknown): string {
  try {
    parse()
    return ''
  } catch (error) {
    return getErrorMessage(error)
  }
}
const warnings = (events: readonly ModelEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))

describe('aiSdk and output schemas', () => {
  it('R17 does not request a strict schema, which would be rejected', async () => {
    const model = refusing(refuseStrict, { provider: 'openai.responses' })
    const providerOptions = { openai: { store: false }, test: { effort: 'low' } }
    const { events } = await evaluate(aiSdk({ model, providerOptions }), { output: createOutput() })
    expect(model.doStreamCalls).toHaveLength(1)
    expect(model.doStreamCalls[0]).toMatchObject({
      responseFormat: { type: 'json' },
      providerOptions: { openai: { store: false, strictJsonSchema: false }, test: { effort: 'low' } },
    })
    expect(warnings(events)).toEqual([])
    await evaluate(aiSdk({ model, providerOptions }))
    expect(model.doStreamCalls[1]?.providerOptions).toEqual(providerOptions)
  })

  it('R17 requests a strict schema if the options say so, and drops it if it is rejected', async () => {
    const model = refusing(refuseStrict)
    const adapter = aiSdk({ model, providerOptions: { openai: { strictJsonSchema: true } } })
    const { events, result } = await evaluate(adapter, { output: createOutput() })
    expect(result).toMatchObject({ text: '{"city":"Rome"}' })
    expect(model.doStreamCalls.map(({ responseFormat }) => responseFormat?.type)).toEqual(['json', undefined])
    expect(warnings(events)).toEqual([expect.stringMatching(/^The provider rejected the output schema\./)])
  })

  it.each([
    ['groq.chat', [undefined, 'json', 'json']],
    ['vllm.chat', [undefined, 'json', 'json']],
    ['google.generative-ai', [undefined, 'json', 'json']],
    ['openai.responses', ['json', 'json', 'json']],
    ['azure.responses', ['json', 'json', 'json']],
    ['anthropic.messages', ['json', 'json', 'json']],
    ['googleVertex.anthropic.messages', ['json', 'json', 'json']],
  ])('R17 sends a schema together with tools only where that works: %s', async (provider, expected) => {
    const model = refusing(() => undefined, { provider })
    const adapter = aiSdk({ model })
    const output = createOutput()
    const fault = getFault(() => output.parse('Rome.'))
    await evaluate(adapter, { output, tools: [weather] })
    // A request to fix an answer, which needs no tools.
    const messages: readonly Message[] = [
      { role: 'user', text: 'Hello' },
      { role: 'assistant', text: 'Rome.', toolCalls: [] },
      { role: 'user', text: formatRepair(fault) },
    ]
    await evaluate(adapter, { output, tools: [weather], messages })
    await evaluate(adapter, { output })
    expect(model.doStreamCalls.map(({ responseFormat }) => responseFormat?.type)).toEqual(expected)
  })

  it('R17 never resends a rejected schema, but sends other schemas', async () => {
    const model = refusing(refuseFormat)
    const adapter = aiSdk({ model })
    const output = createOutput()
    await evaluate(adapter, { output })
    const { events } = await evaluate(adapter, { output })
    expect(warnings(events)).toEqual([])
    await evaluate(adapter, { output: createOutput() })
    const sent = model.doStreamCalls.map(({ responseFormat }) => responseFormat?.type)
    expect(sent).toEqual(['json', undefined, undefined, 'json', undefined])
  })

  it.each([
    'Bad words.',
    "This model's maximum context length is 8192 tokens, with 9000 in the json_schema.",
    'Your credit balance is too low.',
  ])('R38 does not retry a request that is rejected for another reason: %s', async (message) => {
    const model = refusing(() => message)
    await expect(evaluate(aiSdk({ model }), { output: createOutput() })).rejects.toMatchObject({
      code: 'adapter-refused',
    })
    expect(model.doStreamCalls).toHaveLength(1)
  })
})

describe('aiSdk and items that the provider did not keep', () => {
  it.each([
    [404, "Item with id 'fc_1' not found. Items are not persisted when `store` is set to false."],
    [400, "Item 'fc_1' of type 'function_call' was provided as item_reference, but is not persisted."],
  ])('R34 sends them whole after a refusal with %i', async (statusCode, said) => {
    const stored: StreamPart = { ...call('weather', {}), providerMetadata: { openai: { itemId: 'fc_1' } } } as never
    const model = refusing(({ prompt }) => (JSON.stringify(prompt).includes('fc_1') ? said : undefined), {
      provider: 'gateway',
      statusCode,
      replies: [[stored, finish('tool-calls')]],
    })
    const { result } = await evaluate(aiSdk({ model }), { tools: [weather] })
    expect(result.type).toBe('final')
    expect(model.doStreamCalls).toHaveLength(3)
  })
})

describe('aiSdk and calls', () => {
  it.each(['', '{}', '{"ci'])('R37 treats arguments %j in a truncated reply as malformed', async (text) => {
    const model = scripted([call('weather', text), finish('length')], [...says('Sorry.'), finish()])
    const { calls } = await evaluate(aiSdk({ model }), { tools: [weather] })
    expect(calls).toMatchObject([{ name: 'weather', malformed: text === '{"ci' ? text : '' }])
  })

  it('R37 uses complete arguments in a truncated reply, and treats missing ones in a complete reply as empty', async () => {
    const model = scripted(
      [call('weather', { city: 'Rome' }), finish('length')],
      [call('weather', '', 'b'), finish('tool-calls')],
      [...says('Done.'), finish()],
    )
    const { calls } = await evaluate(aiSdk({ model }), { tools: [weather] })
    expect(calls.map(({ arguments: input }) => input)).toEqual([{ city: 'Rome' }, {}])
  })

  it('sends tool schemas in a form that providers accept', async () => {
    const model = scripted([...says('Done.'), finish()])
    const inputSchema = { anyOf: [{ type: 'object', properties: { all: { type: 'array' } } }, { type: 'object' }] }
    await evaluate(aiSdk({ model }), { tools: [{ ...weather, inputSchema }] })
    const [sent] = model.doStreamCalls[0]?.tools ?? []
    expect(sent).toMatchObject({
      inputSchema: { type: 'object', properties: { all: { type: 'array', items: {} } } },
    })
    expect(sent).not.toHaveProperty('inputSchema.anyOf')
  })

  it('emits reasoning as it arrives', async () => {
    const model = scripted([
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
      { type: 'reasoning-end', id: 'r' },
      ...says('Done.'),
      finish(),
    ])
    const { events, result } = await evaluate(aiSdk({ model }))
    expect(events).toContainEqual({ type: 'reasoning/delta', text: 'Hm.' })
    expect(result).toMatchObject({ text: 'Done.' })
  })
})

describe('aiSdk and caching', () => {
  const MARK = { anthropic: { cacheControl: { type: 'ephemeral' } } }
  const extra = defineTool({ name: 'extra', description: 'Comes later.', execute: () => ok('Done.') })

  /** Returns the last of three requests, to which the tool `extra` was added. */
  async function getLastRequest(provider: string, cache?: boolean): Promise<CallOptions> {
    const replies = [
      [call('weather', {}, 'a'), call('weather', {}, 'b'), finish('tool-calls')],
      [call('extra', {}, 'c'), finish('tool-calls')],
    ]
    const model = refusing(() => undefined, { provider, replies })
    const adapter = aiSdk({ model, ...(cache === undefined ? {} : { cache }) })
    await evaluate(adapter, { tools: [weather], adds: { weather: [extra] } })
    const request = model.doStreamCalls.at(-1)
    if (request === undefined) throw new Error('There was no request.')
    return request
  }

  it.each(['anthropic.messages', 'vertex.anthropic.messages'])(
    'R42 marks the parts that %s should cache',
    async (provider) => {
      const { prompt, tools = [] } = await getLastRequest(provider)
      const isMarked = (part: { readonly providerOptions?: unknown }): boolean => part.providerOptions !== undefined
      expect(tools.map((tool) => tool.type === 'function' && isMarked(tool))).toEqual([true, false])
      const marked = prompt.filter(isMarked)
      expect(marked.map(({ role }) => role)).toEqual(['system', 'tool', 'tool'])
      expect(marked.every(({ providerOptions }) => JSON.stringify(providerOptions) === JSON.stringify(MARK))).toBe(true)
      expect(prompt.at(-1)).toMatchObject({ role: 'tool', providerOptions: MARK })
    },
  )

  it('marks nothing for other providers, or when disabled', async () => {
    expect(JSON.stringify(await getLastRequest('openai.responses'))).not.toContain('cacheControl')
    expect(JSON.stringify(await getLastRequest('anthropic.messages', false))).not.toContain('cacheControl')
  })
})
