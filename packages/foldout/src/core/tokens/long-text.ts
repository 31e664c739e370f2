import { toOwnText } from '../text.ts'

/** The length of a piece, in characters. */
const PIECE = 400

/**
 * Counts the tokens of a text. A text of more than `most` characters is estimated from pieces of that length together,
 * because counting all of it takes long, and some tokenizers take the square of the length of a word. The pieces are
 * spread over the whole text: its beginning may be unlike the rest. The same text has the same number in every process.
 */
export function countLongText(text: string, most: number, count: (text: string) => number): number {
  if (text.length <= most) return count(text)
  const pieces = Math.ceil(most / PIECE)
  let counted = 0
  for (let i = 0; i < pieces; i++) {
    const start = Math.round(((text.length - PIECE) * i) / (pieces - 1))
    // Counters remember pieces. A slice would keep the whole text in memory with it.
    counted += count(toOwnText(text.slice(start, start + PIECE)))
  }
  return (counted * text.length) / (pieces * PIECE)
}
