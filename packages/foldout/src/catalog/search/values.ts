import { getWords } from './text/words.ts'

/** Text in quotes (no alternative looks past the next mark of its kind), and a capitalized word inside a sentence. */
const VALUE = /`[^`]+`|"[^"]+"|“[^“”]+”|(?<!\p{L})'[^']+'(?!\p{L})|(?<=[\p{Ll}\p{N},] )\p{Lu}\p{L}+/gu

/**
 * Finds the words of a request that are probably values for a tool rather than a description of it: names, numbers and quotations.
 * A tool without these words may still be right.
 */
export function getValueWords(request: string): ReadonlySet<string> {
  const values = new Set<string>()
  for (const [value] of request.matchAll(VALUE)) for (const word of getWords(value)) values.add(word)
  for (const word of getWords(request)) if (/\p{N}/u.test(word)) values.add(word)
  return values
}
