import { countLongText } from '../core/tokens/long-text.ts'
import { estimatedTokens } from '../core/tokens/tokens.ts'
import { countMissedTokens } from './dense-text.ts'

/** A longer text is estimated from pieces of it. */
const COUNTED_CHARACTERS = 20_000

/**
 * Estimates the tokens of a tool's result, which may be anything: prose, a padded table or base64. The same text has the
 * same number in every process.
 *
 * @example
 * ```ts
 * countResultTokens('In Oslo.') // => 3
 * ```
 */
export function countResultTokens(text: string): number {
  return Math.round(countLongText(text, COUNTED_CHARACTERS, estimate))
}

function estimate(text: string): number {
  return estimatedTokens.count(text) + countMissedTokens(text)
}

/** No tokenizer makes a token of more characters, in texts that people read. */
const CHARACTERS_PER_TOKEN = 6

/** Returns the beginning of a text, about this many tokens at most. */
export function cutToTokens(text: string, tokens: number): string {
  const most = text.slice(0, tokens * CHARACTERS_PER_TOKEN)
  const counted = countResultTokens(most)
  const cut = counted <= tokens ? most : most.slice(0, Math.floor((most.length * tokens) / counted))
  // Do not cut a surrogate pair.
  if (cut.length < text.length && /[\uD800-\uDBFF]$/.test(cut)) return cut.slice(0, -1)
  return cut
}
