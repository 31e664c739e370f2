import { readStepUsage } from '../../../adapters/ai-sdk/usage.ts'
import { isObject } from 'foldout-shared/values'
import type { HostCall, HostReply } from '../core/contract.ts'

/** A message of the prompt that Mastra sends. */
export interface PromptMessage {
  readonly role: string
  readonly content: unknown
}

/** Returns the texts of parts. */
export function joinTexts(parts: readonly unknown[]): string {
  return parts.flatMap((part) => (isObject(part) && typeof part['text'] === 'string' ? [part['text']] : [])).join('\n')
}

/** Returns the text of a message of the user. */
export function getPromptInput({ role, content }: PromptMessage): string | undefined {
  if (role !== 'user') return undefined
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return joinTexts(content as readonly unknown[])
  return ''
}

/** Creates a message of the user. */
export function createInput(text: string): PromptMessage {
  return { role: 'user', content: [{ type: 'text', text }] }
}

interface ResultPart {
  readonly toolName: string
  readonly output: { readonly type: string; readonly value: unknown }
}

function isResult(part: unknown): part is ResultPart & Record<string, unknown> {
  return isObject(part) && part['type'] === 'tool-result' && isObject(part['output'])
}

/** Returns the texts of the results in a prompt. */
export function getResultTexts(messages: readonly PromptMessage[]): readonly string[] {
  return messages.flatMap(({ role, content }) => {
    if (role !== 'tool' || !Array.isArray(content)) return []
    return (content as readonly unknown[]).flatMap((part) => (isResult(part) ? getTexts(part.output.value) : []))
  })
}

function getTexts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return (value as readonly unknown[]).flatMap(getTexts)
  if (isObject(value) && typeof value['text'] === 'string') return [value['text']]
  return []
}

/** Replaces the text of a system message. */
export function replaceSystem<Message extends PromptMessage>(
  messages: readonly Message[],
  before: string,
  text: string,
): Message[] {
  return messages.map((message) =>
    message.role === 'system' && message.content === before ? { ...message, content: text } : message,
  )
}

/** Replaces what Mastra says about tools that cannot be called. */
export function replaceHints<Message extends PromptMessage>(
  messages: readonly Message[],
  describe: (tool: string) => string | undefined,
): Message[] {
  return messages.map((message) => {
    if (message.role !== 'tool' || !Array.isArray(message.content)) return message
    const content = (message.content as readonly unknown[]).map((part) => {
      if (!isResult(part) || !isNotFound(part)) return part
      const value = describe(part.toolName)
      if (value === undefined) return part
      return { ...part, output: { type: 'error-text', value } }
    })
    return { ...message, content }
  })
}

function isNotFound({ toolName, output }: ResultPart): boolean {
  const text = typeof output.value === 'string' ? output.value : (JSON.stringify(output.value) ?? '')
  return text.includes(`Tool "${toolName}" not found.`) || text.includes(`Tool \\"${toolName}\\" not found.`)
}

/** Reads a reply from the chunks that Mastra streams. */
export function readChunks(
  chunks: readonly { readonly type: string; readonly payload: unknown }[],
): Required<HostReply> {
  let text = ''
  const calls: HostCall[] = []
  let usage: Required<HostReply>['usage'] = {}
  for (const { type, payload } of chunks) {
    if (!isObject(payload)) continue
    if (type === 'text-delta' && typeof payload['text'] === 'string') text += payload['text']
    if (type === 'tool-call') {
      const { toolCallId, toolName, args } = payload
      if (typeof toolCallId === 'string' && typeof toolName === 'string')
        calls.push({ id: toolCallId, name: toolName, arguments: args })
    }
    if (type === 'finish' && isObject(payload['output'])) usage = readStepUsage(payload['output']['usage'] ?? {})
  }
  return { text, calls, usage }
}
