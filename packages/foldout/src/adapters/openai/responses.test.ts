import type { OpenAI } from 'openai'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { outputSpec } from '../../prompt/definition/output.ts'
import type { Message, ProviderAdapter } from '../contract.ts'
import { conversation, results, shownText, tool, warnings } from './conversation.fixtures.ts'
import { openai, type OpenAIOptions } from '../../entries/openai.ts'
import { events, failing, startWire, type Answer, type Wire } from './wire.fixtures.ts'

let wire: Wire
beforeEach(async () => {
  wire = await startWire()
})
afterEach(() => wire[Symbol.asyncDispose]())

/** An adapter that assumes it talks to OpenAI. */
function atOpenAI(options: Partial<OpenAIOptions> = {}): ProviderAdapter {
  return openai({
    model: 'gpt-4o',
    apiKey: 'k',
    baseURL: 'https://api.openai.com/v1',
    fetch: (url, init) => fetch((url as string).replace('https://api.openai.com', wire.url), init),
    ...options,
  })
}

function reply(output: readonly object[], usage?: Partial<OpenAI.Responses.ResponseUsage>): Answer {
  return events([
    ...output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response: { status: 'completed', output, usage } },
  ])
}
const says = (text: string): object => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})
const calls = (name: string, id: string): object => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: '{"city":"Oslo"}',
  status: 'completed',
})
const reasons = (encrypted_content?: string): object => ({
  type: 'reasoning',
  id: 'rs_1',
  summary: [],
  ...(encrypted_content === undefined ? {} : { encrypted_content }),
})

/** A run in which each of three turns adds a tool. */
async function runWithAdditions(adapter: ProviderAdapter) {
  const names = ['wind', 'rain', 'snow']
  wire.answerNext(
    reply([calls('weather', 'c1')]),
    reply([calls('wind', 'c2')]),
    reply([calls('rain', 'c3')]),
    reply([says('Done.')]),
  )
  const talk = conversation({
    tools: [tool('weather'), tool('time')],
    callTools: async (called) => ({ ...results(called), added: [tool(names.shift()!)] }),
  })
  expect(await adapter.evaluate(talk)).toMatchObject({ type: 'final', text: 'Done.' })
  return talk
}

const definition = (name: string): object => ({
  type: 'function',
  name,
  description: `Does ${name}.`,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string', description: 'Where.' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: true,
})

