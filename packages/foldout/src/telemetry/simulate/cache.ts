import { checkNumbers } from '../../core/check-number.ts'
import { checkPromptCache, computeWarmth, USUAL_CACHE, type PromptCache } from '../../core/price/prompt-cache.ts'
import type { TokenCounter } from '../../core/tokens/tokens.ts'
import { getTokens, type Part, type RequestParts } from './request.ts'

/**
 * What a run is billed at: the prompt cache of a provider, how busy the prompt is, and the price of output.
 *
 * @example
 * ```ts
 * const options: CacheOptions = { cache: 'anthropic', cacheStart: { perHour: 40 } }
 * ```
 */
export interface CacheOptions {
  /**
   * How the provider caches the input that a request shares with the previous one. All providers read the tools first,
   * then the system text, then the messages; everything after the first difference is new.
   *
   * - `'none'`, the default: everything is billed in full.
   * - `'anthropic'`: whole blocks are cached: the tool list, the system text and each message. A tool list that has
   *   grown is a different block. Reads cost 0.1, writes 1.25, from 1,024 tokens on, for five minutes.
   * - `'openai'`: the shared beginning is cached in steps of 128 tokens, including the beginning of a tool list that
   *   has grown. Reads cost 0.1, writes 1.
   * - The cache of a model: `adapter.promptCache`, `findPromptCache(model)`, or your own numbers.
   */
  readonly cache?: 'none' | 'anthropic' | 'openai' | PromptCache
  /**
   * Whether the first request finds its tools and system text in the cache, because another run recently began with
   * the same ones: `'cold'`, the default, `'warm'`, or the mean at a number of conversations per hour.
   */
  readonly cacheStart?: 'cold' | 'warm' | { readonly perHour: number }
  /**
   * The share of these conversations that begin with the same sections, if some were opened ahead in the system text.
   * Default: as if the rule chose each of its possible choices equally often.
   */
  readonly share?: number
  /** The price of a token that the model writes, as a multiple of the price of input. Default 5. */
  readonly outputRate?: number
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

/**
 * What a simulated run costs at one price.
 *
 * @example
 * ```ts
 * const simulation = await simulate(run, { strategy: readSection() })
 * const bills: Bill[] = [0.1, 0.05].map((read) =>
 *   simulation.bill({ cache: { minimum: 1024, read, write: 1.25, ttlMs: 300_000 }, cacheStart: 'warm' }),
 * )
 * ```
 */
export interface Bill extends Charge {
  /** One for each request. */
  readonly requests: readonly Charge[]
  /** The tokens that the model writes: texts, calls and their arguments. */
  readonly outputTokens: number
  /** Input and output together, in tokens at the price of input. */
  readonly cost: number
  /** Everything that this bill assumes, in sentences. */
  readonly assumptions: readonly string[]
}

const NO_CACHE: PromptCache = { minimum: Infinity, read: 1, write: 1, ttlMs: 0 }
const NAMED: Readonly<Record<'none' | 'anthropic' | 'openai', PromptCache>> = {
  none: NO_CACHE,
  anthropic: USUAL_CACHE,
  openai: { ...USUAL_CACHE, write: 1, step: 128 },
}
const DEFAULT_OUTPUT_RATE = 5

/** Computes what requests cost. They can be billed again at another price. */
export function billRequests(requests: readonly RequestParts[], options: CacheOptions, counter: TokenCounter): Bill {
  const { cacheStart = 'cold', outputRate = DEFAULT_OUTPUT_RATE, share = 1 } = options
  const cache = getCache(options)
  const perHour = typeof cacheStart === 'object' ? cacheStart.perHour : undefined
  checkNumbers({ outputRate, perHour, share }, { code: 'simulation-invalid' })
  const bill = (isWarm: boolean): readonly Charge[] => billEach(requests, { cache, isWarm }, counter)
  const warmth = perHour === undefined ? Number(cacheStart === 'warm') : computeWarmth(perHour * share, cache)
  const charges = mixCharges(bill, warmth)
  const outputTokens = requests.reduce((sum, { outputTokens: written }) => sum + written, 0)
  const billedTokens = total(charges, 'billedTokens')
  return {
    requests: charges,
    inputTokens: total(charges, 'inputTokens'),
    cacheReadTokens: total(charges, 'cacheReadTokens'),
    cacheWriteTokens: total(charges, 'cacheWriteTokens'),
    billedTokens,
    outputTokens,
    cost: billedTokens + outputTokens * outputRate,
    assumptions: [
      ...describeCache(cache, cacheStart, share),
      `The output costs ${outputRate} times as much as the input.`,
    ],
  }
}

export function getCache({ cache = 'none' }: CacheOptions): PromptCache {
  if (typeof cache === 'string') return NAMED[cache]
  checkPromptCache('cache', cache, 'simulation-invalid')
  return { ...USUAL_CACHE, ...cache }
}

function describeCache(cache: PromptCache, start: CacheOptions['cacheStart'], share: number): readonly string[] {
  if (cache === NO_CACHE) return ['Nothing is cached.']
  const { minimum, read, write, ttlMs, step } = cache
  const shared = step === undefined ? 'whole blocks' : `steps of ${step} tokens`
  return [
    `The cache holds ${shared} of requests of ${minimum} tokens or more, for ${formatTime(ttlMs)}. Reading costs ${read} and writing ${write} times the price of input.`,
    describeStart(cache, start, share),
  ]
}

/** The cache of some options, in words that follow "billed". */
export function describeCacheTerms(options: CacheOptions): string {
  const cache = getCache(options)
  if (cache === NO_CACHE) return 'without a prompt cache'
  const { cacheStart = 'cold' } = options
  const start = typeof cacheStart === 'object' ? `${cacheStart.perHour} conversations an hour` : `a ${cacheStart} start`
  return `with a prompt cache (${start}; reads at ${cache.read}, writes at ${cache.write})`
}

function describeStart(cache: PromptCache, start: CacheOptions['cacheStart'], share: number): string {
  if (typeof start === 'object') {
    const alike = start.perHour * share
    const warm = Math.round(computeWarmth(alike, cache) * 100)
    return `${Number(alike.toFixed(1))} conversations an hour begin alike, so ${warm} % of them find their beginning in the cache.`
  }
  if (start === 'warm') return 'Each run finds its tools and system text in the cache.'
  return 'No run finds its tools and system text in the cache.'
}

function formatTime(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes === 1) return '1 minute'
  return `${minutes} minutes`
}

