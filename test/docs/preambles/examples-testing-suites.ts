import type { DisclosureStrategy } from 'foldout'
import type { SessionStore } from 'foldout/session'
import type { DisclosureExpectations, ModelPeer, ModelStep } from 'foldout/testing/suites'

interface AcmeRequest {
  readonly body: {
    readonly tools: readonly { readonly name: string }[]
    readonly results: readonly { readonly text: string }[]
  }
}

export declare const unfold: DisclosureStrategy
export declare const suffixes: DisclosureExpectations['suffixes']
export declare function startAcme(script: readonly ModelStep[]): Promise<ModelPeer<AcmeRequest>>
export declare function createMyStore(): SessionStore
