import type { Anthropic } from '@anthropic-ai/sdk'
import { AdapterError } from '../adapter-error.ts'
import type { ChatReply } from '../chat.ts'
import type { AssistantMessage, Message, ModelEvent, ToolCall, Usage } from '../contract.ts'
import { cutStream } from '../failure.ts'
import { measureText, readStream } from '../stream.ts'
import { createCallIds, readToolCall, toToolCall } from '../tool-calls.ts'
import { toWireInput } from './conversation.ts'
import { ADAPTER_NAME, toNative } from './native.ts'

type StreamEvent = Anthropic.Beta.Messages.BetaRawMessageStreamEvent
type Content = Anthropic.Beta.Messages.BetaContentBlock
type StopReason = Anthropic.Beta.Messages.BetaStopReason
type MessageDelta = Anthropic.Beta.Messages.BetaRawMessageDeltaEvent

interface Block {
  content: Content
  /** The input of a call as it was streamed. */
  json: string
  /** For a call of one of our tools: its id in the conversation. */
  readonly id: string | undefined
}

export interface ReadOptions {
  readonly conversation: readonly Message[]
  /** Identifies everything that precedes the reply. */
  readonly prefix: string
  readonly signal: AbortSignal
  emit(this: void, event: ModelEvent): void
}

/** Reads a streamed reply to its end, and emits its text as it arrives. */
export async function readReply(stream: AsyncIterable<StreamEvent>, options: ReadOptions): Promise<ChatReply> {
  const { conversation, prefix, signal, emit } = options
  // By index; servers may choose any numbers.
  const blocks = new Map<number, Block>()
  const toId = createCallIds(conversation)
  let usage: UsageParts = {}
  let end: MessageDelta['delta'] | undefined
  let isWhole = false
  for await (const event of readStream(stream, { adapter: ADAPTER_NAME, signal, measure: measureEvent })) {
    switch (event.type) {
      case 'message_start':
        usage = mergeUsage(usage, event.message.usage ?? {})
        break
      case 'content_block_start':
        blocks.set(event.index, beginBlock({ ...event.content_block }, toId))
        break
      case 'content_block_delta': {
        const block = blocks.get(event.index)
        if (block) appendDelta(block, event.delta, emit)
        break
      }
      case 'message_delta':
        end = event.delta
        usage = mergeUsage(usage, event.usage ?? {})
        break
      case 'message_stop':
        isWhole = true
        break
      case 'content_block_stop':
        break
    }
  }
  if (!isWhole) throw cutStream(ADAPTER_NAME, 'The stream ended before the reply was complete.')
  if (end?.stop_reason === 'refusal') throw createRefusal(end)
  const cut = CUT_OFF.get(end?.stop_reason ?? 'end_turn')
  if (cut !== undefined) emit({ type: 'warning', message: cut })
  const inOrder = [...blocks].sort(([one], [other]) => one - other).map(([, block]) => block)
  const message = toMessage(inOrder, { isCutOff: cut !== undefined, prefix })
  return { message, usage: toUsage(usage), isPaused: PAUSES.has(end?.stop_reason ?? 'end_turn') }
}

function beginBlock(content: Content, toId: (id: unknown) => string): Block {
  return { content, json: '', id: content.type === 'tool_use' ? toId(content.id) : undefined }
}

function measureEvent(event: StreamEvent): number {
  if (event.type !== 'content_block_delta') return 0
  const { delta } = event
  if (delta.type === 'text_delta') return measureText(delta.text)
  if (delta.type === 'thinking_delta') return measureText(delta.thinking)
  return delta.type === 'input_json_delta' ? measureText(delta.partial_json) : 0
}

/** After one of these, the reply continues where it stopped once it has been sent back. */
const PAUSES: ReadonlySet<StopReason> = new Set(['pause_turn', 'compaction'])

// A map, because the server may send any reason.
const CUT_OFF: ReadonlyMap<StopReason, string> = new Map([
  [
    'max_tokens',
    "The reply reached the output limit and is cut off. If replies may be that long, raise the adapter's maxTokens.",
  ],
  ['model_context_window_exceeded', "The reply reached the end of the model's context window and is cut off."],
])

