import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Message, ProviderAdapter } from '../contract.ts'
import { openai, type OpenAIOptions } from '../../entries/openai.ts'
import { conversation, tool, warnings } from './conversation.fixtures.ts'
import { events, failing, startWire, type Answer, type Wire } from './wire.fixtures.ts'

let wire: Wire
beforeEach(async () => {
  wire = await startWire()
})
afterEach(() => wire[Symbol.asyncDispose]())

const OPENAI = 'https://api.openai.com'
const at = (host: string, options: Partial<OpenAIOptions> = {}): ProviderAdapter =>
  openai({
    model: 'gpt-5.6',
    apiKey: 'k',
    baseURL: `${host}/v1`,
    fetch: (url, init) => fetch((url as string).replace(host, wire.url), init),
    ...options,
  })
const done: Answer = events([{ type: 'response.completed', response: { status: 'completed', output: [] } }])
const ask = async (adapter: ProviderAdapter, talk = conversation()) => {
  wire.answerNext(done)
  await adapter.evaluate(talk)
  return wire.requests.at(-1)!.body
}

describe('the cache of OpenAI from GPT-5.6 on', () => {
  it('R78 marks the end of the system text, and keys conversations by their prompt and tools', async () => {
    const body = await ask(at(OPENAI))
    expect(body.instructions).toBeUndefined()
    expect(body.input[0]).toEqual({
      role: 'developer',
      content: [{ type: 'input_text', text: 'You tell the weather.', prompt_cache_breakpoint: { mode: 'explicit' } }],
    })
    const other = await ask(at(OPENAI), conversation({ messages: [{ role: 'user', text: 'Something else' }] }))
    const tools = await ask(at(OPENAI), conversation({ tools: [tool('wind')] }))
    expect(body.prompt_cache_key).toMatch(/^[0-9a-f]{64}$/)
    expect(other.prompt_cache_key).toBe(body.prompt_cache_key)
    expect(tools.prompt_cache_key).not.toBe(body.prompt_cache_key)
    expect(await ask(at(OPENAI, { promptCacheKey: 'mine' }))).toMatchObject({ prompt_cache_key: 'mine' })
  })

  it.each(['gpt-5.10', 'gpt-6-mini', 'ft:gpt-5.6:acme::1'])('R78 marks the system text for %s', async (model) => {
    expect(await ask(at(OPENAI, { model }))).toMatchObject({ input: [{ role: 'developer' }, { role: 'user' }] })
  })

  it.each([
    ['an earlier model', OPENAI, { model: 'gpt-5.5' }],
    ['an earlier model, fine-tuned', OPENAI, { model: 'ft:gpt-4.1:acme::1' }],
    ['another model', OPENAI, { model: 'o3' }],
    ['another endpoint', 'https://proxy.example', {}],
  ])('R78 sends instructions to %s', async (_name, host, options) => {
    const body = await ask(at(host, options))
    expect(body).toMatchObject({ instructions: 'You tell the weather.', input: [{ role: 'user' }] })
    expect(body.prompt_cache_key).toBeUndefined()
  })

  it('R78 sends instructions from the first refusal on', async () => {
    const adapter = at(OPENAI)
    const talk = conversation()
    wire.answerNext(failing(400, "Unknown parameter: 'input[0].content[0].prompt_cache_breakpoint'."))
    expect(await ask(adapter, talk)).toMatchObject({ instructions: 'You tell the weather.' })
    expect(warnings(talk.events)).toEqual([expect.stringContaining('prompt_cache_breakpoint')])
    expect(await ask(adapter)).toMatchObject({ instructions: 'You tell the weather.' })
    expect(wire.requests).toHaveLength(3)
  })
})

describe('tools that are added behind another address than that of OpenAI', () => {
  const messages: Message[] = [
    { role: 'user', text: 'Hello' },
    { role: 'tools', names: ['wind'] },
  ]
  const talk = () => conversation({ messages, addedTools: new Map([['wind', tool('wind')]]) })

  it('R42 go to the end of the list, and the adapter says so once', async () => {
    const adapter = at('https://my.openai.azure.com')
    const first = talk()
    expect((await ask(adapter, first)).tools).toMatchObject([{ name: 'wind' }])
    expect(warnings(first.events)).toEqual([
      "The endpoint my.openai.azure.com is not OpenAI's own, so tools that are added during a conversation go to the end of the tool list, and everything after them is no longer read from the cache. Set toolAdditions: 'native' if the endpoint accepts them in place, or 'plain' if this is what you want.",
    ])
    const second = talk()
    await ask(adapter, second)
    expect(warnings(second.events)).toEqual([])
  })

  it.each(['native', 'plain'] as const)('R42 are sent without a word if toolAdditions is %s', async (toolAdditions) => {
    const asked = talk()
    await ask(at('https://my.openai.azure.com', { toolAdditions }), asked)
    expect(warnings(asked.events)).toEqual([])
  })
})
