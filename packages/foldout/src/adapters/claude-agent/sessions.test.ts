import { describe, expect, it } from 'vitest'
import { claudeAgent } from '../../entries/claude-agent.ts'
import { outputSpec } from '../../prompt/definition/output.ts'
import { ok } from '../../tools/result.ts'
import { defineTool } from '../../tools/tool.ts'
import type { Message } from '../contract.ts'
import { done, dynamic, fakeSdk, recorded, reply, text, use, type FakeSdk, type Script } from './fake-sdk.fixtures.ts'
import type { SdkMessage } from './sdk.ts'

const say = (...messages: readonly SdkMessage[]): Script =>
  async function* () {
    yield* messages
  }
const user = (said: string): Message => ({ role: 'user', text: said })
const begin = (session: string): SdkMessage => ({ ...dynamic, session_id: session }) as SdkMessage
const getOptions = ({ hosts }: FakeSdk, at: number): Readonly<Record<string, unknown>> => hosts.at(at)?.options ?? {}

describe('a session', () => {
  const modelUsage = { one: { inputTokens: 100, outputTokens: 50 } }
  const scripts = [
    say(begin('s1'), ...reply([text('One.')], { input_tokens: 1 }), done('One.')),
    say(begin('s2'), ...reply([text('Two.')], { input_tokens: 3 }), done('Two.', { modelUsage })),
    say(begin('s3'), ...reply([text('Three.')]), done('Three.')),
  ]

  async function converse(
    sdk: FakeSdk,
    { persistSession = true, change = (messages: readonly Message[]): readonly Message[] => messages } = {},
  ) {
    const adapter = claudeAgent({ sdk, persistSession })
    const first = recorded({ messages: [user('First.')] })
    await adapter.evaluate(first.evaluation)
    const stored = JSON.parse(JSON.stringify([user('First.'), ...first.messages])) as Message[]
    const second = recorded({ messages: [...change(stored), user('Second.')] })
    return { adapter, stored, result: await adapter.evaluate(second.evaluation), second }
  }

  it('continues in a fork with only the last message, and counts its usage', async () => {
    const sdk = fakeSdk(scripts)
    const { result } = await converse(sdk)
    expect(sdk.hosts.map(({ prompt }) => prompt)).toEqual(['First.', 'Second.'])
    expect(getOptions(sdk, 0)).toMatchObject({ persistSession: true })
    expect(getOptions(sdk, 0)).not.toHaveProperty('resume')
    expect(getOptions(sdk, 1)).toMatchObject({ resume: 's1', forkSession: true })
    expect(result).toMatchObject({ text: 'Two.', usage: { inputTokens: 3 } })
  })

  it('can be continued from the same message twice', async () => {
    const sdk = fakeSdk(scripts)
    const { adapter, stored } = await converse(sdk)
    await adapter.evaluate(recorded({ messages: [...stored, user('Third.')] }).evaluation)
    expect(getOptions(sdk, 2)).toMatchObject({ resume: 's1', forkSession: true })
  })

  it.each<[string, (messages: readonly Message[]) => readonly Message[]]>([
    ['a message before it changed', ([, ...rest]) => [user('Other.'), ...rest]],
    ['another message followed it', (messages) => [...messages, user('By the way.')]],
    [
      'its reply was written by another adapter',
      ([first]) => [first as Message, { role: 'assistant', text: 'One.', toolCalls: [] }],
    ],
    [
      'what was stored is damaged',
      ([first, last]) => [first, { ...last, native: { adapter: 'claude-agent', content: ['s1'] } }] as Message[],
    ],
  ])('is not resumed if %s', async (_, change) => {
    const sdk = fakeSdk(scripts)
    await converse(sdk, { change })
    expect(getOptions(sdk, 1)).not.toHaveProperty('resume')
    expect(sdk.hosts[1]?.prompt).toContain('<conversation>')
  })

  it('is not kept by default', async () => {
    const sdk = fakeSdk(scripts)
    const { stored } = await converse(sdk, { persistSession: false })
    expect(getOptions(sdk, 1)).toMatchObject({ persistSession: false })
    expect(stored[1]).not.toHaveProperty('native')
    expect(sdk.hosts[1]?.prompt).toContain('<conversation>')
  })

  it('is replaced with a transcript if the executable does not have it', async () => {
    const lost: SdkMessage = {
      type: 'result',
      subtype: 'error_during_execution',
      is_error: true,
      errors: ['No conversation found with session ID: s1'],
    }
    const [first, second] = scripts as [Script, Script]
    const sdk = fakeSdk([first, say(lost), second])
    const { result } = await converse(sdk)
    expect(result).toMatchObject({ text: 'Two.' })
    expect(getOptions(sdk, 2)).not.toHaveProperty('resume')
    expect(sdk.hosts[2]?.prompt).toContain('<conversation>')
  })
})

