import { describe, expect, it } from 'vitest'
import { chatAdapter, type ChatReply } from '../entries/adapter.ts'
import {
  agentRun,
  createMemoryStore,
  createSession,
  defineTool,
  openSession,
  runAgent,
  type AgentOptions,
  type ProviderAdapter,
} from '../entries/index.ts'
import { calls, says, scriptedAdapter, type ScriptStep } from '../testing/scripted-adapter.ts'
import { fold, getError, named, prepare, show } from './run.fixtures.ts'

const { bound } = prepare([], { sections: [show('door', named('look')), fold('vault', named('take'))] })
const usage = { inputTokens: 5, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 }
const done = { message: { role: 'assistant', text: 'Done.', toolCalls: [] }, usage } as const

/** A model that passes on its server's first reply unchecked. */
function replying(first: unknown): ProviderAdapter {
  let asked = 0
  const complete = async (): Promise<ChatReply> => (asked++ === 0 ? (first as ChatReply) : done)
  return chatAdapter({ name: 'own', model: 'own', complete })
}

const PICTURE = { mimeType: 'image/png', data: 'iVBORw0KGgo=' }
const circle: Record<string, unknown> = {}
circle['circle'] = circle
const calling = (...toolCalls: unknown[]): unknown => ({ message: { role: 'assistant', text: '', toolCalls }, usage })

describe('R39 a tool', () => {
  it.each<[string, object]>([
    ['images with properties that JSON does not have', { images: [{ ...PICTURE, when: undefined, width: NaN }] }],
    ['images that are not images', { images: [5] }],
    ['a value that JSON does not have', { value: 1n }],
    ['a message that is not a text', { message: 5 }],
  ])('may return %s: the run goes on and can be kept', async (_, odd) => {
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      execute: () => ({ ok: true, message: 'Seen.', value: null, ...odd }),
    })
    const store = createMemoryStore()
    const session = await openSession({ store, id: 'own' })
    const adapter = scriptedAdapter([calls('look'), says('Done.')])
    const { bound: own } = prepare([], { sections: [show('door', look)] })
    const result = await runAgent(own, { adapter, session, input: 'Go.' })
    expect(result.status).toBe('completed')
    await session.saved()
    const reopened = await openSession({ store, id: 'own' })
    expect(reopened.get(agentRun).messages).toEqual(result.messages)
  })
})

describe('R35 a custom adapter', () => {
  it.each<[string, unknown, object]>([
    ['no usage', { message: done.message }, { inputTokens: 0 }],
    [
      'a usage that is not a number',
      { ...done, usage: { ...usage, inputTokens: Number.NaN } },
      { inputTokens: 0, outputTokens: 1 },
    ],
    ['a part of a usage', { ...done, usage: { inputTokens: 7 } }, { inputTokens: 7, outputTokens: 0 }],
    ['a usage in texts', { ...done, usage: { ...usage, inputTokens: '7' } }, { inputTokens: 0 }],
    ['a negative usage', { ...done, usage: { ...usage, inputTokens: -7 } }, { inputTokens: 0 }],
    [
      'a usage that no sum can hold',
      { ...(calling({ id: 'a', name: 'look', arguments: {} }) as object), usage: { ...usage, inputTokens: 1e308 } },
      { inputTokens: Number.MAX_SAFE_INTEGER + 5 },
    ],
    ['no text', { message: { role: 'assistant', toolCalls: [] }, usage }, { inputTokens: 5 }],
    ['no calls', { message: { role: 'assistant', text: 'Done.' }, usage }, { inputTokens: 5 }],
    [
      'calls without a name, an id or anything',
      calling(null, {}, { name: 5 }, { id: 7, name: 'look' }),
      { inputTokens: 10 },
    ],
    ['arguments in a circle', calling({ id: 'a', name: 'look', arguments: circle }), { inputTokens: 10 }],
    [
      'arguments that JSON does not have',
      calling({ id: 'a', name: 'look', arguments: { n: 1n } }),
      { inputTokens: 10 },
    ],
    [
      'native content that JSON does not have',
      { ...done, message: { ...done.message, native: { adapter: 'own', content: 1n } } },
      { inputTokens: 5 },
    ],
  ])('may return %s: the run continues, counts usage, and can be stored', async (_, first, used) => {
    const store = createMemoryStore()
    const session = await openSession({ store, id: 'own' })
    const result = await runAgent(bound, { adapter: replying(first), session, input: 'Go.' })
    expect(result).toMatchObject({ status: 'completed', usage: used })
    await session.saved()
    const copy = createSession({ snapshot: JSON.parse(JSON.stringify(session.snapshot())) as never })
    expect(copy.get(agentRun).messages).toEqual(result.messages)
    const reopened = await openSession({ store, id: 'own' })
    expect(reopened.get(agentRun).messages).toEqual(result.messages)
  })

  it('causes an error with a code and its name if it returns no reply', async () => {
    for (const reply of [undefined, null, 'text', {}, { message: 'text' }]) {
      const error = await getError(runAgent(bound, { adapter: replying(reply), input: 'Go.' }))
      expect(error).toMatchObject({
        code: 'adapter-reply-invalid',
        message: expect.stringContaining("'own'") as string,
      })
    }
    for (const result of [undefined, {}, { type: 'done', usage }]) {
      const adapter = { name: 'own', model: 'm', supportsDynamicTools: true, evaluate: async () => result as never }
      expect(await getError(runAgent(bound, { adapter, input: 'Go.' }))).toMatchObject({
        code: 'adapter-reply-invalid',
      })
    }
  })

  it('R77 has its lost replies counted once, with everything that it reports', async () => {
    const lost = { ...usage, costUsd: 0.5, reasoningTokens: 1 }
    const adapter = chatAdapter({
      name: 'own',
      model: 'own',
      async complete({ emit }) {
        emit({ type: 'reply/lost', usage: lost })
        return { ...done, usage: { ...usage, costUsd: 0.25, cacheWriteTokens1h: 2 } }
      },
    })
    const session = await openSession({ store: createMemoryStore(), id: 'own' })
    const result = await runAgent(bound, { adapter, session, input: 'Go.' })
    const all = { inputTokens: 10, outputTokens: 2, costUsd: 0.75, reasoningTokens: 1, cacheWriteTokens1h: 2 }
    expect(result.usage).toEqual({ ...usage, ...all })
    expect(result.totalUsage).toEqual(result.usage)
    await runAgent(bound, { adapter, session, state: JSON.parse(JSON.stringify(result.state)), input: 'Again.' })
    expect(session.get(agentRun).totalUsage.costUsd).toBe(1.5)
  })

  it('may give calls of several turns the same id', async () => {
    let asked = 0
    const adapter = chatAdapter({
      name: 'own',
      model: 'own',
      complete: async () =>
        asked++ < 3 ? (calling({ id: 'call_0', name: 'look', arguments: {} }) as ChatReply) : done,
    })
    const { messages } = await runAgent(bound, { adapter, input: 'Go.' })
    const ids = messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : []))
    expect(ids[0]).toBe('call_0')
    expect(new Set(ids).size).toBe(3)
  })
})

