import type { OpenAI } from 'openai'
import type { AnyTool } from '../../tools/tool.ts'
import type { ChatRequest } from '../chat.ts'
import type { AssistantMessage, MediaPart, TextPart, ToolCall, ToolMessage, UserMessage } from '../contract.ts'
import { getAddedTools, toResultText } from '../tool-calls.ts'
import { toToolParameters } from '../tool-schemas.ts'
import { toAddress, toDataUrl } from '../user-parts.ts'
import { DEFAULT_FILE_NAME } from './input.ts'

type Item = OpenAI.Responses.ResponseInputItem
type OutputItem = OpenAI.Responses.ResponseOutputItem

/** Identifies `native` content of the Responses API, which is sent back unchanged. */
export const NATIVE_ADAPTER = 'openai-responses'

export interface InputOptions {
  /** Whether tools that were added during a conversation are sent at that point in the conversation. */
  readonly isNative: boolean
  /** Whether reasoning is sent back unchanged. */
  readonly hasReasoning: boolean
}

/** Converts the conversation to the form that the Responses API accepts. */
export function toResponseInput(request: ChatRequest, { isNative, hasReasoning }: InputOptions): Item[] {
  const additions = getAddedTools(request)
  return request.messages.flatMap((message, index): readonly Item[] => {
    switch (message.role) {
      case 'user':
        return [{ role: 'user', content: toUserContent(message) }]
      case 'assistant':
        return toAssistantItems(message, hasReasoning)
      case 'tool':
        return [{ type: 'function_call_output', call_id: message.callId, output: toResultOutput(message) }]
      default: {
        const added = additions.get(index) ?? []
        return isNative && added.length > 0
          ? [{ type: 'additional_tools', role: 'developer', tools: added.map(toResponseTool) }]
          : []
      }
    }
  })
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

function toAssistantItems({ text, toolCalls, native }: AssistantMessage, hasReasoning: boolean): readonly Item[] {
  const items = native?.adapter === NATIVE_ADAPTER ? (native.content as unknown as readonly OutputItem[]) : []
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
  return content === '' ? [] : [{ role: 'assistant', content, ...(phase ? { phase } : {}) }]
}

export function getMessageText({ content }: OpenAI.Responses.ResponseOutputMessage): string {
  return (content ?? []).map((part) => (part.type === 'refusal' ? part.refusal : part.text)).join('')
}

function toFunctionCall({ id, name, arguments: input, malformed }: ToolCall): Item {
  return { type: 'function_call', call_id: id, name, arguments: malformed ?? JSON.stringify(input ?? {}) }
}

export function toResponseTool({ name, description, inputSchema }: AnyTool): OpenAI.Responses.FunctionTool {
  // Not strict, although that is the default here: the strict subset of JSON Schema lacks many features that tools use.
  return { type: 'function', name, description, parameters: toToolParameters(inputSchema, 'openai'), strict: false }
}
