import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outputSpec } from '../../prompt/definition/output.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { Message, ModelEvent, ToolCall } from '../contract.ts'
import {
  ask,
  HELLO,
  recordBodies,
  refuse,
  useClaude,
  toolNamed,
  type Asked,
  type Provider,
  type WireBlock,
  type WireBody,
} from './harness.fixtures.ts'
import { anthropic } from '../../entries/anthropic.ts'

let provider: Provider
const claude = useClaude((started) => (provider = started))

const MARK = ',"cache_control":{"type":"ephemeral"}'
const unmarked = (text: string): string => text.replaceAll(MARK, '')
const getHead = (text: string): string => text.slice(0, text.indexOf('"messages":['))
const warnings = (events: readonly ModelEvent[]) => events.filter(({ type }) => type === 'warning')
const offered = ({ tools = [] }: WireBody): string[] => tools.map(({ name }) => name)
const hasAdditions = ({ messages }: WireBody): boolean => messages.some(({ role }) => role === 'system')

const INITIAL = [toolNamed('open'), toolNamed('look')]

/** A conversation with three openings that each add a tool, which is used right away. */
const threeOpenings = (): Asked => {
  provider.answer(
    { toolCalls: [{ id: 'toolu_1', name: 'open', arguments: '{"text":"a"}' }] },
    {
      toolCalls: [
        { id: 'toolu_2', name: 'tool_a', arguments: '{}' },
        { id: 'toolu_3', name: 'open', arguments: '{"text":"b"}' },
      ],
    },
    { content: 'On.', toolCalls: [{ id: 'toolu_4', name: 'open', arguments: '{"text":"c"}' }] },
    { content: 'Done.' },
  )
  return { tools: INITIAL, results: opening }
}

function opening({ name, arguments: args }: ToolCall): string | { text: string; adds: AnyTool } {
  if (name !== 'open') return 'Done.'
  const { text } = args as { text: string }
  return { text: `Opened ${text}.`, adds: toolNamed(`tool_${text}`) }
}

const addition = (name: string, more: object = {}) => ({
  type: 'tool_addition',
  tool: {
    type: 'tool_definition',
    definition: {
      name,
      description: `Does ${name}.`,
      input_schema: { type: 'object', properties: { text: { type: 'string' } } },
    },
  },
  ...more,
})

