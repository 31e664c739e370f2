import type { Message, ToolCall } from '../../../adapters/contract.ts'

/** Finds the calls of the last reply that have no result yet. */
export function findUnfinished(messages: readonly Message[]): {
  readonly calls: readonly ToolCall[]
  readonly answered: number
} {
  const at = messages.findLastIndex(({ role }) => role === 'assistant')
  const reply = messages[at]
  if (reply?.role !== 'assistant') return { calls: [], answered: 0 }
  const later = messages.slice(at + 1)
  const answered = new Set(later.filter((message) => message.role === 'tool').map((message) => message.callId))
  const calls = reply.toolCalls.filter(({ id }) => !answered.has(id))
  return { calls, answered: reply.toolCalls.length - calls.length }
}
