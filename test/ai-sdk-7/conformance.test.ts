import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { aiSdk } from '../../packages/foldout/src/entries/ai-sdk.ts'
import { createCatalog, native, type RawTool } from '../../packages/foldout/src/entries/catalog.ts'
import { definePrompt, runAgent } from '../../packages/foldout/src/entries/index.ts'
import { catalogSection } from '../../packages/foldout/src/sections/catalog-section.ts'
import { weatherPrompt } from '../../packages/foldout/src/testing/adapter-prompt.ts'
import { calls, done, opens } from '../../packages/foldout/src/testing/adapter-stage.ts'
import { adapterSuite } from '../../packages/foldout/src/testing/adapter-suite.ts'
import { importProvider, installProviders } from '../ai-sdk/harness.ts'
import { openaiBehavior } from '../providers/behavior.ts'
import { startMockProvider, type RecordedRequest } from '../providers/mock.ts'
import { responsesWire } from '../providers/wires.ts'

const folder = import.meta.dirname

// The adapter imports its user's AI SDK, which is version 7 here.
vi.mock(
  '../../node_modules/ai/dist/index.mjs',
  () => import(pathToFileURL(join(import.meta.dirname, 'node_modules/ai/dist/index.js')).href),
)

let createOpenAi: Awaited<ReturnType<typeof importProvider>>['create']

beforeAll(async () => {
  installProviders(folder)
  const openai = await importProvider(folder, '@ai-sdk/openai/dist/index.js', 'createOpenAI')
  createOpenAi = openai.create
}, 300_000)

function createGpt(url: string): Parameters<typeof aiSdk>[0]['model'] {
  const { responses } = createOpenAi({ baseURL: `${url}/v1`, apiKey: 'no-secret' })
  if (responses === undefined) throw new Error('The package has no Responses.')
  return responses('gpt-5.4')
}

const wire = responsesWire('native')

/** The package wraps the text of an error in an object. */
function readError(result: string): string {
  return result.startsWith('{"error":') ? (JSON.parse(result) as { readonly error: string }).error : result
}

adapterSuite<RecordedRequest>('aiSdk 7 with @ai-sdk/openai 4, tools added natively', {
  ...wire,
  getResults: (request) => wire.getResults(request).map(readError),
  skips: { prefix: 'the package adds tools only after the result of a call, not between two user messages' },
  supportsDynamicTools: true,
  async create({ script }) {
    const provider = await startMockProvider(script, openaiBehavior)
    return {
      adapter: aiSdk({ model: createGpt(provider.url), toolAdditions: 'native' }),
      requests: () => provider.requests,
      isGivenUp: (request) => request.isGivenUp,
      stop: () => provider.stop(),
    }
  },
})

describe('aiSdk 7 and tools that are added natively', () => {
  it('R35 R42 defines them after the result that added them, and leaves the list unchanged', async () => {
    const provider = await startMockProvider(
      [opens('rain'), calls('measure_rain', { city: 'Rome' }), done],
      openaiBehavior,
    )
    onTestFinished(() => provider.stop())
    const adapter = aiSdk({ model: createGpt(provider.url), toolAdditions: 'native' })
    await runAgent(weatherPrompt, { adapter, input: 'Rain?' })
    const [first, second] = provider.requests.map(({ body }) => body as { tools: object[]; input: object[] })
    expect(second?.tools).toEqual(first?.tools)
    expect(second?.input.at(-1)).toMatchObject({
      type: 'additional_tools',
      tools: [{ type: 'function', name: 'measure_rain' }],
    })
  })

  it('R82 adds what a search of native() finds in the same way, and the model calls the real tool', async () => {
    const catalog = createCatalog(
      ['invoice', 'parcel', 'garden', 'violin'].flatMap((thing) =>
        ['create', 'print'].map((action): RawTool => {
          const name = `${action}_${thing}`
          const call = async () => ({ content: [{ type: 'text', text: `${name} is done.` }] })
          return { name, description: `Will ${action} one ${thing}.`, call }
        }),
      ),
    )
    const provider = await startMockProvider(
      [calls('search_tools', { query: 'print an invoice' }), calls('print_invoice', {}), done],
      openaiBehavior,
    )
    onTestFinished(() => provider.stop())
    const adapter = aiSdk({ model: createGpt(provider.url), toolAdditions: 'native' })
    const sections = [catalogSection(catalog, { expose: native() })]
    const bound = definePrompt({ ns: 'test', key: 'desk', sections }).bind()
    const { state } = await runAgent(bound, { adapter, input: 'Print it.' })
    expect(state.messages).toContainEqual(expect.objectContaining({ role: 'tool', text: 'print_invoice is done.' }))
    const bodies = provider.requests.map(({ body }) => body as { tools: object[]; input: object[] })
    expect(new Set(bodies.map(({ tools }) => JSON.stringify(tools))).size).toBe(1)
    expect(bodies[1]?.input.at(-1)).toMatchObject({
      type: 'additional_tools',
      tools: expect.arrayContaining([expect.objectContaining({ type: 'function', name: 'print_invoice' })]),
    })
  })
})
