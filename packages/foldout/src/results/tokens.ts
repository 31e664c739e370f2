import { estimatedTokens } from '../core/tokens/tokens.ts'
import { countMissedTokens } from './dense-text.ts'

/** A longer text is estimated from pieces of it, because counting all of it takes long. */
const COUNTED_CHARACTERS = 20_000

/** The pieces are spread over the whole text: its beginning may be unlike the rest. */
const PIECES = 50

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
  if (text.length <= COUNTED_CHARACTERS) return Math.round(estimate(text))
  let counted = 0
  for (const piece of takePieces(text)) counted += estimate(piece)
  return Math.round((counted * text.length) / COUNTED_CHARACTERS)
}

function estimate(text: string): number {
  return estimatedTokens.count(text) + countMissedTokens(text)
}

/** Pieces at equal distances, the first at the beginning and the last at the end. */
function* takePieces(text: string): Iterable<string> {
  const length = COUNTED_CHARACTERS / PIECES
  for (let i = 0; i < PIECES; i++) {
    const start = Math.round(((text.length - length) * i) / (PIECES - 1))
    yield text.slice(start, start + length)
  }
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
