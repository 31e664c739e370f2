import { describe } from 'vitest'
import { conversationCases } from './adapter-conversation-suite.ts'
import { failureCases } from './adapter-failure-suite.ts'
import type { AdapterSuiteOptions } from './adapter-peer.ts'
import { testCaseFor } from './adapter-stage.ts'

/**
 * Tests the required behavior of every adapter, on vitest, with the real agent loop and a provider that follows a
 * script. Each case creates its own adapter and provider.
 *
 * Failures must have these codes, preferably as an `AdapterError` (`withRetries` of `foldout/adapter` does all of this):
 *
 * - the provider responds with 400, 401, 403, 404 or 422: `adapter-refused` at once. The message contains the status
 *   and the provider's message.
 * - the provider responds with 429, 503 or 529: the adapter retries after the delay in `retry-after` or
 *   `retry-after-ms`, with a `request/retried` event each time. After three retries: `adapter-unavailable`, with the
 *   provider's last message.
 * - the connection is lost or closed before any text: the adapter retries.
 * - the connection is lost or closed after some text: `adapter-stream-cut`, without a retry.
 * - the signal aborts during a reply: `evaluate` rejects with the signal's reason, and the request is aborted.
 *
 * @example
 * ```ts
 * adapterSuite('acme', {
 *   supportsDynamicTools: true,
 *   create: async ({ script }) => startAcme(script),
 *   getTools: ({ body }) => body.tools.map(({ name }) => name),
 *   getResults: ({ body }) => body.results.map(({ text }) => text),
 *   getPrefixes: ({ body }) => [JSON.stringify(body)],
 * })
 * ```
 */
export function adapterSuite<Request>(name: string, options: AdapterSuiteOptions<Request>): void {
  describe(`${name} as an adapter`, () => {
    const test = testCaseFor(options)
    conversationCases(test, options)
    failureCases(test, options)
  })
}
