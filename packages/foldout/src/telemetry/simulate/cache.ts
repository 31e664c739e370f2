import type { TokenCounter } from '../../core/tokens/tokens.ts'
import { getTokens, type Part, type RequestParts } from './request.ts'

/**
 * Options for the simulation of a provider's prompt cache.
 *
 * @example
 * ```ts
 * const options: CacheOptions = { cache: 'anthropic', cacheStart: 'warm' }
 * ```
 */
export interface CacheOptions {
  /**
   * How the provider caches the input that a request shares with the previous one. All providers read the tools first, then
   * the system text, then the messages; everything after the first difference is new.
   *
   * - `'none'`, the default: everything is billed in full.
   * - `'anthropic'`: whole blocks are cached: the tool list, the system text and each message. A tool list that has grown is
   *   a different block.
   * - `'openai'`: the shared beginning is cached in steps of 128 tokens, including the beginning of a tool list that
   *   has grown.
   */
  readonly cache?: 'none' | 'anthropic' | 'openai'
  /** The cost of a token read from the cache, relative to an ordinary one. Default 0.1. */
  readonly cacheReadRate?: number
  /**
   * The cost of a token written to the cache, relative to an ordinary one. Default 1.25 for `'anthropic'`, 1 for
   * `'openai'`.
   */
  readonly cacheWriteRate?: number
  /** The minimum input that is cached, in tokens. Default 1024. */
  readonly cacheMinimumTokens?: number
  /**
   * Whether the first request finds its tools and system text in the cache (`'warm'`), because another run recently
   * began with the same ones. Default `'cold'`.
   */
  readonly cacheStart?: 'cold' | 'warm'
}

/**
 * Input tokens, and their cost in full-price tokens.
 *
 * @example
 * ```ts
 * const saved = (full: Charge, folded: Charge): number => 1 - folded.billedTokens / full.billedTokens
 * ```
 */
export interface Charge {
  /** The whole input, cached or not, which is billed without a cache. */
  readonly inputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly billedTokens: number
}

/** Computes the cost of a request, given the previous one. */
export type Billing = (request: RequestParts, previous: RequestParts | undefined) => Charge

const OPENAI_STEP = 128

export function createBilling(options: CacheOptions, counter: TokenCounter): Billing {
  const { cache = 'none', cacheReadRate = 0.1, cacheMinimumTokens = 1024, cacheStart = 'cold' } = options
  const writeRate = options.cacheWriteRate ?? (cache === 'anthropic' ? 1.25 : 1)
  return (request, previous) => {
    const inputTokens = getTokens(request.tools) + request.system.tokens + getTokens(request.messages)
    if (cache === 'none' || inputTokens < cacheMinimumTokens) {
      return { inputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, billedTokens: inputTokens }
    }
    const earlier = previous ?? (cacheStart === 'warm' ? { ...request, messages: [] } : undefined)
    const common = earlier ? countCommonTokens(cache, earlier, request, counter) : 0
    const cacheReadTokens = common < cacheMinimumTokens ? 0 : common
    const cacheWriteTokens = inputTokens - cacheReadTokens
    return {
      inputTokens,
      cacheReadTokens,
      cacheWriteTokens,
      billedTokens: cacheReadTokens * cacheReadRate + cacheWriteTokens * writeRate,
    }
  }
}

function countCommonTokens(
  cache: 'anthropic' | 'openai',
  earlier: RequestParts,
  request: RequestParts,
  counter: TokenCounter,
): number {
  const before = getParts(cache, earlier)
  const now = getParts(cache, request)
  const differs = now.findIndex((part, i) => part.text !== before[i]?.text || part.tokens !== before[i].tokens)
  const same = getTokens(differs === -1 ? now : now.slice(0, differs))
  if (cache === 'anthropic') return same
  const here = now[differs]
  const there = before[differs]
  const partly = here && there ? counter.count(getCommonBeginning(there.text, here.text)) : 0
  return Math.floor((same + partly) / OPENAI_STEP) * OPENAI_STEP
}

function getParts(cache: 'anthropic' | 'openai', { tools, system, messages }: RequestParts): readonly Part[] {
  if (cache === 'openai') return [...tools, system, ...messages]
  const list = { text: tools.map(({ text }) => text).join('\n'), tokens: getTokens(tools) }
  return [list, system, ...messages]
}

function getCommonBeginning(one: string, other: string): string {
  const length = Math.min(one.length, other.length)
  let at = 0
  while (at < length && one[at] === other[at]) at++
  return one.slice(0, at)
}
