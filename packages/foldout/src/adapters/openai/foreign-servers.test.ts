import { describe, expect, it } from 'vitest'
import type { Message, ProviderAdapter } from '../contract.ts'
import { toFailure } from '../failure.ts'
import { openai, openaiCompatible } from '../../entries/openai.ts'
import { conversation, tool, warnings } from './conversation.fixtures.ts'

type Answer = Response | ((body: Body) => Response)
interface Body {
  readonly messages: readonly {
    readonly role: string
    readonly content: unknown
    readonly tool_calls?: readonly { id: string }[]
  }[]
  readonly tools?: readonly { readonly function: { readonly description: string } }[]
  readonly input: readonly { readonly type?: string; readonly call_id?: string }[]
  readonly stream_options?: unknown
  readonly include?: unknown
}

const json = (status: number, body: unknown): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
const sse = (...events: readonly object[]): Response =>
  new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  })
const says = (content: string): Response => sse({ choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] })
const responds = (...output: readonly object[]): Response =>
  sse({ type: 'response.completed', response: { status: 'completed', output } })

/** A server that answers requests one after another; the last answer is repeated. */
function serve(...answers: readonly Answer[]) {
  const requests: Body[] = []
  const fetch = async (_url: unknown, init?: { readonly body?: unknown }): Promise<Response> => {
    const body = JSON.parse(String(init?.body)) as Body
    const answer = answers[Math.min(requests.length, answers.length - 1)]
    requests.push(body)
    return typeof answer === 'function' ? answer(body) : answer!.clone()
  }
  return { requests, fetch: fetch as typeof globalThis.fetch }
}
const compatible = (fetch: typeof globalThis.fetch, baseURL = 'http://server.test/v1'): ProviderAdapter =>
  openaiCompatible({ model: 'm', baseURL, fetch, maxRetries: 0 })

describe('refusals in the form of another server', () => {
  it.each<[string, number, unknown, string]>([
    ['FastAPI', 422, { detail: [{ type: 'missing', loc: ['body', 'x'], msg: 'Field required' }] }, 'Field required'],
    ['vLLM', 400, { object: 'error', message: 'max_tokens is too large', code: 400 }, 'max_tokens is too large'],
    [
      'Mistral',
      400,
      { object: 'error', message: 'Expected last role', type: 'invalid_request_message_order' },
      'Expected last role',
    ],
    ['Gemini', 400, [{ error: { code: 400, message: 'Unknown field', status: 'INVALID_ARGUMENT' } }], 'Unknown field'],
    ['Ollama', 404, { error: 'model "x" not found' }, 'not found'],
    ['OpenAI', 400, { error: { message: 'Bad request.', type: 'x' } }, 'Bad request.'],
  ])('R34 %s: says what the server said', async (_name, status, body, said) => {
    const { fetch } = serve(json(status, body))
    await expect(compatible(fetch).evaluate(conversation())).rejects.toMatchObject({
      code: 'adapter-refused',
      status,
      message: expect.stringContaining(said) as string,
    })
  })

  it.each<[number, unknown, object]>([
    [200, { error: { message: 'Quota used up.', code: 402 } }, { code: 'adapter-refused', status: 402 }],
    [
      200,
      { error: { message: 'The model is overloaded.', type: 'overloaded_error' } },
      { code: 'adapter-unavailable' },
    ],
    [200, { error: { message: 'No such model.' } }, { code: 'adapter-refused', status: 400 }],
  ])('R34 an error whose status is %s is an error: %j', async (status, body, error) => {
    const { fetch } = serve(json(status, body))
    await expect(compatible(fetch).evaluate(conversation())).rejects.toMatchObject(error)
  })

  it('R34 learns from them: a server that does not know stream_options is not sent them again', async () => {
    const detail = [{ type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }]
    const server = serve((body) => (body.stream_options === undefined ? says('Hi.') : json(422, { detail })))
    const adapter = compatible(server.fetch)
    const talk = conversation()
    expect(await adapter.evaluate(talk)).toMatchObject({ text: 'Hi.' })
    await adapter.evaluate(conversation())
    expect(server.requests.map(({ stream_options }) => stream_options === undefined)).toEqual([false, true, true])
    expect(warnings(talk.events)).toHaveLength(1)
  })

  it('R34 never sends stream_options to Mistral', async () => {
    const server = serve(says('Hi.'))
    await compatible(server.fetch, 'https://api.mistral.ai/v1').evaluate(conversation())
    expect(server.requests[0]).not.toHaveProperty('stream_options')
  })
})

