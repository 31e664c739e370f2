import { aiSdk } from '../../packages/foldout/src/entries/ai-sdk.ts'
import { anthropic } from '../../packages/foldout/src/entries/anthropic.ts'
import type { ProviderAdapter } from '../../packages/foldout/src/adapters/contract.ts'
import { openai, openaiCompatible } from '../../packages/foldout/src/entries/openai.ts'
import type { ModelPeer, ModelStep } from '../../packages/foldout/src/testing/adapter-peer.ts'
import { adapterSuite } from '../../packages/foldout/src/testing/adapter-suite.ts'
import { modelWire, scriptedModel, type ModelRequest } from './ai-sdk-model.ts'
import { startMockProvider, type RecordedRequest } from './mock.ts'
import { chatWire, messagesWire, responsesWire, type Wire } from './wires.ts'

/** Runs the suite on an adapter that speaks HTTP with the mock provider. */
function httpSuite(name: string, wire: Wire, adapterFor: (url: string) => ProviderAdapter): void {
  adapterSuite<RecordedRequest>(name, {
    ...wire,
    supportsDynamicTools: true,
    async create({ script }) {
      const provider = await startMockProvider(script)
      return {
        adapter: adapterFor(provider.url),
        requests: () => provider.requests,
        isGivenUp: (request) => request.isGivenUp,
        stop: () => provider.stop(),
      }
    },
  })
}

const apiKey = 'no-secret'

httpSuite('openai (Responses, tools added natively)', responsesWire('native'), (url) =>
  openai({ model: 'gpt-4.1', apiKey, baseURL: `${url}/v1`, toolAdditions: 'native' }),
)
httpSuite('openai (Responses, tools at the end of the list)', responsesWire('plain'), (url) =>
  openai({ model: 'gpt-5', apiKey, baseURL: `${url}/v1` }),
)
httpSuite('openai (Chat Completions)', chatWire(), (url) =>
  openai({ model: 'gpt-4.1', apiKey, baseURL: `${url}/v1`, interface: 'chat' }),
)
httpSuite('openaiCompatible', chatWire(), (url) => openaiCompatible({ model: 'llama', baseURL: `${url}/v1` }))
httpSuite('anthropic (tools added natively)', messagesWire('native'), (url) =>
  anthropic({ model: 'claude-sonnet-5', apiKey, baseURL: url }),
)
httpSuite('anthropic (tools at the end of the list)', messagesWire('plain'), (url) =>
  anthropic({ model: 'claude-sonnet-5', apiKey, baseURL: url, toolAdditions: 'plain' }),
)

adapterSuite<ModelRequest>('aiSdk', {
  ...modelWire,
  supportsDynamicTools: true,
  create({ script }: { readonly script: readonly ModelStep[] }): Promise<ModelPeer<ModelRequest>> {
    const { model, requests } = scriptedModel(script)
    return Promise.resolve({
      adapter: aiSdk({ model }),
      requests: () => requests,
      isGivenUp: ({ options }) => options.abortSignal?.aborted ?? false,
      stop: () => Promise.resolve(),
    })
  },
})
