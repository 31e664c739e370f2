import type { OpenAI } from 'openai'
import type { AnyTool, ToolGroup } from '../../tools/tool.ts'
import type {
  ChatRequest,
  AssistantMessage,
  MediaPart,
  TextPart,
  ToolCall,
  ToolMessage,
  UserMessage,
} from '../contract.ts'
import { getAddedTools, toAcceptedId, toResultText } from '../tool-calls.ts'
import { toToolParameters } from '../tool-schemas.ts'
import { toAddress, toDataUrl } from '../user-parts.ts'
import { DEFAULT_FILE_NAME } from './input.ts'
import { groupTools, nameSpaces, toGroup } from './namespaces.ts'
import { isStrictSchema } from './strict-schema.ts'

type Item = OpenAI.Responses.ResponseInputItem
type OutputItem = OpenAI.Responses.ResponseOutputItem

/** Identifies `native` content of the Responses API, which is sent back unchanged. */
export const NATIVE_ADAPTER = 'openai-responses'

export interface InputOptions {
  /** Whether the provider enforces the schemas of tools where it can. */
  readonly isStrict: boolean
  /** Whether tools that were added during a conversation are sent at that point in the conversation. */
  readonly isNative: boolean
  /** Whether added tools are sent as parts of their servers and sections. */
  readonly hasNamespaces: boolean
  /** Whether reasoning is sent back unchanged. */
  readonly hasReasoning: boolean
  /** The `native` content of replies whose reasoning the server rejected. */
  readonly refused: { has(content: object): boolean }
}

/** The system text as a message, whose end marks what other conversations can read from the cache. */
export function toMarkedSystem(text: string): Item {
  const content = { type: 'input_text', text, prompt_cache_breakpoint: { mode: 'explicit' } } as const
  return { role: 'developer', content: [content] }
}

/** Converts the conversation to the form that the Responses API accepts. */
export function toResponseInput(
  request: ChatRequest,
  { isNative, isStrict, hasNamespaces, hasReasoning, refused }: InputOptions,
): Item[] {
  const additions = getAddedTools(request)
  const findGroup = (tool: AnyTool): ToolGroup | undefined => (hasNamespaces ? toGroup(tool, request) : undefined)
  const items = request.messages.flatMap((message, index): readonly Item[] => {
    switch (message.role) {
      case 'user':
        return [{ role: 'user', content: toUserContent(message) }]
      case 'assistant':
        return toAssistantItems(message, hasReasoning && !isRefused(message, refused))
      case 'tool':
        return [{ type: 'function_call_output', call_id: toCallId(message.callId), output: toResultOutput(message) }]
      default: {
        const added = additions.get(index) ?? []
        if (!isNative || added.length === 0) return []
        const tools = groupTools(added, { findGroup, toTool: (tool) => toResponseTool(tool, isStrict) })
        return [{ type: 'additional_tools', role: 'developer', tools }]
      }
    }
  })
  return nameSpaces(items, new Map([...additions.values()].flat().map((tool) => [tool.name, findGroup(tool)?.name])))
}

function toUserContent({ text, parts }: UserMessage): string | OpenAI.Responses.ResponseInputContent[] {
  return parts?.map(toContentPart) ?? text
}

function toContentPart(part: TextPart | MediaPart): OpenAI.Responses.ResponseInputContent {
  if (part.type === 'text') return { type: 'input_text', text: part.text }
  if (part.type === 'image') return { type: 'input_image', detail: 'auto', image_url: toAddress(part) }
  // The provider takes the name of a file from its URL.
  if (!('data' in part)) return { type: 'input_file', file_url: part.url }
  return { type: 'input_file', filename: part.name ?? DEFAULT_FILE_NAME, file_data: toDataUrl(part) }
}

function toResultOutput(message: ToolMessage): OpenAI.Responses.ResponseInputItem.FunctionCallOutput['output'] {
  const text = toResultText(message)
  if (!message.images?.length) return text
  const images = message.images.map(({ mimeType, data }) => ({
    type: 'input_image' as const,
    image_url: `data:${mimeType};base64,${data}`,
  }))
  return [{ type: 'input_text', text }, ...images]
}

function isRefused({ native }: AssistantMessage, refused: InputOptions['refused']): boolean {
  const content = native?.content
  return typeof content === 'object' && content !== null && refused.has(content)
}

/** A reply as it is stored: its items, with the id of the response if that is needed. */
export type StoredReply = readonly OutputItem[] | { readonly items: readonly OutputItem[]; readonly response: string }

function readStored({ native }: AssistantMessage): StoredReply {
  return native?.adapter === NATIVE_ADAPTER ? (native.content as unknown as StoredReply) : []
}

function readItems(message: AssistantMessage): readonly OutputItem[] {
  const stored = readStored(message)
  return 'items' in stored ? stored.items : stored
}

/** Lists the stored content of replies with reasoning. */
export function listReasoning({ messages }: ChatRequest): readonly object[] {
  return messages
    .filter((message) => message.role === 'assistant')
    .filter((message) => readItems(message).some(({ type }) => type === 'reasoning'))
    .map(readStored)
}

/** Finds the provider's id of the last reply. */
export function findLastResponse({ messages }: ChatRequest): string | undefined {
  const last = messages.findLast((message) => message.role === 'assistant')
  const stored = last && readStored(last)
  return stored && 'response' in stored ? stored.response : undefined
}

/** The API rejects longer ids. Its own are short. */
function toCallId(id: string): string {
  if (id.length > MAX_ID_CHARACTERS) return toAcceptedId(id)
  return id
}

const MAX_ID_CHARACTERS = 64

function toAssistantItems(message: AssistantMessage, hasReasoning: boolean): readonly Item[] {
  const { text, toolCalls } = message
  const items = readItems(message)
  // What stands for a conversation that was compacted is sent back as it is.
  if (items.some(({ type }) => type === 'compaction')) return items as Item[]
  if (hasReasoning && items.some(({ type }) => type === 'reasoning')) return items as Item[]
  const calls = toolCalls.map(toFunctionCall)
  const messages = items.filter((item) => item.type === 'message')
  if (messages.length === 0) return [...(text === '' ? [] : [{ role: 'assistant', content: text } as const]), ...calls]
  return [...messages.flatMap(toPlainMessage), ...calls]
}

/** Removes the id of a message: for the provider, the id also refers to the reasoning before the message. */
function toPlainMessage(message: OpenAI.Responses.ResponseOutputMessage): readonly Item[] {
  const content = getMessageText(message)
  const { phase } = message
  if (content === '') return []
  return [{ role: 'assistant', content, ...(phase ? { phase } : {}) }]
}

export function getMessageText({ content }: OpenAI.Responses.ResponseOutputMessage): string {
  return (content ?? []).map((part) => (part.type === 'refusal' ? part.refusal : part.text)).join('')
}

function toFunctionCall({ id, name, arguments: input, malformed }: ToolCall): Item {
  return { type: 'function_call', call_id: toCallId(id), name, arguments: malformed ?? JSON.stringify(input ?? {}) }
}

export function toResponseTool(
  { name, description, inputSchema }: AnyTool,
  isStrict: boolean,
): OpenAI.Responses.FunctionTool {
  const parameters = toToolParameters(inputSchema, 'openai')
  // Never left out: strict is the default here, and the strict subset of JSON Schema lacks much that tools use.
  return { type: 'function', name, description, parameters, strict: isStrict && isStrictSchema(parameters) }
}
