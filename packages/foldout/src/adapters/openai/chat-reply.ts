import { isObject } from 'foldout-shared/values'
import type { OpenAI } from 'openai'
import { type Json, type JsonObject } from '../../core/json/json.ts'
import type { ChatReply, AssistantMessage, Message, ModelEvent, ToolCall } from '../contract.ts'
import { cutStream } from '../failure.ts'
import { MAX_ARGUMENTS_DEPTH } from '../limits.ts'
import { endReply, measureJson } from '../stream.ts'
import { createCallIds, isDeeperThan, readCallName, readToolCall, toToolCall } from '../tool-calls.ts'
import { NO_USAGE, countLostReply, type Usage } from '../usage/usage.ts'
import type { ChatExtras } from './chat-messages.ts'
import { findChatUsage } from './usage.ts'

type Chunk = OpenAI.ChatCompletionChunk

/** A part of a reply. Compatible servers send fields and types that the SDK's types do not have. */
interface Delta {
  /** A string, or a list of parts (Mistral). */
  readonly content?: unknown
  readonly refusal?: unknown
  readonly reasoning_content?: unknown
  readonly reasoning?: unknown
  readonly reasoning_details?: unknown
  readonly tool_calls?: unknown
}

interface CallDelta {
  readonly index?: unknown
  readonly id?: unknown
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null
  readonly extra_content?: unknown
}

export interface ReadOptions {
  readonly adapter: string
  /** Identifies the server in the reply's `native` content. */
  readonly nativeAdapter: string
  readonly conversation: readonly Message[]
  emit(this: void, event: ModelEvent): void
}

/** Reads a streamed Chat Completions reply to its end. */
export async function readChatReply(chunks: AsyncIterable<Chunk>, options: ReadOptions): Promise<ChatReply> {
  const meter: Meter = { usage: NO_USAGE }
  return countLostReply(() => readToEnd(chunks, options, meter), { getUsage: () => meter.usage, emit: options.emit })
}

/** What a reply has cost so far. Some servers report it with each chunk, as a total. */
interface Meter {
  usage: Usage
}

async function readToEnd(chunks: AsyncIterable<Chunk>, options: ReadOptions, meter: Meter): Promise<ChatReply> {
  const { adapter, nativeAdapter, conversation, emit } = options
  const calls = createCallReader(createCallIds(conversation), emit)
  const reasoning = createReasoningReader()
  let text = ''
  let finishReason: string | null | undefined
  for await (const chunk of chunks) {
    meter.usage = findChatUsage(chunk) ?? meter.usage
    const choice = chunk.choices?.[0]
    if (choice === undefined) continue
    const delta: Delta = choice.delta ?? {}
    const said = readContent(delta.content ?? delta.refusal)
    const thought = reasoning.read(delta) || said.reasoning
    if (thought !== '') emit({ type: 'reasoning/delta', text: thought })
    if (said.text !== '') {
      text += said.text
      emit({ type: 'text/delta', text: said.text })
    }
    for (const call of toList(delta.tool_calls)) calls.read(call as CallDelta)
    finishReason = choice.finish_reason ?? finishReason
  }
  if (finishReason === undefined || finishReason === null) {
    throw cutStream(adapter, 'The connection closed before the reply was finished.')
  }
  const cut = endReply({ adapter, reason: finishReason, hasContent: text !== '' || calls.count > 0, emit })
  const { toolCalls, extras } = calls.finish(cut !== undefined)
  const native = toNative(nativeAdapter, { fields: reasoning.finish(), calls: extras })
  return { message: { role: 'assistant', text, toolCalls, ...(cut && { cut }), ...native }, usage: meter.usage }
}

/** How many characters a chunk adds to a reply. */
export function measureChunk({ choices }: Chunk): number {
  return measureJson(choices?.[0]?.delta)
}

/** Returns the text of a part, and its reasoning if the server sends both in one list. */
function readContent(content: unknown): { readonly text: string; readonly reasoning: string } {
  if (typeof content === 'string') return { text: content, reasoning: '' }
  let text = ''
  let reasoning = ''
  for (const part of toList(content)) {
    if (!isObject(part)) continue
    if (typeof part['text'] === 'string' && part['type'] === 'text') text += part['text']
    if (part['type'] === 'thinking') reasoning += readThinking(part['thinking'])
  }
  return { text, reasoning }
}

function readThinking(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking
  return toList(thinking)
    .map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
}

interface CallInParts {
  /** The id from the server, which may arrive late or not at all. */
  given: string
  /** Its id in the conversation, once it is known. */
  id: string | undefined
  name: string
  /** The end of the text that was not emitted yet. */
  unsent: string
  text: string
  /** Arguments that arrived as an object rather than as text. */
  input: unknown
  extra: unknown
}

