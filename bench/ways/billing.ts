import type { TokenCounter } from 'foldout'

/** Prices as multiples of the price of input, as providers publish them in November 2026. */
export interface Price {
  readonly name: string
  readonly minimum: number
  readonly read: number
  readonly write: number
}

export const PRICES: readonly Price[] = [
  { name: 'r .1, w 1.25', minimum: 1024, read: 0.1, write: 1.25 },
  { name: 'r .05, w 1.25', minimum: 1024, read: 0.05, write: 1.25 },
  { name: 'r .1, w 1', minimum: 1024, read: 0.1, write: 1 },
]

/** The price of a token that a model writes, as a multiple of the price of input. */
export const OUTPUT_RATE = 5

/** What a request sends, in the order in which providers read it. */
export type Pieces = readonly { readonly text: string; readonly tokens: number }[]

export function toPieces(texts: readonly string[], counter: TokenCounter): Pieces {
  return texts.map((text) => ({ text, tokens: counter.count(text) }))
}

/** How many pieces, from the first on, other conversations keep in the cache. */
export type Start = 'cold' | 'warm'

/**
 * Bills the requests of one conversation: what a request shares with the one before is read, the rest is written. Below
 * the cache's minimum, everything costs the price of input.
 */
export function bill(
  requests: readonly Pieces[],
  { minimum, read, write }: Price,
  { start, shared }: { readonly start: Start; readonly shared: number },
): number {
  let before: Pieces = start === 'warm' ? (requests[0]?.slice(0, shared) ?? []) : []
  let sum = 0
  for (const request of requests) {
    const all = count(request)
    const same = countSame(before, request)
    const cached = same >= minimum ? same : 0
    sum += all < minimum ? all : cached * read + (all - cached) * write
    before = request
  }
  return sum
}

function countSame(before: Pieces, request: Pieces): number {
  const differs = request.findIndex(({ text }, at) => text !== before[at]?.text)
  return count(differs === -1 ? request : request.slice(0, differs))
}

export function count(pieces: Pieces): number {
  return pieces.reduce((sum, { tokens }) => sum + tokens, 0)
}
