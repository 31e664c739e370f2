import { getWords } from './text/words.ts'

/** What stands in quotes (none looks past the next mark of its kind), and a capitalised word that does not begin a sentence. */
const VALUE = /`[^`]+`|"[^"]+"|“[^“”]+”|(?<!\p{L})'[^']+'(?!\p{L})|(?<=[\p{Ll}\p{N},] )\p{Lu}\p{L}+/gu

/**
 * The words of a request that are likely to be handed to a tool rather than to say which: names, numbers, quotations. A tool
 * that does not have them may be right all the same.
 */
export function getValueWords(request: string): ReadonlySet<string> {
  const values = new Set<string>()
  for (const [value] of request.matchAll(VALUE)) for (const word of getWords(value)) values.add(word)
  for (const word of getWords(request)) if (/\p{N}/u.test(word)) values.add(word)
  return values
}
