import { isObject } from 'foldout-shared/values'
import type { AssistantModelMessage, LanguageModel, ModelMessage, ToolModelMessage, UserModelMessage } from 'ai'
import { FoldoutError } from '../../core/errors.ts'
import { isThenable } from '../../core/promises.ts'
import { type Json } from '../../core/json/json.ts'
import type { AssistantMessage, MediaPart, Message, TextPart, ToolCall, ToolMessage, UserMessage } from '../contract.ts'
import { extendPrefix } from '../anthropic/native.ts'
import { REPLY_BEFORE_USER, toShortId, type Quirk } from '../quirks.ts'
import { toAcceptedId } from '../tool-calls.ts'
import type { Additions } from './additions.ts'
import { markTurns } from './cache.ts'

type AssistantPart = Exclude<AssistantModelMessage['content'], string>[number]

const OPENING: ModelMessage = { role: 'user', content: 'Begin.' }

export interface MessageOptions {
  /** Identifies content that this adapter stored. */
  readonly adapter: string
  /** Whether to mark the parts to cache. */
  readonly hasMarks: boolean
  readonly quirks: ReadonlySet<Quirk>
  readonly additions: Additions
  /**
   * Identifies the system text and the tools, if reasoning is bound to them and to the messages before it,
   * as with Anthropic models.
   */
  readonly start?: string | undefined
  /** Whether reasoning is sent back even if the conversation before it has changed. */
  readonly keepsReasoning?: boolean
  /** The prefixes of replies whose reasoning the provider rejected. */
  readonly refusedReasoning?: ReadonlySet<string>
  /** Whether the ids of stored items are sent. Default true. */
  readonly hasItemIds?: boolean
}

export interface SentMessages {
  readonly messages: ModelMessage[]
  /** Identifies everything that precedes the reply, if its reasoning is bound to that. */
  readonly prefix: string | undefined
  /** The prefixes of the replies whose reasoning is sent back. */
  readonly reasoning: readonly string[]
}

/**
 * Converts a conversation to the form that the AI SDK accepts. Content that this adapter stored is sent back unchanged.
 */
export function toModelMessages(messages: readonly Message[], options: MessageOptions): SentMessages {
  const { hasMarks, quirks, additions } = options
  const converted: ModelMessage[] = []
  const reasoning: string[] = []
  let prefix = options.start
  const push = (message: ModelMessage): void => {
    converted.push(message)
    if (prefix !== undefined) prefix = extendPrefix(prefix, message)
  }
  // Added tools come after all of the user's messages: a provider accepts them only before a reply.
  let held: ModelMessage[] = []
  const toId = getIdForm(quirks)
  // Providers reject a conversation that does not begin with a user message.
  if (messages[0]?.role !== 'user') push(OPENING)
  for (const [at, message] of messages.entries()) {
    if (message.role === 'user') {
      if (quirks.has('reply-before-user') && converted.at(-1)?.role === 'tool')
        push({ role: 'assistant', content: REPLY_BEFORE_USER })
      push({ role: 'user', content: toUserContent(message) })
    } else if (message.role === 'tool') {
      push(toToolMessage(message, toId, additions.afterResult.get(at + 1)))
    } else if (message.role === 'tools') {
      const added = additions.messages.get(at)
      if (added) held.push(added)
    } else {
      for (const added of held) push(added)
      held = []
      const reply = toAssistantMessage(message, options, { prefix, toId })
      if (prefix !== undefined && reply.some(hasReasoning)) reasoning.push(prefix)
      for (const each of reply) push(each)
    }
  }
  for (const added of held) push(added)
  return { messages: hasMarks ? markTurns(converted) : converted, prefix, reasoning }
}

function hasReasoning({ role, content }: ModelMessage): boolean {
  return role === 'assistant' && typeof content !== 'string' && content.some(({ type }) => type === 'reasoning')
}

type UserPart = Exclude<UserModelMessage['content'], string>[number]

function toUserContent({ text, parts }: UserMessage): UserModelMessage['content'] {
  return parts?.map(toUserPart) ?? text
}

function toUserPart(part: TextPart | MediaPart): UserPart {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const content = 'data' in part ? part.data : new URL(part.url)
  if (part.type === 'image')
    return { type: 'image', image: content, ...(part.mediaType !== undefined && { mediaType: part.mediaType }) }
  return {
    type: 'file',
    data: content,
    mediaType: part.mediaType ?? DEFAULT_FILE_TYPE,
    ...(part.name !== undefined && { filename: part.name }),
  }
}

/** The SDK requires a type. This is the most likely one for a file that is only known by its URL. */
const DEFAULT_FILE_TYPE = 'application/pdf'

type ToId = (id: string) => string

function toAssistantMessage(
  { text, toolCalls, native }: AssistantMessage,
  options: MessageOptions,
  { prefix, toId }: { readonly prefix: string | undefined; readonly toId: ToId },
): ModelMessage[] {
  const stored = native?.adapter === options.adapter ? readStored(native.content) : undefined
  if (stored) {
    const isBound = prefix === undefined || options.keepsReasoning || stored.prefix === prefix
    const isRefused = prefix !== undefined && options.refusedReasoning?.has(prefix)
    const parts = isBound && !isRefused ? stored.parts : stored.parts.filter(({ type }) => type !== 'reasoning')
    const sent = parts.map((part) => toSentPart(part, options, toId))
    if (sent.length === 0) return []
    return [{ role: 'assistant', content: sent }]
  }
  const content: AssistantPart[] = [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...toolCalls.map((call) => ({
      type: 'tool-call' as const,
      toolCallId: toId(call.id),
      toolName: call.name,
      input: getInput(call),
    })),
  ]
  if (content.length === 0) return []
  return [{ role: 'assistant', content }]
}

