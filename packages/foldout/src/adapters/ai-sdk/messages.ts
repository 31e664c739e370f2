import type { AssistantModelMessage, ModelMessage, ToolModelMessage } from 'ai'
import { isPlainObject, type Json } from '../../core/json/json.ts'
import type { AssistantMessage, Message, ToolCall, ToolMessage } from '../contract.ts'
import { markTurns } from './cache.ts'

type AssistantPart = Exclude<AssistantModelMessage['content'], string>[number]

// Providers refuse a conversation that does not begin with a user message.
const OPENING: ModelMessage = { role: 'user', content: 'Begin.' }

/** A conversation in the form that the AI SDK accepts. Content that this adapter stored is sent back unchanged. */
export function toModelMessages(
  messages: readonly Message[],
  { adapter, hasMarks }: { readonly adapter: string; readonly hasMarks: boolean },
): ModelMessage[] {
  const converted = messages.flatMap((message): ModelMessage[] => {
    if (message.role === 'user') return [{ role: 'user', content: message.text }]
    if (message.role === 'assistant') return toAssistantMessage(message, adapter)
    return message.role === 'tool' ? [toToolMessage(message)] : []
  })
  const begun = converted[0]?.role === 'user' ? converted : [OPENING, ...converted]
  return hasMarks ? markTurns(begun) : begun
}

function toAssistantMessage({ text, toolCalls, native }: AssistantMessage, adapter: string): ModelMessage[] {
  if (native?.adapter === adapter) {
    return [{ role: 'assistant', content: native.content as unknown as AssistantPart[] }]
  }
  const content: AssistantPart[] = [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...toolCalls.map((call) => ({
      type: 'tool-call' as const,
      toolCallId: call.id,
      toolName: call.name,
      input: getInput(call),
    })),
  ]
  return content.length === 0 ? [] : [{ role: 'assistant', content }]
}

/** Providers accept only objects here. */
function getInput({ arguments: args, malformed }: ToolCall): Record<string, unknown> {
  if (isPlainObject(args)) return args
  return malformed === undefined ? {} : { malformed }
}

function toToolMessage(message: ToolMessage): ToolModelMessage {
  const { callId, name } = message
  return {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: callId, toolName: name, output: toResultOutput(message) }],
  }
}

type ResultPart = Extract<ToolModelMessage['content'][number], { type: 'tool-result' }>

function toResultOutput({ text, isError, images = [] }: ToolMessage): ResultPart['output'] {
  if (isError) return { type: 'error-text', value: text }
  if (images.length === 0) return { type: 'text', value: text }
  const shown = images.map(({ mimeType, data }) => ({ type: 'image-data' as const, data, mediaType: mimeType }))
  return { type: 'content', value: [{ type: 'text', text }, ...shown] }
}

/** The parts of a reply that must be sent back unchanged: reasoning, files, and others that a plain message cannot hold. */
export function getNativeContent(messages: readonly ModelMessage[], toolCalls: readonly ToolCall[]): Json | undefined {
  const parts = messages.flatMap((message) =>
    message.role === 'assistant' && typeof message.content !== 'string' ? message.content : [],
  )
  if (parts.every(isPlain)) return undefined
  const calls = toolCalls.values()
  const content = parts.map((part) => {
    const call = part.type === 'tool-call' && !part.providerExecuted ? calls.next().value : undefined
    if (part.type !== 'tool-call' || call === undefined) return part
    // The call's id was made unique, and arguments that could not be read must be sent back as an object.
    return { ...part, toolCallId: call.id, ...(call.malformed === undefined ? {} : { input: getInput(call) }) }
  })
  return JSON.parse(JSON.stringify(content)) as Json
}

function isPlain(part: AssistantPart): boolean {
  const isOurs = part.type === 'text' || (part.type === 'tool-call' && !part.providerExecuted)
  return isOurs && part.providerOptions === undefined
}