function appendDelta(
  block: Block,
  delta: Anthropic.Beta.Messages.BetaRawContentBlockDelta,
  emit: (event: ModelEvent) => void,
): void {
  const { content } = block
  switch (delta.type) {
    case 'text_delta':
      if (content.type !== 'text') return
      content.text += delta.text
      emit({ type: 'text/delta', text: delta.text })
      return
    case 'citations_delta':
      if (content.type === 'text') (content.citations ??= []).push(delta.citation)
      return
    case 'thinking_delta':
      if (content.type !== 'thinking') return
      content.thinking += delta.thinking
      if (measureText(delta.thinking) > 0) emit({ type: 'reasoning/delta', text: delta.thinking })
      return
    case 'signature_delta':
      if (content.type === 'thinking') content.signature = delta.signature
      return
    case 'input_json_delta':
      block.json += delta.partial_json
      if (content.type === 'tool_use' && block.id !== undefined && measureText(delta.partial_json) > 0)
        emit({ type: 'call/delta', callId: block.id, name: content.name, text: delta.partial_json })
      return
    case 'compaction_delta':
      if (content.type !== 'compaction') return
      // The whole summary arrives in one delta.
      content.content = delta.content
      content.encrypted_content = delta.encrypted_content ?? content.encrypted_content
      return
  }
}

function toMessage(
  blocks: readonly Block[],
  { isCutOff, prefix }: { readonly isCutOff: boolean; readonly prefix: string },
): AssistantMessage {
  const toolCalls: ToolCall[] = []
  const contents = blocks.map((block, index): Content => {
    const { content, id } = block
    if (content.type !== 'tool_use' || id === undefined) return withInput(block)
    const call = readCall({ ...content, id }, block.json, isCutOff && index === blocks.length - 1)
    toolCalls.push(call)
    return { ...content, id, input: toWireInput(call) }
  })
  const text = contents.map((content) => (content.type === 'text' ? content.text : '')).join('')
  // The API rejects empty text when it is sent back.
  const kept = contents.filter((content) => content.type !== 'text' || content.text.trim() !== '')
  const message = { role: 'assistant' as const, text, toolCalls }
  if (kept.every(isPlain)) return message
  return { ...message, native: toNative(kept, prefix) }
}

/** Adds the streamed input to a call that the provider runs itself. */
function withInput({ content, json }: Block): Content {
  if (json.trim() === '' || !('input' in content)) return content
  const call = readToolCall({ id: '', name: '', text: json })
  return { ...content, input: toWireInput(call) }
}

/** Whether a message with one text followed by calls preserves all of the content. */
function isPlain(content: Content, index: number): boolean {
  if (content.type === 'text') return index === 0 && (content.citations ?? []).length === 0
  return content.type === 'tool_use'
}

function readCall(
  { id, name, input }: Anthropic.Beta.Messages.BetaToolUseBlock,
  json: string,
  isCutOff: boolean,
): ToolCall {
  if (json.trim() !== '') return readToolCall({ id, name, text: json })
  // A call without arguments streams nothing. A call that was cut off may not have reached its arguments.
  return isCutOff ? { id, name, malformed: json } : toToolCall({ id, name, input })
}

function createRefusal({ stop_details: details }: MessageDelta['delta']): AdapterError {
  const category = details?.category ? ` (${details.category})` : ''
  const said = details?.explanation ? ` It said: ${details.explanation}` : ''
  return new AdapterError(
    'model-refused',
    `The model declined to answer${category}, so this conversation cannot continue. Change the request, or use another model.${said}`,
    { adapter: ADAPTER_NAME },
  )
}

interface UsageParts {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly cache_creation_input_tokens?: number | null
}

/** Later reports are totals too, and omit unchanged numbers. */
function mergeUsage(one: UsageParts, later: UsageParts): UsageParts {
  return {
    input_tokens: later.input_tokens ?? one.input_tokens ?? null,
    output_tokens: later.output_tokens ?? one.output_tokens ?? null,
    cache_read_input_tokens: later.cache_read_input_tokens ?? one.cache_read_input_tokens ?? null,
    cache_creation_input_tokens: later.cache_creation_input_tokens ?? one.cache_creation_input_tokens ?? null,
  }
}

function toUsage(parts: UsageParts): Usage {
  const cachedInputTokens = parts.cache_read_input_tokens ?? 0
  const cacheWriteTokens = parts.cache_creation_input_tokens ?? 0
  return {
    inputTokens: (parts.input_tokens ?? 0) + cachedInputTokens + cacheWriteTokens,
    outputTokens: parts.output_tokens ?? 0,
    cachedInputTokens,
    cacheWriteTokens,
  }
}
