import { existsSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { claudeAgent, type ClaudeAgentSdk } from '../../packages/foldout/src/entries/claude-agent.ts'
import type { ProviderAdapter, ToolCall, ToolMessage } from '../../packages/foldout/src/adapters/contract.ts'
import { definePrompt, defineSection, defineTool, ok, runAgent } from '../../packages/foldout/src/entries/index.ts'
import {
  createEvaluation,
  importSdk,
  installSdk,
  runningExecutables,
  startProvider,
  type Provider,
  type WireRequest,
} from './harness.ts'

const open = defineTool({
  name: 'read_section',
  description: 'Reads a section.',
  params: {
    type: 'object',
    properties: { key: { type: 'string', minLength: 1 } },
    required: ['key'],
    additionalProperties: false,
  },
  execute: () => ok('unused'),
})
const added = defineTool({ name: 'add_numbers', description: 'Adds numbers.', execute: () => ok('unused') })

const toResult = ({ id, name }: ToolCall, text: string, isError = false): ToolMessage => ({
  role: 'tool',
  callId: id,
  name,
  text,
  isError,
})
const namesIn = (request: WireRequest | undefined): readonly string[] =>
  (request?.tools ?? []).map(({ name }) => name).sort()
const hasResult = (request: { readonly messages: readonly { readonly role: string }[] }): boolean =>
  request.messages.some(({ role }) => role === 'tool')

describe('the real executable', () => {
  let sdk: ClaudeAgentSdk
  let provider: Provider
  let adapter: ProviderAdapter

  beforeAll(async () => {
    installSdk()
    sdk = await importSdk()
  }, 300_000)
  beforeEach(async () => {
    provider = await startProvider()
    adapter = claudeAgent({ model: 'claude-sonnet-4-5', sdk, env: provider.env, cwd: provider.home })
  })
  afterEach(() => provider.stop())
  afterAll(() => expect(runningExecutables()).toEqual([]))

  it('streams an answer and reports its usage', async () => {
    provider.mock.on(
      { userMessage: 'Go.' },
      {
        content: 'It is done, as you wished.',
        usage: { input_tokens: 10, output_tokens: 5 },
      },
      { chunkSize: 5 },
    )
    const { evaluation, messages, events } = createEvaluation({ tools: [] })
    const costUsd = expect.any(Number) as number
    const counted = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, cacheWriteTokens: 0 }
    const usage = { ...counted, costUsd }
    const message = { role: 'assistant', text: 'It is done, as you wished.', toolCalls: [] }
    expect(await adapter.evaluate(evaluation)).toEqual({ type: 'final', text: message.text, usage })
    expect(messages).toEqual([message])
    const deltas = events.filter(({ type }) => type === 'text/delta')
    expect(deltas.length).toBeGreaterThan(1)
    expect(events.filter((event) => !deltas.includes(event))).toEqual([
      { type: 'request/sent', messages: 1, tools: [] },
      { type: 'reply/received', message, usage: counted },
    ])
    expect(provider.requests.map(({ system }) => system.at(-1)?.text)).toEqual(['You are terse.'])
  })

  it('sends prompts verbatim, and long system texts and results in full', async () => {
    const system = 'You are terse. '.repeat(20_000)
    const long = 'A long section. '.repeat(20_000)
    provider.mock.on({ predicate: hasResult }, { content: 'Read.' })
    provider.mock.on({}, { toolCalls: [{ name: 'read_section', arguments: { key: 'all' } }] })
    const { evaluation } = createEvaluation(
      { tools: [open], system, messages: [{ role: 'user', text: '/context @harness.ts' }] },
      async ([call]) => ({ type: 'continue', results: [toResult(call!, long)], added: [] }),
    )
    expect(await adapter.evaluate(evaluation)).toMatchObject({ type: 'final', text: 'Read.' })
    const [first, second] = provider.requests
    expect(first!.system.at(-1)?.text).toBe(system)
    expect(JSON.stringify(first!.messages)).toContain('"/context @harness.ts"')
    expect(JSON.stringify(second!.messages)).toContain(JSON.stringify(long).slice(1, -1))
    expect(existsSync(`${provider.home}/config/projects`)).toBe(false)
  })

  it('runs the calls of one reply concurrently and returns each result', async () => {
    provider.mock.on({ predicate: hasResult }, { content: 'Two sections.' })
    provider.mock.on(
      {},
      {
        content: 'Let me look.',
        toolCalls: [
          { name: 'read_section', arguments: { key: 'a' } },
          { name: 'read_section', arguments: { key: 'b' } },
        ],
      },
    )
    const { evaluation, messages, calls } = createEvaluation({ tools: [open] }, async (asked) => ({
      type: 'continue',
      results: asked.map((call, index) => toResult(call, `Result ${index}`, index === 1)),
      added: [],
    }))
    expect(await adapter.evaluate(evaluation)).toMatchObject({ type: 'final', text: 'Two sections.' })
    expect(calls.map((turn) => turn.map((call) => call.arguments))).toEqual([[{ key: 'a' }, { key: 'b' }]])
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'assistant'])
    expect(messages[0]).toEqual({ role: 'assistant', text: 'Let me look.', toolCalls: calls[0] })
    expect(provider.requests[0]!.tools).toEqual([
      { name: 'read_section', description: 'Reads a section.', input_schema: open.inputSchema },
    ])
    const answers = provider.requests[1]!.messages.at(-1)?.content as readonly Record<string, unknown>[]
    expect(answers).toMatchObject([
      { tool_use_id: calls[0]![0]!.id },
      { tool_use_id: calls[0]![1]!.id, is_error: true },
    ])
    expect(JSON.stringify(answers[0])).toContain('Result 0')
    expect(JSON.stringify(answers[1])).toContain('Result 1')
  })

  it('R35 offers a tool added during a turn in the very next request; the system text and the other tools stay', async () => {
    expect(adapter.supportsDynamicTools).toBe(true)
    const conversations = 5
    let inNextRequest = 0
    provider.mock.on(
      { predicate: (request) => JSON.stringify(request.messages).includes('Added') },
      { content: 'Sum.' },
    )
    provider.mock.on({ predicate: hasResult }, { toolCalls: [{ name: 'add_numbers', arguments: {} }] })
    provider.mock.on({}, { toolCalls: [{ name: 'read_section', arguments: { key: 'sums' } }] })
    for (let count = 0; count < conversations; count++) {
      provider.requests.length = 0
      const { evaluation, messages, events, calls } = createEvaluation({ tools: [open] }, async ([call]) =>
        call!.name === 'read_section'
          ? { type: 'continue', results: [toResult(call!, 'Opened')], added: [added] }
          : { type: 'continue', results: [toResult(call!, 'Added')], added: [] },
      )
      expect(await adapter.evaluate(evaluation)).toMatchObject({ type: 'final', text: 'Sum.' })
      const [first, second, third] = provider.requests
      expect(namesIn(first)).toEqual(['read_section'])
      if (namesIn(second).includes('add_numbers')) inNextRequest++
      expect(calls.map(([call]) => call!.name)).toEqual(['read_section', 'add_numbers'])
      expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tools', 'assistant', 'tool', 'assistant'])
      expect(events.filter(({ type }) => type === 'warning')).toEqual([])
      expect(second!.system).toEqual(first!.system)
      expect(third!.system).toEqual(first!.system)
      expect(second!.tools!.filter(({ name }) => name === 'read_section')).toEqual(first!.tools)
      expect(third!.tools).toEqual(second!.tools)
    }
    expect(inNextRequest).toBe(conversations)
  }, 60_000)

  it('R35 continues in a new query if the executable does not list its tools again', async () => {
    provider.mock.on(
      { predicate: (request) => JSON.stringify(request.messages).includes('Opened') },
      { content: 'Sum.' },
    )
    provider.mock.on({}, { toolCalls: [{ name: 'read_section', arguments: { key: 'sums' } }] })
    const silent: ClaudeAgentSdk = {
      ...sdk,
      Server: class extends sdk.Server {
        override async sendToolListChanged(): Promise<void> {}
      },
    }
    const deaf = claudeAgent({ model: 'claude-sonnet-4-5', sdk: silent, env: provider.env, relistTimeoutMs: 200 })
    const { evaluation, events } = createEvaluation({ tools: [open] }, async ([call]) => ({
      type: 'continue',
      results: [toResult(call!, 'Opened')],
      added: [added],
    }))
    expect(await deaf.evaluate(evaluation)).toMatchObject({ type: 'final', text: 'Sum.' })
    expect(provider.requests.map(namesIn)).toEqual([['read_section'], ['add_numbers', 'read_section']])
    expect(events.filter(({ type }) => type === 'warning')).toHaveLength(1)
  })

  it.each([
    ['R35 opens a section within one query', true, 0],
    ['R34 opens a section with a restart that keeps the conversation', false, 1],
  ])('an agent %s', async (_what, dynamicTools, expansions) => {
    const offers =
      (name: string) => (request: { readonly tools?: readonly { readonly function: { name: string } }[] }) =>
        (request.tools ?? []).some((tool) => tool.function.name === name)
    const asks = (key: string): object => ({ toolCalls: [{ name: 'read_section', arguments: { section_key: key } }] })
    provider.mock.on(
      { predicate: (request) => JSON.stringify(request.messages).includes('42 it is') },
      { content: '42' },
    )
    provider.mock.on({ predicate: offers('sum') }, { toolCalls: [{ name: 'sum', arguments: {} }] })
    provider.mock.on({}, asks('sums'))
    const prompt = definePrompt({
      ns: 'test',
      key: 'sums',
      sections: [
        defineSection({
          key: 'sums',
          title: 'Sums',
          template: 'Use sum for sums.',
          summary: 'How to sum.',
          visibility: 'summary',
          tools: [defineTool({ name: 'sum', description: 'Sums.', execute: () => ok('42 it is') })],
        }),
      ],
    })
    const { env, home: cwd } = provider
    const result = await runAgent(prompt.bind({}), {
      adapter: claudeAgent({ model: 'claude-sonnet-4-5', sdk, env, cwd, dynamicTools }),
      input: 'What is the sum?',
    })
    expect(result).toMatchObject({ status: 'completed', text: '42', expansions })
    expect(provider.requests.map(namesIn).map((names) => names.includes('sum'))).toEqual([false, true, true])
    expect(JSON.stringify(provider.requests[1])).toContain('Use sum for sums.')
    expect(JSON.stringify(provider.requests[1]!.messages)).toContain('What is the sum?')
  })

  it('R33 stops immediately on a halt: nothing more is sent', async () => {
    provider.mock.on({}, { toolCalls: [{ name: 'read_section', arguments: { key: 'a' } }], usage: { input_tokens: 7 } })
    const { evaluation, messages } = createEvaluation({ tools: [open] }, async ([call]) => ({
      type: 'halt',
      results: [toResult(call!, 'Opening')],
    }))
    expect(await adapter.evaluate(evaluation)).toMatchObject({ type: 'halted', usage: { inputTokens: 7 } })
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool'])
    expect(provider.requests).toHaveLength(1)
    expect(runningExecutables()).toEqual([])
  })

  it('says what the provider refused', async () => {
    provider.mock.on({}, { error: { message: 'invalid x-api-key', type: 'authentication_error' }, status: 401 })
    const once = claudeAgent({ model: 'claude-sonnet-4-5', sdk, env: provider.env, maxRetries: 0 })
    await expect(once.evaluate(createEvaluation({ tools: [] }).evaluation)).rejects.toMatchObject({
      code: 'adapter-refused',
      message: expect.stringContaining('401') as string,
    })
  })

  it('ends promptly on an abort, with its reason', async () => {
    const controller = new AbortController()
    provider.mock.on({}, { toolCalls: [{ name: 'read_section', arguments: { key: 'a' } }] })
    const { evaluation } = createEvaluation(
      { tools: [open] },
      () => {
        controller.abort(new Error('Enough.'))
        return new Promise(() => {})
      },
      controller.signal,
    )
    await expect(adapter.evaluate(evaluation)).rejects.toThrow('Enough.')
    // The run does not have to wait for it.
    await vi.waitFor(() => expect(runningExecutables()).toEqual([]), { timeout: 20_000, interval: 50 })
  })
})
