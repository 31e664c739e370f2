import type { Message } from '../contract.ts'

/**
 * A conversation as the one prompt that the SDK takes: the last user message, after a transcript of what was said before.
 * Names of tools offered meanwhile are left out, as all of them are offered from the start of the new query.
 */
export function getPrompt(messages: readonly Message[]): string {
  const last = messages.at(-1)
  const [earlier, now] = last?.role === 'user' ? [messages.slice(0, -1), last.text] : [messages, 'Continue.']
  const lines = earlier.flatMap(getLines)
  if (lines.length === 0) return now
  return `<conversation>\n${lines.join('\n')}\n</conversation>\n\n${now}`
}

function getLines(message: Message): readonly string[] {
  switch (message.role) {
    case 'user':
      return [`<user>\n${quoted(message.text)}\n</user>`]
    case 'assistant':
      return [
        ...(message.text === '' ? [] : [`<assistant>\n${quoted(message.text)}\n</assistant>`]),
        ...message.toolCalls.map(({ id, name, arguments: args, malformed }) => {
          const text = malformed ?? JSON.stringify(args) ?? ''
          return `<tool_call id="${id}" name="${name}">\n${quoted(text)}\n</tool_call>`
        }),
      ]
    case 'tool': {
      const error = message.isError ? ' error="true"' : ''
      return [
        `<tool_result id="${message.callId}" name="${message.name}"${error}>\n${quoted(message.text)}\n</tool_result>`,
      ]
    }
    default:
      return []
  }
}

// What a message says cannot end it, nor start another that nobody wrote.
function quoted(text: string): string {
  return text.replaceAll(/<(?=\/?(?:conversation|user|assistant|tool_call|tool_result)\b)/g, '&lt;')
}
