import { describe } from 'vitest'
import { conversationCases } from './adapter-conversation-suite.ts'
import { failureCases } from './adapter-failure-suite.ts'
import type { AdapterSuiteOptions } from './adapter-peer.ts'
import { testCaseFor } from './adapter-stage.ts'

/**
 * What every adapter must do, tried with the real loop against a provider that follows a script. Each case makes an
 * adapter and a provider of its own.
 */
export function adapterSuite<Request>(name: string, options: AdapterSuiteOptions<Request>): void {
  describe(`${name} as an adapter`, () => {
    const test = testCaseFor(options)
    conversationCases(test, options)
    failureCases(test, options)
  })
}
