import type { LanguageModel } from 'ai'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ProviderAdapter } from '../../packages/foldout/src/adapters/contract.ts'
import { aiSdk } from '../../packages/foldout/src/entries/ai-sdk.ts'
import { createSession, definePrompt, defineSection, runAgent } from '../../packages/foldout/src/entries/index.ts'
import type { AdapterSuiteOptions } from '../../packages/foldout/src/testing/adapter-peer.ts'
import { weatherPrompt } from '../../packages/foldout/src/testing/adapter-prompt.ts'
import { calls, done, opens } from '../../packages/foldout/src/testing/adapter-stage.ts'
import { adapterSuite } from '../../packages/foldout/src/testing/adapter-suite.ts'
import { anthropicBehavior, compatibleBehaviors, openaiBehavior } from '../providers/behavior.ts'
import { startMockProvider, type Behavior, type RecordedRequest } from '../providers/mock.ts'
import { chatWire, messagesWire, responsesWire } from '../providers/wires.ts'
import { importProvider, installProviders } from './harness.ts'

type Packages = Readonly<Record<'openai' | 'anthropic' | 'compatible', Awaited<ReturnType<typeof importProvider>>>>
let packages: Packages

beforeAll(async () => {
  const folder = import.meta.dirname
  installProviders(folder)
  packages = {
    openai: await importProvider(folder, '@ai-sdk/openai/dist/index.mjs', 'createOpenAI'),
    anthropic: await importProvider(folder, '@ai-sdk/anthropic/dist/index.mjs', 'createAnthropic'),
    compatible: await importProvider(folder, '@ai-sdk/openai-compatible/dist/index.mjs', 'createOpenAICompatible'),
  }
}, 300_000)

const apiKey = 'no-secret'
const createClaude = (url: string): LanguageModel =>
  packages.anthropic.create({ baseURL: `${url}/v1`, apiKey })('claude-opus-5-5')
const createGpt = (url: string): LanguageModel => {
  const { responses } = packages.openai.create({ baseURL: `${url}/v1`, apiKey })
  if (responses === undefined) throw new Error('The package has no Responses.')
  return responses('gpt-5.4')
}
const createLocal = (url: string): LanguageModel =>
  packages.compatible.create({
    baseURL: `${url}/v1`,
    apiKey,
    name: 'vllm',
    includeUsage: true,
    supportsStructuredOutputs: true,
  })('qwen')

function suite(
  name: string,
  wire: Omit<AdapterSuiteOptions<RecordedRequest>, 'create' | 'supportsDynamicTools'>,
  { behavior, create }: { readonly behavior: Behavior; create(url: string): ProviderAdapter },
): void {
  const options: AdapterSuiteOptions<RecordedRequest> = {
    ...wire,
    supportsDynamicTools: true,
    async create({ script }) {
      const provider = await startMockProvider(script, behavior)
      return {
        adapter: create(provider.url),
        requests: () => provider.requests,
        isGivenUp: (request) => request.isGivenUp,
        stop: () => provider.stop(),
      }
    },
  }
  // Each case has its own provider, and most of the time is spent waiting.
  describe.concurrent('at once', () => {
    adapterSuite(`aiSdk with ${name}`, options)
  })
}

// A longer tool list invalidates thinking, which is then left out; that is tested below.
const { think: _, ...unthinking } = anthropicBehavior

/** The package sends earlier replies as parts without ids, which OpenAI accepts and its types do not have. */
function withPlainReplies(body: RecordedRequest['body']): RecordedRequest['body'] {
  const input = body['input'] as readonly {
    readonly role?: string
    readonly content: readonly { readonly text: string }[]
  }[]
  const toPlain = (item: (typeof input)[number]): object =>
    item.role === 'assistant' ? { role: 'assistant', content: item.content.map(({ text }) => text).join('') } : item
  return { ...body, input: input.map(toPlain) }
}

suite('@ai-sdk/openai, Responses', responsesWire('plain', withPlainReplies), {
  behavior: openaiBehavior,
  create: (url) => aiSdk({ model: createGpt(url) }),
})
suite('@ai-sdk/anthropic', messagesWire('plain'), {
  behavior: unthinking,
  create: (url) => aiSdk({ model: createClaude(url) }),
})
suite('@ai-sdk/anthropic, tools added natively', messagesWire('reference'), {
  behavior: anthropicBehavior,
  create: (url) => aiSdk({ model: createClaude(url), toolAdditions: 'native' }),
})
suite('@ai-sdk/openai-compatible', chatWire({ isCompatible: true }), {
  behavior: compatibleBehaviors['http://127.0.0.1'],
  create: (url) => aiSdk({ model: createLocal(url) }),
})

async function start(script: Parameters<typeof startMockProvider>[0], behavior: Behavior = {}) {
  const provider = await startMockProvider(script, behavior)
  onTestFinished(() => provider.stop())
  return provider
}

