import type { CallWarning, ModelMessage, TextStreamPart, ToolSet } from 'ai'
import { isObject } from 'foldout-shared/values'
import type { ChatReply, ChatRequest, ToolCall } from '../contract.ts'
import { cutStream } from '../failure.ts'
import { endReply, measureText, readStream } from '../stream.ts'
import { createCallIds, readCallName, toToolCall } from '../tool-calls.ts'
import { getNativeParts } from './messages.ts'
import { readStepUsage } from './usage.ts'

/** The part of a `streamText` result that is read. */
interface StreamedResult {
  readonly fullStream: AsyncIterable<TextStreamPart<ToolSet>>
  readonly response: PromiseLike<{ readonly messages: readonly ModelMessage[] }>
}

type FinishedStep = Extract<TextStreamPart<ToolSet>, { readonly type: 'finish-step' }>

export interface ReadOptions {
  /** The adapter's name, for errors. */
  readonly adapter: string
  /** Identifies the reply's `native` content. */
  readonly nativeAdapter: string
  /** Identifies everything that precedes the reply, if its reasoning is bound to that. */
  readonly prefix: string | undefined
  readonly request: ChatRequest
}

/** Reads one reply while it is streamed. */
export async function readReply(result: StreamedResult, options: ReadOptions): Promise<ChatReply> {
  const { adapter, nativeAdapter, prefix, request } = options
  const { signal } = request
  const ids = createStreamedIds(createCallIds(request.messages))
  let text = ''
  const calls: ToolCall[] = []
  let finished: FinishedStep | undefined
  try {
    for await (const part of readStream(result.fullStream, { adapter, signal, measure: measurePart })) {
      switch (part.type) {
        case 'start-step':
          for (const warning of part.warnings) request.emit({ type: 'warning', message: formatWarning(warning) })
          break
        case 'text-delta':
          text += part.text
          if (part.text !== '') request.emit({ type: 'text/delta', text: part.text })
          break
        case 'reasoning-delta':
          if (part.text !== '') request.emit({ type: 'reasoning/delta', text: part.text })
          break
        case 'tool-input-start':
          if (!part.providerExecuted) ids.begin(part.id, part.toolName)
          break
        case 'tool-input-delta': {
          const call = ids.find(part.id)
          if (call && part.delta !== '') request.emit({ type: 'call/delta', ...call, text: part.delta })
          break
        }
        case 'tool-call':
          if (!part.providerExecuted) calls.push(readCall(part, ids.take(part.toolCallId)))
          break
        case 'finish-step':
          finished = part
          break
        case 'error':
          throw part.error
      }
    }
  } catch (error) {
    throw toRequestError(adapter, error)
  }
  if (!finished || isCut(finished)) throw cutStream(adapter, 'The reply ended before it was complete.')
  const hasContent = text !== '' || calls.length > 0
  const cut = endReply({ adapter, reason: getReason(finished), hasContent, emit: (event) => request.emit(event) })
  const toolCalls = cut === undefined ? calls : calls.map(toCutCall)
  const parts = getNativeParts((await result.response).messages, toolCalls)
  const content = parts && { parts, ...(prefix !== undefined && { prefix }) }
  const native = content === undefined ? {} : { native: { adapter: nativeAdapter, content } }
  return {
    message: { role: 'assistant', text, toolCalls, ...(cut && { cut }), ...native },
    usage: readStepUsage(finished.usage, finished.providerMetadata),
  }
}

interface StreamedIds {
  /** Called before the input of a call is streamed. */
  begin(given: string, name: string): void
  find(given: string): { readonly callId: string; readonly name: string } | undefined
  /** Returns the id of a call in the conversation, which is the id of its streamed input. */
  take(given: string): string
}

function createStreamedIds(toId: (id: unknown) => string): StreamedIds {
  const streamed = new Map<string, { readonly callId: string; readonly name: string }>()
  return {
    begin: (given, name) => void streamed.set(given, { callId: toId(given), name: readCallName(name).name }),
    find: (given) => streamed.get(given),
    take(given) {
      const known = streamed.get(given)?.callId
      // A server may give the same id to two calls.
      streamed.delete(given)
      return known ?? toId(given)
    },
  }
}

function measurePart(part: TextStreamPart<ToolSet>): number {
  if (part.type === 'text-delta' || part.type === 'reasoning-delta') return measureText(part.text)
  if (part.type === 'tool-input-delta') return measureText(part.delta)
  return 0
}

/** The SDK's own name says nothing if it is `other`; the provider's name does. */
function getReason({ finishReason, rawFinishReason }: FinishedStep): string {
  if (finishReason === 'other') return rawFinishReason ?? finishReason
  return finishReason
}

/** If a stream ends too early, the SDK adds a final part without any values. Version 7 calls it `interrupted`. */
function isCut({ finishReason, rawFinishReason, usage }: FinishedStep): boolean {
  if ((finishReason as string) === 'interrupted') return true
  return (
    finishReason === 'other' &&
    rawFinishReason === undefined &&
    usage.inputTokens === undefined &&
    usage.outputTokens === undefined
  )
}

function readCall(part: Extract<TextStreamPart<ToolSet>, { readonly type: 'tool-call' }>, id: string): ToolCall {
  const { toolName: name, input } = part
  // The SDK also marks calls of unknown tools as invalid; in that case, it has parsed the arguments.
  if (part.invalid && typeof input === 'string') return { id, ...readCallName(name), malformed: input.toWellFormed() }
  return toToolCall({ id, name, input })
}

/**
 * The SDK parses an empty text as no arguments. If the reply was cut off, the arguments may be missing, and the tool
 * must not run without them.
 */
function toCutCall(call: ToolCall): ToolCall {
  const { arguments: input, ...rest } = call
  const isEmpty = isObject(input) && Object.keys(input).length === 0
  if (call.malformed !== undefined) return { ...call, isCutOff: true }
  if (isEmpty) return { ...rest, malformed: '', isCutOff: true }
  return call
}

function formatWarning(warning: CallWarning): string {
  if (warning.type === 'other') return warning.message
  return `The model's provider does not fully support '${warning.feature}'.${warning.details ? ` ${warning.details}` : ''}`
}

/**
 * Converts an error that the AI SDK reports, and adds the status, headers and names of the failed request, if known.
 */
function toRequestError(adapter: string, reported: unknown): unknown {
  if (!(reported instanceof Error)) return toStreamFailure(reported)
  if (reported.name === 'AI_NoOutputGeneratedError' || isCutResponse(reported))
    return cutStream(adapter, reported.message, reported)
  const { cause } = reported
  // The gateway keeps the headers, which say how long to wait, only in the cause.
  if ('statusCode' in reported && !('responseHeaders' in reported) && isObject(cause)) {
    const { statusCode: status } = reported
    return Object.assign(new Error(reported.message, { cause }), { status, headers: cause['responseHeaders'] })
  }
  return reported
}

function isCutResponse({ name, message }: Error): boolean {
  return name === 'AI_InvalidResponseDataError' && /ended without/i.test(message)
}

/** Providers deliver errors inside a stream as plain data. */
function toStreamFailure(data: unknown): Error {
  const inner = isObject(data) && isObject(data['error']) ? data['error'] : data
  const message = isObject(inner) && typeof inner['message'] === 'string' ? inner['message'] : undefined
  const text = message ?? (typeof data === 'string' ? data : JSON.stringify(data))
  return Object.assign(new Error(text), { status: undefined, error: data })
}
