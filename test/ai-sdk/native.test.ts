import * as ai from 'ai'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { anthropicBehavior, openaiBehavior } from '../providers/behavior.ts'
import { startMockProvider, type Behavior } from '../providers/mock.ts'
import { importProvider, installProviders } from './harness.ts'
import { ADDED, TEN_TURNS, findBreaks, runTenTurns } from './ten-turns.ts'

type Factory = Awaited<ReturnType<typeof importProvider>>['create']
let createAnthropic: Factory
let createOpenAi: Factory

beforeAll(async () => {
  const folder = import.meta.dirname
  installProviders(folder)
  createAnthropic = (await importProvider(folder, '@ai-sdk/anthropic/dist/index.mjs', 'createAnthropic')).create
  createOpenAi = (await importProvider(folder, '@ai-sdk/openai/dist/index.mjs', 'createOpenAI')).create
}, 300_000)

async function start(behavior: Behavior) {
  const provider = await startMockProvider(TEN_TURNS, behavior)
  onTestFinished(() => provider.stop())
  return { provider, settings: { baseURL: `${provider.url}/v1`, apiKey: 'no-secret' } }
}

describe('createDisclosure and added tools, AI SDK 6', () => {
  it('R82 keeps every byte of the cached prefix over ten turns', async () => {
    const { provider, settings } = await start(anthropicBehavior)
    const messages = await runTenTurns(ai, createAnthropic(settings)('claude-opus-5-5'), { isStreamed: true })
    const { requests } = provider
    expect(requests).toHaveLength(22)
    expect(findBreaks(requests, 'messages')).toEqual([])
    for (const name of ADDED) {
      expect(requests.at(-1)?.raw).toContain(`{"type":"tool_reference","tool_name":"${name}"}`)
      expect(JSON.stringify(messages)).toContain(name === 'measure_rain' ? '3 mm of rain.' : `${name} is done.`)
    }
    expect(requests.at(-1)?.raw).toContain('"type":"thinking"')
    // What the program stores is the same for every provider.
    expect(JSON.stringify(messages)).not.toContain('tool-reference')
  })

  it('R82 adds nothing that a search finds unless asked to', async () => {
    const { provider, settings } = await start(anthropicBehavior)
    await runTenTurns(ai, createAnthropic(settings)('claude-opus-5-5'), { toolAdditions: 'plain', isStreamed: true })
    expect(provider.requests[1]?.raw).not.toMatch(/tool_reference|defer_loading|Callable now by name/)
    expect(provider.requests[1]?.raw).toContain('print_invoice')
  })

  it('R82 does as hybrid() does with @ai-sdk/openai 3, which has no such way', async () => {
    const { provider, settings } = await start(openaiBehavior)
    const model = createOpenAi(settings).responses?.('gpt-5.4')
    if (model === undefined) throw new Error('The package has no Responses.')
    await runTenTurns(ai, model)
    expect(provider.requests[1]?.raw).not.toContain('Callable now by name')
  })
})
