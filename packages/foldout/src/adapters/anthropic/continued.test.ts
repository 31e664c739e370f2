import { describe, expect, it } from 'vitest'
import { anthropic, type AnthropicOptions } from '../../entries/anthropic.ts'
import type { Json } from '../../core/json/json.ts'
import type { Message } from '../contract.ts'
import { conversation } from '../openai/conversation.fixtures.ts'

interface Body {
  readonly container?: string
  readonly thinking?: unknown
  readonly messages: readonly { readonly content: readonly { readonly id?: string; readonly tool_use_id?: string }[] }[]
}

/** Claude, which answers each request with `Hi.`, in a container. */
function claude(
  options: Partial<AnthropicOptions> = {},
  refuse: (body: Body, betas: string) => string | undefined = () => undefined,
) {
  const requests: Body[] = []
  const fetch = async (
    _url: unknown,
    init?: { readonly body?: unknown; readonly headers?: Headers },
  ): Promise<Response> => {
    const body = JSON.parse(String(init?.body)) as Body
    requests.push(body)
    const said = refuse(body, new Headers(init?.headers).get('anthropic-beta') ?? '')
    if (said !== undefined)
      return Response.json({ type: 'error', error: { type: 'invalid_request_error', message: said } }, { status: 400 })
    const events = [
      { type: 'message_start', message: { id: 'm', usage: {}, container: { id: 'container_1' } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} },
      { type: 'message_stop' },
    ]
    const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
    return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  }
  const adapter = anthropic({
    model: 'claude-opus-5-5',
    apiKey: 'k',
    fetch: fetch as typeof globalThis.fetch,
    ...options,
  })
  return { adapter, requests }
}
const user: Message = { role: 'user', text: 'Go.' }

describe('anthropic over several requests', () => {
  it.each(['claude-opus-5-5', 'claude-opus-6'])('sends what an earlier model thought to %s', async (model) => {
    const { adapter, requests } = claude({ model: 'claude-opus-5' })
    const talk = conversation({ messages: [user] })
    await adapter.evaluate(talk)
    const [reply] = talk.recorded as [Extract<Message, { role: 'assistant' }>]
    const content = reply.native?.content as { readonly blocks: readonly Json[] }
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
    const native = { adapter: 'anthropic', content: { ...content, blocks: [thought, ...content.blocks] } }
    const next = claude({ model })
    await next.adapter.evaluate(conversation({ messages: [user, { ...reply, native }, user] }))
    expect(requests).toHaveLength(1)
    expect(next.requests[0]?.messages[1]?.content[0]).toEqual(thought)
  })

  it('names the container in which its own tools ran, until that is refused', async () => {
    const { adapter, requests } = claude({}, ({ container }) =>
      requests.length === 3 && container !== undefined ? 'container: container_1 has expired' : undefined,
    )
    const talk = conversation({ messages: [user] })
    await adapter.evaluate(talk)
    const messages: readonly Message[] = JSON.parse(JSON.stringify([user, ...talk.recorded, user])) as Message[]
    await adapter.evaluate(conversation({ messages }))
    await adapter.evaluate(conversation({ messages }))
    expect(requests.map(({ container }) => container)).toEqual([undefined, 'container_1', 'container_1', undefined])
  })

  it('R78 asks for updates between calls, until the endpoint refuses them', async () => {
    const { adapter, requests } = claude({ updates: true }, (_body, betas) =>
      betas.includes('thinking-display') && requests.length > 1
        ? 'Unexpected value(s) for the anthropic-beta header'
        : undefined,
    )
    for (let round = 0; round < 3; round++) await adapter.evaluate(conversation({ messages: [user] }))
    const shown = { type: 'adaptive', display: 'updates' }
    expect(requests.map(({ thinking }) => thinking)).toEqual([shown, shown, undefined, undefined])
  })

  it.each<[string, Partial<AnthropicOptions>]>([
    ['without the option', {}],
    ['from an earlier model', { updates: true, model: 'claude-opus-4-6' }],
    ['beside settings of the caller', { updates: true, parameters: { thinking: { type: 'disabled' } } }],
  ])('R78 does not ask for updates %s', async (_, options) => {
    const { adapter, requests } = claude(options)
    await adapter.evaluate(conversation({ messages: [user] }))
    expect(requests[0]?.thinking).toEqual(options.parameters?.thinking)
  })

  it('sends ids that it accepts, the same for a call and its result', async () => {
    const ids = ['functions.look:0', 'x'.repeat(500)]
    const { adapter, requests } = claude()
    const calls = ids.map((id) => ({ id, name: 'look', arguments: {} }))
    const blocks = ids.map((id) => ({ type: 'tool_use', id, name: 'look', input: {} }))
    const native = { adapter: 'anthropic', content: { blocks } }
    const results = ids.map((callId): Message => ({ role: 'tool', callId, name: 'look', text: 'x', isError: false }))
    for (const reply of [{ toolCalls: calls }, { toolCalls: calls, native }])
      await adapter.evaluate(conversation({ messages: [user, { role: 'assistant', text: '', ...reply }, ...results] }))
    for (const { messages } of requests) {
      const sent = messages[1]?.content.map(({ id }) => id)
      expect(messages[2]?.content.map(({ tool_use_id: id }) => id)).toEqual(sent)
      for (const id of sent ?? []) expect(id).toMatch(/^[\w-]{1,64}$/)
    }
  })
})
