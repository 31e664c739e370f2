import { afterEach, describe, expect, it } from 'vitest'
import { anthropic, type AnthropicOptions } from '../../packages/foldout/src/entries/anthropic.ts'
import {
  asAnthropic,
  ask,
  toolNamed,
  type Asked,
} from '../../packages/foldout/src/adapters/anthropic/harness.fixtures.ts'
import type { Message, ModelEvent, ProviderAdapter } from '../../packages/foldout/src/adapters/contract.ts'
import type { JsonSchema } from '../../packages/foldout/src/core/schema/schema.ts'
import { outputSpec } from '../../packages/foldout/src/prompt/definition/output.ts'
import { startStrictServer, type Block, type Refusal, type Reply, type StrictServer } from './anthropic-server.ts'

let server: StrictServer | undefined
afterEach(() => server?.stop())

const text = (said: string): Block => ({ type: 'text', text: said })
const thinking = (thought: string): Block => ({ type: 'thinking', thinking: thought })
const use = (id: string, name = 'look', input: object = {}): Block => ({ type: 'tool_use', id, name, input })
const user = (said: string): Message => ({ role: 'user', text: said })
const hasThinking = (at: number): boolean => JSON.stringify(getRequest(at).body.messages).includes('"thinking"')
const warnings = (events: readonly ModelEvent[]) => events.filter(({ type }) => type === 'warning')

function getRequest(at: number): StrictServer['requests'][number] {
  const request = server?.requests.at(at)
  if (request === undefined) throw new Error(`There is no request ${at}.`)
  return request
}

async function start(
  replies: readonly Reply[],
  { refusals = [], ...options }: Partial<AnthropicOptions> & { readonly refusals?: readonly Refusal[] } = {},
): Promise<ProviderAdapter> {
  server = await startStrictServer(replies, refusals)
  return anthropic({ model: 'claude-opus-5-5', apiKey: 'test', ...asAnthropic(server.url), ...options })
}

