import type { Message } from '../../adapters/contract.ts'
import type { TokenCounter } from '../../core/tokens/tokens.ts'

/** A piece of a request. Two pieces with the same text and cost are the same to a cache. */
export interface Part {
  readonly text: string
  readonly tokens: number
}

/** A request in the order in which providers read it: tools, system text, conversation. */
export interface RequestParts {
  readonly tools: readonly Part[]
  readonly system: Part
  readonly messages: readonly Part[]
  /** The tokens that the model writes in reply. */
  readonly outputTokens: number
  /** How long nothing was sent before it, in milliseconds. */
  readonly afterMs: number
}

export function getTokens(parts: readonly Part[]): number {
  return parts.reduce((sum, { tokens }) => sum + tokens, 0)
}

/** Converts a message of a conversation; a call costs its name and its arguments. */
export function messagePart(message: Exclude<Message, { role: 'tools' }>, counter: TokenCounter): Part {
  if (message.role !== 'assistant') return { text: message.text, tokens: counter.count(message.text) }
  const calls = message.toolCalls.map((call) => [call.name, JSON.stringify(call.arguments) ?? ''])
  const words = [message.text, ...calls.flat()]
  return { text: words.join('\n'), tokens: words.reduce((sum, word) => sum + counter.count(word), 0) }
}
