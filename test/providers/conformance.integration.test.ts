import { describe } from 'vitest'
import { aiSdk } from '../../packages/foldout/src/entries/ai-sdk.ts'
import { anthropic } from '../../packages/foldout/src/entries/anthropic.ts'
import { asAnthropic } from '../../packages/foldout/src/adapters/anthropic/harness.fixtures.ts'
import type { ProviderAdapter } from '../../packages/foldout/src/adapters/contract.ts'
import { openai, openaiCompatible } from '../../packages/foldout/src/entries/openai.ts'
import type { ModelPeer, ModelStep } from '../../packages/foldout/src/testing/adapter-peer.ts'
import { adapterSuite } from '../../packages/foldout/src/testing/adapter-suite.ts'
import { anthropicBehavior, compatibleBehaviors, openaiBehavior } from './behavior.ts'
import { modelWire, scriptedModel, type ModelRequest } from './ai-sdk-model.ts'
import { startMockProvider, type Behavior, type RecordedRequest } from './mock.ts'
import { chatWire, messagesWire, responsesWire, throughWire, type Wire } from './wires.ts'

/** Runs the suite on an adapter that speaks HTTP with the mock provider, which refuses what the real one refuses. */
function httpSuite(
  name: string,
  { wire, behavior }: { readonly wire: Wire; readonly behavior: Behavior },
  adapterFor: (url: string) => ProviderAdapter,
): void {
  adapterSuite<RecordedRequest>(name, {
    ...wire,
    supportsDynamicTools: true,
    async create({ script }) {
      const provider = await startMockProvider(script, behavior)
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
// A longer tool list invalidates thinking, which is then left out; anthropic-chat.test.ts is about that.
const { think: _, ...unthinking } = anthropicBehavior

/** Tools that the application adds between two turns have no result, so they go to the list. */
const referencesWire: Wire = {
  ...messagesWire('reference'),
  getPrefixes: messagesWire('plain').getPrefixes,
  getTools(request) {
    const said = JSON.stringify(request.body['messages'])
    const names = messagesWire('reference').getTools(request)
    return names.toSorted((one, other) => said.indexOf(one) - said.indexOf(other))
  },
}

// Each case has its own provider, and most of the time is spent waiting.
describe.concurrent('adapters', () => {
  httpSuite(
    'openai (Responses, tools added natively)',
    { wire: responsesWire('native'), behavior: openaiBehavior },
    (url) => openai({ model: 'gpt-4.1', apiKey, baseURL: `${url}/v1`, toolAdditions: 'native' }),
  )
  httpSuite(
    'openai (Responses, tools added in namespaces)',
    { wire: responsesWire('native'), behavior: openaiBehavior },
    (url) => openai({ model: 'gpt-5.4', apiKey, baseURL: `${url}/v1`, toolAdditions: 'native' }),
  )
  httpSuite(
    'openai (Responses, tools at the end of the list)',
    { wire: responsesWire('plain'), behavior: openaiBehavior },
    (url) => openai({ model: 'gpt-5', apiKey, baseURL: `${url}/v1` }),
  )
  httpSuite('openai (Chat Completions)', { wire: chatWire(), behavior: openaiBehavior }, (url) => {
    const address = 'https://api.openai.com/v1'
    return openai({ model: 'gpt-4.1', apiKey, baseURL: address, interface: 'chat', fetch: redirect(address, url) })
  })
  httpSuite(
    'openai (Chat Completions, through call_tool)',
    { wire: throughWire(chatWire()), behavior: openaiBehavior },
    (url) => {
      const address = 'https://api.openai.com/v1'
      const toChat = { interface: 'chat', toolAdditions: 'through', fetch: redirect(address, url) } as const
      return openai({ model: 'gpt-4.1', apiKey, baseURL: address, ...toChat })
    },
  )
  httpSuite(
    'openai (Responses, through call_tool)',
    { wire: throughWire(responsesWire('native')), behavior: openaiBehavior },
    (url) => openai({ model: 'gpt-5', apiKey, baseURL: `${url}/v1`, toolAdditions: 'through' }),
  )
  for (const [host, behavior] of Object.entries<Behavior>(compatibleBehaviors)) {
    httpSuite(`openaiCompatible (${host})`, { wire: chatWire({ isCompatible: true }), behavior }, (url) => {
      const address = `${host}/v1`
      return openaiCompatible({ model: 'a-model', baseURL: address, fetch: redirect(address, url) })
    })
  }
  httpSuite('anthropic (tools added natively)', { wire: messagesWire('native'), behavior: anthropicBehavior }, (url) =>
    anthropic({ model: 'claude-opus-5-5', apiKey, ...asAnthropic(url) }),
  )
  httpSuite('anthropic (tools at the end of the list)', { wire: messagesWire('plain'), behavior: unthinking }, (url) =>
    anthropic({ model: 'claude-opus-5-5', apiKey, baseURL: url, toolAdditions: 'plain' }),
  )
  httpSuite('anthropic (tools named in results)', { wire: referencesWire, behavior: unthinking }, (url) =>
    anthropic({ model: 'claude-sonnet-4-6', apiKey, ...asAnthropic(url) }),
  )
  httpSuite(
    'anthropic (through call_tool)',
    { wire: throughWire(messagesWire('native')), behavior: anthropicBehavior },
    (url) => anthropic({ model: 'claude-opus-5-5', apiKey, baseURL: url, toolAdditions: 'through' }),
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
})

/** Redirects requests for a URL to the mock provider. */
function redirect(address: string, url: string): typeof fetch {
  return (to, init) => fetch((to as string).replace(address, `${url}/v1`), init)
}
