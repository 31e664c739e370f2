import type { TokenCounter } from 'foldout'

/** A piece of a request, in the order in which the provider reads them. */
export interface Piece {
  readonly text: string
  readonly tokens: number
  /** Whether the request asks the provider to cache everything up to here. */
  readonly isMarked: boolean
}

/** What a request costs after earlier requests of its conversation. */
export interface Hit {
  readonly input: number
  /** Tokens that the provider finds in its cache, by its own rules. */
  readonly cached: number
  /** Tokens of the previous request. */
  readonly before: number
  /** Tokens of the beginning that is identical to the previous request. */
  readonly kept: number
}

export interface CacheRules {
  /** The price of a token that is written to the cache, relative to an ordinary one. */
  readonly writeRate: number
  find(request: readonly Piece[], earlier: readonly (readonly Piece[])[], counter: TokenCounter): number
}

/** The price of a token that is read from a cache, with both providers. */
export const READ_RATE = 0.1

const LEAST_TOKENS = 1_024
const OPENAI_STEP = 128
/** How many blocks before a mark Anthropic looks for a cached prefix. */
const LOOKED_BACK = 20

export const OPENAI_CACHE: CacheRules = {
  writeRate: 1,
  find(request, earlier, counter) {
    const most = Math.max(0, ...earlier.map((before) => countCommon(before, request, counter)))
    return most < LEAST_TOKENS ? 0 : Math.floor(most / OPENAI_STEP) * OPENAI_STEP
  },
}

/** Only what a request marks is cached, and it is found only near the marks of a later request. */
export const ANTHROPIC_CACHE: CacheRules = {
  writeRate: 1.25,
  find(request, earlier) {
    const written = new Set(earlier.flatMap((before) => listMarks(before).map((end) => join(before, end))))
    const ends = listMarks(request).flatMap((end) =>
      Array.from({ length: Math.min(LOOKED_BACK, end) }, (_, back) => end - back),
    )
    const found = Math.max(0, ...ends.filter((end) => written.has(join(request, end))))
    const tokens = sum(request.slice(0, found))
    return tokens < LEAST_TOKENS ? 0 : tokens
  },
}

export function measureHits(
  requests: readonly (readonly Piece[])[],
  rules: CacheRules,
  counter: TokenCounter,
): readonly Hit[] {
  return requests.map((request, index) => {
    const before = requests[index - 1] ?? []
    return {
      input: sum(request),
      cached: rules.find(request, requests.slice(0, index), counter),
      before: sum(before),
      kept: countCommon(before, request, counter),
    }
  })
}

export function sum(pieces: readonly Piece[]): number {
  return pieces.reduce((total, { tokens }) => total + tokens, 0)
}

function listMarks(pieces: readonly Piece[]): readonly number[] {
  return pieces.flatMap(({ isMarked }, index) => (isMarked ? [index + 1] : []))
}

function join(pieces: readonly Piece[], end: number): string {
  return JSON.stringify(pieces.slice(0, end).map(({ text }) => text))
}

/** Tokens of the longest beginning that two requests have in common. */
function countCommon(before: readonly Piece[], request: readonly Piece[], counter: TokenCounter): number {
  const differs = request.findIndex(({ text }, index) => text !== before[index]?.text)
  if (differs === -1) return sum(request)
  const here = request[differs]?.text ?? ''
  const there = before[differs]?.text ?? ''
  let at = 0
  while (at < there.length && here[at] === there[at]) at++
  return sum(request.slice(0, differs)) + counter.count(here.slice(0, at))
}
