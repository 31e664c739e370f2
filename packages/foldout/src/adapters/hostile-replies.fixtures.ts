import { MockLanguageModelV3 } from 'ai/test'
import { aiSdk } from './ai-sdk/ai-sdk.ts'
import { finish, says, usage, type StreamPart } from './ai-sdk/model.fixtures.ts'
import { anthropic } from './anthropic/anthropic.ts'
import type { ProviderAdapter } from './contract.ts'
import { openai, openaiCompatible } from './openai/openai.ts'

/** A call as a server writes it, with its arguments as several pieces of text. */
export interface RawCall {
  readonly id: unknown
  readonly name: string
  readonly text: string
}

/** One reply of a server, in the form of its API. */
export type RawReply =
  | { readonly calls: readonly RawCall[] }
  /** `reason`: why the reply ended, as the API names it. */
  | { readonly says: string; readonly reason?: string }
  /** Endless text, until the client disconnects. */
  | { readonly endless: string }

export interface HostileServer {
  readonly adapter: ProviderAdapter
  /** The bodies of the requests so far, as JSON. */
  readonly requests: readonly string[]
  /** How many replies the client abandoned. */
  readonly givenUp: () => number
}

export type HostileInterface = (replies: readonly RawReply[]) => HostileServer

/** A `fetch` whose replies are events of a stream. */
function createFetch(replies: readonly RawReply[], write: (reply: RawReply) => Iterable<object>) {
  const requests: string[] = []
  let givenUp = 0
  const encoder = new TextEncoder()
  const fetch = async (_url: unknown, init?: { body?: unknown; signal?: AbortSignal | null }): Promise<Response> => {
    const reply = replies[requests.length]
    requests.push(String(init?.body))
    if (reply === undefined) throw new Error('The script is over.')
    const events = write(reply)[Symbol.iterator]()
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const { done, value } = events.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(formatEvent(value)))
      },
      cancel() {
        givenUp += 1
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
  return { fetch: fetch as typeof globalThis.fetch, requests, givenUp: () => givenUp }
}

function formatEvent(event: object): string {
  const type = 'type' in event ? `event: ${String(event.type)}\n` : ''
  return `${type}data: ${JSON.stringify(event)}\n\n`
}

function* inParts(text: string, size = 4096): Generator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
}

function* endlessly(text: string): Generator<string> {
  for (;;) yield text
}

function* chatChunks(reply: RawReply): Generator<object> {
  const chunk = (delta: object, reason: string | null = null): object => ({
    choices: [{ index: 0, delta, finish_reason: reason }],
  })
  if ('calls' in reply) {
    for (const [index, { id, name, text }] of reply.calls.entries()) {
      yield chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })
      for (const part of inParts(text)) yield chunk({ tool_calls: [{ index, function: { arguments: part } }] })
    }
    yield chunk({}, 'tool_calls')
    return
  }
  const texts = 'says' in reply ? inParts(reply.says) : endlessly(reply.endless)
  for (const content of texts) yield chunk({ content })
  yield chunk({}, getReason(reply, 'stop'))
}

function* responseEvents(reply: RawReply): Generator<object> {
  const response = { id: 'r', object: 'response', status: 'completed', output: [] }
  if ('calls' in reply) {
    for (const [index, { id, name, text }] of reply.calls.entries()) {
      // Counts from a position that is far too large for an array.
      const position = { output_index: 4_000_000_000 + index }
      const item = { type: 'function_call', call_id: id, name, arguments: text }
      yield { type: 'response.output_item.added', ...position, item: { ...item, arguments: '' } }
      for (const delta of inParts(text)) yield { type: 'response.function_call_arguments.delta', ...position, delta }
      yield { type: 'response.output_item.done', ...position, item }
    }
  } else {
    const texts = 'says' in reply ? inParts(reply.says) : endlessly(reply.endless)
    const position = { output_index: 4_000_000_000, content_index: 0 }
    for (const delta of texts) yield { type: 'response.output_text.delta', ...position, delta }
    const content = [{ type: 'output_text', text: 'says' in reply ? reply.says : '' }]
    yield { type: 'response.output_item.done', ...position, item: { type: 'message', role: 'assistant', content } }
  }
  const reason = getReason(reply, '')
  if (reason === '') yield { type: 'response.completed', response }
  else
    yield {
      type: 'response.incomplete',
      response: { ...response, status: 'incomplete', incomplete_details: { reason } },
    }
}

