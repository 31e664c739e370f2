import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChatRequest, Message } from '../contract.ts'
import { toWireConversation } from './conversation.ts'
import { ask, refuse, toolNamed, useClaude, type Provider, type WireBlock, type WireBody } from './harness.fixtures.ts'

let provider: Provider
const claude = useClaude((started) => (provider = started))

const WITHOUT_SYSTEM_MESSAGES = ['claude-sonnet-4-6', 'claude-opus-4-7', 'claude-haiku-4-5-20251001', 'claude-sonnet-5']

/** Refuses what these models refuse, in the words of the provider. */
function refuseSystemMessages(body: WireBody): string | undefined {
  const at = body.messages.findIndex(({ role }) => role === 'system')
  if (at !== -1) return `messages.${at}: role 'system' is not supported on this model`
  const many = listResults(body).find((names) => names.length > 5)
  return many && `messages: a tool_result can hold at most 5 tool_reference blocks, not ${many.length}`
}

/** The tools that each result names. */
function listResults({ messages }: WireBody): readonly (readonly string[])[] {
  const results = messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool_result'))
  return results.map(({ content }) =>
    Array.isArray(content)
      ? (content as WireBlock[]).flatMap((block) =>
          block.type === 'tool_reference' ? [String(block['tool_name'])] : [],
        )
      : [],
  )
}

const openings = () => {
  provider.answer(
    { toolCalls: [{ id: 'toolu_1', name: 'open', arguments: '{"text":"a"}' }] },
    { toolCalls: [{ id: 'toolu_2', name: 'tool_a', arguments: '{}' }] },
    { toolCalls: [{ id: 'toolu_3', name: 'open', arguments: '{"text":"b"}' }] },
    { content: 'Done.' },
  )
  return {
    tools: [toolNamed('open')],
    results: ({ name, arguments: args }: { readonly name: string; readonly arguments?: unknown }) => {
      const { text = '' } = args as { text?: string }
      return name === 'open' ? { text: `Opened ${text}.`, adds: toolNamed(`tool_${text}`) } : 'Found.'
    },
  }
}

describe('tools named in results, for models that refuse system messages', () => {
  it.each(WITHOUT_SYSTEM_MESSAGES)('R35 R42 are loaded in place from the start by %s', async (model) => {
    provider.intercept(({ body }, response) => {
      const refusal = refuseSystemMessages(body)
      return refusal !== undefined && refuse(response, 400, refusal)
    })
    const adapter = claude({ model })
    expect([adapter.addsInPlace, adapter.removesTools]).toEqual([true, false])
    const { result, events } = await ask(adapter, openings())
    expect(result).toMatchObject({ type: 'final', text: 'Done.' })
    expect(events.filter(({ type }) => type === 'warning')).toEqual([])
    expect(provider.requests).toHaveLength(4)
    const [, , , last] = provider.requests
    expect(last?.headers['anthropic-beta']).toBeUndefined()
    expect(last?.body.tools).toMatchObject([
      { name: 'open' },
      { name: 'tool_a', defer_loading: true },
      { name: 'tool_b', defer_loading: true },
    ])
    expect(last?.body.messages[2]?.content[0]).toMatchObject({
      type: 'tool_result',
      content: [
        { type: 'text', text: 'Opened a.' },
        { type: 'tool_reference', tool_name: 'tool_a' },
      ],
    })
    // What the model reads, without tools that are not loaded, begins with all of the request before.
    const sent = provider.requests.map(({ body }) => JSON.stringify(body.messages, dropMarks).slice(0, -1))
    for (const [at, text] of sent.slice(1).entries()) expect(text.startsWith(sent[at] ?? '')).toBe(true)
  })

  it('R35 go to the end of the list if the endpoint refuses references, with a warning', async () => {
    provider.intercept(({ body }, response) =>
      listResults(body).flat().length > 0
        ? refuse(response, 400, 'messages.2.content.0.content.1: Input tag tool_reference found does not match')
        : false,
    )
    const adapter = claude({ model: 'claude-sonnet-4-6' })
    const { result, events } = await ask(adapter, openings())
    expect(result).toMatchObject({ type: 'final', text: 'Done.' })
    expect(events.filter(({ type }) => type === 'warning')).toHaveLength(1)
    expect(adapter.addsInPlace).toBe(false)
    expect(provider.requests.at(-1)?.body.tools?.map(({ name }) => name)).toEqual(['open', 'tool_a', 'tool_b'])
    expect(JSON.stringify(provider.requests.at(-1)?.body)).not.toContain('defer_loading')
  })

  it('R35 any additions are named once, at most five in a result, or are in the list', () => {
    const turn = fc.record({
      results: fc.array(fc.boolean(), { maxLength: 3 }),
      adds: fc.nat({ max: 12 }),
      said: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 5 }), (turns) => {
        const addedTools = new Map<string, ReturnType<typeof toolNamed>>()
        const messages: Message[] = [{ role: 'user', text: 'Go.' }]
        for (const [at, { results, adds, said }] of turns.entries()) {
          const ids = results.map((_, index) => `c${at}_${index}`)
          messages.push({
            role: 'assistant',
            text: 'On.',
            toolCalls: ids.map((id) => ({ id, name: 'open', arguments: {} })),
          })
          for (const [index, isError] of results.entries())
            messages.push({ role: 'tool', callId: ids[index] ?? '', name: 'open', text: 'Opened.', isError })
          if (said) messages.push({ role: 'user', text: 'And?' })
          const names = Array.from({ length: adds }, (_, index) => `tool_${at}_${index}`)
          for (const name of names) addedTools.set(name, toolNamed(name))
          messages.push({ role: 'tools', names })
        }
        const request: ChatRequest = {
          system: '',
          tools: [toolNamed('open')],
          addedTools,
          messages,
          output: undefined,
          signal: new AbortController().signal,
          emit: () => {},
        }
        const { params } = toWireConversation(request, {
          model: 'claude-sonnet-4-6',
          serverTools: [],
          additions: 'result',
          cacheControl: undefined,
          keepsThinking: false,
          refusedThinking: new Set(),
        })
        const body = params as unknown as WireBody
        expect(refuseSystemMessages(body)).toBeUndefined()
        const named = listResults(body).flat()
        const deferred = body.tools?.flatMap((tool) => ('defer_loading' in tool ? [tool.name] : []))
        expect(named.toSorted()).toEqual(deferred?.toSorted())
        expect(body.tools?.map(({ name }) => name).toSorted()).toEqual(['open', ...addedTools.keys()].toSorted())
      }),
    )
  })
})

function dropMarks(key: string, value: unknown): unknown {
  return key === 'cache_control' ? undefined : value
}
