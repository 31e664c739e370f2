import { isObject } from 'foldout-shared/values'
import type { OpenAI } from 'openai'
import { type Json } from '../../core/json/json.ts'
import type { AssistantMessage, MediaPart, Message, TextPart, ToolCall, UserMessage } from '../contract.ts'
import { REPLY_BEFORE_USER, getHost, toShortId } from '../quirks.ts'
import { toAcceptedId, toResultText } from '../tool-calls.ts'
import { describePart, toAddress, toDataUrl } from '../user-parts.ts'
import type { Using } from './features.ts'
import { DEFAULT_FILE_NAME } from './input.ts'

type ChatMessage = OpenAI.ChatCompletionMessageParam
type ContentPart = OpenAI.ChatCompletionContentPart
type ChatCall = OpenAI.ChatCompletionMessageFunctionToolCall

/** The parts of a reply besides its text and calls. They are sent back unchanged. */
export interface ChatExtras {
  /** Fields of the message: `reasoning_content` and others. */
  readonly fields: Readonly<Record<string, Json>>
  /** `extra_content` of calls, by the id of the call. */
  readonly calls: Readonly<Record<string, Json>>
}

/** Identifies the server that sent extras: other servers reject fields that they do not know. */
export function getNativeAdapter(baseURL: string): string {
  return `openai-chat:${getHost(baseURL)}`
}

/** Whether a conversation contains reasoning from this server. */
export function hasReasoning(messages: readonly Message[], adapter: string): boolean {
  return messages.some(
    (message) => message.role === 'assistant' && Object.keys(readExtras(message, adapter).fields).length > 0,
  )
}

/** Converts the conversation to the form that Chat Completions accepts. */
export function toChatMessages(messages: readonly Message[], adapter: string, using: Using): ChatMessage[] {
  const sent: ChatMessage[] = []
  const toId = getIdForm(using)
  for (const message of messages) {
    if (message.role === 'user') {
      if (using.has('reply-before-user') && sent.at(-1)?.role === 'tool')
        sent.push({ role: 'assistant', content: REPLY_BEFORE_USER })
      addUserMessage(sent, toUserContent(message), using)
    } else if (message.role === 'tool') {
      sent.push({ role: 'tool', tool_call_id: toId(message.callId), content: toResultText(message) })
    } else if (message.role === 'assistant') {
      sent.push(toAssistantMessage(message, readExtras(message, adapter), { using, toId }))
    }
  }
  return sent
}

function getIdForm(using: Using): (id: string) => string {
  if (using.has('short-call-ids')) return toShortId
  if (using.has('plain-call-ids')) return toAcceptedId
  return (id) => id
}

/** Joins two user messages in a row, if the server's template fails on them. */
function addUserMessage(sent: ChatMessage[], content: string | ContentPart[], using: Using): void {
  const last = sent.at(-1)
  if (!using.has('alternating-roles') || last?.role !== 'user') sent.push({ role: 'user', content })
  else if (typeof last.content === 'string' && typeof content === 'string')
    sent[sent.length - 1] = { role: 'user', content: `${last.content}\n\n${content}` }
  else sent[sent.length - 1] = { role: 'user', content: [...toParts(last.content), ...toParts(content)] }
}

function toParts(content: string | ContentPart[]): ContentPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return content
}

function toUserContent({ text, parts }: UserMessage): string | ContentPart[] {
  return parts?.map(toContentPart) ?? text
}

function toContentPart(part: TextPart | MediaPart): ContentPart {
  if (part.type === 'text') return { type: 'text', text: part.text }
  if (part.type === 'image') return { type: 'image_url', image_url: { url: toAddress(part) } }
  // Chat Completions does not accept the URL of a file; `refuseInput` says so before a run begins.
  if (!('data' in part)) return { type: 'text', text: describePart(part) }
  return { type: 'file', file: { filename: part.name ?? DEFAULT_FILE_NAME, file_data: toDataUrl(part) } }
}

function toAssistantMessage(
  { text, toolCalls }: AssistantMessage,
  extras: ChatExtras,
  { using, toId }: { readonly using: Using; toId(this: void, id: string): string },
): ChatMessage {
  const fields = using.has('passed-reasoning') ? extras.fields : {}
  if (toolCalls.length === 0) {
    const isEmpty = text.trim() === '' && using.has('no-empty-replies')
    return { role: 'assistant', content: isEmpty ? EMPTY_REPLY : text, ...fields }
  }
  const needsReasoning = using.has('reasoning-required') && !Object.hasOwn(fields, 'reasoning_content')
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(needsReasoning && { reasoning_content: using.has('no-empty-replies') ? ' ' : '' }),
    ...fields,
    tool_calls: toChatCalls(toolCalls, extras, using).map((call) => ({ ...call, id: toId(call.id) })),
  }
}

/** Replaces an empty reply, where the server rejects one. */
const EMPTY_REPLY = '(The reply is empty.)'

// Google's placeholder for calls that were not made by its models.
const ANY_SIGNATURE = { google: { thought_signature: 'skip_thought_signature_validator' } }

function toChatCalls(toolCalls: readonly ToolCall[], { calls }: ChatExtras, using: Using): readonly ChatCall[] {
  const needsSignature = using.has('signature-required') && Object.keys(calls).length === 0
  return toolCalls.map((call, index) => {
    const { id, name } = call
    let extra: Json | undefined = Object.hasOwn(calls, id) ? calls[id] : undefined
    if (needsSignature && index === 0) extra = ANY_SIGNATURE
    return {
      id,
      type: 'function',
      function: { name, arguments: formatArguments(call) },
      ...(extra !== undefined && { extra_content: extra }),
    }
  })
}

/** Servers that render calls with a chat template parse the arguments, and fail if they are not valid JSON. */
function formatArguments({ arguments: input, malformed }: ToolCall): string {
  if (malformed !== undefined) return JSON.stringify({ malformed })
  return JSON.stringify(isObject(input) ? input : toObject(input))
}

/** Templates also fail if the arguments are not an object. */
function toObject(input: unknown): object {
  if (input === undefined || input === null) return {}
  return { malformed: JSON.stringify(input) }
}

/** Returns the extras of a reply, or none if another server sent them. */
function readExtras({ native }: AssistantMessage, adapter: string): ChatExtras {
  const content: unknown = native?.adapter === adapter ? native.content : undefined
  if (!isObject(content)) return { fields: {}, calls: {} }
  const { fields, calls } = content as Partial<ChatExtras>
  return { fields: isObject(fields) ? fields : {}, calls: isObject(calls) ? calls : {} }
}
