import type { OpenAI } from 'openai'
import { isPlainObject, type Json } from '../../core/json/json.ts'
import type { ChatReply, ChatRequest } from '../chat.ts'
import { NO_USAGE, type AssistantMessage, type Message, type ModelEvent, type Usage } from '../contract.ts'
import { cutStream } from '../failure.ts'
import { withRetries } from '../retry.ts'
import { measureText, readStream } from '../stream.ts'
import { createCallIds, getAddedTools, readToolCall } from '../tool-calls.ts'
import { isOpenAI, type Endpoint } from './endpoint.ts'
import type { Feature, Using } from './features.ts'
import { NATIVE_ADAPTER, getMessageText, toResponseInput, toResponseTool } from './responses-input.ts'

type Body = OpenAI.Responses.ResponseCreateParamsStreaming
type StreamEvent = OpenAI.Responses.ResponseStreamEvent
type Item = OpenAI.Responses.ResponseOutputItem

/** Sends one request to the Responses API, without storing the response there. */
export async function completeResponse(endpoint: Endpoint, request: ChatRequest): Promise<ChatReply> {
  const { name: adapter, maxRetries: retries } = endpoint
  const client = await endpoint.client()
  const isNative = endpoint.toolAdditions === 'native'
  const wanted = getWantedFeatures(endpoint, request, client)
  return withRetries(
    async (emit, signal) => {
      const stream = await endpoint.features.send(
        wanted,
        (using) => {
          const body = toResponseBody(endpoint, request, { using, isNative: isNative || using.has('added-tools') })
          return client.responses.create(body, { signal, maxRetries: 0 })
        },
        emit,
      )
      const events = readStream(stream, { adapter, signal, measure: measureEvent })
      return readReply(events, { adapter, conversation: request.messages, emit })
    },
    { adapter, retries, signal: request.signal, emit: request.emit },
  )
}

function getWantedFeatures(endpoint: Endpoint, request: ChatRequest, client: OpenAI): readonly Feature[] {
  const hasAdditions = getAddedTools(request).size > 0
  const wanted: Feature[] = []
  if (hasAdditions && endpoint.toolAdditions === 'auto' && isOpenAI(client)) wanted.push('added-tools')
  // The Responses API does not accept an array as structured output.
  if (request.output?.container === 'object') wanted.push('output-format')
  if (endpoint.reasoning) wanted.push('reasoning')
  if (endpoint.cacheKey !== undefined) wanted.push('cache-key')
  return wanted
}

function toResponseBody(
  endpoint: Endpoint,
  request: ChatRequest,
  { using, isNative }: { readonly using: Using; readonly isNative: boolean },
): Body {
  const { system, output } = request
  const { text, tools: serverTools, ...parameters } = endpoint.parameters
  const added = isNative ? [] : [...getAddedTools(request).values()].flat()
  const tools = [
    // Tools that the provider runs.
    ...(Array.isArray(serverTools) ? (serverTools as unknown as OpenAI.Responses.Tool[]) : []),
    ...[...request.tools, ...added].map(toResponseTool),
  ]
  const format =
    output && using.has('output-format')
      ? { format: { type: 'json_schema', name: 'output', schema: { ...output.jsonSchema }, strict: false } as const }
      : {}
  const texts = { ...(isPlainObject(text) ? text : {}), ...format }
  return {
    store: false,
    ...(using.has('reasoning') ? { include: ['reasoning.encrypted_content'] } : {}),
    ...(endpoint.cacheKey !== undefined && using.has('cache-key') ? { prompt_cache_key: endpoint.cacheKey } : {}),
    ...parameters,
    model: endpoint.model,
    stream: true,
    ...(Object.keys(texts).length > 0 ? { text: texts } : {}),
    ...(system === '' ? {} : { instructions: system }),
    ...(tools.length > 0 ? { tools } : {}),
    // Last, so each request begins with the bytes of the one before.
    input: toResponseInput(request, { isNative, hasReasoning: using.has('reasoning') }),
  }
}

interface ReadOptions {
  readonly adapter: string
  readonly conversation: readonly Message[]
  emit(this: void, event: ModelEvent): void
}

