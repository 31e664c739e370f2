import { isObject } from 'foldout-shared/values'
import type { OpenAI } from 'openai'
import { sha256Hex } from '../../core/hash.ts'
import { type Json } from '../../core/json/json.ts'
import type {
  ChatReply,
  ChatRequest,
  AssistantMessage,
  Compaction,
  CompactionRequest,
  Message,
  ModelEvent,
} from '../contract.ts'
import { AdapterError } from '../adapter-error.ts'
import { cutStream } from '../failure.ts'
import { getHost } from '../quirks.ts'
import { withRetries } from '../retry.ts'
import { endReply, measureText, readStream, reportCacheMiss } from '../stream.ts'
import { createCallIds, getAddedTools, readCallName, readToolCall } from '../tool-calls.ts'
import { NO_USAGE, countLostReply, type Usage } from '../usage/usage.ts'
import { isOpenAI, type Endpoint } from './endpoint.ts'
import type { Feature, Using } from './features.ts'
import {
  NATIVE_ADAPTER,
  findLastResponse,
  getMessageText,
  listReasoning,
  toMarkedSystem,
  toResponseInput,
  toResponseTool,
  type StoredReply,
} from './responses-input.ts'
import { toGroup } from './namespaces.ts'
import { toNamedSchema } from './strict-schema.ts'
import { findSearchTool, isSearching, toSearchCall, toToolSearch, useToolSearch } from './tool-search.ts'
import { readResponseUsage } from './usage.ts'

type Body = OpenAI.Responses.ResponseCreateParamsStreaming
type StreamEvent = OpenAI.Responses.ResponseStreamEvent
type Item = OpenAI.Responses.ResponseOutputItem

/** Sends one request to the Responses API, without storing the response there. */
export async function completeResponse(endpoint: Endpoint, request: ChatRequest): Promise<ChatReply> {
  const { name: adapter, maxRetries: retries } = endpoint
  const client = await endpoint.client()
  const isNative = endpoint.toolAdditions === 'native'
  const wanted = getWantedFeatures(endpoint, request, client)
  warnOfPlainTools(endpoint, request, client)
  let isReasoningSent = false
  return withRetries(
    async (emit, signal) => {
      const stream = await endpoint.features.send(
        wanted,
        (using) => {
          isReasoningSent = using.has('sent-reasoning')
          const body = toResponseBody(endpoint, request, { using, isNative: isNative || using.has('added-tools') })
          return client.responses.create(body, { signal, maxRetries: 0 })
        },
        emit,
      )
      // Reasoning that comes later is sent back.
      if (!isReasoningSent) for (const content of listReasoning(request)) endpoint.refusedReasoning.add(content)
      const events = readStream(stream, { adapter, signal, measure: measureEvent })
      const searchTool = findSearchTool(endpoint.model, request.tools)?.name
      const keepsId = wanted.includes('cache-diagnostics')
      return readReply(events, { adapter, conversation: request.messages, searchTool, keepsId, emit })
    },
    { adapter, retries, signal: request.signal, emit: request.emit },
  )
}

