import type { AnyTool } from '../../tools/tool.ts'
import type { ChatRequest } from '../chat.ts'
import type { ToolCall, ToolMessage } from '../contract.ts'

/** Reads a call whose arguments came as text. */
export function readToolCall(id: string, name: string, text: string): ToolCall {
  // Some models write nothing where a tool has no params.
  if (text.trim() === '') return { id, name, arguments: {} }
  try {
    return { id, name, arguments: JSON.parse(text) }
  } catch {
    return { id, name, arguments: undefined, malformed: text }
  }
}

/** The text of a result. The interfaces have no field that says that a call failed. */
export function resultText({ text, isError }: ToolMessage): string {
  return isError && !/^error\b/i.test(text) ? `Error: ${text}` : text
}

/** The tools that each `tools` message adds, in order and once each. Those that the list has from the start are left out. */
export function getAdditions({ tools, addedTools, messages }: ChatRequest): readonly (readonly AnyTool[])[] {
  const offered = new Set(tools.map(({ name }) => name))
  return messages
    .filter((message) => message.role === 'tools')
    .map(({ names }) =>
      names.flatMap((name) => {
        const tool = addedTools.get(name)
        if (tool === undefined || offered.has(name)) return []
        offered.add(name)
        return [tool]
      }),
    )
}
