import { isObject } from 'foldout-shared/values'
import { notJson, toJson, type Json } from '../core/json/json.ts'
import { AdapterError } from './adapter-error.ts'
import type { ChatReply, AssistantMessage, EvaluationResult, Message, ToolCall } from './contract.ts'
import { toWellFormed } from '../core/well-formed.ts'
import { createCallIds, readCallName, toToolCall } from './tool-calls.ts'
import { readUsage } from './usage/usage.ts'

// A custom adapter may pass on whatever its server sends. Its results are stored, counted and sent back, so they must
// match the types: a usage that is not a number would disable every limit, and a value that JSON cannot represent could
// not be stored.

/** Reads one reply of a chat model. Makes the ids of calls unique in the conversation. */
export function readReply(
  reply: unknown,
  { adapter, conversation }: { readonly adapter: string; readonly conversation: readonly Message[] },
): ChatReply {
  if (!isObject(reply) || !isObject(reply['message'])) {
    throw new AdapterError(
      'adapter-reply-invalid',
      `The adapter '${adapter}' returned no reply. complete() must return { message, usage }.`,
      { adapter },
    )
  }
  const message = readAssistantMessage(reply['message'])
  return {
    message: message.toolCalls.length === 0 ? message : withUniqueIds(message, conversation),
    usage: readUsage(reply['usage']),
    ...(reply['isPaused'] === true && { isPaused: true }),
  }
}

/** Reads the result of an adapter's evaluation. */
export function readResult(result: unknown, { name: adapter }: { readonly name: string }): EvaluationResult {
  const type = isObject(result) ? result['type'] : undefined
  if (!isObject(result) || (type !== 'final' && type !== 'halted')) {
    throw new AdapterError(
      'adapter-reply-invalid',
      `The adapter '${adapter}' returned no result. evaluate() must return { type: 'final', text, usage } or { type: 'halted', usage }.`,
      { adapter },
    )
  }
  const usage = readUsage(result['usage'])
  if (type === 'final') return { type, text: readText(result['text']), usage }
  return { type, usage }
}

function readText(text: unknown): string {
  if (typeof text === 'string') return text.toWellFormed()
  return ''
}

/** Reads a message that an adapter records. Only replies come from outside; all other messages are created here. */
export function readMessage(message: Message): Message {
  if (message.role === 'assistant' && !read.has(message)) return readAssistantMessage(message)
  return message
}

/** Messages that have already been read, because the loop receives them again. */
const read = new WeakSet<Message>()

function readAssistantMessage(message: AssistantMessage | Readonly<Record<string, unknown>>): AssistantMessage {
  const { text, toolCalls, native, cut } = message as Partial<AssistantMessage>
  const calls: readonly unknown[] = Array.isArray(toolCalls) ? toolCalls : []
  const kept = native === undefined ? undefined : readNative(native)
  return markRead({
    role: 'assistant',
    text: readText(text),
    toolCalls: calls.filter(isObject).map(readCall),
    ...((cut === 'cut-off' || cut === 'filtered') && { cut }),
    ...(kept && { native: kept }),
  })
}

function markRead(message: AssistantMessage): AssistantMessage {
  read.add(message)
  return message
}

function readCall(call: Readonly<Record<string, unknown>>): ToolCall {
  const { arguments: input, malformed, writtenName, isCutOff } = call
  const id = readText(call['id'])
  const name = readText(writtenName ?? call['name'])
  const cut = isCutOff === true ? { isCutOff: true as const } : {}
  if (typeof malformed === 'string') return { id, ...readCallName(name), malformed: malformed.toWellFormed(), ...cut }
  return toToolCall({ id, name, input })
}

/** Drops native content that could not be stored. */
function readNative(native: unknown): AssistantMessage['native'] {
  if (!isObject(native) || typeof native['adapter'] !== 'string') return undefined
  const { adapter, content } = native
  const kept = notJson(content) === undefined ? (content as Json) : toJson(content)
  if (kept === undefined) return undefined
  return { adapter, content: toWellFormed(kept) }
}

function withUniqueIds(message: AssistantMessage, conversation: readonly Message[]): AssistantMessage {
  if (hasUniqueIds(message, conversation)) return message
  const toId = createCallIds(conversation)
  const toolCalls = message.toolCalls.map((call) => {
    const id = toId(call.id)
    if (id === call.id) return call
    return { ...call, id }
  })
  return markRead({ ...message, toolCalls })
}

/** Ids are almost always unique, so this check allocates nothing and visits each call once. */
function hasUniqueIds({ toolCalls }: AssistantMessage, conversation: readonly Message[]): boolean {
  const ids = new Set(toolCalls.map(({ id }) => id))
  if (ids.size < toolCalls.length || ids.has('')) return false
  for (const message of conversation) {
    if (message.role === 'assistant' && message.toolCalls.some(({ id }) => ids.has(id))) return false
  }
  return true
}