/** Joins the parts of each call in a reply, and emits the arguments as they arrive. */
function createCallReader(toId: (id: unknown) => string, emit: ReadOptions['emit']) {
  const calls: CallInParts[] = []
  const latest = new Map<unknown, CallInParts>()
  const emitUnsent = (call: CallInParts): string => {
    const callId = (call.id ??= toId(call.given))
    const { unsent: text } = call
    call.unsent = ''
    if (text !== '') emit({ type: 'call/delta', callId, name: readCallName(call.name).name, text })
    return callId
  }
  return {
    get count() {
      return calls.length
    },
    read(delta: CallDelta | null): void {
      const { id, function: called, index = 0, extra_content: extra } = delta ?? {}
      const given = typeof id === 'string' ? id : ''
      let call = latest.get(index)
      // Some servers give every call of a turn the same index; only the id distinguishes them.
      if (call === undefined || (given !== '' && call.given !== '' && given !== call.given)) {
        call = { given, id: undefined, name: '', text: '', unsent: '', input: undefined, extra: undefined }
        latest.set(index, call)
        calls.push(call)
      }
      const { name, arguments: input } = called ?? {}
      call.given ||= given
      if (typeof name === 'string') call.name ||= name
      if (typeof input === 'string') {
        call.text += input
        call.unsent += input
      } else call.input = input ?? call.input
      call.extra = extra ?? call.extra
      if (call.given !== '' && call.name !== '') emitUnsent(call)
    },
    finish(isCut: boolean): { readonly toolCalls: readonly ToolCall[]; readonly extras: ChatExtras['calls'] } {
      const toolCalls: ToolCall[] = []
      const extras: [string, Json][] = []
      for (const call of calls) {
        const id = emitUnsent(call)
        const { name, text, input, extra } = call
        if (isKept(extra)) extras.push([id, extra])
        const isRead = text === '' && input !== undefined
        toolCalls.push(isRead ? toToolCall({ id, name, input }) : readToolCall({ id, name, text, isCut }))
      }
      return { toolCalls, extras: Object.fromEntries(extras) }
    },
  }
}

/** Joins the reasoning of a reply, under each of the names that servers use for it. */
function createReasoningReader() {
  const texts = { reasoning_content: '', reasoning: '' }
  const details: Record<string, Json>[] = []
  return {
    /** Reads a part and returns the text that it adds. */
    read({ reasoning_content: content, reasoning, reasoning_details: parts }: Delta): string {
      if (typeof content === 'string') texts.reasoning_content += content
      if (typeof reasoning === 'string') texts.reasoning += reasoning
      for (const part of toList(parts)) if (isObject(part) && isKept(part)) addDetail(details, part as JsonObject)
      // Some servers send the same text under both names.
      return ([content, reasoning].find((text) => typeof text === 'string' && text !== '') as string | undefined) ?? ''
    },
    finish(): ChatExtras['fields'] {
      const fields = Object.entries(texts).filter(([, text]) => text !== '')
      // The details contain the text too.
      if (details.length > 0) return { reasoning_details: details }
      return Object.fromEntries(fields)
    },
  }
}

/** Details are streamed too: the text of a detail is the sum of its parts, and its signature comes last. */
function addDetail(details: Record<string, Json>[], part: JsonObject): void {
  const last = details.at(-1)
  const isText = typeof last?.['text'] === 'string' || typeof last?.['summary'] === 'string'
  if (last === undefined || !isText || last['type'] !== part['type'] || last['index'] !== part['index']) {
    details.push({ ...part })
    return
  }
  for (const [field, value] of Object.entries(part)) {
    const known = last[field]
    if (DETAIL_TEXTS.has(field) && typeof value === 'string')
      last[field] = typeof known === 'string' ? known + value : value
    else if (DETAIL_FIELDS.has(field) && value !== null) last[field] = value
  }
}

const DETAIL_TEXTS: ReadonlySet<string> = new Set(['text', 'summary'])
const DETAIL_FIELDS: ReadonlySet<string> = new Set(['signature', 'format', 'id'])

/** Whether a value from a server can be sent back; excessively nested values cannot. */
function isKept<T>(value: T): value is T & Json & {} {
  return value !== undefined && value !== null && !isDeeperThan(value, MAX_ARGUMENTS_DEPTH)
}

function toNative(adapter: string, extras: ChatExtras): Pick<AssistantMessage, 'native'> {
  const { fields, calls } = extras
  if (Object.keys(fields).length === 0 && Object.keys(calls).length === 0) return {}
  return { native: { adapter, content: { fields, calls } } }
}

function toList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return []
}
