import type { DisclosureStrategy } from 'foldout'
export { createLocalEngine } from 'foldout/durable'
import type { SessionStore } from 'foldout/session'
import { says, scriptedAdapter } from 'foldout/testing'
import type { HostCall } from 'foldout/disclosure'
import type { DisclosureExpectations, HostAgent, HostSetup, ModelPeer, ModelStep } from 'foldout/testing/suites'

export interface AcmeRequest {
  readonly body: {
    readonly tools: readonly { readonly name: string }[]
    readonly results: readonly { readonly text: string }[]
  }
}

export declare const unfold: DisclosureStrategy
export declare function createMyStore(): SessionStore
export const suffixes: DisclosureExpectations['suffixes'] = {
  content: 'Call unfold.',
  contentWithChildren: 'Call unfold.',
  tools: 'Call unfold.',
  toolsWithChildren: 'Call unfold.',
}
/** A provider that can only say things. */
export const startAcme = async (script: readonly ModelStep[]): Promise<ModelPeer<AcmeRequest>> => {
  const adapter = scriptedAdapter(script.map((step) => says('says' in step ? step.says : '')))
  return {
    adapter,
    requests: () =>
      adapter.requests.map(({ tools }) => ({ body: { tools: tools.map((name) => ({ name })), results: [] } })),
    isGivenUp: () => false,
    stop: async () => {},
  }
}

export declare const createMyAgent: (setup: HostSetup) => HostAgent
export declare const agent: HostAgent
export const opens = (key: string): HostCall => ({
  id: 'call_1',
  name: 'read_section',
  arguments: { section_key: key },
})
