import { toUserBlocks, type UserBlock } from '../anthropic/input.ts'
import type { MediaPart, Message, UserMessage } from '../contract.ts'
import { getUserParts, hasMedia } from '../user-parts.ts'
import type { SdkPrompt, SdkPromptMessage } from './sdk.ts'

const CONTINUE: UserMessage = { role: 'user', text: 'Continue.' }

/**
 * Converts a conversation to the single prompt that the SDK accepts: the last user message, after a transcript of the
 * earlier messages. Messages that add tools are left out, because the new query offers all tools from its start.
 */
export function getPrompt(messages: readonly Message[]): SdkPrompt {
  const last = messages.at(-1)
  const [earlier, now] = last?.role === 'user' ? [messages.slice(0, -1), last] : [messages, CONTINUE]
  const lines = earlier.flatMap(toLines)
  if (lines.length === 0) return toPrompt(now)
  const before = ['<conversation>\n', ...lines.flatMap((line) => [line, '\n']), '</conversation>\n\n']
  // Without media, all lines are strings.
  if (!messages.some(hasMedia)) return `${before.filter((line) => typeof line === 'string').join('')}${now.text}`
  return toStreamedPrompt([...toBlocks(before), ...toUserBlocks(now)])
}

/** Converts a user message to the form that the SDK accepts. */
export function toPrompt(message: UserMessage): SdkPrompt {
  if (hasMedia(message)) return toStreamedPrompt(toUserBlocks(message))
  return message.text
}

/** The SDK accepts images and files only in streamed messages. */
async function* toStreamedPrompt(content: readonly UserBlock[]): AsyncGenerator<SdkPromptMessage> {
  yield { type: 'user', parent_tool_use_id: null, message: { role: 'user', content: [...content] } }
}

/** Converts a transcript to blocks; consecutive texts are joined. */
function toBlocks(lines: readonly Line[]): readonly UserBlock[] {
  const blocks: UserBlock[] = []
  let text = ''
  for (const line of lines) {
    if (typeof line === 'string') {
      text += line
      continue
    }
    blocks.push({ type: 'text', text }, ...toUserBlocks({ role: 'user', text: '', parts: [line] }))
    text = ''
  }
  return [...blocks, { type: 'text', text }]
}

type Line = string | MediaPart

function toLines(message: Message): readonly Line[] {
  switch (message.role) {
    case 'user':
      if (hasMedia(message))
        return [
          '<user>\n',
          ...getUserParts(message).map((part) => (part.type === 'text' ? quote(part.text) : part)),
          '\n</user>',
        ]
      return [`<user>\n${quote(message.text)}\n</user>`]
    case 'assistant':
      return [
        ...(message.text === '' ? [] : [`<assistant>\n${quote(message.text)}\n</assistant>`]),
        ...message.toolCalls.map(({ id, name, arguments: args, malformed }) => {
          const text = malformed ?? JSON.stringify(args) ?? ''
          return `<tool_call id="${id}" name="${name}">\n${quote(text)}\n</tool_call>`
        }),
      ]
    case 'tool': {
      const error = message.isError ? ' error="true"' : ''
      return [
        `<tool_result id="${message.callId}" name="${message.name}"${error}>\n${quote(message.text)}\n</tool_result>`,
      ]
    }
    default:
      return []
  }
}

// The text of a message cannot end the message or begin another one.
function quote(text: string): string {
  return text.replaceAll(/<(?=\/?(?:conversation|user|assistant|tool_call|tool_result)\b)/g, '&lt;')
}
