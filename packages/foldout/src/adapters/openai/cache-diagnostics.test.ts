import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openai } from '../../entries/openai.ts'
import { definePrompt, defineSection, runAgent, type AgentEvent } from '../../entries/index.ts'
import { createMemoryStore, openSession } from '../../entries/session.ts'
import { events, failing, startWire, type Answer, type Wire } from './wire.fixtures.ts'

let wire: Wire
beforeEach(async () => {
  wire = await startWire()
})
afterEach(() => wire[Symbol.asyncDispose]())

const REASONS = [
  'model_changed',
  'prompt_cache_key_changed',
  'tools_changed',
  'text_format_changed',
  'reasoning_effort_changed',
  'verbosity_changed',
  'context_compacted',
  'input_changed',
  'service_tier_changed',
]
const bound = definePrompt({
  ns: 'test',
  key: 'desk',
  sections: [defineSection({ key: 'role', title: 'Role', template: 'You help.' })],
}).bind()

const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }
const text = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
}
function reply(id: string, found?: unknown, output: readonly object[] = [text]): Answer {
  return events([
    ...output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response: { id, status: 'completed', output, prompt_cache_diagnostics: found } },
  ])
}

/** A chat, each turn of which runs in another process. */
function startChat(options: Partial<Parameters<typeof openai>[0]> = {}) {
  const store = createMemoryStore()
  const heard: AgentEvent[] = []
  return {
    heard,
    async say(input: string) {
      const session = await openSession({ store, id: 'chat' })
      const adapter = openai({
        model: 'gpt-5.6',
        apiKey: 'k',
        baseURL: 'https://api.openai.com/v1',
        cacheDiagnostics: true,
        fetch: (url, init) => fetch((url as string).replace('https://api.openai.com', wire.url), init),
        ...options,
      })
      await runAgent(bound, { adapter, session, input, onEvent: (event) => void heard.push(event) })
      await session.saved()
    },
  }
}
const getMisses = (heard: readonly AgentEvent[]) => heard.filter(({ type }) => type === 'cache/diagnosed')
const getCompared = () => wire.requests.map(({ body }) => body.prompt_cache_options?.comparison_response_id)

describe('cache diagnostics of OpenAI', () => {
  it.each(REASONS)('R42 name the reply before, also in another process, and report %s', async (reason) => {
    const miss = { type: 'cache_miss', reason, cache_missed_tokens: 4321 }
    wire.answerNext(reply('resp_1'), reply('resp_2', miss, [reasoning, text]), reply('resp_3', { type: 'cache_hit' }))
    const chat = startChat()
    for (const input of ['One.', 'Two.', 'Three.']) await chat.say(input)
    expect(getCompared()).toEqual([undefined, 'resp_1', 'resp_2'])
    expect(getMisses(chat.heard)).toEqual([{ type: 'cache/diagnosed', reason, tokens: 4321 }])
    const { input } = wire.requests.at(-1)?.body ?? {}
    expect(input).toContainEqual(reasoning)
    expect(JSON.stringify(input).startsWith(JSON.stringify(wire.requests[1]?.body.input).slice(0, -1))).toBe(true)
  })

  it.each([
    [{ type: 'comparison_response_not_found' }, ['comparison_response_not_found', 0]],
    [{ type: 'unavailable' }, ['unavailable', 0]],
    [{ type: 'cache_miss', reason: 'x'.repeat(1000), cache_missed_tokens: -1 }, ['x'.repeat(100), 0]],
    [{ type: 'cache_miss', reason: 7 }, undefined],
    [{}, undefined],
    ['x', undefined],
    [null, undefined],
  ])('R37 accept any answer: %j', async (found, reported) => {
    wire.answerNext(reply('resp_1', found))
    const chat = startChat({ cacheDiagnostics: false })
    await chat.say('One.')
    const misses = getMisses(chat.heard).map((event) => Object.values(event).slice(1))
    expect(misses).toEqual(reported === undefined ? [] : [reported])
  })

  it.each([{ cacheDiagnostics: false }, { model: 'gpt-5.5' }])(
    'R34 are asked for only on request, and where they exist: not with %j',
    async (options) => {
      wire.answerNext(reply('resp_1'), reply('resp_2'))
      const chat = startChat(options)
      for (const input of ['One.', 'Two.']) await chat.say(input)
      expect(getCompared()).toEqual([undefined, undefined])
    },
  )

  it('R34 are no longer asked for after a refusal, which is remembered', async () => {
    const learned = new Set<string>()
    const refusal = failing(400, "Unknown parameter: 'prompt_cache_options.comparison_response_id'.")
    wire.answerNext(reply('resp_1'), refusal, reply('resp_2'), reply('resp_3'))
    const chat = startChat({ learned })
    for (const input of ['One.', 'Two.', 'Three.']) await chat.say(input)
    expect(getCompared()).toEqual([undefined, 'resp_1', undefined, undefined])
    expect([...learned]).toEqual(['api.openai.com gpt-5.6 cache-diagnostics'])
  })

  it('R37 leave ids and options of others as they are', async () => {
    const own = { mode: 'explicit', comparison_response_id: 'resp_own' }
    wire.answerNext(reply('not an id'), reply('resp_2'), reply('resp_3'))
    const chat = startChat({ parameters: { prompt_cache_options: own } })
    for (const input of ['One.', 'Two.', 'Three.']) await chat.say(input)
    expect(wire.requests.map(({ body }) => body.prompt_cache_options)).toEqual([own, own, own])
  })
})