describe('tools added in the middle of a conversation', () => {
  it('R42 keep every request starting with the bytes of the one before, across three additions', async () => {
    await runWithAdditions(atOpenAI())
    const raws = wire.requests.map(({ raw }) => raw)
    expect(raws).toHaveLength(4)
    for (const [i, raw] of raws.slice(1).entries()) {
      const before = raws[i]!
      expect(before.endsWith(']}')).toBe(true)
      expect(raw.slice(0, before.length - 2)).toBe(before.slice(0, -2))
    }
    expect(raws[3]).toContain(JSON.stringify([definition('weather'), definition('time')]))
  })

  it('R35 appear in the conversation where they were added, in the form that the API expects', async () => {
    await runWithAdditions(atOpenAI())
    const item = (name: string): OpenAI.Responses.ResponseInputItem.AdditionalTools => ({
      type: 'additional_tools',
      role: 'developer',
      tools: [definition(name) as OpenAI.Responses.FunctionTool],
    })
    const { tools, input } = wire.requests[3]!.body
    expect(tools).toEqual([definition('weather'), definition('time')])
    const turn = ['function_call', 'function_call_output', 'additional_tools']
    expect(input.map(({ type, role }: { type?: string; role?: string }) => type ?? role)).toEqual([
      'user',
      ...turn,
      ...turn,
      ...turn,
    ])
    expect([input[3], input[6], input[9]]).toEqual([item('wind'), item('rain'), item('snow')])
  })

  it('R42 are appended to the list in plain mode, and nothing before them changes', async () => {
    const talk = await runWithAdditions(atOpenAI({ toolAdditions: 'plain' }))
    const sent = wire.requests.map(({ body }) => JSON.stringify(body.tools))
    for (const [i, list] of sent.slice(1).entries()) expect(list.startsWith(sent[i]!.slice(0, -1))).toBe(true)
    expect(JSON.parse(sent[3]!)).toEqual(['weather', 'time', 'wind', 'rain', 'snow'].map(definition))
    expect(new Set(wire.requests.map(({ body }) => body.instructions))).toEqual(new Set(['You tell the weather.']))
    expect(wire.requests[3]!.raw).not.toContain('additional_tools')
    expect(warnings(talk.events)).toEqual([])
  })

  it('R35 are sent in plain mode, with one warning, after a 400 in native mode', async () => {
    const adapter = atOpenAI()
    wire.answerNext(
      reply([calls('weather', 'c1')]),
      failing(400, "Invalid value: 'additional_tools'."),
      reply([says('Done.')]),
    )
    const callTools = async (called: Parameters<typeof results>[0]) => ({ ...results(called), added: [tool('wind')] })
    const talk = conversation({ tools: [tool('weather')], callTools })
    expect(await adapter.evaluate(talk)).toMatchObject({ text: 'Done.' })
    expect(warnings(talk.events)).toEqual([
      "The endpoint does not support tools that are added during a conversation. From now on, they are sent at the end of the tool list, which invalidates the cached prefix. Set toolAdditions: 'plain' to avoid the attempt.",
    ])
    wire.answerNext(reply([calls('weather', 'c1')]), reply([says('Done.')]))
    const later = conversation({ tools: [tool('weather')], callTools })
    await adapter.evaluate(later)
    expect(warnings(later.events)).toEqual([])
    expect(wire.requests.map(({ raw }) => raw.includes('additional_tools'))).toEqual([false, true, false, false, false])
    expect(wire.requests[2]!.body.tools).toEqual([definition('weather'), definition('wind')])
  })

  it('R35 do not hide an unrelated 400, which is not remembered', async () => {
    const messages: readonly Message[] = [
      { role: 'user', text: 'Hello' },
      { role: 'tools', names: ['wind'] },
    ]
    const options = { messages, addedTools: new Map([['wind', tool('wind')]]) }
    const adapter = atOpenAI()
    wire.answerNext(failing(400, 'Bad words.'), failing(400, 'Bad words.'))
    const talk = conversation(options)
    await expect(adapter.evaluate(talk)).rejects.toMatchObject({ code: 'adapter-refused' })
    expect(warnings(talk.events)).toEqual([])
    wire.answerNext(reply([says('Done.')]))
    await adapter.evaluate(conversation(options))
    expect(wire.requests.at(-1)!.raw).toContain('additional_tools')
  })

  it('R35 are not resent in another mode if the conversation is too long', async () => {
    wire.answerNext(failing(400, 'Your input exceeds the context window of this model.'))
    const talk = conversation({
      messages: [
        { role: 'user', text: 'Hello' },
        { role: 'tools', names: ['wind'] },
      ],
      addedTools: new Map([['wind', tool('wind')]]),
    })
    await expect(atOpenAI().evaluate(talk)).rejects.toMatchObject({ code: 'adapter-refused' })
    expect(wire.requests).toHaveLength(1)
  })

  it('R35 cause an error if they are rejected and native mode is required', async () => {
    wire.answerNext(reply([calls('weather', 'c1')]), failing(400, 'Unknown item.'))
    const adapter = openai({ model: 'm', apiKey: 'k', baseURL: `${wire.url}/v1`, toolAdditions: 'native' })
    const talk = conversation({
      tools: [tool('weather')],
      callTools: async (called) => ({ ...results(called), added: [tool('wind')] }),
    })
    await expect(adapter.evaluate(talk)).rejects.toMatchObject({ code: 'adapter-refused' })
    expect(wire.requests).toHaveLength(2)
    expect(wire.requests[1]!.body.input.at(-1)).toMatchObject({ type: 'additional_tools' })
  })

  it('R35 are offered once, even if they are added twice or were there from the start', async () => {
    wire.answerNext(reply([says('Done.')]))
    const talk = conversation({
      tools: [tool('weather')],
      addedTools: new Map(['weather', 'wind'].map((name) => [name, tool(name)])),
      messages: [
        { role: 'user', text: 'Hello' },
        { role: 'tools', names: ['weather'] },
        { role: 'tools', names: ['wind', 'gone'] },
        { role: 'tools', names: ['wind'] },
      ],
    })
    await atOpenAI().evaluate(talk)
    const { tools, input } = wire.requests[0]!.body
    expect(tools).toEqual([definition('weather')])
    expect(input.slice(1)).toEqual([{ type: 'additional_tools', role: 'developer', tools: [definition('wind')] }])
  })
})