describe('R39 R37 odd arguments', () => {
  it('do not end a stored run if they are not valid JSON', async () => {
    const store = createMemoryStore()
    const session = await openSession({ store, id: 'malformed' })
    const malformed = { calls: [{ name: 'look', malformed: '{"a":' }] } as unknown as ScriptStep
    const adapter = scriptedAdapter([malformed, says('Done.')])
    const { messages } = await runAgent(bound, { adapter, session, input: 'Go.' })
    expect(messages[2]).toMatchObject({ isError: true, text: expect.stringContaining('not valid JSON') as string })
    await session.saved()
    expect((await openSession({ store, id: 'malformed' })).get(agentRun).messages).toEqual(messages)
    createSession({ snapshot: JSON.parse(JSON.stringify(session.snapshot())) as never })
  })

  it('do not end a stored run if they contain -0', async () => {
    const session = await openSession({ store: createMemoryStore(), id: 'zero' })
    const adapter = scriptedAdapter([calls('look', { n: -0 }), says('Done.')])
    expect(await runAgent(bound, { adapter, session, input: 'Go.' })).toMatchObject({ status: 'completed' })
    await session.saved()
  })
})

describe('R38 invalid limits', () => {
  const bad: readonly Partial<Record<keyof AgentOptions, unknown>>[] = [
    ...[
      'maxTurns',
      'maxExpansions',
      'maxRepairs',
      'maxParallelCalls',
      'maxCallsPerReply',
      'toolTimeoutMs',
      'contextWindow',
    ].flatMap((name) => [Number.NaN, -1, '3', null, {}].map((value) => ({ [name]: value }))),
    ...['inputTokens', 'outputTokens', 'totalTokens'].map((name) => ({ limits: { [name]: Number.NaN } })),
    { opening: 'Eager' },
    { interruptedCalls: 'never' },
  ]
  it.each(bad)('are rejected before anything happens: %o', async (options) => {
    const adapter = scriptedAdapter([calls('look'), says('Done.')])
    const error = await getError(runAgent(bound, { adapter, input: 'Go.', ...(options as Partial<AgentOptions>) }))
    expect(error).toMatchObject({
      code: 'run-options',
      message: expect.stringMatching(/ is .*\. Pass .*, or leave it out\.$/) as string,
    })
    expect(adapter.requests).toEqual([])
  })

  it('do not include very large numbers, but infinity', async () => {
    const adapter = scriptedAdapter([calls('look'), says('Done.')])
    const most = Number.MAX_SAFE_INTEGER
    const { messages } = await runAgent(bound, {
      adapter,
      input: 'Go.',
      maxTurns: most,
      toolTimeoutMs: most,
      contextWindow: most,
    })
    expect(messages[2]).toMatchObject({ text: 'look done.', isError: false })
    await expect(runAgent(bound, { adapter, maxTurns: Infinity })).rejects.toMatchObject({ code: 'run-options' })
  })
})
