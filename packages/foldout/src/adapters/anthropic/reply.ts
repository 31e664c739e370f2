import type { Anthropic } from '@anthropic-ai/sdk'
import { isObject } from 'foldout-shared/values'
import { AdapterError } from '../adapter-error.ts'
import type { ChatReply, AssistantMessage, Message, ModelEvent, ToolCall } from '../contract.ts'
import { cutStream } from '../failure.ts'
import { endReply, measureText, readStream, reportCacheMiss } from '../stream.ts'
import { createCallIds, readCallName, readToolCall, toToolCall } from '../tool-calls.ts'
import { countLostReply } from '../usage/usage.ts'
import { toWireInput } from './conversation.ts'
import { ADAPTER_NAME, toNative } from './native.ts'
import { mergeReports, readReport, type ReportedUsage } from './usage.ts'

type StreamEvent = Anthropic.Beta.Messages.BetaRawMessageStreamEvent
type Content = Anthropic.Beta.Messages.BetaContentBlock
type StopReason = Anthropic.Beta.Messages.BetaStopReason
type BetaMessage = Anthropic.Beta.Messages.BetaMessage
type MessageDelta = Anthropic.Beta.Messages.BetaRawMessageDeltaEvent

interface Block {
  content: Content
  /** The input of a call as it was streamed. */
  json: string
  /** For a call of one of our tools: its id in the conversation. */
  readonly id: string | undefined
  /** For a call: the tool's name as the model wrote it. */
  readonly writtenName: string
}

export interface ReadOptions {
  readonly conversation: readonly Message[]
  /** Identifies everything that precedes the reply. */
  readonly prefix: string
  /** Whether the provider was asked why its cache missed. */
  readonly hasDiagnostics: boolean
  readonly signal: AbortSignal
  emit(this: void, event: ModelEvent): void
}

/** Reads a streamed reply to its end, and emits its text as it arrives. */
export async function readReply(stream: AsyncIterable<StreamEvent>, options: ReadOptions): Promise<ChatReply> {
  const meter: Meter = { reported: {} }
  return countLostReply(() => readToEnd(stream, options, meter), {
    getUsage: () => readReport(meter.reported),
    emit: options.emit,
  })
}

/** What a reply has cost so far. */
interface Meter {
  reported: ReportedUsage
}

async function readToEnd(stream: AsyncIterable<StreamEvent>, options: ReadOptions, meter: Meter): Promise<ChatReply> {
  const { conversation, prefix, hasDiagnostics, signal, emit } = options
  // By index; servers may choose any numbers.
  const blocks = new Map<number, Block>()
  const toId = createCallIds(conversation)
  let end: MessageDelta['delta'] | undefined
  let container: string | undefined
  let id: string | undefined
  let isWhole = false
  for await (const event of readStream(stream, { adapter: ADAPTER_NAME, signal, measure: measureEvent })) {
    switch (event.type) {
      case 'message_start':
        meter.reported = mergeReports(meter.reported, event.message.usage ?? {})
        container = event.message.container?.id ?? container
        if (hasDiagnostics) ({ id } = event.message)
        if (hasDiagnostics) reportMiss(event.message, emit)
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
        container = end.container?.id ?? container
        meter.reported = mergeReports(meter.reported, event.usage ?? {})
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
  const reason = end?.stop_reason ?? 'end_turn'
  const isPaused = PAUSES.has(reason)
  const cut = isPaused ? undefined : readCut(reason, { hasContent: blocks.size > 0, emit })
  const inOrder = [...blocks].sort(([one], [other]) => one - other).map(([, block]) => block)
  const message = toMessage(inOrder, { cut, prefix, container, id })
  return { message, usage: readReport(meter.reported), isPaused }
}

function reportMiss({ diagnostics }: BetaMessage, emit: ReadOptions['emit']): void {
  const miss: unknown = diagnostics?.cache_miss_reason
  if (isObject(miss)) reportCacheMiss({ reason: miss['type'], tokens: miss['cache_missed_input_tokens'] }, emit)
}

function readCut(
  reason: StopReason,
  { hasContent, emit }: { readonly hasContent: boolean; readonly emit: ReadOptions['emit'] },
): AssistantMessage['cut'] {
  const warning = CUT_OFF.get(reason)
  if (warning === undefined) return endReply({ adapter: ADAPTER_NAME, reason, hasContent, emit })
  emit({ type: 'warning', message: warning })
  return 'cut-off'
}

function beginBlock(content: Content, toId: (id: unknown) => string): Block {
  if (content.type !== 'tool_use') return { content, json: '', id: undefined, writtenName: '' }
  const { name } = readCallName(content.name)
  return { content: { ...content, name }, json: '', id: toId(content.id), writtenName: content.name }
}

function measureEvent(event: StreamEvent): number {
  if (event.type !== 'content_block_delta') return 0
  const { delta } = event
  if (delta.type === 'text_delta') return measureText(delta.text)
  if (delta.type === 'thinking_delta') return measureText(delta.thinking)
  if (delta.type === 'input_json_delta') return measureText(delta.partial_json)
  return 0
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

interface MessageParts {
  readonly cut: AssistantMessage['cut']
  readonly prefix: string
  readonly container: string | undefined
  readonly id: string | undefined
}

function toMessage(blocks: readonly Block[], { cut, prefix, container, id }: MessageParts): AssistantMessage {
  const toolCalls: ToolCall[] = []
  const contents = blocks.map((block, index): Content => {
    const { content, id, writtenName: name } = block
    if (content.type !== 'tool_use' || id === undefined) return withInput(block)
    const call = readCall({ ...content, id, name }, block.json, cut !== undefined && index === blocks.length - 1)
    toolCalls.push(call)
    return { ...content, id, input: toWireInput(call) }
  })
  const text = contents.map((content) => (content.type === 'text' ? content.text : '')).join('')
  // The API rejects empty text when it is sent back.
  const kept = contents.filter((content) => content.type !== 'text' || content.text.trim() !== '')
  const message = { role: 'assistant' as const, text, toolCalls, ...(cut && { cut }) }
  if (container === undefined && id === undefined && kept.every(isPlain)) return message
  return { ...message, native: toNative(kept, { prefix, container, id }) }
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
  // A call without arguments streams nothing. A call that was cut off may not have reached its arguments.
  if (json.trim() !== '' || isCutOff) return readToolCall({ id, name, text: json, isCut: isCutOff })
  return toToolCall({ id, name, input })
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
