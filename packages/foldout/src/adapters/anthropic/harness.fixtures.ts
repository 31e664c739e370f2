import { afterEach, beforeEach } from 'vitest'
import { anthropic, type AnthropicClient, type AnthropicOptions } from '../../entries/anthropic.ts'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { LLMock, type FixtureResponse } from '@copilotkit/aimock'
import type { OutputSpec } from '../../prompt/definition/output.ts'
import { ok } from '../../tools/result.ts'
import { defineTool, type AnyTool } from '../../tools/tool.ts'
import type { EvaluationResult, Message, ModelEvent, ProviderAdapter, ToolCall } from '../contract.ts'

/** A request as it was sent. */
export interface Recorded {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** The exact bytes. */
  readonly text: string
  readonly body: WireBody
}

export interface WireBlock {
  readonly type: string
  readonly cache_control?: unknown
  readonly [key: string]: unknown
}
export interface WireBody {
  readonly tools?: readonly { readonly name: string; readonly cache_control?: unknown }[]
  readonly system?: readonly WireBlock[]
  readonly messages: readonly { readonly role: string; readonly content: readonly WireBlock[] }[]
  readonly [key: string]: unknown
}

/** Answers a request, or leaves it to the mock. Requests are numbered from 0. */
export type Intercept = (request: Recorded, response: ServerResponse, number: number) => boolean | void

export interface Provider {
  readonly url: string
  readonly requests: readonly Recorded[]
  /** Queues the next answers of the mock. */
  answer(...responses: readonly FixtureResponse[]): void
  intercept(intercept: Intercept): void
  stop(): Promise<void>
}

/**
 * Starts the mock provider behind a proxy that records the requests, since the mock shows only the parts that it
 * understood.
 */