describe('anthropic thinking, which is bound to the messages before it', () => {
  const first: readonly Reply[] = [{ content: [thinking('Where?'), use('toolu_1')] }, { content: [text('There.')] }]
  const second: Reply = { content: [thinking('Hm.'), text('Yes.')] }
  const look = [toolNamed('look')]
  const went = async (adapter: ProviderAdapter, asked: Asked = { tools: look }): Promise<readonly Message[]> => {
    const { recorded } = await ask(adapter, asked)
    // As it would come back from storage.
    return JSON.parse(JSON.stringify([user('Hello.'), ...recorded])) as Message[]
  }

  it('is sent back if nothing changed, across user turns too', async () => {
    const adapter = await start([...first, second, second])
    const one = [...(await went(adapter)), user('And?')]
    const two = await ask(adapter, { tools: look, messages: one })
    await ask(adapter, { tools: look, messages: [...one, ...two.recorded, user('Sure?')] })
    expect(server?.refused).toEqual([])
    expect([1, 2, 3].map(hasThinking)).toEqual([true, true, true])
  })

  it.each<[string, Partial<AnthropicOptions>, Asked]>([
    ['the system text', {}, { tools: look, system: 'You are another.' }],
    ['the tools', {}, { tools: [...look, toolNamed('dig')] }],
    ['the description of a tool', {}, { tools: [{ ...toolNamed('look'), description: 'Looks.' }] }],
    ['the way tools are added', { toolAdditions: 'plain' }, { tools: look, system: 'You are plain.' }],
  ])('is left out if %s changed, and nothing is refused', async (_, options, asked) => {
    const adapter = await start([...first, second, second], options)
    const one = [...(await went(adapter)), user('And?')]
    const two = await ask(adapter, { ...asked, messages: one })
    expect(two.result).toMatchObject({ text: 'Yes.' })
    expect(server?.refused).toEqual([])
    expect(hasThinking(2)).toBe(false)
    // Later thinking is bound to what is sent now.
    await ask(adapter, { ...asked, messages: [...one, ...two.recorded, user('Sure?')] })
    expect(server?.refused).toEqual([])
    expect(hasThinking(3)).toBe(true)
  })

  it('is left out if a message before it changed, and not if the model was upgraded', async () => {
    const adapter = await start([...first, second, second])
    const [, ...rest] = await went(adapter)
    await ask(adapter, { tools: look, messages: [user('Hi.'), ...rest, user('And?')] })
    expect([server?.refused, hasThinking(2)]).toEqual([[], false])
    const other = anthropic({ model: 'claude-fable-5-1', apiKey: 'test', ...asAnthropic(server?.url ?? '') })
    await ask(other, { tools: look, messages: [user('Hello.'), ...rest, user('And?')] })
    expect([server?.refused, hasThinking(3)]).toEqual([[], true])
  })

  it('is left out when tools are added in plain mode', async () => {
    const adapter = await start([...first, { content: [text('Done.')] }], { toolAdditions: 'plain' })
    await ask(adapter, { tools: look, results: () => ({ text: 'Found.', adds: toolNamed('dig') }) })
    expect(server?.refused).toEqual([])
    expect(hasThinking(1)).toBe(false)
  })

  it('is sent back when tools are added inline', async () => {
    const adapter = await start([...first, { content: [text('Done.')] }])
    await ask(adapter, { tools: look, results: () => ({ text: 'Found.', adds: toolNamed('dig') }) })
    expect(server?.refused).toEqual([])
    expect(hasThinking(1)).toBe(true)
  })

  it.each([
    'messages.1.content.0: `thinking` block is bound to a different conversation',
    '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.',
    'messages.1.content.0: Invalid `signature` in `thinking` block',
  ])('is left out of a second request after a refusal: %s', async (refusal) => {
    const refusals: Refusal[] = [({ body }) => (JSON.stringify(body.messages).includes('Where?') ? refusal : undefined)]
    const adapter = await start([...first, second, second], { refusals })
    const one = [...(await went(adapter)), user('And?')]
    expect(server?.requests).toHaveLength(3)
    expect([1, 2].map(hasThinking)).toEqual([true, false])
    // The refusal is remembered, and later thinking stays.
    const two = await ask(adapter, { tools: look, messages: one })
    await ask(adapter, { tools: look, messages: [...one, ...two.recorded, user('Sure?')] })
    expect(server?.refused).toEqual([refusal])
    expect([3, 4].map(hasThinking)).toEqual([false, true])
  })

  it('is retried only once if that does not help', async () => {
    const refusals: Refusal[] = [
      ({ body }) => (body.messages.length > 1 ? 'thinking blocks cannot be modified' : undefined),
    ]
    const adapter = await start(first, { refusals })
    await expect(ask(adapter, { tools: look })).rejects.toMatchObject({ code: 'adapter-refused' })
    expect(server?.requests).toHaveLength(3)
  })

  it('is kept for models with a thinking budget, which require it', async () => {
    const adapter = await start([...first, second], {
      model: 'claude-opus-4-5',
      parameters: { thinking: { type: 'enabled', budget_tokens: 2048 } },
    })
    const messages = [...(await went(adapter)), user('And?')]
    await ask(adapter, { tools: look, messages, system: 'Another.' })
    expect(hasThinking(2)).toBe(true)
    expect(hasThinking(3)).toBe(false)
  })

  it.each<[string, readonly Block[]]>([
    ['all there is', [thinking('Hm.')]],
    ['hidden', [text('Well.'), { type: 'redacted_thinking', data: 'aGlkZGVu' }]],
    ['the end', [thinking('Hm.'), text('Well.'), thinking('Or?')]],
  ])('is left out at the end of a reply that was cut off: %s', async (_, content) => {
    const adapter = await start([{ content, stop: 'max_tokens' }, second, second])
    const one = [...(await went(adapter, {})), user('And?')]
    const two = await ask(adapter, { messages: one })
    await ask(adapter, { messages: [...one, ...two.recorded, user('Sure?')] })
    expect(server?.refused).toEqual([])
    expect(hasThinking(2)).toBe(true)
  })

  it('is emitted as it arrives, separate from the answer', async () => {
    const { events, result } = await ask(await start([second]))
    expect(events.filter(({ type }) => type.endsWith('/delta'))).toEqual([
      { type: 'reasoning/delta', text: 'Hm.' },
      { type: 'text/delta', text: 'Yes.' },
    ])
    expect(result).toMatchObject({ text: 'Yes.' })
  })
})