function getWantedFeatures(endpoint: Endpoint, request: ChatRequest, client: OpenAI): readonly Feature[] {
  const added = [...getAddedTools(request).values()].flat()
  const hasAdditions = added.length > 0
  const wanted: Feature[] = []
  const isNative = endpoint.toolAdditions === 'native' || (endpoint.toolAdditions === 'auto' && isOpenAI(client))
  if (isNative && findSearchTool(endpoint.model, request.tools)) wanted.push('tool-search')
  if (hasAdditions && endpoint.toolAdditions === 'auto' && isOpenAI(client)) wanted.push('added-tools')
  const isGrouped = isSearching(endpoint.model) && added.some((tool) => toGroup(tool, request) !== undefined)
  if (isNative && isGrouped) wanted.push('namespaces')
  // The Responses API does not accept an array as structured output.
  if (request.output?.container === 'object') wanted.push('output-format')
  if (isOpenAI(client)) wanted.push('strict')
  if (endpoint.reasoning) wanted.push('reasoning')
  const isRead = (content: object): boolean => !endpoint.refusedReasoning.has(content)
  if (endpoint.reasoning && listReasoning(request).some(isRead)) wanted.push('sent-reasoning')
  const isMarked = request.system !== '' && isOpenAI(client) && MARKED_MODELS.test(endpoint.model)
  if (isMarked) wanted.push('cache-mark')
  if (isMarked || endpoint.cacheKey !== undefined) wanted.push('cache-key')
  const isExplained = endpoint.cacheDiagnostics && isOpenAI(client) && MARKED_MODELS.test(endpoint.model)
  if (isExplained) wanted.push('cache-diagnostics')
  return wanted
}

/** From GPT-5.6 on, requests find only what an earlier request has marked, and only with the same key. */
const MARKED_MODELS = /^(ft:)?gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/

/** Conversations with the same prompt and tools share a key. Tools that are added later do not change it. */
function getCacheKey({ cacheKey }: Endpoint, { system, tools }: ChatRequest): string {
  return cacheKey ?? sha256Hex(JSON.stringify([system, tools.map(({ name, description }) => [name, description])]))
}

/** The endpoints whose users know that added tools go to the end of the list. */
const warned = new WeakSet<Endpoint>()

function warnOfPlainTools(endpoint: Endpoint, request: ChatRequest, client: OpenAI): void {
  const isPlain = endpoint.toolAdditions === 'auto' && !isOpenAI(client) && getAddedTools(request).size > 0
  if (!isPlain || warned.has(endpoint)) return
  warned.add(endpoint)
  const message = `The endpoint ${getHost(client.baseURL)} is not OpenAI's own, so tools that are added during a conversation go to the end of the tool list, and everything after them is no longer read from the cache. Set toolAdditions: 'native' if the endpoint accepts them in place, or 'plain' if this is what you want.`
  request.emit({ type: 'warning', message })
}

function toResponseBody(
  endpoint: Endpoint,
  request: ChatRequest,
  { using, isNative }: { readonly using: Using; readonly isNative: boolean },
): Body {
  const { system, output } = request
  const isStrict = using.has('strict')
  const { text, tools: serverTools, ...parameters } = endpoint.parameters
  const added = isNative ? [] : [...getAddedTools(request).values()].flat()
  const search = using.has('tool-search') ? findSearchTool(endpoint.model, request.tools) : undefined
  const items = toResponseInput(request, {
    isNative,
    isStrict,
    hasNamespaces: using.has('namespaces'),
    hasReasoning: using.has('reasoning') && using.has('sent-reasoning'),
    refused: endpoint.refusedReasoning,
  })
  const tools = [
    // Tools that the provider runs.
    ...(Array.isArray(serverTools) ? (serverTools as unknown as OpenAI.Responses.Tool[]) : []),
    ...[...request.tools, ...added].map((tool) => {
      if (tool === search) return toToolSearch(tool)
      return toResponseTool(tool, isStrict)
    }),
  ]
  const format =
    output && using.has('output-format')
      ? { format: { type: 'json_schema', ...toNamedSchema(output, isStrict) } as const }
      : {}
  const texts = { ...(isObject(text) && text), ...format }
  return {
    store: false,
    ...(using.has('reasoning') && { include: ['reasoning.encrypted_content'] }),
    ...(using.has('cache-key') && { prompt_cache_key: getCacheKey(endpoint, request) }),
    ...parameters,
    ...(using.has('cache-diagnostics') && getComparison(request, parameters)),
    model: endpoint.model,
    stream: true,
    ...(Object.keys(texts).length > 0 && { text: texts }),
    ...(!(system === '' || using.has('cache-mark')) && { instructions: system }),
    ...(tools.length > 0 && { tools }),
    // Last, so each request begins with the bytes of the one before.
    input: [
      ...(using.has('cache-mark') ? [toMarkedSystem(system)] : []),
      ...(search ? useToolSearch(items, search.name) : items),
    ],
  }
}

