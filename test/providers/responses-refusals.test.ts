import { describe, expect, it } from 'vitest'
import type { Message } from '../../packages/foldout/src/adapters/contract.ts'
import { conversation, tool } from '../../packages/foldout/src/adapters/openai/conversation.fixtures.ts'
import { openai, openaiCompatible } from '../../packages/foldout/src/entries/openai.ts'
import { onLoneReasoning, startRefusingServer, type Refusal } from './openai-refusals.ts'

const TOOLS = [tool('weather')]
const done: readonly object[] = [{ choices: [{ index: 0, delta: { content: 'Done.' }, finish_reason: 'stop' }] }]

describe('Responses', () => {
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2Vj' }
  const says = (text: string, phase?: string): object => ({
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
    ...(phase === undefined ? {} : { phase }),
  })
  const responds = (status: string, ...output: readonly object[]): readonly object[] => [
    { type: 'response.reasoning_summary_text.delta', delta: 'Hm.' },
    { type: `response.${status}`, response: { status, output } },
  ]
  const calls = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'weather', arguments: '{}' }

  it('R39 leaves out reasoning that nothing follows, and keeps what came before it', async () => {
    const cut = responds('incomplete', reasoning, says('So far.'), { ...reasoning, id: 'rs_2' })
    await using server = await startRefusingServer([onLoneReasoning], cut, responds('completed', says('Done.')))
    const adapter = openai({ model: 'gpt-5', apiKey: 'k', baseURL: server.url })
    const talk = conversation()
    await adapter.evaluate(talk)
    expect(talk.events).toContainEqual({ type: 'reasoning/delta', text: 'Hm.' })
    const messages: readonly Message[] = [...talk.messages, ...talk.recorded, { role: 'user', text: 'Go on.' }]
    expect(await adapter.evaluate(conversation({ messages }))).toMatchObject({ text: 'Done.' })
    expect(server.requests[1]?.input?.map(({ id }) => id)).toEqual([undefined, 'rs_1', 'msg_1', undefined])
  })

  it('R39 does not send back a reply that is only reasoning', async () => {
    await using server = await startRefusingServer(
      [onLoneReasoning],
      responds('incomplete', reasoning),
      responds('completed', says('Done.')),
    )
    const adapter = openai({ model: 'gpt-5', apiKey: 'k', baseURL: server.url })
    const talk = conversation()
    await adapter.evaluate(talk)
    const messages: readonly Message[] = [...talk.messages, ...talk.recorded, { role: 'user', text: 'Go on.' }]
    await adapter.evaluate(conversation({ messages }))
    expect(server.requests[1]?.input).toHaveLength(2)
  })

  it('R39 keeps the phase of a message, without the ids of reasoning', async () => {
    const first = responds('completed', says('I look.', 'commentary'), calls)
    await using server = await startRefusingServer([], first, responds('completed', says('Done.', 'final_answer')))
    const talk = conversation({ tools: TOOLS })
    await openai({ model: 'gpt-4.1', apiKey: 'k', baseURL: server.url }).evaluate(talk)
    expect(server.requests[1]?.input?.slice(1, 3)).toEqual([
      { role: 'assistant', content: 'I look.', phase: 'commentary' },
      { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{}' },
    ])
    expect(talk.recorded.at(-1)).toMatchObject({ text: 'Done.', native: { content: [{ phase: 'final_answer' }] } })
  })

  it("offers the provider's tools beside its own", async () => {
    await using server = await startRefusingServer([], responds('completed', says('Done.')), done)
    const parameters = { tools: [{ type: 'web_search' }] }
    await openai({ model: 'gpt-5', apiKey: 'k', baseURL: server.url, parameters }).evaluate(
      conversation({ tools: TOOLS }),
    )
    await openaiCompatible({ model: 'm', baseURL: server.url, parameters }).evaluate(conversation({ tools: TOOLS }))
    for (const { tools } of server.requests) expect(tools).toMatchObject([{ type: 'web_search' }, { type: 'function' }])
  })

  it('sends a key for the cache, unless it is refused', async () => {
    const unknown: Refusal = ({ prompt_cache_key: key }) =>
      key === undefined ? undefined : 'Unknown parameter: prompt_cache_key'
    const said = responds('completed', says('Done.'))
    await using server = await startRefusingServer([], said, done)
    const options = { model: 'gpt-5', apiKey: 'k', promptCacheKey: 'acme' }
    await openai({ ...options, baseURL: server.url }).evaluate(conversation())
    await openai({ ...options, baseURL: server.url, interface: 'chat' }).evaluate(conversation())
    expect(server.requests.map(({ prompt_cache_key: key }) => key)).toEqual(['acme', 'acme'])
    await using other = await startRefusingServer([unknown], said)
    expect(await openai({ ...options, baseURL: other.url }).evaluate(conversation())).toMatchObject({ text: 'Done.' })
  })
})