describe('anthropic refusals', () => {
  const output = outputSpec({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] })
  const opening: Asked = {
    tools: [toolNamed('open')],
    results: () => ({ text: 'Opened.', adds: toolNamed('dig') }),
  }
  const added: Asked = { ...opening, output }

  it.each([
    'prompt is too long: 210000 tokens > 200000 maximum',
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.',
    'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes',
    'tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12',
    'temperature: Input should be less than or equal to 1',
    'You have reached your specified API usage limits.',
  ])('are final if they are not about a feature of the adapter: %s', async (message) => {
    const replies: Reply[] = [{ content: [use('toolu_1', 'open')] }]
    const adapter = await start(replies, {
      refusals: [({ body }) => (body.messages.length > 1 ? message : undefined)],
    })
    await expect(ask(adapter, added)).rejects.toMatchObject({ code: 'adapter-refused', status: 400 })
    expect(server?.requests).toHaveLength(2)
  })

  it.each(['Bad request', '', 'Unexpected item type in content', 'messages.3.content.0: Invalid content block'])(
    'without an explanation are answered once with the added tools at the end of the list: %s',
    async (message) => {
      const replies: Reply[] = [
        { content: [use('toolu_1', 'open')] },
        { content: [text('Yes.')] },
        { content: [text('Yes.')] },
      ]
      const adapter = await start(replies, {
        refusals: [({ body }) => (body.messages.some(({ role }) => role === 'system') ? message : undefined)],
      })
      const { result, events, recorded } = await ask(adapter, opening)
      expect(result).toMatchObject({ text: 'Yes.' })
      expect(events.filter(({ type }) => type === 'warning')).toHaveLength(1)
      expect(server?.requests.map(({ body }) => body.tools?.length)).toEqual([1, 1, 2])
      const dig = new Map([['dig', toolNamed('dig')]])
      await ask(adapter, { ...opening, addedTools: dig, messages: [user('Hello.'), ...recorded, user('And?')] })
      expect(server?.requests).toHaveLength(4)
    },
  )

  it('that stay the same with the added tools at the end of the list are final', async () => {
    const adapter = await start([{ content: [use('toolu_1', 'open')] }], {
      refusals: [({ body }) => (body.messages.length > 1 ? 'Bad request' : undefined)],
    })
    await expect(ask(adapter, opening)).rejects.toMatchObject({ code: 'adapter-refused', status: 400 })
    expect(server?.requests).toHaveLength(3)
  })

  it.each([
    'output_config.format.schema: Schemas contain too many optional parameters (25)',
    'Schema is too complex: compiled grammar is too large',
    'output_config: Extra inputs are not permitted',
  ])('of the output schema lead to a request without it: %s', async (message) => {
    const adapter = await start([{ content: [text('{"city":"Rome"}')] }], {
      refusals: [({ body }) => (body.output_config?.format ? message : undefined)],
    })
    const { events } = await ask(adapter, { output })
    expect(server?.requests).toHaveLength(2)
    expect(warnings(events)).toHaveLength(1)
  })

  it('of a beta that the caller requested do not lead to fewer features', async () => {
    const adapter = await start([], {
      parameters: { betas: ['context-1m-2025-08-07'] },
      refusals: [() => 'Unexpected value(s) `context-1m-2025-08-07` for the `anthropic-beta` header.'],
    })
    await expect(ask(adapter, added)).rejects.toMatchObject({ code: 'adapter-refused' })
    expect(server?.requests).toHaveLength(1)
  })

  it('of inline definitions lead to references, as on Bedrock and Google Cloud', async () => {
    const replies = [{ content: [thinking('Which?'), use('toolu_1', 'open')] }, { content: [text('Done.')] }]
    const adapter = await start([...replies, ...replies], {
      refusals: [({ betas }) => (betas.includes('inline-tools-2026-09-15') ? 'invalid beta flag' : undefined)],
    })
    const { events } = await ask(adapter, opening)
    expect(warnings(events)).toEqual([])
    expect(server?.requests).toHaveLength(3)
    const { body, betas } = getRequest(2)
    expect(betas).toEqual(['mid-conversation-tool-changes-2026-07-01'])
    expect(body.tools).toMatchObject([{ name: 'open' }, { name: 'dig', defer_loading: true }])
    expect(body.tools?.[0]).not.toHaveProperty('defer_loading')
    expect(body.messages.at(-1)).toMatchObject({
      role: 'system',
      content: [{ type: 'tool_addition', tool: { type: 'tool_reference', name: 'dig' } }],
    })
    expect(hasThinking(2)).toBe(true)
    // It is remembered.
    await ask(adapter, opening)
    expect(server?.requests).toHaveLength(5)
  })

  it('of references as well lead to plain mode, and only then to a warning', async () => {
    const adapter = await start([{ content: [use('toolu_1', 'open')] }, { content: [text('Done.')] }], {
      refusals: [
        ({ body }) =>
          JSON.stringify(body).includes('tool_addition')
            ? "messages.3.content.0: Input tag 'tool_addition' found using 'type' does not match any of the expected tags"
            : undefined,
      ],
    })
    const { events, result } = await ask(adapter, opening)
    expect(result).toMatchObject({ text: 'Done.' })
    expect(warnings(events)).toHaveLength(1)
    expect(server?.requests).toHaveLength(4)
  })
})