interface BillTerms {
  readonly cache: PromptCache
  readonly isWarm: boolean
}

function billEach(requests: readonly RequestParts[], terms: BillTerms, counter: TokenCounter): readonly Charge[] {
  return requests.map((request, i) => {
    // After a pause that is longer than the cache lives, only what other conversations keep warm is left.
    const isFresh = request.afterMs <= terms.cache.ttlMs
    return billOne(request, isFresh ? requests[i - 1] : undefined, terms, counter)
  })
}

function billOne(
  request: RequestParts,
  previous: RequestParts | undefined,
  { cache, isWarm }: BillTerms,
  counter: TokenCounter,
): Charge {
  const inputTokens = getTokens(request.tools) + request.system.tokens + getTokens(request.messages)
  if (inputTokens < cache.minimum) {
    return { inputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, billedTokens: inputTokens }
  }
  const earlier = previous ?? (isWarm ? { ...request, messages: [] } : undefined)
  const common = earlier ? countCommonTokens(cache, earlier, request, counter) : 0
  const cacheReadTokens = common < cache.minimum ? 0 : common
  const cacheWriteTokens = inputTokens - cacheReadTokens
  const billedTokens = cacheReadTokens * cache.read + cacheWriteTokens * cache.write
  return { inputTokens, cacheReadTokens, cacheWriteTokens, billedTokens }
}

function mixCharges(bill: (isWarm: boolean) => readonly Charge[], share: number): readonly Charge[] {
  if (share === 0 || share === 1) return bill(share === 1)
  const cold = bill(false)
  return bill(true).map((one, i) => {
    const other = cold[i] ?? one
    const mix = (field: keyof Charge): number => share * one[field] + (1 - share) * other[field]
    return {
      inputTokens: one.inputTokens,
      cacheReadTokens: mix('cacheReadTokens'),
      cacheWriteTokens: mix('cacheWriteTokens'),
      billedTokens: mix('billedTokens'),
    }
  })
}

function total(charges: readonly Charge[], field: keyof Charge): number {
  return charges.reduce((sum, charge) => sum + charge[field], 0)
}

/** Counts the tokens with which a request begins like an earlier one: in whole blocks, or in steps. */
export function countCommonTokens(
  { step }: { readonly step?: number | undefined },
  earlier: RequestParts,
  request: RequestParts,
  counter: TokenCounter,
): number {
  const before = getParts(step, earlier)
  const now = getParts(step, request)
  const differs = now.findIndex((part, i) => part.text !== before[i]?.text || part.tokens !== before[i].tokens)
  const same = getTokens(differs === -1 ? now : now.slice(0, differs))
  if (step === undefined) return same
  const here = now[differs]
  const there = before[differs]
  const partly = here && there ? counter.count(getCommonBeginning(there.text, here.text)) : 0
  return Math.floor((same + partly) / step) * step
}

function getParts(step: number | undefined, { tools, system, messages }: RequestParts): readonly Part[] {
  if (step !== undefined) return [...tools, system, ...messages]
  const list = { text: tools.map(({ text }) => text).join('\n'), tokens: getTokens(tools) }
  return [list, system, ...messages]
}

function getCommonBeginning(one: string, other: string): string {
  const length = Math.min(one.length, other.length)
  let at = 0
  while (at < length && one[at] === other[at]) at++
  return one.slice(0, at)
}
