import type { CallWarning, FinishReason, LanguageModelUsage, ModelMessage, TextStreamPart, ToolSet } from 'ai'
import type { ChatReply } from '../chat.ts'
import type { ModelEvent, ToolCall, Usage } from '../contract.ts'
import { cutStream } from '../failure.ts'
import { requestError } from './failure.ts'
import { nativeContent } from './messages.ts'

/** What is read of a result of `streamText`. */
interface StreamedResult {
  readonly fullStream: AsyncIterable<TextStreamPart<ToolSet>>
  readonly response: PromiseLike<{ readonly messages: readonly ModelMessage[] }>
}

type FinishedStep = Extract<TextStreamPart<ToolSet>, { readonly type: 'finish-step' }>

/** Reads one reply while it comes. */
export async function readReply(
  result: StreamedResult,
  options: { readonly adapter: string; emit(this: void, event: ModelEvent): void },
): Promise<ChatReply> {
  const { adapter, emit } = options
  let text = ''
  const toolCalls: ToolCall[] = []
  let finished: FinishedStep | undefined
  try {
    for await (const part of result.fullStream) {
      switch (part.type) {
        case 'start-step':
          for (const warning of part.warnings) emit({ type: 'warning', message: warningText(warning) })
          break
        case 'text-delta':
          text += part.text
          if (part.text !== '') emit({ type: 'text/delta', text: part.text })
          break
        case 'tool-call':
          if (!part.providerExecuted) toolCalls.push(toToolCall(part))
          break
        case 'finish-step':
          finished = part
          break
        case 'error':
          throw part.error
      }
    }
  } catch (error) {
    throw requestError(error)
  }
  if (!finished || isCut(finished)) throw cutStream('The reply ended before it was whole.')
  const cause = STOPPED_BY[finished.finishReason]
  if (cause) emit({ type: 'warning', message: `The reply is not whole: ${cause}.` })
  const content = nativeContent((await result.response).messages, toolCalls)
  return {
    message: { role: 'assistant', text, toolCalls, ...(content === undefined ? {} : { native: { adapter, content } }) },
    usage: toUsage(finished.usage),
  }
}

const STOPPED_BY: { readonly [Reason in FinishReason]?: string } = {
  length: 'it reached the most tokens an output may have',
  'content-filter': "the provider's content filter stopped it",
}

/** A stream that ends too early is given a last part by the SDK, in which nothing is known. */
function isCut({ finishReason, rawFinishReason, usage }: FinishedStep): boolean {
  return (
    finishReason === 'other' &&
    rawFinishReason === undefined &&
    usage.inputTokens === undefined &&
    usage.outputTokens === undefined
  )
}

function toToolCall(part: Extract<TextStreamPart<ToolSet>, { readonly type: 'tool-call' }>): ToolCall {
  const call = { id: part.toolCallId, name: part.toolName }
  // The SDK also calls a tool invalid that it does not know; then it has read the arguments.
  return part.invalid && typeof part.input === 'string'
    ? { ...call, arguments: undefined, malformed: part.input }
    : { ...call, arguments: part.input }
}

function toUsage({ inputTokens = 0, outputTokens = 0, inputTokenDetails: details }: LanguageModelUsage): Usage {
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: details.cacheReadTokens ?? 0,
    cacheWriteTokens: details.cacheWriteTokens ?? 0,
  }
}

function warningText(warning: CallWarning): string {
  if (warning.type === 'other') return warning.message
  return `The model's provider does not fully support '${warning.feature}'.${warning.details ? ` ${warning.details}` : ''}`
}