describe('anthropic limits of a reply', () => {
  it.each([
    ['claude-opus-5-5', 128_000],
    ['claude-sonnet-4-6', 128_000],
    ['claude-fable-5', 128_000],
    ['claude-opus-4-10', 128_000],
    ['anthropic.claude-opus-4-6-v1', 128_000],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 64_000],
    ['claude-haiku-4-5@20251001', 64_000],
    ['anthropic/claude-opus-4.5', 64_000],
    ['claude-sonnet-4-20250514', 8192],
    ['claude-opus-4-1-20250805', 8192],
    ['claude-3-7-sonnet-20250219', 8192],
    ['claude-instant-1.2', 8192],
    ['my-own-model', 8192],
  ])('%s: %i tokens', async (model, maxTokens) => {
    await ask(await start([{ content: [text('Yes.')] }], { model }))
    expect(getRequest(0).body.max_tokens).toBe(maxTokens)
  })

  const tooMuch: Refusal = ({ body }) =>
    body.max_tokens > 32_000
      ? `max_tokens: ${body.max_tokens} > 32000, which is the maximum allowed number of output tokens for ${body.model}`
      : undefined
  const reply: Reply = { content: [text('Yes.')] }

  it('are lowered to what the provider says, permanently', async () => {
    const adapter = await start([reply, reply], { refusals: [tooMuch] })
    await ask(adapter)
    await ask(adapter)
    expect(server?.requests.map(({ body }) => body.max_tokens)).toEqual([128_000, 32_000, 32_000])
  })

  it('are lowered for a long conversation, and only for that', async () => {
    const tooLong: Refusal = ({ body }) =>
      body.max_tokens === 128_000 && JSON.stringify(body.messages).includes('Long.')
        ? 'input length and `max_tokens` exceed context limit: 190000 + 128000 > 200000, decrease input length or `max_tokens` and try again'
        : undefined
    const adapter = await start([reply, reply], { refusals: [tooLong] })
    await ask(adapter, { messages: [user('Long.')] })
    await ask(adapter)
    expect(server?.requests.map(({ body }) => body.max_tokens)).toEqual([128_000, 10_000, 128_000])
  })

  it('stay as the caller set them', async () => {
    const adapter = await start([reply], { refusals: [tooMuch], maxTokens: 40_000 })
    await expect(ask(adapter)).rejects.toMatchObject({ code: 'adapter-refused' })
    expect(server?.requests).toHaveLength(1)
  })
})