describe('reasoning', () => {
  it.each([
    ['gpt-5', true],
    ['gpt-5.2-codex', true],
    ['o4-mini', true],
    ['gpt-10', true],
    ['gpt-5-chat-latest', false],
    ['gpt-4o', false],
    ['gpt-4.1', false],
  ])('is requested depending on the model’s name: %s %s', async (model, isReasoning) => {
    wire.answerNext(reply([says('Hi.')]), reply([says('Hi.')]))
    await atOpenAI({ model }).evaluate(conversation())
    await atOpenAI({ model, reasoning: !isReasoning }).evaluate(conversation())
    const include = ['reasoning.encrypted_content']
    expect(wire.requests.map(({ body }) => body.include)).toEqual(
      isReasoning ? [include, undefined] : [undefined, include],
    )
  })

  it('R39 is sent back unchanged, even from a stored conversation', async () => {
    const output = [reasons('c2VjcmV0'), says('I look.'), calls('weather', 'c1')]
    wire.answerNext(reply(output), reply([says('Done.')]), reply([says('Again.')]))
    const adapter = atOpenAI({ model: 'gpt-5' })
    const talk = conversation({ tools: [tool('weather')] })
    await adapter.evaluate(talk)
    expect(talk.recorded[0]).toMatchObject({
      text: 'I look.',
      native: { adapter: 'openai-responses', content: output },
    })
    expect(wire.requests[1]!.body.input.slice(1, 4)).toEqual(output)
    const messages = JSON.parse(JSON.stringify([...talk.messages, ...talk.recorded])) as Message[]
    await atOpenAI({ model: 'gpt-5' }).evaluate(conversation({ tools: [tool('weather')], messages }))
    expect(wire.requests[2]!.body.input.slice(1, 4)).toEqual(output)
  })

  it('is left out if it arrived without its content, which is not stored anywhere', async () => {
    wire.answerNext(reply([reasons(), calls('weather', 'c1')]), reply([says('Done.')]))
    const talk = conversation({ tools: [tool('weather')] })
    await atOpenAI({ model: 'gpt-5' }).evaluate(talk)
    expect(talk.recorded[0]).not.toHaveProperty('native')
    expect(wire.requests[1]!.body.input[1]).toEqual({
      type: 'function_call',
      call_id: 'c1',
      name: 'weather',
      arguments: '{"city":"Oslo"}',
    })
  })

  it('is no longer requested after a rejection', async () => {
    wire.answerNext(failing(400, 'Encrypted content is not supported with this model.'), reply([says('Hi.')]))
    const talk = conversation({ output: outputSpec({ type: 'object' }) })
    await atOpenAI({ model: 'gpt-5' }).evaluate(talk)
    expect(warnings(talk.events)).toEqual([
      expect.stringMatching(/^The endpoint does not support encrypted reasoning\./),
    ])
    expect(wire.requests[1]!.body).not.toHaveProperty('include')
    expect(wire.requests[1]!.body.text.format.type).toBe('json_schema')
  })

  it('is not sent if it comes from another adapter', async () => {
    wire.answerNext(reply([says('Hi.')]))
    const native = { adapter: 'anthropic', content: [{ type: 'thinking' }] }
    const messages: readonly Message[] = [
      { role: 'user', text: 'Hello' },
      { role: 'assistant', text: 'Hm.', toolCalls: [], native },
      { role: 'user', text: 'Well?' },
    ]
    await atOpenAI({ model: 'gpt-5' }).evaluate(conversation({ messages }))
    expect(wire.requests[0]!.body.input[1]).toEqual({ role: 'assistant', content: 'Hm.' })
  })
})

