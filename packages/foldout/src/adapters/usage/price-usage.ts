import { checkNumber } from '../../core/check-number.ts'
import { FoldoutError, type ErrorCode } from '../../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import type { Usage } from './usage.ts'

/**
 * The prices of a model, in US dollars for a million tokens. Take them from your provider's price list.
 *
 * @example
 * ```ts
 * const rates: UsageRates = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWrite1h: 6 }
 * ```
 */
export interface UsageRates {
  /** Input that is neither read from the cache nor written to it. */
  readonly input: number
  /** Output, including reasoning. */
  readonly output: number
  /** Input that is read from the cache. Default: the price of input. */
  readonly cacheRead?: number
  /** Input that is written to the cache. Default: the price of input. */
  readonly cacheWrite?: number
  /** Input that is written to the cache for an hour. Default: the price of other writes. */
  readonly cacheWrite1h?: number
}

const MILLION = 1_000_000

/**
 * Computes what a usage costs at your rates, in US dollars. What the provider itself reports is `usage.costUsd`.
 *
 * @example
 * ```ts
 * const rates: UsageRates = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
 * const usage: Usage = { inputTokens: 10_000, outputTokens: 1_000, cachedInputTokens: 8_000, cacheWriteTokens: 1_000 }
 * priceUsage(usage, rates).toFixed(5) // => '0.02415'
 * ```
 *
 * @throws FoldoutError with the code `rates-invalid` if a rate is not a number, 0 or more.
 */
export function priceUsage(usage: Usage, rates: UsageRates): number {
  checkRates('rates', rates, 'rates-invalid')
  const { input, output, cacheRead = input, cacheWrite = input, cacheWrite1h = cacheWrite } = rates
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, cacheWriteTokens1h = 0 } = usage
  const hourly = Math.min(cacheWriteTokens1h, cacheWriteTokens)
  // A server may report more cached input than input.
  const plain = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens)
  const written = (cacheWriteTokens - hourly) * cacheWrite + hourly * cacheWrite1h
  return (plain * input + cachedInputTokens * cacheRead + written + outputTokens * output) / MILLION
}

/** Rejects rates that are not numbers, because a sum with NaN would never reach a limit. */
export function checkRates(name: string, rates: unknown, code: ErrorCode): void {
  if (!isObject(rates)) throw new FoldoutError(code, `${name} is missing. ${HOW}`)
  for (const field of ['input', 'output'])
    if (rates[field] === undefined) throw new FoldoutError(code, `${name}.${field} is missing. ${HOW}`)
  for (const field of ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'])
    checkNumber(`${name}.${field}`, rates[field], { code })
}

const HOW = 'Pass the dollars for a million tokens, such as { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }.'
