import type { Message } from '../contract.ts'

/**
 * A conversation as the single prompt that the SDK accepts: the last user message, after a transcript of what was said before.
 * Messages that add tools are left out, since the new query offers all tools from its start.
 */
export function getPrompt(messages: readonly Message[]): string {
  const last = messages.at(-1)
  const [earlier, now] = last?.role === 'user' ? [messages.slice(0, -1), last.text] : [messages, 'Continue.']
  const lines = earlier.flatMap(toLines)
  if (lines.length === 0) return now
  return `<conversation>\n${lines.join('\n')}\n</conversation>\n\n${now}`
}

function toLines(message: Message): readonly string[] {
  switch (message.role) {
    case 'user':
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