/** Asks the provider to compare a request with the one before. */
function getComparison(request: ChatRequest, { prompt_cache_options: own }: Endpoint['parameters']): object {
  const response = findLastResponse(request)
  if (response === undefined) return {}
  return { prompt_cache_options: { comparison_response_id: response, ...(isObject(own) && own) } }
}

/**
 * Compacts a conversation on demand. The answer has the user's messages and one encrypted item, which are sent back as
 * they are.
 */
export async function compactResponse(endpoint: Endpoint, request: CompactionRequest): Promise<Compaction> {
  const { name: adapter, model, maxRetries: retries } = endpoint
  const client = await endpoint.client()
  const chat = { ...request, output: undefined }
  const wanted = getWantedFeatures(endpoint, chat, client)
  const using = new Set(wanted.filter((feature) => !endpoint.features.isRefused(feature)))
  const {
    input,
    instructions,
    prompt_cache_key: key,
  } = toResponseBody(endpoint, chat, {
    using,
    isNative: endpoint.toolAdditions === 'native' || using.has('added-tools'),
  })
  const body = {
    model,
    ...(input && { input }),
    ...(instructions && { instructions }),
    ...(key && { prompt_cache_key: key }),
  }
  const { output, usage } = await withRetries(
    async (_emit, signal) => client.responses.compact(body, { signal, maxRetries: 0 }),
    { adapter, retries, signal: request.signal, emit: (event) => request.emit(event) },
  )
  if (!Array.isArray(output) || !output.some(({ type }) => type === 'compaction'))
    throw new AdapterError(
      'adapter-reply-invalid',
      'The conversation was not compacted: the answer has no item of that type.',
      { adapter },
    )
  const native = { adapter: NATIVE_ADAPTER, content: output as unknown as Json }
  const message: AssistantMessage = { role: 'assistant', text: '', toolCalls: [], native }
  return { messages: [message], usage: readResponseUsage(usage), hasTools: false }
}

interface ReadOptions {
  readonly adapter: string
  readonly conversation: readonly Message[]
  /** The name of the tool that answers the provider's own search. */
  readonly searchTool: string | undefined
  /** Whether later requests name this reply. */
  readonly keepsId: boolean
  emit(this: void, event: ModelEvent): void
}

async function readReply(events: AsyncIterable<StreamEvent>, options: ReadOptions): Promise<ChatReply> {
  const meter: Meter = { usage: NO_USAGE }
  return countLostReply(() => readToEnd(events, options, meter), { getUsage: () => meter.usage, emit: options.emit })
}

/** What a reply has cost, if it is known. */
interface Meter {
  usage: Usage
}

async function readToEnd(events: AsyncIterable<StreamEvent>, options: ReadOptions, meter: Meter): Promise<ChatReply> {
  const { adapter, conversation, searchTool, emit } = options
  const read = (item: Item, known?: string): Item => withId(toSearchCall(item, searchTool), known, toId)
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
          calls.set(event.output_index, { id: toId(event.item.call_id), name: readCallName(event.item.name).name })
        break
      case 'response.function_call_arguments.delta': {
        const call = calls.get(event.output_index)
        if (call && event.delta) emit({ type: 'call/delta', callId: call.id, name: call.name, text: event.delta })
        break
      }
      case 'response.output_item.done':
        items.set(event.output_index, read(event.item, calls.get(event.output_index)?.id))
        break
      case 'response.completed':
      case 'response.incomplete':
        response = event.response
        break
      case 'response.failed':
        meter.usage = readResponseUsage(event.response.usage)
        throw toStreamFailure(event.response.error?.code, event.response.error?.message ?? 'The response failed.')
      case 'error':
        throw toStreamFailure(event.code, event.message)
      default:
    }
  }
  if (response === undefined) throw cutStream(adapter, 'The connection closed before the reply was finished.')
  const output = items.size > 0 ? sortItems(items) : (response.output ?? []).map((item) => read(item))
  const id = options.keepsId ? readId(response) : undefined
  const message = toMessage(output, { cut: readCut(response, { adapter, emit }), id })
  reportMiss(response, emit)
  if (!hasText) show(message.text)
  return { message, usage: readResponseUsage(response.usage) }
}