export async function startProvider(): Promise<Provider> {
  const script: FixtureResponse[] = []
  const requests: Recorded[] = []
  let interceptor: Intercept = () => false
  const mock = new LLMock({ port: 0 })
  mock.on({ predicate: () => true }, () => script.shift() ?? { content: 'There is no more in the script.' })
  await mock.start()
  const proxy = createServer((incoming, outgoing) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk as Buffer)
      const text = Buffer.concat(chunks).toString('utf8')
      const recorded = { url: incoming.url ?? '', headers: incoming.headers, text, body: JSON.parse(text) as WireBody }
      requests.push(recorded)
      if (interceptor(recorded, outgoing, requests.length - 1) === true) return
      const answer = await fetch(`${mock.url}${recorded.url}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': 'test' },
        body: text,
      })
      outgoing.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
      Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]).pipe(outgoing)
    })()
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    requests,
    answer: (...responses) => void script.push(...responses),
    intercept: (intercept) => void (interceptor = intercept),
    async stop() {
      proxy.closeAllConnections()
      await new Promise((resolve) => proxy.close(resolve))
      await mock.stop()
    },
  }
}

export function refuse(response: ServerResponse, status: number, message: string, headers = {}): true {
  const types: Readonly<Record<number, string>> = { 429: 'rate_limit_error', 529: 'overloaded_error' }
  const type = types[status] ?? 'invalid_request_error'
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ type: 'error', error: { type, message } }))
  return true
}

/** Streams events. Without a `message_stop`, the stream is cut off. */
export function stream(response: ServerResponse, events: readonly { readonly type: string }[]): true {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  response.end()
  return true
}

export const START = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5-5',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 200, cache_creation_input_tokens: 30 },
  },
}

export function block(index: number, start: object, ...deltas: readonly object[]): { readonly type: string }[] {
  return [
    { type: 'content_block_start', index, content_block: start } as { type: string },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta }) as { type: string }),
    { type: 'content_block_stop', index } as { type: string },
  ]
}

export const TEXT = { type: 'text', text: '' }
export const says = (text: string): object => ({ type: 'text_delta', text })

export function end(stopReason: string, more: object = {}): { readonly type: string }[] {
  return [
    { type: 'message_delta', delta: { stop_reason: stopReason, ...more }, usage: { output_tokens: 7 } } as {
      type: string
    },
    { type: 'message_stop' },
  ]
}

export function toolNamed(name: string): AnyTool {
  return defineTool({
    name,
    description: `Does ${name}.`,
    params: { type: 'object', properties: { text: { type: 'string' } } },
    execute: () => ok('Done.'),
  })
}

export interface Asked {
  readonly tools?: readonly AnyTool[]
  readonly addedTools?: ReadonlyMap<string, AnyTool>
  readonly system?: string
  readonly messages?: readonly Message[]
  readonly output?: OutputSpec<unknown>
  readonly signal?: AbortSignal
  /** The results of calls: a text, or a text with further effects. */
  readonly results?: (
    call: ToolCall,
  ) => string | { readonly text: string; readonly error?: true; readonly adds?: AnyTool }
  readonly onEvent?: (event: ModelEvent) => void
}

export interface Answered {
  readonly result: EvaluationResult
  readonly events: readonly ModelEvent[]
  readonly recorded: readonly Message[]
}

export const HELLO: Message = { role: 'user', text: 'Hello.' }

export async function ask(adapter: ProviderAdapter, asked: Asked = {}): Promise<Answered> {
  const { results = () => 'Done.' } = asked
  const events: ModelEvent[] = []
  const recorded: Message[] = []
  const result = await adapter.evaluate({
    system: asked.system ?? 'You are a test.',
    tools: asked.tools ?? [],
    addedTools: asked.addedTools ?? new Map(),
    messages: asked.messages ?? [HELLO],
    output: asked.output,
    signal: asked.signal ?? new AbortController().signal,
    beforeRequest: async () => {},
    record: async (message) => void recorded.push(message),
    emit(event) {
      events.push(event)
      asked.onEvent?.(event)
    },
    async callTools(calls) {
      const outcomes = calls.map((call) => {
        const given = results(call)
        return { call, ...(typeof given === 'string' ? { text: given } : given) }
      })
      return {
        type: 'continue',
        results: outcomes.map(({ call, text, error }) => ({
          role: 'tool',
          callId: call.id,
          name: call.name,
          text,
          isError: error ?? false,
        })),
        added: outcomes.flatMap(({ adds }) => adds ?? []),
      }
    },
  })
  return { result, events, recorded }
}

export /** A client that records what it is asked to send. */
function recordBodies(): { readonly bodies: readonly WireBody[]; readonly client: AnthropicClient } {
  const bodies: WireBody[] = []
  const create = async (body: WireBody) => {
    bodies.push(structuredClone(body))
    return (async function* () {
      yield* [START, ...block(0, TEXT, says('Yes.')), ...end('end_turn')]
    })()
  }
  return { bodies, client: { beta: { messages: { create } } } as unknown as AnthropicClient }
}

/** Options of an adapter whose requests for Anthropic's own address reach a server on this machine. */
export function asAnthropic(url: string): Required<Pick<AnthropicOptions, 'baseURL' | 'fetch'>> {
  const baseURL = 'https://api.anthropic.com'
  const redirect = (to: string): string => to.replace(baseURL, url)
  return {
    baseURL,
    fetch: (to, init) => fetch(redirect(to instanceof Request ? to.url : to.toString()), init),
  }
}

/** Starts a provider for each test, and creates adapters that use it. */
export function useClaude(
  started: (provider: Provider) => void,
): (options?: Partial<AnthropicOptions>) => ProviderAdapter {
  let current: Provider
  beforeEach(async () => {
    current = await startProvider()
    started(current)
  })
  afterEach(() => current.stop())
  return (options = {}) =>
    anthropic({ model: 'claude-opus-5-5', apiKey: 'test', ...asAnthropic(current.url), ...options })
}
