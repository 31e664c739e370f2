import type { TokenCounter } from '../../core/tokens/tokens.ts'

const CHARACTERS_PER_TOKEN = 4

/** Creates a text with lines of its own that has this many tokens, as `measure` counts them, or the next possible number. */
function createStandIn(label: string, tokens: number, measure: (text: string) => number): string {
  const count = (length: number) => ({ length, tokens: measure(fill(label, length)) })
  let least = count(0)
  let most = count(tokens * CHARACTERS_PER_TOKEN)
  while (most.tokens < tokens && most.length > least.length) [least, most] = [most, count(most.length * 2)]
  while (most.tokens !== tokens && most.length - least.length > 1) {
    // Tokens grow with the length, nearly evenly.
    const share = (tokens - least.tokens) / Math.max(1, most.tokens - least.tokens)
    const step = Math.round(share * (most.length - least.length))
    const middle = count(Math.min(most.length - 1, least.length + Math.max(1, step)))
    if (middle.tokens < tokens) least = middle
    else most = middle
  }
  return fill(label, most.length)
}

/** Makes texts of simulated results, arguments and replies. */
export interface StandIns {
  text(label: string, tokens: number): string
  /** Arguments of a call that have this many tokens as JSON. */
  arguments(label: string, tokens: number): Readonly<Record<string, unknown>>
}

export function createStandIns(counter: TokenCounter): StandIns {
  const empty = counter.count('{}')
  const wrap = (text: string) => ({ simulated: text })
  return {
    text: (label, tokens) => createStandIn(label, tokens, (text) => counter.count(text)),
    arguments(label, tokens) {
      if (tokens <= empty) return {}
      return wrap(createStandIn(label, tokens, (text) => counter.count(JSON.stringify(wrap(text)))))
    },
  }
}

/** Lines with numbers, so that any part of a text differs from every other. */
function fill(label: string, characters: number): string {
  const lines: string[] = []
  for (let at = 0, line = 1; at < characters; line++) {
    const text = `${label}, line ${line}: ${(line * 7_919) % 10_007} rows were read`
    lines.push(text)
    at += text.length + 1
  }
  return lines.join('\n').slice(0, characters)
}