describe('aiSdk and thinking, which is bound to what it followed', () => {
  const script = [opens('rain'), calls('measure_rain', { city: 'Rome' }), done, done]

  it.each(['native', 'plain'] as const)(
    'leaves it out if the conversation changed: tools added %s',
    async (toolAdditions) => {
      const provider = await start(script, anthropicBehavior)
      const adapter = aiSdk({ model: createClaude(provider.url), toolAdditions })
      const session = createSession()
      await runAgent(weatherPrompt, { adapter, session, input: 'Rain?' })
      await runAgent(weatherPrompt, { adapter, session, input: 'Sure?' })
      expect(provider.requests).toHaveLength(4)
      const hasThinking = provider.requests.map(({ raw }) => raw.includes('"type":"thinking"'))
      expect(hasThinking).toEqual(toolAdditions === 'native' ? [false, true, true, true] : [false, false, true, true])
    },
  )

  it('repeats the request without it after a refusal, and remembers that', async () => {
    const refused: string[] = []
    const provider = await start([calls('forecast', { city: 'Rome' }), done, done], {
      ...anthropicBehavior,
      refuse({ raw }) {
        if (!raw.includes('"type":"thinking"') || refused.length > 0) return undefined
        refused.push(raw)
        return 'messages.1.content.0: `thinking` block is bound to a different conversation'
      },
    })
    const adapter = aiSdk({ model: createClaude(provider.url) })
    const session = createSession()
    expect(await runAgent(weatherPrompt, { adapter, session, input: 'Sun?' })).toMatchObject({ text: 'Done.' })
    await runAgent(weatherPrompt, { adapter, session, input: 'Sure?' })
    expect(provider.requests).toHaveLength(4)
    expect(provider.requests[2]?.raw).not.toContain('"type":"thinking"')
  })
})

describe('aiSdk and tools that are added natively', () => {
  const script = [opens('rain'), calls('measure_rain', { city: 'Rome' }), done]

  it('names them where they were added, and defers their definitions', async () => {
    const provider = await start(script, anthropicBehavior)
    const adapter = aiSdk({ model: createClaude(provider.url), toolAdditions: 'native' })
    await runAgent(weatherPrompt, { adapter, input: 'Rain?' })
    const { tools, messages } = (provider.requests[1]?.body ?? {}) as Record<'tools' | 'messages', readonly object[]>
    expect(tools.at(-1)).toMatchObject({ name: 'measure_rain', defer_loading: true })
    expect(messages.at(-1)).toEqual({
      role: 'system',
      content: [{ type: 'tool_addition', tool: { type: 'tool_reference', name: 'measure_rain' } }],
    })
    expect(provider.requests[1]?.headers['anthropic-beta']).toContain('mid-conversation-tool-changes-2026-07-01')
  })

  it('moves them to the end of the list after the endpoint refuses that, and says so', async () => {
    const provider = await start(script, {
      refuse: ({ raw }) => (raw.includes('tool_addition') ? "role 'system' is not supported on this model" : undefined),
    })
    const warnings: string[] = []
    const adapter = aiSdk({ model: createClaude(provider.url), toolAdditions: 'native' })
    const result = await runAgent(weatherPrompt, {
      adapter,
      input: 'Rain?',
      onEvent: (event) => event.type === 'warning' && warnings.push(event.message),
    })
    expect(result.text).toBe('Done.')
    expect(warnings).toEqual([expect.stringMatching(/^The provider does not accept tools that are added/)])
    expect(provider.requests).toHaveLength(4)
    expect(provider.requests.at(-1)?.raw).not.toContain('defer_loading')
  })

  it('leaves them in the list if the package does not support it: @ai-sdk/openai 3', async () => {
    const provider = await start(script, openaiBehavior)
    const adapter = aiSdk({ model: createGpt(provider.url), toolAdditions: 'native' })
    expect(await runAgent(weatherPrompt, { adapter, input: 'Rain?' })).toMatchObject({ text: 'Done.' })
    const { tools } = (provider.requests[1]?.body ?? {}) as { readonly tools: readonly { readonly name: string }[] }
    expect(tools.map(({ name }) => name)).toContain('measure_rain')
  })
})

describe('aiSdk and tools that the provider runs', () => {
  const bound = definePrompt({
    ns: 'test',
    key: 'search',
    sections: [defineSection({ key: 'intro', title: 'Intro', template: 'You search.' })],
  }).bind()

  it.each([
    ['openai', 'webSearch', createGpt, { type: 'web_search' }],
    ['anthropic', 'webSearch_20250305', createClaude, { type: 'web_search_20250305', name: 'web_search' }],
  ] as const)('offers them beside ours: %s', async (name, tool, create, expected) => {
    const provider = await start([done, done])
    const made = packages[name].create({ baseURL: `${provider.url}/v1`, apiKey }).tools?.[tool]?.({})
    if (made === undefined) throw new Error(`There is no ${tool}.`)
    const adapter = aiSdk({ model: create(provider.url), providerTools: { web_search: made } })
    await runAgent(bound, { adapter, input: 'Go.' })
    await runAgent(weatherPrompt, { adapter, input: 'Go.' })
    const sent = provider.requests.map(({ body }) => body['tools'] as readonly { readonly name?: string }[])
    expect(sent[0]).toMatchObject([expected])
    expect(sent[1]?.[0]).toMatchObject(expected)
    expect(sent[1]?.map((each) => each.name)).toContain('forecast')
  })
})