function getIdForm(quirks: MessageOptions['quirks']): ToId {
  if (quirks.has('short-call-ids')) return toShortId
  if (quirks.has('plain-call-ids')) return toAcceptedId
  return (id) => id
}

/** Gives a stored call the id that its result is sent with, and leaves out ids of items that the provider did not store. */
function toSentPart(part: AssistantPart, { hasItemIds = true }: MessageOptions, toId: ToId): AssistantPart {
  const isOurs = part.type === 'tool-call' && !part.providerExecuted
  const call = isOurs ? { ...part, toolCallId: toId(part.toolCallId) } : part
  if (hasItemIds || !('providerOptions' in call) || call.providerOptions === undefined) return call
  const options = Object.entries(call.providerOptions).map(([name, own]) => {
    const kept = Object.entries(own).filter(([field]) => field !== 'itemId')
    return [name, Object.fromEntries(kept)] as const
  })
  return { ...call, providerOptions: Object.fromEntries(options) }
}

/**
 * Reads the content that this adapter stored with a reply. The conversation may come from a store, so the shape is
 * checked.
 */
function readStored(
  content: Json,
): { readonly parts: readonly AssistantPart[]; readonly prefix: Json | undefined } | undefined {
  if (!isObject(content) || !Array.isArray(content['parts'])) return undefined
  return { parts: content['parts'].filter(isObject) as unknown as AssistantPart[], prefix: content['prefix'] }
}

/** Providers accept only objects here. */
function getInput({ arguments: args, malformed }: ToolCall): Record<string, unknown> {
  if (isObject(args)) return args
  if (malformed === undefined) return {}
  return { malformed }
}

function toToolMessage(
  message: ToolMessage,
  toId: ToId,
  providerOptions: ResultPart['providerOptions'],
): ToolModelMessage {
  const { callId, name } = message
  const result = {
    type: 'tool-result' as const,
    toolCallId: toId(callId),
    toolName: name,
    output: toResultOutput(message),
  }
  return { role: 'tool', content: [{ ...result, ...(providerOptions !== undefined && { providerOptions }) }] }
}

type ResultPart = Extract<ToolModelMessage['content'][number], { type: 'tool-result' }>

function toResultOutput({ text, isError, images = [] }: ToolMessage): ResultPart['output'] {
  if (isError) return { type: 'error-text', value: text }
  if (images.length === 0) return { type: 'text', value: text }
  const shown = images.map(({ mimeType, data }) => ({ type: 'image-data' as const, data, mediaType: mimeType }))
  return { type: 'content', value: [{ type: 'text', text }, ...shown] }
}

/** The parts of a reply that must be sent back unchanged: reasoning, files, and others that a plain message cannot hold. */
export function getNativeParts(messages: readonly ModelMessage[], toolCalls: readonly ToolCall[]): Json | undefined {
  const parts = messages.flatMap((message) =>
    message.role === 'assistant' && typeof message.content !== 'string' ? message.content : [],
  )
  if (parts.every(isPlain)) return undefined
  const calls = toolCalls.values()
  const content = parts.map((part) => {
    const call = part.type === 'tool-call' && !part.providerExecuted ? calls.next().value : undefined
    if (part.type !== 'tool-call' || call === undefined) return part
    // The call's id was made unique, its name is one that providers accept, and arguments that could not be read must be sent back as an object.
    return {
      ...part,
      toolCallId: call.id,
      toolName: call.name,
      ...(call.malformed !== undefined && { input: getInput(call) }),
    }
  })
  return JSON.parse(JSON.stringify(content)) as Json
}

function isPlain(part: AssistantPart): boolean {
  const isOurs = part.type === 'text' || (part.type === 'tool-call' && !part.providerExecuted)
  return isOurs && part.providerOptions === undefined
}

const BY_DATA =
  'The AI SDK would load it in this process, from any URL that a user may enter. Load it yourself and pass its bytes as data.'

/** Says why a model cannot take media from a URL: its provider does not load URLs itself. */
export function refuseAddress(part: MediaPart, model: LanguageModel): string | undefined {
  if ('data' in part || typeof model === 'string') return undefined
  const { supportedUrls: supported } = model
  // A provider may have to look it up; in that case, the request itself is rejected.
  if (isThenable(supported)) return undefined
  const mediaType = part.mediaType ?? (part.type === 'image' ? 'image/*' : 'application/pdf')
  if (isSupported(part.url, mediaType, supported)) return undefined
  return `The provider of '${model.modelId}' does not load ${mediaType} from this URL. ${BY_DATA}`
}

function isSupported(url: string, mediaType: string, supported: Readonly<Record<string, readonly RegExp[]>>): boolean {
  const address = url.toLowerCase()
  return Object.entries(supported).some(([type, patterns]) => {
    const [kind] = mediaType.split('/')
    const isType = type === '*' || type === '*/*' || type === mediaType || type === `${kind}/*`
    return isType && patterns.some((pattern) => pattern.test(address))
  })
}

interface Download {
  readonly url: URL
  readonly isUrlSupportedByModel: boolean
}

/** Passes URLs on to the provider. Otherwise, the SDK would load those that the provider does not. */
export async function forbidDownloads(requested: readonly Download[]): Promise<null[]> {
  return requested.map(({ url, isUrlSupportedByModel }) => {
    if (isUrlSupportedByModel) return null
    throw new FoldoutError('input-unsupported', `The model's provider does not load ${url.href}. ${BY_DATA}`)
  })
}