function readCut(
  { status, incomplete_details: details }: OpenAI.Responses.Response,
  { adapter, emit }: Pick<ReadOptions, 'adapter' | 'emit'>,
): AssistantMessage['cut'] {
  if (status !== 'incomplete') return undefined
  const reason = details?.reason ?? 'no reason was given'
  return endReply({ adapter, reason, hasContent: false, emit })
}

/** Some servers skip positions, and some omit the items from the last event. */
function sortItems(items: ReadonlyMap<number, Item>): readonly Item[] {
  return [...items].sort(([one], [other]) => one - other).map(([, item]) => item)
}

/** Gives a call its id in the conversation. */
function withId(item: Item, known: string | undefined, toId: (id: unknown) => string): Item {
  if (item.type === 'function_call') return { ...item, call_id: known ?? toId(item.call_id) }
  return item
}

/** Not all versions of the client know these fields. */
function reportMiss(response: object, emit: ReadOptions['emit']): void {
  const { prompt_cache_diagnostics: found } = response as { readonly prompt_cache_diagnostics?: unknown }
  if (!isObject(found) || found['type'] === 'cache_hit') return
  const { type, reason = type, cache_missed_tokens: tokens } = found
  reportCacheMiss({ reason, tokens }, emit)
}

function readId({ id }: { readonly id?: unknown }): string | undefined {
  return typeof id === 'string' && /^[\w-]{1,200}$/.test(id) ? id : undefined
}

interface ReplyEnd {
  readonly cut: AssistantMessage['cut']
  readonly id: string | undefined
}

function toMessage(output: readonly Item[], { cut, id }: ReplyEnd): AssistantMessage {
  const toolCalls = output
    .filter((item) => item.type === 'function_call')
    .map(({ call_id: id, name, arguments: text, status }) =>
      readToolCall({ id, name, text: text ?? '', isCut: cut !== undefined || status === 'incomplete' }),
    )
  const native = toNative(output.map(withAcceptedName), id)
  return { role: 'assistant', text: getText(output), toolCalls, ...(cut && { cut }), ...(native && { native }) }
}

function withAcceptedName(item: Item): Item {
  if (item.type === 'function_call') return { ...item, name: readCallName(item.name).name }
  return item
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
function toNative(output: readonly Item[], response: string | undefined): AssistantMessage['native'] {
  const end = output.findLastIndex((item) => item.type !== 'reasoning') + 1
  const isWhole = output.every((item) => item.type !== 'reasoning' || Boolean(item.encrypted_content))
  const kept = output.slice(0, end).filter((item) => isWhole || item.type !== 'reasoning')
  const isPlain = kept.every(
    (item) => item.type !== 'reasoning' && item.type !== 'compaction' && !('phase' in item && item.phase),
  )
  if (isPlain && response === undefined) return undefined
  const stored: StoredReply = response === undefined ? kept : { items: kept, response }
  return { adapter: NATIVE_ADAPTER, content: stored as unknown as Json }
}

function measureEvent(event: StreamEvent): number {
  if ('delta' in event) return measureText(event.delta)
  return 0
}

/** Creates the error for a failure reported in a stream, in the shape of the client's own errors. */
function toStreamFailure(code: string | null | undefined, message: string): Error {
  return Object.assign(new Error(message), { status: undefined, code })
}
