import type { TokenCounter } from '../../../core/tokens/tokens.ts'
import type { Opening } from '../../../tools/result.ts'
import { toolTokens } from '../../../tools/definition.ts'
import type { AnyTool } from '../../../tools/tool.ts'

export interface WindowOptions {
  /** The size of the model's context window in tokens, if known. */
  readonly size: number | undefined
  readonly counter: TokenCounter
  /** Counts the tokens of the conversation with its system text, tools and the results of this turn so far. */
  readonly countUsed: () => number
  /** Changes with every message of the conversation. */
  readonly getLength: () => number
}

/**
 * Returns a message with numbers if an opening does not fit the model's context window, together with the openings of
 * the same reply that did. `getText` returns the text that the model would read.
 */
export type WindowCheck = (opening: Pick<Opening, 'keys' | 'tools'>, getText: () => string) => string | undefined

export function createWindowCheck({ size, counter, countUsed, getLength }: WindowOptions): WindowCheck {
  // An adapter that does not know its window may report NaN.
  if (size === undefined || Number.isNaN(size)) return () => undefined
  let accepted = 0
  let length = 0
  return (opening, getText) => {
    // The openings of earlier replies are messages by now.
    if (length !== getLength()) accepted = 0
    length = getLength()
    const tools = opening.tools.reduce((sum, tool: AnyTool) => sum + toolTokens(tool, counter), 0)
    const needed = counter.count(getText()) + tools
    const used = countUsed() + accepted
    if (used + needed > size)
      return `Opening ${opening.keys.join(', ')} needs about ${needed} tokens, but about ${used} of the model's ${size} are in use. Continue without it, or open something smaller.`
    accepted += needed
    return undefined
  }
}
