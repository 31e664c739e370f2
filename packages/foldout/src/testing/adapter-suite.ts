import { describe } from 'vitest'
import { conversationCases } from './adapter-conversation-suite.ts'
import { failureCases } from './adapter-failure-suite.ts'
import type { AdapterSuiteOptions } from './adapter-peer.ts'
import { testCaseFor } from './adapter-stage.ts'

/**
 * What every adapter must do, tried with the real loop against a provider that follows a script. Each case creates an
 * adapter and a provider of its own.
 *
 * Failures must come out with these codes, best as an `AdapterError` (`withRetries` of `foldout/adapter` does all of it):
 *
 * - the provider answers 400, 401, 403, 404 or 422: `adapter-refused` at once. The message contains the status and what the
 *   provider said.
 * - it answers 429, 503 or 529: the request is sent again, after the wait that `retry-after` or `retry-after-ms` asks for,
 *   with a `request/retried` event each time. After three retries: `adapter-unavailable`, with what the provider said last.
 * - the connection is lost or closed before any text: the request is sent again.
 * - the connection is lost or closed after some text: `adapter-stream-cut`, without a retry.
 * - the signal aborts within a reply: `evaluate` rejects with the signal's reason, and the request is given up.
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
