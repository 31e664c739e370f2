import type { Usage } from '../../adapters/contract.ts'
import { priceUsage, type UsageRates } from '../../adapters/usage/price-usage.ts'
import { computeWarmth } from '../../core/price/prompt-cache.ts'
import type { ComparePrices } from '../contract/options.ts'
import type { ArmMoney, CostByCache } from '../contract/report.ts'
import type { SavedHeader, SavedRequest, SavedRun } from '../contract/saved.ts'
import { getMean } from '../statistics/paired.ts'

const DEFAULT_MINIMUM = 1_024
const DEFAULT_TTL = 300

export function getTtlMs({ ttl = DEFAULT_TTL }: ComparePrices): number {
  return ttl * 1_000
}

/** Bills a run, as if its beginning were in the cache or not. */
export function billRun(requests: readonly SavedRequest[], prices: ComparePrices, isWarm: boolean): number {
  let addedBefore = 0
  return requests.reduce((sum, request, i) => {
    const inCache = countCached(request, { prices, isWarm, isFirst: i === 0, addedBefore })
    addedBefore += request.added
    return sum + priceUsage(toUsage(request, inCache, prices), toRates(prices))
  }, 0)
}

interface CacheState {
  readonly prices: ComparePrices
  readonly isWarm: boolean
  readonly isFirst: boolean
  /** The tools that earlier requests added. */
  readonly addedBefore: number
}

function countCached(request: SavedRequest, { prices, isWarm, isFirst, addedBefore }: CacheState): number {
  const { minimum = DEFAULT_MINIMUM, step, added = 'in-place' } = prices
  const { start, tools, same, sameTokens, afterMs } = request
  // After a pause that is longer than the cache lives, only what other conversations keep warm is left.
  const isLost = isFirst || afterMs > getTtlMs(prices)
  // A tool at the end of the list changes everything behind the list.
  const isMoved = added === 'at-end' && request.added > 0
  let tokens = same
  if (step !== undefined) tokens = sameTokens
  if (isMoved) tokens = Number(step !== undefined) * (tools + addedBefore)
  if (isLost) tokens = Number(isWarm) * start
  if (step !== undefined) tokens -= tokens % step
  return Number(tokens >= minimum) * tokens
}

function toUsage({ input, output }: SavedRequest, cached: number, { minimum = DEFAULT_MINIMUM }: ComparePrices): Usage {
  const cacheWriteTokens = Number(input >= minimum) * (input - cached)
  return { inputTokens: input, outputTokens: output, cachedInputTokens: cached, cacheWriteTokens }
}

function toRates({ input, output, read = input, write = input }: ComparePrices): UsageRates {
  return { input, output, cacheRead: read, cacheWrite: write }
}

/** What usage has cost: as the provider says, or at these prices. Undefined if neither is known. */
export function findCost(usage: Usage, prices: ComparePrices | null): number | undefined {
  return usage.costUsd ?? (prices === null ? undefined : priceUsage(usage, toRates(prices)))
}

/** The output of a run at these prices. */
function priceOutput(requests: readonly SavedRequest[], { output }: ComparePrices): number {
  return requests.reduce((sum, request) => sum + request.output * output, 0) / 1_000_000
}

/** What a run of an arm costs, by the state of the cache. */
export function describeMoney({ prices, perHour }: SavedHeader, runs: readonly SavedRun[]): ArmMoney | null {
  if (prices === null || runs.length === 0) return null
  const share = findShare(runs)
  const toCost = (cold: number, warm: number): CostByCache => {
    if (perHour === null) return { cold, warm, atTraffic: null }
    const warmth = computeWarmth(perHour * share, { ttlMs: getTtlMs(prices) })
    return { cold, warm, atTraffic: warmth * warm + (1 - warmth) * cold }
  }
  const cold = runs.reduce((sum, { requests }) => sum + billRun(requests, prices, false), 0)
  const warm = runs.reduce((sum, { requests }) => sum + billRun(requests, prices, true), 0)
  const passed = runs.filter(({ score }) => score === 1).length
  return {
    usd: toCost(cold / runs.length, warm / runs.length),
    usdPerSuccess: passed === 0 ? null : toCost(cold / passed, warm / passed),
    outputUsd: getMean(runs.map(({ requests }) => priceOutput(requests, prices))),
    share,
  }
}

/** How many of the other cases begin with the same tools and system text as a case does, as a mean share. */
function findShare(runs: readonly SavedRun[]): number {
  const beginnings = new Map(runs.map((run) => [run.case, run.begins]))
  if (beginnings.size < 2) return 1
  const counts = new Map<string, number>()
  for (const begins of beginnings.values()) counts.set(begins, (counts.get(begins) ?? 0) + 1)
  const pairs = [...counts.values()].reduce((sum, count) => sum + count * (count - 1), 0)
  return pairs / (beginnings.size * (beginnings.size - 1))
}