describe('an output', () => {
  const output = outputSpec({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] })
  const answer = use('1', 'StructuredOutput', { city: 'Rome' })

  it('is requested with its schema, and is the last message', async () => {
    const sdk = fakeSdk([
      say(dynamic, ...reply([text('Here.'), answer]), done('', { structured_output: { city: 'Rome' } })),
    ])
    const { evaluation, messages, turns, events } = recorded({ output })
    expect(await claudeAgent({ sdk }).evaluate(evaluation)).toMatchObject({ type: 'final', text: '{"city":"Rome"}' })
    expect(getOptions(sdk, 0)).toMatchObject({
      outputFormat: { type: 'json_schema', schema: { type: 'object', required: ['city'] } },
    })
    expect(messages).toEqual([{ role: 'assistant', text: '{"city":"Rome"}', toolCalls: [] }])
    expect(turns).toEqual([])
    expect(events.at(-1)).toEqual({ type: 'text/delta', text: '{"city":"Rome"}' })
  })

  it('may come as text from a model that does not use the structured form', async () => {
    const failed = { type: 'result', subtype: 'error_max_structured_output_retries', is_error: true } as const
    const sdk = fakeSdk([say(dynamic, ...reply([text('Rome, I think.')]), failed)])
    const { evaluation } = recorded({ output })
    expect(await claudeAgent({ sdk }).evaluate(evaluation)).toMatchObject({ type: 'final', text: 'Rome, I think.' })
  })

  it('is read from the text if it is an array', async () => {
    const sdk = fakeSdk([say(dynamic, ...reply([text('[]')]), done('[]'))])
    const list = outputSpec({ type: 'array', items: { type: 'string' } })
    await claudeAgent({ sdk }).evaluate(recorded({ output: list }).evaluation)
    expect(getOptions(sdk, 0)).not.toHaveProperty('outputFormat')
  })

  it("takes the caller's schema rather than the prompt's", async () => {
    const sdk = fakeSdk([say(dynamic, ...reply([text('{}')]), done('{}'))])
    const outputFormat = { type: 'json_schema', schema: {} }
    await claudeAgent({ sdk, options: { outputFormat } }).evaluate(recorded({ output }).evaluation)
    expect(getOptions(sdk, 0)).toMatchObject({ outputFormat })
  })
})

it("reports the model's thinking", async () => {
  const thought: SdkMessage = {
    type: 'stream_event',
    event: { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'Hm.' } },
  }
  const sdk = fakeSdk([say(dynamic, thought, ...reply([text('Yes.')]), done('Yes.'))])
  const { evaluation, events } = recorded()
  await claudeAgent({ sdk }).evaluate(evaluation)
  expect(events).toContainEqual({ type: 'reasoning/delta', text: 'Hm.' })
})

it('lists tools with schemas that Anthropic accepts', async () => {
  const place = { type: 'object', properties: { city: { type: 'string' } } }
  const look = {
    ...defineTool({ name: 'look', description: 'Looks.', execute: () => ok('unused') }),
    inputSchema: { anyOf: [place, { type: 'object' }] },
  }
  let listed: unknown
  const sdk = fakeSdk([
    async function* ({ options }) {
      const { foldout } = options['mcpServers'] as { foldout: { instance: { handlers: Map<string, () => unknown> } } }
      listed = await foldout.instance.handlers.get('list')?.()
      yield* [dynamic, ...reply([text('Yes.')]), done('Yes.')]
    },
  ])
  await claudeAgent({ sdk }).evaluate(recorded({ tools: [look] }).evaluation)
  expect(listed).toMatchObject({
    tools: [{ name: 'look', inputSchema: { type: 'object', properties: { city: { type: 'string' } } } }],
  })
  expect(JSON.stringify(listed)).not.toContain('anyOf')
})
