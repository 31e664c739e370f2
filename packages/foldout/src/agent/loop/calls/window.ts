import type { Message } from '../../../adapters/contract.ts'
import type { TokenCounter } from '../../../core/tokens/tokens.ts'
import type { Opening } from '../../../tools/result.ts'
import { toolTokens, type AnyTool } from '../../../tools/tool.ts'

export interface WindowOptions {
  /** The size of the model's context window in tokens, if known. */
  readonly size: number | undefined
  readonly counter: TokenCounter
  readonly getSystem: () => string
  readonly getTools: () => readonly AnyTool[]
  readonly getMessages: () => readonly Message[]
}

/**
 * Returns a message with numbers if an opening does not fit the model's context window. `getText` returns the text that
 * the model would read.
 */
export type WindowCheck = (opening: Pick<Opening, 'keys' | 'tools'>, getText: () => string) => string | undefined

export function createWindowCheck({ size, counter, getSystem, getTools, getMessages }: WindowOptions): WindowCheck {
  // An adapter that does not know its window may report NaN.
  if (size === undefined || Number.isNaN(size)) return () => undefined
  const counts = new WeakMap<Message, number>()
  const count = (message: Message): number => {
    const known = counts.get(message) ?? countMessage(message, counter)
    counts.set(message, known)
    return known
  }
  return (opening, getText) => {
    const countTools = (tools: readonly AnyTool[]): number =>
      tools.reduce((sum, tool) => sum + toolTokens(tool, counter), 0)
    const needed = counter.count(getText()) + countTools(opening.tools)
    const offer = counter.count(getSystem()) + countTools(getTools())
    const used = offer + getMessages().reduce((sum, message) => sum + count(message), 0)
    if (used + needed <= size) return undefined
    return `Opening ${opening.keys.join(', ')} needs about ${needed} tokens, but about ${used} of the model's ${size} are in use. Continue without it, or open something smaller.`
  }
}

/**
 * Roughly what providers count for a full-size image. For files, there is no such number; this equals a page or two.
 */
const TOKENS_OF_MEDIA = 1600

function countMessage(message: Message, counter: TokenCounter): number {
  let media = 0
  const text = JSON.stringify(message, (key, value: unknown) => {
    // The bytes of images and files do not count as text.
    if (key !== 'parts' && key !== 'images') return value
    media = Array.isArray(value) ? value.filter((part) => (part as { type?: string }).type !== 'text').length : 0
    return undefined
  })
  return counter.count(text) + media * TOKENS_OF_MEDIA
}