describe('anthropic replies that stop early', () => {
  const search: Block = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'Oslo' } }
  const found: Block = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }
  const compaction: Block = { type: 'compaction', content: 'They said hello.', encrypted_content: 'c2VjcmV0' }

  it('continue where the provider paused them', async () => {
    const adapter = await start([
      { content: [thinking('Search.'), text('I search. '), search], stop: 'pause_turn' },
      { content: [found, thinking('Good.'), text('It rains.')] },
      { content: [text('Yes.')] },
    ])
    const { result, recorded } = await ask(adapter)
    expect(result).toMatchObject({ type: 'final', text: 'I search. It rains.', usage: { outputTokens: 10 } })
    expect(server?.refused).toEqual([])
    expect(getRequest(1).body.messages.at(-1)).toMatchObject({
      role: 'assistant',
      content: [{ type: 'thinking' }, { type: 'text' }, search],
    })
    await ask(adapter, { messages: [user('Hello.'), ...recorded, user('Sure?')] })
    expect(server?.refused).toEqual([])
    expect(getRequest(2).body.messages.map(({ role, content }) => [role, content.length])).toEqual([
      ['user', 1],
      ['assistant', 6],
      ['user', 1],
    ])
  })

  it('are accepted unchanged if they are paused forever', async () => {
    const paused: Reply = { content: [text('.')], stop: 'pause_turn' }
    const adapter = await start(Array.from({ length: 50 }, () => paused))
    const { result } = await ask(adapter)
    expect(result).toMatchObject({ type: 'final' })
    expect(server?.requests).toHaveLength(21)
  })

  it('continue after a compaction, which is sent back unchanged', async () => {
    const adapter = await start([{ content: [compaction], stop: 'compaction' }, { content: [text('Hello again.')] }])
    const { result } = await ask(adapter)
    expect(result).toMatchObject({ type: 'final', text: 'Hello again.' })
    expect(server?.refused).toEqual([])
    expect(getRequest(1).body.messages.at(-1)).toEqual({ role: 'assistant', content: [compaction] })
  })

  it('keep a compaction in front of the answer', async () => {
    const adapter = await start([{ content: [compaction, text('Hello.')] }, { content: [text('Yes.')] }])
    const { recorded } = await ask(adapter)
    await ask(adapter, { messages: [user('Hello.'), ...recorded, user('Sure?')] })
    expect(server?.refused).toEqual([])
    expect(getRequest(1).body.messages[1]).toEqual({ role: 'assistant', content: [compaction, text('Hello.')] })
  })
})

describe('anthropic messages without text', () => {
  const call: Message = { role: 'assistant', text: '', toolCalls: [{ id: 'c', name: 'look', arguments: {} }] }
  const result = { role: 'tool' as const, callId: 'c', name: 'look', text: '', isError: false }
  const image = { mimeType: 'image/png', data: 'iVBORw0KGgo=' }

  it.each<[string, readonly Message[]]>([
    ['of the user', [user('')]],
    ['of the user, after another', [user('Hello.'), user(' \n')]],
    ['of the user, after a reply', [user('Hello.'), { role: 'assistant', text: 'Yes?', toolCalls: [] }, user('')]],
    ['beside a picture', [user('Hello.'), call, { ...result, images: [image] }]],
    ['of a tool', [user('Hello.'), call, result]],
    ['of a tool, with whitespace', [user('Hello.'), call, { ...result, text: ' ' }]],
    ['of a tool that failed', [user('Hello.'), call, { ...result, isError: true }]],
  ])('are accepted: %s', async (_, messages) => {
    const { result: answer } = await ask(await start([{ content: [text('Yes.')] }]), { messages, system: ' ' })
    expect(answer).toMatchObject({ text: 'Yes.' })
    expect(server?.refused).toEqual([])
    expect(getRequest(0).body.messages.at(-1)?.role).toBe('user')
  })
})

