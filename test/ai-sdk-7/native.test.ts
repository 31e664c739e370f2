import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { importProvider, installProviders } from '../ai-sdk/harness.ts'
import type { AiPackage } from '../ai-sdk/host.ts'
import { ADDED, TEN_TURNS, findBreaks, runTenTurns } from '../ai-sdk/ten-turns.ts'
import { openaiBehavior } from '../providers/behavior.ts'
import { startMockProvider } from '../providers/mock.ts'

const folder = import.meta.dirname
installProviders(folder)

// The library imports its user's AI SDK, which is version 7 here.
vi.mock(
  '../../node_modules/ai/dist/index.mjs',
  () => import(pathToFileURL(join(import.meta.dirname, 'node_modules/ai/dist/index.js')).href),
)

const ai = (await import(pathToFileURL(join(folder, 'node_modules/ai/dist/index.js')).href)) as AiPackage
const openai = await importProvider(folder, '@ai-sdk/openai/dist/index.js', 'createOpenAI')

it.each([false, true])(
  'R82 keeps every byte of the cached prefix over ten turns in AI SDK 7, streamed: %s',
  async (isStreamed) => {
    const provider = await startMockProvider(TEN_TURNS, openaiBehavior)
    onTestFinished(() => provider.stop())
    const model = openai.create({ baseURL: `${provider.url}/v1`, apiKey: 'no-secret' }).responses?.('gpt-5.4')
    if (model === undefined) throw new Error('The package has no Responses.')
    const messages = await runTenTurns(ai, model, { isStreamed })
    expect(provider.requests).toHaveLength(22)
    expect(findBreaks(provider.requests, 'input')).toEqual([])
    const items = provider.requests.at(-1)?.body['input'] as readonly { readonly type?: string }[]
    const added = JSON.stringify(items.filter(({ type }) => type === 'additional_tools'))
    for (const name of ADDED) {
      expect(added).toContain(`"name":"${name}"`)
      expect(JSON.stringify(messages)).toContain(name === 'measure_rain' ? '3 mm of rain.' : `${name} is done.`)
    }
  },
)
