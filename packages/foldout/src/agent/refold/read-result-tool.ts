import type { Message, ToolMessage } from '../../adapters/contract.ts'
import { readPart } from '../../results/read-part.ts'
import { READ_RESULT, formatReading, readResultArguments, readResultDefinition } from '../../results/read-result.ts'
import { countResultTokens } from '../../results/tokens.ts'
import { fail, ok } from '../../tools/result.ts'
import type { ResultRead } from '../events.ts'
import { defineTool, type AnyTool } from '../../tools/tool.ts'

/** The most tokens that a model reads of a folded result at a time. */
export const READ_BACK_TOKENS = 2_000

/** Creates the tool that reads folded results of a conversation. `onRead` is called with each part that was read. */
export function createReadResult(
  getMessages: () => readonly Message[],
  onRead: (read: ResultRead) => void = () => undefined,
): AnyTool {
  return defineTool({
    name: READ_RESULT,
    description: readResultDefinition.description,
    params: readResultDefinition.inputSchema,
    annotations: { readOnlyHint: true, openWorldHint: false },
    async execute(input) {
      const wanted = readResultArguments(input, READ_BACK_TOKENS)
      if ('fault' in wanted) return fail(wanted.fault)
      const messages = getMessages()
      const found = findResult(messages, wanted.result)
      if (!found) return fail(describeMissing(wanted.result, countResults(messages)))
      const answer = await readPart(found.text, wanted.reading)
      if ('fault' in answer) return fail(answer.fault)
      const text = formatReading(answer, wanted.maxTokens)
      const since = messages.slice(messages.indexOf(found)).filter(({ role }) => role === 'assistant').length
      const { callId, name: tool } = found
      onRead({ callId, tool, handle: wanted.result.trim(), age: since, tokens: countResultTokens(text) })
      return ok(text)
    },
  })
}

function describeMissing(handle: string, results: number): string {
  const missing = `There is no result '${handle.slice(0, 80)}'.`
  if (results === 0) return `${missing} No tool has answered yet.`
  if (results === 1) return `${missing} There is only r1.`
  return `${missing} The results of this conversation are r1 to r${results}.`
}

/** Finds the result with a handle in the conversation, which has every result whole. */
export function findResult(messages: readonly Message[], handle: string): ToolMessage | undefined {
  const number = /^r([1-9]\d{0,8})$/.exec(handle.trim())?.[1]
  const results = messages.filter((message) => message.role === 'tool')
  return results[Number(number ?? 0) - 1]
}

export function countResults(messages: readonly Message[]): number {
  return messages.filter(({ role }) => role === 'tool').length
}