function getReason(reply: RawReply, usual: string): string {
  return 'says' in reply ? (reply.reason ?? usual) : usual
}

function* anthropicEvents(reply: RawReply): Generator<object> {
  yield { type: 'message_start', message: { id: 'm', usage: { input_tokens: 1, output_tokens: 1 } } }
  const blocks = 'calls' in reply ? reply.calls : [reply]
  for (const [at, block] of blocks.entries()) {
    const index = 4_000_000_000 + at
    if ('name' in block) {
      const { id, name } = block
      yield { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } }
      for (const partial_json of inParts(block.text))
        yield { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } }
    } else {
      yield { type: 'content_block_start', index, content_block: { type: 'text', text: '' } }
      const texts = 'says' in block ? inParts(block.says) : endlessly('endless' in block ? block.endless : '')
      for (const text of texts) yield { type: 'content_block_delta', index, delta: { type: 'text_delta', text } }
    }
    yield { type: 'content_block_stop', index }
  }
  const reason = 'calls' in reply ? 'tool_use' : getReason(reply, 'end_turn')
  yield { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 2 } }
  yield { type: 'message_stop' }
}

function* sdkParts(reply: RawReply): Generator<StreamPart> {
  if ('calls' in reply) {
    for (const { id, name, text } of reply.calls)
      yield { type: 'tool-call', toolCallId: id as string, toolName: name, input: text }
    yield finish('tool-calls')
  } else if ('says' in reply) {
    yield* says(reply.says)
    const { reason: raw } = reply
    yield raw === undefined ? finish() : { type: 'finish', usage, finishReason: { unified: 'other', raw } }
  } else {
    yield { type: 'text-start', id: '1' }
    for (const delta of endlessly(reply.endless)) yield { type: 'text-delta', id: '1', delta }
  }
}

/** The APIs whose replies the adapters read, each with a server that can send anything. */
export const INTERFACES: Readonly<Record<string, HostileInterface>> = {
  'Chat Completions': (replies) => {
    const { fetch, ...server } = createFetch(replies, chatChunks)
    return { adapter: openaiCompatible({ model: 'm', baseURL: 'http://server.test/v1', fetch }), ...server }
  },
  Responses: (replies) => {
    const { fetch, ...server } = createFetch(replies, responseEvents)
    return { adapter: openai({ model: 'm', apiKey: 'k', baseURL: 'http://server.test/v1', fetch }), ...server }
  },
  Messages: (replies) => {
    const { fetch, ...server } = createFetch(replies, anthropicEvents)
    return { adapter: anthropic({ model: 'm', apiKey: 'k', baseURL: 'http://server.test', fetch }), ...server }
  },
  'AI SDK': (replies) => {
    const requests: string[] = []
    let givenUp = 0
    const model = new MockLanguageModelV3({
      provider: 'test.chat',
      modelId: 'm',
      doStream: async ({ prompt, abortSignal }) => {
        const reply = replies[requests.length]
        requests.push(JSON.stringify(prompt))
        if (reply === undefined) throw new Error('The script is over.')
        const parts = sdkParts(reply)
        const stream = new ReadableStream<StreamPart>({
          start(controller) {
            abortSignal?.addEventListener('abort', () => {
              givenUp += 1
              controller.error(abortSignal.reason)
            })
          },
          async pull(controller) {
            // Like a network, lets other work run in between.
            await new Promise((resolve) => setImmediate(resolve))
            if (abortSignal?.aborted === true) return
            const { done, value } = parts.next()
            if (done === true) controller.close()
            else controller.enqueue(value)
          },
        })
        return { stream }
      },
    })
    return { adapter: aiSdk({ model }), requests, givenUp: () => givenUp }
  },
}