describe('anthropic caching', () => {
  it('caches for an hour on request', async () => {
    await ask(await start([{ content: [text('Yes.')] }], { cache: { ttl: '1h' } }), { tools: [toolNamed('look')] })
    const marks = JSON.stringify(getRequest(0).body).match(/"cache_control":\{[^}]*\}/g)
    expect(new Set(marks)).toEqual(new Set(['"cache_control":{"type":"ephemeral","ttl":"1h"}']))
    expect(marks).toHaveLength(3)
  })

  it.each([0, 1, 2, 3, 4])("marks no more than four parts, of which %i are the caller's", async (own) => {
    const mark = { cache_control: { type: 'ephemeral' } } as const
    const searches = Array.from({ length: own }, (_, at) => ({
      ...({ type: 'web_search_20260318', name: 'web_search', max_uses: at + 1 } as const),
      ...mark,
    }))
    const adapter = await start([{ content: [use('toolu_1')] }, { content: [text('Done.')] }], {
      serverTools: searches,
    })
    await ask(adapter, { tools: [toolNamed('look')] })
    const { tools = [], system = [], messages } = getRequest(1).body
    const marked = [...tools, ...system, ...messages.flatMap(({ content }) => content)].filter(
      (part) => 'cache_control' in part,
    )
    expect(marked).toHaveLength(4)
    expect('cache_control' in (messages.at(-1)?.content.at(-1) ?? {})).toBe(own < 4)
  })
})

describe('anthropic tools', () => {
  const place = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  const point = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] }

  it.each<[string, JsonSchema]>([
    ['oneOf', { oneOf: [place, point] }],
    ['anyOf', { type: 'object', anyOf: [place, point] }],
    ['allOf', { type: 'object', properties: { a: { type: 'string' } }, allOf: [place, point] }],
    ['a union in a union', { anyOf: [{ oneOf: [place, point] }, { type: 'object' }] }],
    ['nothing', {}],
    ['an object without properties', { type: 'object' }],
  ])('are accepted with any schema, from the start and when they are added: %s', async (_, inputSchema) => {
    const tool = { ...toolNamed('look'), inputSchema }
    const adapter = await start([{ content: [use('toolu_1')] }, { content: [text('Done.')] }])
    await ask(adapter, { tools: [tool], results: () => ({ text: 'Found.', adds: { ...tool, name: 'dig' } }) })
    expect(server?.refused).toEqual([])
    const { tools = [], messages } = getRequest(1).body
    const [addition] = messages.at(-1)?.content ?? []
    const added = addition?.['tool'] as { readonly definition: unknown } | undefined
    for (const sent of [...tools, added?.definition])
      expect(sent).toMatchObject({ input_schema: { type: 'object', properties: expect.anything() } })
  })

  it("may include the provider's own, which come first and unchanged", async () => {
    const search = { type: 'web_search_20260318', name: 'web_search', max_uses: 2 } as const
    const found: Block = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }
    const call: Block = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'Oslo' } }
    const adapter = await start([{ content: [call, found, use('toolu_1')] }, { content: [text('Done.')] }], {
      serverTools: [search],
      cache: false,
    })
    const { recorded } = await ask(adapter, { tools: [toolNamed('look')] })
    expect(recorded[0]).toMatchObject({ toolCalls: [{ id: 'toolu_1', name: 'look' }] })
    const { tools = [], messages } = getRequest(1).body
    expect(tools).toMatchObject([search, { name: 'look' }])
    expect(messages[1]?.content).toEqual([call, found, use('toolu_1')])
    expect(server?.refused).toEqual([])
  })

  it('of the provider are not changed if they have a cache mark', async () => {
    const search = Object.freeze({ type: 'web_search_20260318', name: 'web_search' } as const)
    await ask(await start([{ content: [text('Yes.')] }], { serverTools: [search] }))
    expect(getRequest(0).body.tools).toEqual([{ ...search, cache_control: { type: 'ephemeral' } }])
  })
})
