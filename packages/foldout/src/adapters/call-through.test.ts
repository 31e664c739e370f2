import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  ok,
  runAgent,
  type AgentOptions,
  type AnyTool,
} from '../entries/index.ts'
import { findPromptCache } from './cache/known-caches.ts'
import { CALL_TOOL, isThroughCheaper, THROUGH } from './call-through.ts'
import { chatAdapter, type ChatModel } from './chat.ts'
import { NO_USAGE, type AssistantMessage, type ChatRequest, type ToolCall } from './contract.ts'

type Reply = string | readonly { readonly name: string; readonly arguments: unknown }[]

/** A model that follows a script, and what it was sent. */
function createModel(script: readonly Reply[], way: ChatModel['callThrough'] = 'always') {
  const requests: ChatRequest[] = []
  const adapter = chatAdapter({
    name: 'test',
    model: 'gpt-5',
    callThrough: way,
    async complete(request) {
      requests.push({ ...request, messages: [...request.messages] })
      const reply = script[requests.length - 1] ?? 'Done.'
      const toolCalls =
        typeof reply === 'string' ? [] : reply.map((call, at) => ({ id: `c${requests.length}-${at}`, ...call }))
      return {
        message: { role: 'assistant', text: typeof reply === 'string' ? reply : '', toolCalls },
        usage: NO_USAGE,
      }
    },
  })
  return { adapter, requests }
}

const TOOLS_PER_SECTION = 50

function createDesk(role = 'You help.') {
  const topics = Array.from({ length: 4 }, (_, topic) =>
    defineSection({
      key: `topic${topic}`,
      title: `Topic ${topic}`,
      template: `Rules of topic ${topic}.`,
      summary: `Topic ${topic}.`,
      visibility: 'summary',
      tools: Array.from({ length: TOOLS_PER_SECTION }, (__, at) =>
        defineTool({
          name: `look_up_${topic}_${at}`,
          description: `Looks up record ${at}.`,
          params: { type: 'object', properties: { 'filter[id]': { type: 'integer' } }, required: ['filter[id]'] },
          execute: (args) => ok(`Record ${at}: ${JSON.stringify(args)}.`),
        }),
      ),
    }),
  )
  const start = defineSection({ key: 'role', title: 'Role', template: role })
  return definePrompt({ ns: 'test', key: 'desk', sections: [start, ...topics] }).bind()
}

const open = (topic: number): Reply => [{ name: 'read_section', arguments: { section_key: `topic${topic}` } }]
const through = (name: string, args: unknown): Reply => [{ name: CALL_TOOL, arguments: { name, arguments: args } }]