async function readReply(events: AsyncIterable<StreamEvent>, options: ReadOptions): Promise<ChatReply> {
  const { adapter, conversation, emit } = options
  // By position. Servers do not always count from zero.
  const items = new Map<number, Item>()
  const toId = createCallIds(conversation)
  // The ids of calls whose arguments are being streamed, by position.
  const calls = new Map<number, { readonly id: string; readonly name: string }>()
  let response: OpenAI.Responses.Response | undefined
  let hasText = false
  const show = (text: string): void => {
    if (text === '') return
    hasText = true
    emit({ type: 'text/delta', text })
  }
  for await (const event of events) {
    switch (event.type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        show(event.delta)
        break
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        if (event.delta) emit({ type: 'reasoning/delta', text: event.delta })
        break
      case 'response.output_item.added':
        if (event.item.type === 'message' && hasText) show('\n\n')
        if (event.item.type === 'function_call')
          calls.set(event.output_index, { id: toId(event.item.call_id), name: event.item.name })
        break
      case 'response.function_call_arguments.delta': {
        const call = calls.get(event.output_index)
        if (call && event.delta) emit({ type: 'call/delta', callId: call.id, name: call.name, text: event.delta })
        break
      }
      case 'response.output_item.done':
        items.set(event.output_index, withId(event.item, calls.get(event.output_index)?.id, toId))
        break
      case 'response.completed':
      case 'response.incomplete':
        response = event.response
        break
      case 'response.failed':
        throw toStreamFailure(event.response.error?.code, event.response.error?.message ?? 'The response failed.')
      case 'error':
        throw toStreamFailure(event.code, event.message)
      default:
    }
  }
  if (response === undefined) throw cutStream(adapter, 'The connection closed before the reply was finished.')
  const isCut = response.status === 'incomplete'
  if (isCut) {
    const why = response.incomplete_details?.reason ?? 'no reason was given'
    emit({ type: 'warning', message: `The model stopped before it was finished: ${why}.` })
  }
  const output =
    items.size > 0 ? sortItems(items) : (response.output ?? []).map((item) => withId(item, undefined, toId))
  const message = toMessage(output, isCut)
  if (!hasText) show(message.text)
  return { message, usage: response.usage ? toUsage(response.usage) : NO_USAGE }
}

/** Some servers skip positions, and some omit the items from the last event. */
function sortItems(items: ReadonlyMap<number, Item>): readonly Item[] {
  return [...items].sort(([one], [other]) => one - other).map(([, item]) => item)
}

/** Gives a call its id in the conversation. */
function withId(item: Item, known: string | undefined, toId: (id: unknown) => string): Item {
  return item.type === 'function_call' ? { ...item, call_id: known ?? toId(item.call_id) } : item
}

function toMessage(output: readonly Item[], isCut: boolean): AssistantMessage {
  const toolCalls = output
    .filter((item) => item.type === 'function_call')
    .map(({ call_id: id, name, arguments: text, status }) =>
      readToolCall({ id, name, text: text ?? '', isCut: isCut || status === 'incomplete' }),
    )
  const native = toNative(output)
  return { role: 'assistant', text: getText(output), toolCalls, ...(native === undefined ? {} : { native }) }
}

function getText(output: readonly Item[]): string {
  return output
    .filter((item) => item.type === 'message')
    .map(getMessageText)
    .filter((text) => text !== '')
    .join('\n\n')
}

/**
 * Returns the items unchanged, if a plain message would lose part of them: reasoning, which must be sent back with the
 * items that followed it, or the phase of a message. The provider stores nothing, so reasoning can only be sent back if
 * the item contains it and something followed it.
 */
function toNative(output: readonly Item[]): AssistantMessage['native'] {
  const end = output.findLastIndex((item) => item.type !== 'reasoning') + 1
  const isWhole = output.every((item) => item.type !== 'reasoning' || Boolean(item.encrypted_content))
  const kept = output.slice(0, end).filter((item) => isWhole || item.type !== 'reasoning')
  const isPlain = kept.every((item) => item.type !== 'reasoning' && !('phase' in item && item.phase))
  return isPlain ? undefined : { adapter: NATIVE_ADAPTER, content: kept as unknown as Json }
}

function measureEvent(event: StreamEvent): number {
  return 'delta' in event ? measureText(event.delta) : 0
}

/** Creates the error for a failure reported in a stream, in the shape of the client's own errors. */
function toStreamFailure(code: string | null | undefined, message: string): Error {
  return Object.assign(new Error(message), { status: undefined, code })
}

function toUsage(usage: OpenAI.Responses.ResponseUsage): Usage {
  // Compatible servers may leave out the details.
  const details: Partial<OpenAI.Responses.ResponseUsage.InputTokensDetails> = usage.input_tokens_details ?? {}
  return {
    inputTokens: usage.input_tokens ?? 0,
    outputTokens: usage.output_tokens ?? 0,
    cachedInputTokens: details.cached_tokens ?? 0,
    cacheWriteTokens: details.cache_write_tokens ?? 0,
  }
}
