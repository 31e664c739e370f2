/** Counts the tokens of a text. */
export type CountTokens = (text: string) => number

/** A longer text is estimated from its beginning, because counting all of it takes long. */
const COUNTED_CHARACTERS = 20_000

/** The library's estimate, which is loaded when something is first counted. */
export async function loadCounter(): Promise<CountTokens> {
  const { estimatedTokens } = await import('foldout')
  return (text) => {
    if (text.length <= COUNTED_CHARACTERS) return estimatedTokens.count(text)
    return Math.round((estimatedTokens.count(text.slice(0, COUNTED_CHARACTERS)) * text.length) / COUNTED_CHARACTERS)
  }
}

/** No tokenizer makes a token of more characters, in texts that people read. */
const CHARACTERS_PER_TOKEN = 6

/** The beginning of a text, about this many tokens at most. */
export function cutToTokens(text: string, tokens: number, count: CountTokens): string {
  const most = text.slice(0, tokens * CHARACTERS_PER_TOKEN)
  const counted = count(most)
  const cut = counted <= tokens ? most : most.slice(0, Math.floor((most.length * tokens) / counted))
  // Do not cut a surrogate pair.
  return cut.length < text.length && /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut
}
