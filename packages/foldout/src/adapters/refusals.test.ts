import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openai, openaiCompatible } from '../entries/openai.ts'
import { asAnthropic, ask, refuse, startProvider, toolNamed, type Provider } from './anthropic/harness.fixtures.ts'
import { anthropic } from '../entries/anthropic.ts'
import { conversation } from './openai/conversation.fixtures.ts'
import { failing, startWire, type Wire } from './openai/wire.fixtures.ts'

describe('what an endpoint refused', () => {
  let wire: Wire
  let provider: Provider
  beforeEach(async () => {
    wire = await startWire()
    provider = await startProvider()
    wire.mock.on({ predicate: () => true }, { content: 'Done.' })
  })
  afterEach(async () => {
    await wire[Symbol.asyncDispose]()
    await provider.stop()
  })

  it('R82 R34 is not tried again by the next process, and by no other model or address', async () => {
    const refusals = new Set<string>()
    const at = (model: string, path = '/v1') =>
      openaiCompatible({ model, baseURL: `${wire.url}${path}`, learned: refusals })
    wire.answerNext(failing(422, 'stream_options: Extra inputs are not permitted'))
    await at('a-model').evaluate(conversation())
    expect([...refusals]).toEqual(['127.0.0.1 a-model stream-usage'])
    const stored = JSON.stringify([...refusals])
    const next = openaiCompatible({
      model: 'a-model',
      baseURL: `${wire.url}/v1`,
      learned: new Set(JSON.parse(stored)),
    })
    await next.evaluate(conversation())
    await at('other').evaluate(conversation())
    expect(wire.requests.map(({ body }) => 'stream_options' in body)).toEqual([true, false, false, true])
  })

  it('R82 R42 includes the ways to add tools, for OpenAI', async () => {
    const refusals = new Set(['api.openai.com gpt-4o added-tools'])
    const at = (model: string) =>
      openai({ model, apiKey: 'k', baseURL: 'https://api.openai.com/v1', learned: refusals })
    expect([at('gpt-4o').addsInPlace, at('gpt-5').addsInPlace]).toEqual([false, true])
  })

  it('R82 R42 includes the ways to add tools, for Anthropic', async () => {
    const refusals = new Set<string>()
    const claude = () =>
      anthropic({ model: 'claude-opus-5-5', apiKey: 'k', ...asAnthropic(provider.url), learned: refusals })
    provider.intercept(({ headers }, response) =>
      headers['anthropic-beta'] === undefined
        ? false
        : refuse(response, 400, `Unexpected value for the anthropic-beta header: ${String(headers['anthropic-beta'])}`),
    )
    provider.answer({ content: 'Done.' }, { content: 'Done.' })
    const first = claude()
    await ask(first, { tools: [toolNamed('look')] })
    expect(provider.requests).toHaveLength(3)
    expect([...refusals]).toEqual([
      'api.anthropic.com claude-opus-5-5 inline-additions',
      'api.anthropic.com claude-opus-5-5 reference-additions',
    ])
    const next = claude()
    expect([first.addsInPlace, next.addsInPlace]).toEqual([false, false])
    await ask(next, { tools: [toolNamed('look')] })
    expect(provider.requests).toHaveLength(4)
  })
})
