const WORDS = 'the order was sent with its parts and a note that says when it may come back or be paid again'.split(' ')

/** A text of about so many tokens, always the same for a name. */
export function makeText(name: string, tokens: number): string {
  const words = Array.from({ length: tokens - 2 }, (_, at) => WORDS[(at * 7 + name.length) % WORDS.length] ?? '')
  return `${name}: ${words.join(' ')}`
}
