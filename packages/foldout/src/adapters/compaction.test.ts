import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { anthropic } from '../entries/anthropic.ts'
import { openai } from '../entries/openai.ts'
import { ok } from '../tools/result.ts'
import { defineTool } from '../tools/tool.ts'
import type { CompactionRequest, Evaluation, Message, ProviderAdapter } from './contract.ts'

interface Sent {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Readonly<Record<string, unknown>>
}
type Reply = (sent: Sent) => { readonly status?: number; readonly json: object }

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** A provider on loopback that answers as documented. */
async function listen(reply: Reply): Promise<{ readonly url: string; readonly sent: readonly Sent[] }> {
  const sent: Sent[] = []
  server = createServer((request, response) => {
    const serve = async (): Promise<void> => {
      const body = await text(request)
      const one = { path: request.url ?? '', headers: request.headers, body: JSON.parse(body) as Sent['body'] }
      sent.push(one)
      const { status = 200, json } = reply(one)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
    }
    serve().catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent }
}

const track = defineTool({
  name: 'track',
  description: 'Tracks.',
  params: { type: 'object' },
  execute: () => ok('In Oslo.'),
})
const refund = defineTool({
  name: 'refund',
  description: 'Refunds.',
  params: { type: 'object' },
  execute: () => ok('Done.'),
})
const messages: readonly Message[] = [
  { role: 'user', text: 'Where is it?' },
  { role: 'assistant', text: '', toolCalls: [{ id: 'c1', name: 'track', arguments: {} }] },
  { role: 'tool', callId: 'c1', name: 'track', text: 'In Oslo.', isError: false },
  { role: 'tools', names: ['refund'] },
]
const request: CompactionRequest = {
  system: 'You help.',
  tools: [track],
  addedTools: new Map([['refund', refund]]),
  messages,
  signal: new AbortController().signal,
  emit: () => undefined,
}

/** Sends one ordinary request with these messages, whatever the answer is. */
async function send(adapter: ProviderAdapter, said: readonly Message[]): Promise<void> {
  const evaluation: Evaluation = {
    ...request,
    messages: said,
    output: undefined,
    beforeRequest: async () => undefined,
    callTools: async () => ({ type: 'halt', results: [] }),
    record: async () => undefined,
  }
  await adapter.evaluate(evaluation).catch(() => undefined)
}

describe("R71 Anthropic's compaction on demand", () => {
  const block = {
    type: 'compaction',
    content: 'So far: Oslo.',
    encrypted_content: null,
    signature: 'sig',
    tool_changes: [],
  }
  const answer = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'x',
    content: [block],
    stop_reason: 'compaction',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 20, cache_read_input_tokens: 900 },
  }
  const create = (url: string): ProviderAdapter =>
    anthropic({
      model: 'claude-opus-5-5',
      apiKey: 'k',
      maxRetries: 0,
      parameters: { context_management: { edits: [] } },
      fetch: (address, init) => fetch((address as string).replace('https://api.anthropic.com', url), init),
    })

  it('sends the bytes of an ordinary request, and takes the signed block back first and unchanged', async () => {
    const { url, sent } = await listen(({ body }) => ({
      json: body['compaction'] ? answer : { error: {} },
      status: body['compaction'] ? 200 : 400,
    }))
    const adapter = create(url)
    await send(adapter, messages)
    const compacted = await adapter.compact?.(request)
    expect(compacted).toMatchObject({
      hasTools: true,
      usage: { inputTokens: 910, outputTokens: 20, cachedInputTokens: 900 },
    })
    const [plain] = sent
    const compaction = sent.find(({ body }) => body['compaction'])
    expect(compaction?.body).toMatchObject({ compaction: { type: 'summarize' }, stream: false })
    expect(compaction?.body).not.toHaveProperty('context_management')
    expect(compaction?.headers['anthropic-beta']).toContain('compact-2026-09-04')
    for (const field of ['system', 'tools', 'messages'])
      expect(JSON.stringify(compaction?.body[field])).toBe(JSON.stringify(plain?.body[field]))
    await send(adapter, [...(compacted?.messages ?? []), { role: 'user', text: 'Go on.' }])
    const [first] = (sent.at(-1)?.body['messages'] ?? []) as readonly object[]
    expect(first).toEqual({ role: 'assistant', content: [block] })
  })

  it('fails if the provider refuses, or summarizes nothing', async () => {
    const refusing = await listen(() => ({
      status: 400,
      json: {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'compaction: Extra inputs are not permitted' },
      },
    }))
    await expect(create(refusing.url).compact?.(request)).rejects.toThrow('Extra inputs')
    server?.close()
    const empty = await listen(() => ({ json: { ...answer, content: [{ ...block, content: null }] } }))
    await expect(create(empty.url).compact?.(request)).rejects.toThrow('did not compact')
  })

  it('removes tools in place, and is not offered for other servers', async () => {
    const { url, sent } = await listen(() => ({ status: 400, json: { error: {} } }))
    await send(create(url), [
      ...messages,
      { role: 'assistant', text: 'Fine.', toolCalls: [] },
      { role: 'user', text: 'Close it.' },
      { role: 'tools', names: [], removed: ['refund'] },
    ])
    const last = ((sent[0]?.body['messages'] ?? []) as readonly object[]).at(-1)
    expect(last).toMatchObject({
      role: 'system',
      content: [{ type: 'tool_removal', tool: { type: 'tool_reference', name: 'refund' } }],
    })
    expect(create(url).removesTools).toBe(true)
    const foreign = anthropic({ model: 'claude-opus-5-5', apiKey: 'k', baseURL: 'https://proxy.example' })
    expect([foreign.compact, foreign.removesTools]).toEqual([undefined, false])
  })

  it.each([
    ['claude-opus-5-5', true],
    ['claude-sonnet-4-6', false],
    ['claude-fable-5-1', true],
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', false],
  ])('%s binds its reasoning to what precedes it: %s', (model, isBound) => {
    expect(anthropic({ model, apiKey: 'k' }).bindsReasoning).toBe(isBound)
  })
})

