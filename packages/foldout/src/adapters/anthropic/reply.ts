import type { Anthropic } from '@anthropic-ai/sdk'
import { FoldoutError } from '../../core/errors.ts'
import type { Json } from '../../core/json/json.ts'
import type { ChatReply } from '../chat.ts'
import type { AssistantMessage, ModelEvent, ToolCall, Usage } from '../contract.ts'
import { cutStream } from '../failure.ts'
import { ADAPTER_NAME, wireInput } from './conversation.ts'

type StreamEvent = Anthropic.Beta.Messages.BetaRawMessageStreamEvent
type Content = Anthropic.Beta.Messages.BetaContentBlock
type StopReason = Anthropic.Beta.Messages.BetaStopReason
type MessageDelta = Anthropic.Beta.Messages.BetaRawMessageDeltaEvent

interface Block {
  content: Content
  /** The input of a call as it was streamed. */
  json: string
}

/** Reads a streamed reply to its end, and tells its text as it comes. */
export async function readReply(
  events: AsyncIterable<StreamEvent>,
  emit: (event: ModelEvent) => void,
): Promise<ChatReply> {
  const blocks: Block[] = []
  let usage: UsageParts = {}
  let end: MessageDelta['delta'] | undefined
  let isWhole = false
  for await (const event of readable(events)) {
    switch (event.type) {
      case 'message_start':
        usage = mergeUsage(usage, event.message.usage)
        break
      case 'content_block_start':
        blocks[event.index] = { content: { ...event.content_block }, json: '' }
        break
      case 'content_block_delta': {
        const block = blocks[event.index]
        if (block) append(block, event.delta, emit)
        break
      }
      case 'message_delta':
        end = event.delta
        usage = mergeUsage(usage, event.usage)
        break
      case 'message_stop':
        isWhole = true
        break
      case 'content_block_stop':
        break
    }
  }
  if (!isWhole) throw cutStream('The stream ended before the reply did.')
  if (end?.stop_reason === 'refusal') throw declined(end)
  const cut = end ? CUT_OFF[end.stop_reason ?? 'end_turn'] : undefined
  if (cut !== undefined) emit({ type: 'warning', message: cut })
  return { message: messageOfBlocks(blocks.filter(Boolean), cut !== undefined), usage: totalUsage(usage) }
}

/** An event that is no JSON means that the stream was damaged on its way. */
async function* readable(events: AsyncIterable<StreamEvent>): AsyncGenerator<StreamEvent> {
  try {
    yield* events
  } catch (error) {
    if (error instanceof SyntaxError) throw cutStream(`The stream was unreadable: ${error.message}`, { cause: error })
    throw error
  }
}

const CUT_OFF: Partial<Record<StopReason, string>> = {
  max_tokens:
    'The reply reached the output limit and is cut off. Raise maxTokens of the adapter if replies may be that long.',
  model_context_window_exceeded: "The reply reached the end of the model's context window and is cut off.",
}

function append(
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
      if (content.type === 'text') content.citations = [...(content.citations ?? []), delta.citation]
      return
    case 'thinking_delta':
      if (content.type === 'thinking') content.thinking += delta.thinking
      return
    case 'signature_delta':
      if (content.type === 'thinking') content.signature = delta.signature
      return
    case 'input_json_delta':
      block.json += delta.partial_json
      return
    case 'compaction_delta':
      return
  }
}

function messageOfBlocks(blocks: readonly Block[], isCutOff: boolean): AssistantMessage {
  const toolCalls: ToolCall[] = []
  const contents = blocks.map((block, index): Content => {
    const { content } = block
    if (content.type !== 'tool_use') return content
    const call = toolCall(content, block.json, isCutOff && index === blocks.length - 1)
    toolCalls.push(call)
    return { ...content, input: wireInput(call) }
  })
  const text = contents.map((content) => (content.type === 'text' ? content.text : '')).join('')
  // An empty text is refused when it is sent back.
  const kept = contents.filter((content) => content.type !== 'text' || content.text.trim() !== '')
  const message = { role: 'assistant' as const, text, toolCalls }
  if (kept.every(isPlain)) return message
  return { ...message, native: { adapter: ADAPTER_NAME, content: kept as unknown as Json } }
}

/** Whether nothing is lost of it in a message of one text and the calls after it. */
function isPlain(content: Content, index: number): boolean {
  if (content.type === 'text') return index === 0 && (content.citations ?? []).length === 0
  return content.type === 'tool_use'
}

function toolCall(
  { id, name, input }: Anthropic.Beta.Messages.BetaToolUseBlock,
  json: string,
  isCutOff: boolean,
): ToolCall {
  // A call without arguments streams nothing; one that was cut off may not have come to them.
  if (json.trim() === '')
    return isCutOff ? { id, name, arguments: undefined, malformed: json } : { id, name, arguments: input }
  try {
    const parsed: unknown = JSON.parse(json)
    return { id, name, arguments: parsed }
  } catch {
    return { id, name, arguments: undefined, malformed: json }
  }
}

function declined({ stop_details: details }: MessageDelta['delta']): FoldoutError {
  const category = details?.category ? ` (${details.category})` : ''
  const said = details?.explanation ? ` It said: ${details.explanation}` : ''
  return new FoldoutError(
    'model-refused',
    `The model declined to answer${category}, so this conversation cannot go on as it is. Change what it is asked, or ask another model.${said}`,
  )
}

interface UsageParts {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly cache_creation_input_tokens?: number | null
}

/** The later numbers are totals too, and leave out what has not changed. */
function mergeUsage(one: UsageParts, later: UsageParts): UsageParts {
  return {
    input_tokens: later.input_tokens ?? one.input_tokens ?? null,
    output_tokens: later.output_tokens ?? one.output_tokens ?? null,
    cache_read_input_tokens: later.cache_read_input_tokens ?? one.cache_read_input_tokens ?? null,
    cache_creation_input_tokens: later.cache_creation_input_tokens ?? one.cache_creation_input_tokens ?? null,
  }
}

function totalUsage(parts: UsageParts): Usage {
  const cachedInputTokens = parts.cache_read_input_tokens ?? 0
  const cacheWriteTokens = parts.cache_creation_input_tokens ?? 0
  return {
    inputTokens: (parts.input_tokens ?? 0) + cachedInputTokens + cacheWriteTokens,
    outputTokens: parts.output_tokens ?? 0,
    cachedInputTokens,
    cacheWriteTokens,
  }
}
