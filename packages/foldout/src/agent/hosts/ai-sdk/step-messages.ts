import type { LanguageModel, ModelMessage } from 'ai'
import { getAdditionStyle } from '../../../adapters/ai-sdk/additions.ts'
import { isObject } from 'foldout-shared/values'

/** Returns the text of a message of the user. */
export function getInputText({ role, content }: ModelMessage): string | undefined {
  if (role !== 'user') return undefined
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

/** Returns the texts of the results in a conversation. */
export function getResultTexts(messages: readonly ModelMessage[]): readonly string[] {
  return messages.flatMap((message) => (message.role === 'tool' ? message.content.flatMap(getTexts) : []))
}

function getTexts(part: unknown): readonly string[] {
  const output = isObject(part) ? part['output'] : undefined
  const value = isObject(output) ? output['value'] : undefined
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) return []
  return (value as readonly unknown[]).flatMap((item) =>
    isObject(item) && typeof item['text'] === 'string' ? [item['text']] : [],
  )
}

const WRAPPED = /^(?:AI_ToolCallRepairError: )?Error repairing tool call: (?=Tool '|There is no tool ')/

/** Takes the SDK's words off the hints, which reach it as errors of a repair. */
export function unwrapHints(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.map((message) => {
    if (message.role !== 'tool' || !message.content.some(isWrapped)) return message
    const content = message.content.map((part) => {
      if (!isWrapped(part)) return part
      return { ...part, output: { ...part.output, value: part.output.value.replace(WRAPPED, '') } }
    })
    return { ...message, content } as ModelMessage
  })
}

function isWrapped(part: unknown): part is { readonly output: { readonly value: string } } {
  return WRAPPED.test(getTexts(part)[0] ?? '')
}

/**
 * Leaves out the reasoning before the last change of the tool list, for models that bind reasoning to the list. They
 * refuse it otherwise. The tools of calls `inPlace` do not change the list.
 */
export function withoutStaleReasoning(
  messages: ModelMessage[],
  model: LanguageModel | undefined,
  inPlace: ReadonlySet<string>,
): ModelMessage[] {
  if (model === undefined || !bindsReasoning(model)) return messages
  const last = messages.findLastIndex(
    ({ role, content }) =>
      role === 'tool' &&
      content.some((part) => !('toolCallId' in part && inPlace.has(part.toolCallId)) && getTexts(part).some(addsTools)),
  )
  return messages.map((message, index) => {
    if (index > last || message.role !== 'assistant' || typeof message.content === 'string') return message
    const content = message.content.filter(({ type }) => type !== 'reasoning')
    if (content.length === message.content.length) return message
    return { ...message, content }
  })
}

function bindsReasoning(model: LanguageModel): boolean {
  if (typeof model === 'string') return model.startsWith('anthropic/')
  return getAdditionStyle(model) === 'anthropic' || /\banthropic\b/.test(model.provider) || /claude/.test(model.modelId)
}

/** Whether a result says that tools were added. */
function addsTools(text: string): boolean {
  return /(?:^|\n)Callable now: |tools are in your tool list\./.test(text)
}