describe("R71 OpenAI's compaction on demand", () => {
  const item = { type: 'compaction', id: 'cmp_1', encrypted_content: 'secret' }
  const user = { type: 'message', id: 'msg_1', role: 'user', content: [{ type: 'input_text', text: 'Where is it?' }] }
  const create = (url: string, options: object = {}): ProviderAdapter =>
    openai({
      model: 'gpt-5.6',
      apiKey: 'k',
      maxRetries: 0,
      baseURL: 'https://api.openai.com/v1',
      fetch: (address, init) => fetch((address as string).replace('https://api.openai.com', url), init),
      ...options,
    })

  it('sends the input of an ordinary request with its cache key, and takes the items back as they are', async () => {
    const usage = { input_tokens: 50, output_tokens: 5, total_tokens: 55, input_tokens_details: { cached_tokens: 40 } }
    const { url, sent } = await listen(({ path }) =>
      path.endsWith('/compact')
        ? { json: { id: 'r', object: 'response.compaction', output: [user, item], usage } }
        : { status: 400, json: { error: { message: 'no' } } },
    )
    const adapter = create(url)
    await send(adapter, messages)
    const compacted = await adapter.compact?.(request)
    expect(compacted).toMatchObject({ hasTools: false, usage: { inputTokens: 50, cachedInputTokens: 40 } })
    const [plain] = sent
    const compaction = sent.find(({ path }) => path === '/v1/responses/compact')
    expect(compaction?.body).toEqual({
      model: 'gpt-5.6',
      input: plain?.body['input'],
      prompt_cache_key: plain?.body['prompt_cache_key'],
    })
    await send(adapter, [...(compacted?.messages ?? []), { role: 'user', text: 'Go on.' }])
    expect(((sent.at(-1)?.body['input'] ?? []) as readonly object[]).slice(1, 3)).toEqual([user, item])
  })

  it.each([
    { toolAdditions: 'plain' },
    { learned: new Set(['added-tools', 'cache-mark'].map((feature) => `api.openai.com gpt-5.6 ${feature}`)) },
  ])('sends the input of an ordinary request with %j, too, without what was refused', async (options) => {
    const { url, sent } = await listen(({ path }) =>
      path.endsWith('/compact')
        ? { json: { id: 'r', object: 'response.compaction', output: [user, item] } }
        : { status: 400, json: { error: { message: 'no' } } },
    )
    const adapter = create(url, options)
    await send(adapter, messages)
    await adapter.compact?.(request)
    expect(JSON.stringify(sent.at(-1)?.body)).not.toContain('additional_tools')
    expect(sent.at(-1)?.body['input']).toEqual(sent[0]?.body['input'])
    expect(sent.at(-1)?.body['instructions']).toEqual(sent[0]?.body['instructions'])
  })

  it('fails if the answer has no compaction, and is offered by OpenAI itself alone', async () => {
    const { url } = await listen(() => ({ json: { output: [user], usage: {} } }))
    await expect(create(url).compact?.(request)).rejects.toThrow('no item of that type')
    expect(create(url, { interface: 'chat' }).compact).toBeUndefined()
    expect(create(url, { baseURL: 'https://proxy.example/v1' }).compact).toBeUndefined()
  })
})
