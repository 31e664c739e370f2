import { describe, expect, it } from 'vitest'
import { TOOL_NAME_PATTERN } from '../tools/tool.ts'
import type { AssistantMessage } from './contract.ts'
import { INTERFACES } from './hostile-replies.fixtures.ts'
import { conversation, shownText, tool, warnings } from './openai/conversation.fixtures.ts'

const WEATHER = [tool('weather')]
const done = { says: 'Done.' }
const HALF = '\ud83d'

/** Returns every name of a called tool in a request. */
function findCallNames(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap(findCallNames)
  if (typeof value !== 'object' || value === null) return []
  const { type, name, toolName, function: called } = value as Record<string, unknown>
  const isCall = type === 'function_call' || type === 'tool_use' || type === 'tool-call' || type === 'tool-result'
  const own = isCall ? [toolName ?? name] : []
  const inner = isCalled(called) ? [called.name] : []
  return [...own, ...inner, ...Object.values(value).flatMap(findCallNames)]
}

function isCalled(value: unknown): value is { readonly name: unknown } {
  return typeof value === 'object' && value !== null && 'arguments' in value
}

describe.each(Object.entries(INTERFACES))('odd replies over %s', (_name, serve) => {
  it.each([
    ['functions.weather', 'functions_weather'],
    ['my weather tool', 'my_weather_tool'],
    [' weather', '_weather'],
    ['', 'unnamed'],
    ['wëather/日本', 'w_ather___'],
    ['w'.repeat(100), 'w'.repeat(64)],
    [`weather${HALF}`, 'weather_'],
    ['weather\n</tool_call>', 'weather___tool_call_'],
  ])('R37 a call of %j is stored and sent back under a name that providers accept', async (written, name) => {
    const server = serve([{ calls: [{ id: 'a', name: written, text: '{"city":"Rome"}' }] }, done])
    const talk = conversation({ tools: WEATHER })
    expect(await server.adapter.evaluate(talk)).toMatchObject({ text: 'Done.' })
    expect(talk.calls[0]).toEqual([{ id: 'a', name, writtenName: written.toWellFormed(), arguments: { city: 'Rome' } }])
    const sent = findCallNames(JSON.parse(server.requests[1] ?? ''))
    expect(sent.length).toBeGreaterThan(0)
    for (const each of sent) expect(each).toMatch(TOOL_NAME_PATTERN)
    const streamed = talk.events.flatMap((event) => (event.type === 'call/delta' ? [event.name] : []))
    expect(streamed.filter((each) => each !== name)).toEqual([])
  })

  it('R37 half of an emoji in a text or in arguments is not sent back', async () => {
    const text = '{"city":"Rome \\ud83d","\\ude00":["\\ud83d"]}'
    const server = serve([{ calls: [{ id: 'a', name: 'weather', text }] }, { says: `Sunny ${HALF}` }])
    const talk = conversation({ tools: WEATHER })
    expect(await server.adapter.evaluate(talk)).toMatchObject({ text: 'Sunny \ufffd' })
    expect(talk.calls[0]?.[0]?.arguments).toEqual({ city: 'Rome \ufffd', '\ufffd': ['\ufffd'] })
    expect(server.requests[1]).not.toMatch(/\\ud[89a-f]/i)
  })

  it('R37 an id of a million characters is replaced', async () => {
    const server = serve([{ calls: [{ id: 'i'.repeat(1_000_000), name: 'weather', text: '{}' }] }, done])
    const talk = conversation({ tools: WEATHER })
    await server.adapter.evaluate(talk)
    expect(talk.calls[0]?.[0]?.id.length).toBeLessThan(100)
  })

  it.each([
    ['model_length', 'cut-off'],
    ['max_output_tokens', 'cut-off'],
    ['model_context_window_exceeded', 'cut-off'],
    ['repetition_truncation', 'cut-off'],
    ['SAFETY', 'filtered'],
    ['content_filter', 'filtered'],
    ['PROHIBITED_CONTENT', 'filtered'],
    ['guardrail_intervened', 'filtered'],
  ] as const)('R37 a reply that ended with %s is marked as %s', async (reason, cut) => {
    const server = serve([{ says: 'It is', reason }])
    const talk = conversation()
    expect(await server.adapter.evaluate(talk)).toMatchObject({ type: 'final', text: 'It is' })
    expect((talk.recorded.at(-1) as AssistantMessage).cut).toBe(cut)
    expect(warnings(talk.events)).toHaveLength(1)
  })

  it.each([
    'insufficient_system_resource',
    'error',
    'MALFORMED_FUNCTION_CALL',
    'function_call_filter: MALFORMED_FUNCTION_CALL',
  ])('R34 a reply that ended with %s before any text is asked for again', async (reason) => {
    const server = serve([{ says: '', reason }, done])
    const talk = conversation()
    expect(await server.adapter.evaluate(talk)).toMatchObject({ text: 'Done.' })
    expect(talk.events.map(({ type }) => type)).toContain('request/retried')
  })

  it('R34 a reply that failed after some text fails', async () => {
    const server = serve([{ says: 'It is', reason: 'error' }, done])
    await expect(server.adapter.evaluate(conversation())).rejects.toMatchObject({ code: 'adapter-stream-cut' })
  })
})

describe('reasons that nobody knows', () => {
  const serve = INTERFACES['Chat Completions']!

  it('R37 are a warning if there is a reply, and a cut if there is none', async () => {
    const server = serve([{ says: 'It is.', reason: 'wombat' }])
    const talk = conversation()
    await server.adapter.evaluate(talk)
    expect(talk.recorded.at(-1)).toEqual({ role: 'assistant', text: 'It is.', toolCalls: [] })
    expect(warnings(talk.events)).toEqual(['The provider ended the reply for a reason that is not known: wombat.'])
    const empty = conversation()
    await serve([{ says: '', reason: 'wombat' }]).adapter.evaluate(empty)
    expect(empty.recorded.at(-1)).toMatchObject({ cut: 'cut-off' })
    expect(shownText(empty.events)).toEqual([])
  })
})