describe('tools called through one constant tool', () => {
  it('R35 R42 keep the list and every earlier message as they are, over ten requests with 200 added tools', async () => {
    const script = [0, 1, 2, 3].flatMap((topic) => [
      open(topic),
      through(`look_up_${topic}_7`, { 'filter[id]': topic }),
    ])
    const { adapter, requests } = createModel([...script, 'Done.', 'Done.'])
    const session = createSession()
    const events: unknown[] = []
    const run = (input: string, options: Partial<AgentOptions> = {}) =>
      runAgent(createDesk(), { adapter, session, input, onEvent: (event) => void events.push(event), ...options })
    const first = await run('Look it up.')
    await run('And now?')
    expect(requests).toHaveLength(10)
    for (const { tools, addedTools } of requests) {
      expect(tools.map(({ name }) => name)).toEqual(['read_section', CALL_TOOL])
      expect(addedTools.size).toBe(0)
    }
    for (const [at, { system, messages }] of requests.slice(1).entries()) {
      expect(system).toBe(requests[0]?.system)
      expect(messages.slice(0, requests[at]?.messages.length)).toEqual(requests[at]?.messages)
    }
    const [, opened, asked] = requests[1]?.messages ?? []
    expect(opened).toMatchObject({ toolCalls: [{ name: 'read_section' }] })
    expect(asked).toMatchObject({
      role: 'tool',
      text: expect.stringMatching(/Call with call_tool:\nlook_up_0_0\("filter\[id\]": int\) — Looks up record 0\.\n/),
    })
    // Everybody but the provider sees the tool itself.
    const invoked = events.filter((event) => (event as { type: string }).type === 'tool/invoked')
    expect(invoked).toContainEqual(expect.objectContaining({ name: 'look_up_2_7', ok: true }))
    const calls = first.state.messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []))
    expect(calls.map(({ name }) => name)).not.toContain(CALL_TOOL)
    expect(calls.at(-1)).toMatchObject({ name: 'look_up_3_7', arguments: { 'filter[id]': 3 } })
    // The provider gets back what its model wrote.
    expect(requests[2]?.messages.at(-2)).toMatchObject({
      toolCalls: [{ name: CALL_TOOL, arguments: { name: 'look_up_0_7', arguments: { 'filter[id]': 0 } } }],
    })
  })

  it('R66 wait for approval under their own names', async () => {
    const { adapter } = createModel([open(0), through('look_up_0_1', { 'filter[id]': 1 })])
    const run = await runAgent(createDesk(), {
      adapter,
      input: 'Go.',
      needsApproval: ({ tool }) => /look_up/.test(tool),
    })
    expect(run).toMatchObject({
      status: 'waiting',
      approvals: [{ tool: 'look_up_0_1', arguments: { 'filter[id]': 1 } }],
    })
  })

  it.each([
    ['as text', { name: 'look', arguments: '{"a":1}' }, { arguments: { a: 1 } }],
    ['as an empty text', { name: 'look', arguments: ' ' }, { arguments: {} }],
    ['beside the name', { name: 'look', a: 1 }, { arguments: { a: 1 } }],
    ['not at all', { name: 'look' }, { arguments: {} }],
    ['as half a text', { name: 'look', arguments: '{"a"' }, { malformed: '{"a"' }],
    ['as a list', { name: 'look', arguments: [1] }, { arguments: [1] }],
    ['as text nested 100,000 deep', { name: 'look', arguments: '['.repeat(1e5) + ']'.repeat(1e5) }, { name: 'look' }],
  ])('R37 are called if the model writes the arguments %s', (_how, given, expected) => {
    const reply = THROUGH.toOwn(says({ id: '1', name: CALL_TOOL, arguments: given }))
    expect(reply.toolCalls[0]).toMatchObject({ id: '1', name: 'look', ...expected })
  })

  it.each([undefined, null, 7, [], {}, { name: '' }, { name: 'no name' }, { name: { __proto__: 1 } }])(
    'R37 are not called by %j',
    (given) => {
      const call: ToolCall = { id: '1', name: CALL_TOOL, arguments: given }
      expect(THROUGH.toOwn(says(call)).toolCalls).toEqual([call])
    },
  )

  it('R31 any call of an added tool goes there and comes back unchanged', () => {
    const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/).filter((each) => each !== CALL_TOOL && each !== 'listed')
    fc.assert(
      fc.property(name, fc.dictionary(fc.string(), fc.jsonValue()), (called, args) => {
        const own = says({ id: '1', name: called, arguments: args })
        const { messages } = THROUGH.toSent({ tools: [listed], addedTools: new Map(), messages: [own] })
        const [sent] = messages as readonly AssistantMessage[]
        expect(sent?.toolCalls[0]?.name).toBe(CALL_TOOL)
        expect(THROUGH.toOwn(sent ?? own)).toEqual(own)
      }),
    )
  })

  it('R35 are defined beside whatever was said last, also as files', () => {
    const addedTools = new Map([['listed', listed]])
    const tools = { role: 'tools', names: ['listed'] } as const
    const text = 'Call with call_tool:\nlisted() — Is listed.'
    const send = (...messages: ChatRequest['messages']) =>
      THROUGH.toSent({ tools: [], addedTools, messages: [...messages, tools] }).messages
    expect(send({ role: 'user', text: 'Hi.' })).toEqual([{ role: 'user', text: `Hi.\n\n${text}` }])
    const parts = [{ type: 'image', url: 'https://example.com/a.png' }] as const
    expect(send({ role: 'user', text: '', parts })).toEqual([
      { role: 'user', text, parts: [...parts, { type: 'text', text }] },
    ])
    expect(send(says())).toEqual([says(), { role: 'user', text }])
  })

  it('R35 auto follows the price: not for a short prompt, an unknown cache, or a prompt that adds nothing', async () => {
    const long = 'Answer every question of a customer with care. '.repeat(400)
    const offers = async (role: string, way: ChatModel['callThrough']) => {
      const { adapter, requests } = createModel(['Done.'], way)
      await runAgent(createDesk(role), { adapter, input: 'Go.' })
      return requests[0]?.tools.some(({ name }) => name === CALL_TOOL)
    }
    expect(await offers(long, 'auto')).toBe(true)
    expect(await offers('Short.', 'auto')).toBe(false)
    expect(await offers(long, 'never')).toBe(false)
    const start = { system: long, tools: [] }
    expect(isThroughCheaper(start, findPromptCache('gpt-5'))).toBe(true)
    expect(isThroughCheaper(start, undefined)).toBe(false)
    // Nothing is lost where reading costs as much as writing.
    expect(isThroughCheaper(start, { minimum: 1024, read: 1, write: 1, ttlMs: 1 })).toBe(false)
    const { adapter, requests } = createModel(['Done.'], 'auto')
    const plain = definePrompt({
      ns: 'test',
      key: 'plain',
      sections: [defineSection({ key: 'a', title: 'A', template: long })],
    })
    await runAgent(plain.bind(), { adapter, input: 'Go.' })
    expect(requests[0]?.tools).toEqual([])
  })

  it('R35 a prompt with a tool of that name gets its tools in the list', async () => {
    const own = defineTool({ name: CALL_TOOL, description: 'Calls a customer.', execute: () => ok('Called.') })
    const section = defineSection({ key: 'a', title: 'A', template: 'Help.', tools: [own] })
    const { adapter, requests } = createModel([[{ name: CALL_TOOL, arguments: {} }]])
    await runAgent(definePrompt({ ns: 'test', key: 'own', sections: [section] }).bind(), { adapter, input: 'Go.' })
    expect(requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', text: 'Called.' })
  })
})

const listed: AnyTool = defineTool({ name: 'listed', description: 'Is listed.', execute: () => ok('') })

function says(...toolCalls: readonly ToolCall[]): AssistantMessage {
  return { role: 'assistant', text: '', toolCalls }
}