describe('anthropic tool additions', () => {
  it('R35 R42 defines added tools where they were added, and every request begins with all bytes of the one before', async () => {
    const { result, events } = await ask(claude(), threeOpenings())
    expect(result).toMatchObject({ type: 'final', text: 'Done.' })
    const texts = provider.requests.map(({ text }) => text)
    expect(texts).toHaveLength(4)
    for (const [index, text] of texts.slice(1).entries()) {
      const before = unmarked(texts[index]!).slice(0, -']}'.length)
      expect(unmarked(text).startsWith(before)).toBe(true)
      expect(getHead(text)).toBe(getHead(texts[0]!))
    }
    expect(getHead(texts[0]!)).toContain('"tools":[')
    expect(provider.requests.map(({ headers }) => headers['anthropic-beta'])).toEqual(
      texts.map(() => 'inline-tools-2026-09-15'),
    )
    expect(provider.requests.map(({ body }) => offered(body))).toEqual(texts.map(() => ['open', 'look']))
    expect(provider.requests[3]!.body.messages.filter(({ role }) => role === 'system')).toEqual([
      { role: 'system', content: [addition('tool_a')] },
      { role: 'system', content: [addition('tool_b', { cache_control: { type: 'ephemeral' } })] },
      { role: 'system', content: [addition('tool_c', { cache_control: { type: 'ephemeral' } })] },
    ])
    expect(warnings(events)).toEqual([])
  })

  it('R42 sets cache marks on the last initial tool, the system text and the last two turns', async () => {
    await ask(claude(), threeOpenings())
    const { tools = [], system = [], messages } = provider.requests[2]!.body
    expect(tools.map(({ cache_control: mark }) => mark !== undefined)).toEqual([false, true])
    expect(system.map(({ cache_control: mark }) => mark)).toEqual([{ type: 'ephemeral' }])
    expect(
      messages.map(({ role, content }) => [role, content.map((one: WireBlock) => one.cache_control !== undefined)]),
    ).toEqual([
      ['user', [false]],
      ['assistant', [false]],
      ['user', [false]],
      ['system', [true]],
      ['assistant', [false, false]],
      ['user', [false, false]],
      ['system', [true]],
    ])
  })

  it('R42 sets no cache marks if caching is off', async () => {
    await ask(claude({ cache: false }), threeOpenings())
    expect(provider.requests.filter(({ text }) => text.includes('cache_control'))).toEqual([])
  })

  it('R42 appends added tools to the list in plain mode, and does not change the text before them', async () => {
    await ask(claude({ toolAdditions: 'plain' }), threeOpenings())
    const { requests } = provider
    expect(requests.map(({ body }) => offered(body))).toEqual([
      ['open', 'look'],
      ['open', 'look', 'tool_a'],
      ['open', 'look', 'tool_a', 'tool_b'],
      ['open', 'look', 'tool_a', 'tool_b', 'tool_c'],
    ])
    for (const [index, { text, body, headers }] of requests.entries()) {
      const before = requests[index - 1] ?? requests[0]!
      const list = JSON.stringify(before.body.tools)
      expect(text).toContain(`"tools":${list.slice(0, -1)}`)
      expect(JSON.stringify(body.system)).toBe(JSON.stringify(requests[0]!.body.system))
      const conversation = unmarked(JSON.stringify(before.body.messages)).slice(0, -1)
      expect(unmarked(JSON.stringify(body.messages)).startsWith(conversation)).toBe(true)
      expect(hasAdditions(body)).toBe(false)
      expect(headers['anthropic-beta']).toBeUndefined()
      // The mark stays at the last initial tool, so everything before it is found in the cache.
      expect(body.tools!.flatMap(({ name, cache_control: mark }) => (mark === undefined ? [] : [name]))).toEqual([
        'look',
      ])
    }
  })

  it.each([400, 422])(
    'R35 R42 switches to plain mode when the endpoint answers %i, warns once and remembers it',
    async (status) => {
      provider.intercept(({ body }, response) =>
        hasAdditions(body) ? refuse(response, status, 'messages.3: Unexpected role "system"') : false,
      )
      const adapter = claude()
      const { result, events } = await ask(adapter, threeOpenings())
      expect(result).toMatchObject({ type: 'final', text: 'Done.' })
      expect(warnings(events)).toEqual([
        {
          type: 'warning',
          message: `The endpoint does not accept tools that are added during the conversation, so added tools go to the end of the tool list, and each addition invalidates the cached prefix after it. To start that way, set toolAdditions: 'plain'. It said: ${status} {"type":"error","error":{"type":"invalid_request_error","message":"messages.3: Unexpected role \\"system\\""}}`,
        },
      ])
      expect(provider.requests.map(({ body }) => [hasAdditions(body), offered(body).length])).toEqual([
        [false, 2],
        [true, 2],
        [false, 3],
        [false, 4],
        [false, 5],
      ])
      expect(warnings((await ask(adapter, threeOpenings())).events)).toEqual([])
    },
  )

  it('R42 switches on the first request if the endpoint does not know the beta', async () => {
    provider.intercept(({ headers }, response) =>
      headers['anthropic-beta'] ? refuse(response, 400, 'Unexpected value(s) for the `anthropic-beta` header') : false,
    )
    const { result, events } = await ask(claude(), threeOpenings())
    expect(result).toMatchObject({ text: 'Done.' })
    expect(warnings(events)).toHaveLength(1)
    expect(provider.requests.map(({ headers }) => headers['anthropic-beta'])).toEqual([
      'inline-tools-2026-09-15',
      'mid-conversation-tool-changes-2026-07-01',
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  it('finds out which of two features an endpoint rejects, and drops only that one', async () => {
    const output = outputSpec({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] })
    provider.intercept(({ body }, response) =>
      'output_config' in body ? refuse(response, 400, 'output_config: Extra inputs are not permitted') : false,
    )
    const { events } = await ask(claude(), { ...threeOpenings(), output })
    expect(warnings(events)).toMatchObject([{ message: expect.stringContaining('output schema') }])
    expect(provider.requests.map(({ body }) => ['output_config' in body, hasAdditions(body)])).toEqual([
      [true, false],
      [false, false],
      [false, true],
      [false, true],
      [false, true],
    ])
  })

  it('drops both features if an endpoint rejects both, and remembers both', async () => {
    const output = outputSpec({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] })
    provider.intercept(({ body }, response) => {
      if (hasAdditions(body)) return refuse(response, 400, "messages.1: role 'system' is not supported on this model")
      return 'output_config' in body && refuse(response, 400, 'output_config: Extra inputs are not permitted')
    })
    provider.answer({ content: 'Yes.' }, { content: 'Yes.' })
    const adapter = claude()
    const asked = { ...createEvaluation([HELLO, { role: 'tools', names: ['tool_a'] }], [toolNamed('tool_a')]), output }
    await adapter.evaluate(asked)
    await adapter.evaluate(asked)
    expect(provider.requests.map(({ body }) => ['output_config' in body, hasAdditions(body)])).toEqual([
      [true, true],
      [true, false],
      [false, false],
      [false, false],
    ])
  })

  it('reports both rejections, and does not remember one that had another cause', async () => {
    provider.intercept(({ body }, response, number) => {
      if (number === 1) return refuse(response, 400, 'No system role')
      return number === 2
        ? refuse(response, 400, 'prompt is too long: 210000 tokens > 200000 maximum')
        : hasAdditions(body) && false
    })
    const adapter = claude()
    await expect(ask(adapter, threeOpenings())).rejects.toMatchObject({
      code: 'adapter-refused',
      message: expect.stringMatching(/prompt is too long.*The first attempt, .* was answered with: .*No system role/),
    })
    const conversation: Message[] = [HELLO, { role: 'tools', names: ['tool_a'] }]
    provider.answer({ content: 'Yes.' })
    await adapter.evaluate(createEvaluation(conversation, [toolNamed('tool_a')]))
    expect(hasAdditions(provider.requests.at(-1)!.body)).toBe(true)
  })

  it('R42 does not switch because of an unrelated rejection', async () => {
    provider.intercept(({ body }, response) => (hasAdditions(body) ? refuse(response, 403, 'Not allowed') : false))
    await expect(ask(claude(), threeOpenings())).rejects.toMatchObject({ code: 'adapter-refused' })
    expect(provider.requests).toHaveLength(2)
  })

  it('R42 never switches in native mode', async () => {
    provider.intercept(({ body }, response) => (hasAdditions(body) ? refuse(response, 400, 'No system role') : false))
    await expect(ask(claude({ toolAdditions: 'native' }), threeOpenings())).rejects.toMatchObject({
      code: 'adapter-refused',
    })
    expect(provider.requests).toHaveLength(2)
  })

  it('R35 offers a tool once, even if a stored conversation lists it twice', async () => {
    provider.answer({ content: 'Yes.' })
    const conversation: Message[] = [
      { role: 'tools', names: ['tool_a', 'open', 'unknown'] },
      HELLO,
      { role: 'tools', names: ['tool_a'] },
    ]
    await claude({ cache: false }).evaluate(createEvaluation(conversation, [toolNamed('tool_a'), toolNamed('open')]))
    expect(provider.requests[0]!.body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hello.' }] },
      { role: 'system', content: [addition('tool_a')] },
    ])
  })
})

function createEvaluation(messages: readonly Message[], added: readonly AnyTool[]) {
  return {
    system: 'You are a test.',
    tools: INITIAL,
    addedTools: new Map(added.map((tool) => [tool.name, tool])),
    messages,
    output: undefined,
    signal: new AbortController().signal,
    beforeRequest: async () => {},
    record: async () => {},
    emit: () => {},
    callTools: async () => ({ type: 'halt' as const, results: [] }),
  }
}

describe('anthropic conversations of any shape', () => {
  const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']
  const ADDED = NAMES.map(toolNamed)

  /** One turn of a run: calls with their results, perhaps an addition, perhaps a user message. */
  const turn = fc.record({
    calls: fc.integer({ min: 0, max: 3 }),
    text: fc.constantFrom('', ' ', 'Well.'),
    adds: fc.subarray(NAMES),
    user: fc.boolean(),
    userFirst: fc.boolean(),
  })

  const conversation = fc.array(turn, { maxLength: 6 }).map((turns) =>
    turns.flatMap(({ calls, text, adds, user, userFirst }, at): Message[] => {
      const ids = Array.from({ length: calls }, (_, call) => `toolu_${at}_${call}`)
      const tools: Message[] = adds.length > 0 && calls > 0 ? [{ role: 'tools', names: adds }] : []
      const words: Message[] = user || calls === 0 ? [{ role: 'user', text: `Word ${at}.` }] : []
      return [
        { role: 'assistant', text, toolCalls: ids.map((id) => ({ id, name: 'look', arguments: {} })) },
        ...ids.map((callId): Message => ({ role: 'tool', callId, name: 'look', text: 'Done.', isError: false })),
        ...(userFirst ? [...words, ...tools] : [...tools, ...words]),
      ]
    }),
  )

  async function toWire(messages: readonly Message[]): Promise<WireBody> {
    const { bodies, client } = recordBodies()
    await anthropic({ model: 'claude-opus-5-5', client }).evaluate(createEvaluation(messages, ADDED))
    return bodies[0]!
  }

  it('R42 keeps the order that the API requires, at most four cache marks, and each call next to its results', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, async (later) => {
        const body = await toWire([HELLO, ...later])
        const { messages } = body
        expect((JSON.stringify(body).match(/cache_control/g) ?? []).length).toBeLessThanOrEqual(4)
        const roles = messages.map(({ role }) => role).join(' ')
        expect(roles).toMatch(/^user( system)?( assistant user( system)?)*( assistant)?$/)
        for (const [index, { content }] of messages.entries()) {
          expect(content.length).toBeGreaterThan(0)
          const calls = content.flatMap((one) => (one.type === 'tool_use' ? [one['id']] : []))
          const answers = messages[index + 1]?.content.slice(0, calls.length).map((one) => one['tool_use_id']) ?? []
          expect(answers).toEqual(calls)
        }
      }),
    )
  })

  it('R42 begins every request with the bytes of the one before', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, async (later) => {
        const messages = [HELLO, ...later]
        const whole = unmarked(JSON.stringify(await toWire(messages)))
        for (const [at, message] of messages.entries()) {
          // The bytes sent for this reply, if it was sent back at all.
          if (message.role !== 'assistant' || (message.text.trim() === '' && message.toolCalls.length === 0)) continue
          const sent = unmarked(JSON.stringify(await toWire(messages.slice(0, at))))
          expect(whole.startsWith(sent.slice(0, sent.lastIndexOf(']}')))).toBe(true)
        }
      }),
      { numRuns: 50 },
    )
  })
})