describe('conversations that other servers refuse', () => {
  const twice: readonly Message[] = [
    { role: 'user', text: 'One.' },
    { role: 'user', text: 'Two.' },
  ]

  it('R34 joins two user messages in a row where roles must alternate', async () => {
    const server = serve((body) =>
      body.messages.filter(({ role }) => role === 'user').length > 1
        ? json(400, { object: 'error', message: 'Conversation roles must alternate user/assistant/user/assistant/...' })
        : says('Hi.'),
    )
    expect(await compatible(server.fetch).evaluate(conversation({ messages: twice }))).toMatchObject({ text: 'Hi.' })
    expect(server.requests.at(-1)?.messages.at(-1)).toEqual({ role: 'user', content: 'One.\n\nTwo.' })
  })

  it('R34 sends Kimi no empty reply', async () => {
    const server = serve(says('Hi.'))
    const messages: readonly Message[] = [
      { role: 'user', text: 'One.' },
      { role: 'assistant', text: '', toolCalls: [] },
      { role: 'user', text: 'Two.' },
    ]
    await compatible(server.fetch, 'https://api.moonshot.ai/v1').evaluate(conversation({ messages }))
    expect(server.requests[0]?.messages[2]).toEqual({ role: 'assistant', content: '(The reply is empty.)' })
  })

  it('R34 shortens ids of calls and descriptions of tools for OpenAI', async () => {
    const server = serve(says('Hi.'))
    const adapter = openai({ model: 'gpt-5', apiKey: 'k', interface: 'chat', fetch: server.fetch })
    const id = 'functions.weather:0'.repeat(5)
    const messages: readonly Message[] = [
      { role: 'user', text: 'One.' },
      { role: 'assistant', text: '', toolCalls: [{ id, name: 'weather', arguments: {} }] },
      { role: 'tool', callId: id, name: 'weather', text: 'sunny', isError: false },
    ]
    const long = { ...tool('weather'), description: `${'x'.repeat(1023)}😀 and more` }
    await adapter.evaluate(conversation({ messages, tools: [long] }))
    const [sent] = server.requests
    const [call] = sent?.messages[2]?.tool_calls ?? []
    expect(call?.id).toMatch(/^[\w-]{1,40}$/)
    expect(sent?.messages[3]).toMatchObject({ role: 'tool', tool_call_id: call?.id })
    expect(sent?.tools?.[0]?.function.description).toBe('x'.repeat(1023))
  })
})

describe('reasoning that the server cannot read', () => {
  const reasoning = (of: string): object => ({ type: 'reasoning', id: of, summary: [], encrypted_content: of })
  const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] }
  const kept = (of: string): Message => ({
    role: 'assistant',
    text: 'Hi.',
    toolCalls: [],
    native: { adapter: 'openai-responses', content: [reasoning(of), said] as never },
  })
  const user: Message = { role: 'user', text: 'Go.' }
  const counts = (bodies: readonly Body[]): readonly number[] =>
    bodies.map(({ input }) => input.filter(({ type }) => type === 'reasoning').length)

  it('R78 is left out of its own conversation only', async () => {
    const server = serve((body) =>
      JSON.stringify(body.input).includes('"foreign"')
        ? json(400, {
            error: { message: 'The encrypted content could not be verified.', code: 'invalid_encrypted_content' },
          })
        : responds(reasoning('new'), said),
    )
    const adapter = openai({ model: 'gpt-5', apiKey: 'k', fetch: server.fetch, maxRetries: 0 })
    const messages = [user, kept('foreign'), user]
    const talk = conversation({ messages })
    await adapter.evaluate(talk)
    await adapter.evaluate(conversation({ messages: [...messages, talk.recorded[0]!, user] }))
    await adapter.evaluate(conversation({ messages: [user, kept('other'), user] }))
    expect(counts(server.requests)).toEqual([1, 0, 1, 1])
    expect(server.requests.every(({ include }) => include !== undefined)).toBe(true)
    expect(warnings(talk.events)).toHaveLength(1)
  })

  it('R78 a compaction is kept and sent back', async () => {
    const compaction = { type: 'compaction', id: 'c', encrypted_content: 'all' }
    const server = serve(responds(compaction, said), responds(said))
    const adapter = openai({ model: 'gpt-4o', apiKey: 'k', fetch: server.fetch })
    const talk = conversation({ messages: [user] })
    await adapter.evaluate(talk)
    await adapter.evaluate(conversation({ messages: [user, ...talk.recorded, user] }))
    expect(server.requests[1]?.input.map(({ type }) => type)).toContain('compaction')
  })
})

describe('how long to wait', () => {
  const failure = (message: string, headers: Readonly<Record<string, string>> = {}) =>
    toFailure(Object.assign(new Error(message), { status: 429, headers }))?.retryAfterMs

  it.each<[string, Readonly<Record<string, string>>, number | undefined]>([
    ['Rate limit reached. Please try again in 2s.', {}, 2000],
    ['Please try again in 1.5s', {}, 1500],
    ['Please try again in 120ms', {}, 120],
    ['Please try again in 1m30s', {}, 90_000],
    ['{"details":[{"@type":"RetryInfo","retryDelay":"27s"}]}', {}, 27_000],
    ['Slow down.', { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m0s' }, 360_000],
    ['Slow down.', { 'x-ratelimit-remaining-tokens': '5', 'x-ratelimit-reset-tokens': '6m0s' }, undefined],
    ['Slow down.', { 'x-ratelimit-reset': '0' }, undefined],
    ['Try again in 5s', { 'retry-after': '1' }, 1000],
    ['Try again later.', {}, undefined],
    ['try again in 999999999999999999999999s', {}, undefined],
  ])('R34 is read from %j %j', (message, headers, wait) => {
    expect(failure(message, headers)).toBe(wait)
  })

  it.each([1000, 1])('R34 is read from the time at which a limit starts again, in units of %i ms', (unit) => {
    const reset = String(Math.round((Date.now() + 60_000) / unit))
    expect(Math.abs((failure('Slow down.', { 'x-ratelimit-reset': reset }) ?? 0) - 60_000)).toBeLessThan(5000)
  })

  it("R34 is read from a detail of Google's error, which comes in a list", async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '9000s' }]
    const body = JSON.stringify([{ error: { code: 429, message: 'Quota exceeded.', details } }])
    const fetch = async () => new Response(body, { status: 429, headers: { 'content-type': 'application/json' } })
    const adapter = openaiCompatible({ model: 'm', baseURL: 'http://localhost/v1', fetch })
    await expect(adapter.evaluate(conversation())).rejects.toMatchObject({ retryAfterMs: 9_000_000 })
  })
})