describe('replies', () => {
  it('counts cached tokens as part of the input', async () => {
    wire.answerNext(
      reply([says('Hi.')], {
        input_tokens: 100,
        output_tokens: 7,
        input_tokens_details: { cached_tokens: 80, cache_write_tokens: 10 },
      }),
    )
    expect(await atOpenAI().evaluate(conversation())).toMatchObject({
      usage: { inputTokens: 100, outputTokens: 7, cachedInputTokens: 80, cacheWriteTokens: 10 },
    })
  })

  it('separates two messages and a refusal, as in the text', async () => {
    const refusal = { ...says(''), content: [{ type: 'refusal', refusal: 'I cannot.' }] }
    const output = [says('First.'), refusal]
    wire.answerNext(
      events([
        { type: 'response.output_item.added', output_index: 0, item: { type: 'message', content: [] } },
        { type: 'response.output_text.delta', output_index: 0, delta: 'First.' },
        { type: 'response.output_item.done', output_index: 0, item: output[0] },
        { type: 'response.output_item.added', output_index: 1, item: { type: 'message', content: [] } },
        { type: 'response.refusal.delta', output_index: 1, delta: 'I cannot.' },
        { type: 'response.output_item.done', output_index: 1, item: output[1] },
        { type: 'response.completed', response: { status: 'completed', output } },
      ]),
    )
    const talk = conversation()
    expect(await atOpenAI().evaluate(talk)).toMatchObject({ text: 'First.\n\nI cannot.' })
    expect(shownText(talk.events).join('')).toBe('First.\n\nI cannot.')
  })

  it('reads a server that sends no deltas, or only deltas', async () => {
    wire.answerNext(
      events([{ type: 'response.completed', response: { status: 'completed', output: [says('Whole.')] } }]),
      events([
        { type: 'response.output_item.done', output_index: 1, item: reasons('c2VjcmV0') },
        { type: 'response.output_item.done', output_index: 3, item: says('Parts.') },
        { type: 'response.completed', response: { status: 'completed', output: [] } },
      ]),
    )
    const talk = conversation()
    expect(await atOpenAI().evaluate(talk)).toMatchObject({ text: 'Whole.' })
    expect(shownText(talk.events)).toEqual(['Whole.'])
    const partly = conversation()
    expect(await atOpenAI().evaluate(partly)).toMatchObject({ text: 'Parts.' })
    expect(partly.recorded[0]).toMatchObject({ native: { content: [reasons('c2VjcmV0'), says('Parts.')] } })
  })

  it('retries a response that failed because of the server, but no other', async () => {
    const failed = (code: string): Answer =>
      events([
        { type: 'response.failed', response: { status: 'failed', error: { code, message: 'Why.' }, output: [] } },
      ])
    wire.answerNext(
      failed('server_error'),
      events([{ type: 'error', code: 'rate_limit_exceeded', message: 'Slow.' }]),
      reply([says('Hi.')]),
    )
    expect(await atOpenAI().evaluate(conversation())).toMatchObject({ text: 'Hi.' })
    wire.answerNext(failed('invalid_prompt'))
    await expect(atOpenAI().evaluate(conversation())).rejects.toMatchObject({ code: 'adapter-refused' })
  })

  it('keeps other fields of the text settings next to the format', async () => {
    wire.answerNext(reply([says('{}')]))
    const adapter = atOpenAI({ parameters: { text: { verbosity: 'low' }, reasoning: { effort: 'low' } } })
    await adapter.evaluate(conversation({ system: '', output: outputSpec({ type: 'object' }) }))
    const { body } = wire.requests[0]!
    expect(body).toMatchObject({ text: { verbosity: 'low', format: { name: 'output' } }, reasoning: { effort: 'low' } })
    expect(body).not.toHaveProperty('instructions')
  })
})
