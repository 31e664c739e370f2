import type { OpenAI } from 'openai'
import type { Json } from '../../core/json/json.ts'
import type { AssistantMessage, ToolCall } from '../contract.ts'
import { readToolCall } from './tool-calls.ts'

type Item = OpenAI.Responses.ResponseOutputItem

export const NATIVE_ADAPTER = 'openai-responses'

export function getText(output: readonly Item[]): string {
  return output
    .filter((item) => item.type === 'message')
    .map(({ content }) => content.map((part) => (part.type === 'refusal' ? part.refusal : part.text)).join(''))
    .filter((text) => text !== '')
    .join('\n\n')
}

export function toToolCalls(output: readonly Item[]): readonly ToolCall[] {
  return output
    .filter((item) => item.type === 'function_call')
    .map((item) => readToolCall(item.call_id, item.name, item.arguments))
}

/**
 * The items as they came, where there is reasoning among them, which must go back with what followed it. Nothing is kept
 * at the provider, so reasoning that is not in the item itself cannot go back.
 */
export function toNative(output: readonly Item[]): AssistantMessage['native'] {
  const reasoning = output.filter((item) => item.type === 'reasoning')
  if (reasoning.length === 0 || !reasoning.every((item) => item.encrypted_content)) return undefined
  return { adapter: NATIVE_ADAPTER, content: output as unknown as Json }
}
