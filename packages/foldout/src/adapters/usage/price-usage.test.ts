import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { priceUsage, type UsageRates } from '../../entries/telemetry.ts'

const usage = { inputTokens: 10_000, outputTokens: 1_000, cachedInputTokens: 8_000, cacheWriteTokens: 1_000 }
const rates: UsageRates = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWrite1h: 6 }

describe('priceUsage', () => {
  it('R77 prices each part of a usage at its own rate', () => {
    expect(priceUsage(usage, rates)).toBeCloseTo(0.003 + 0.0024 + 0.00375 + 0.015, 10)
    expect(priceUsage({ ...usage, cacheWriteTokens1h: 400 }, rates)).toBeCloseTo(
      0.003 + 0.0024 + 0.00225 + 0.0024 + 0.015,
      10,
    )
    // Rates that are left out follow the more general one.
    expect(priceUsage(usage, { input: 3, output: 15 })).toBeCloseTo(0.045, 10)
  })

  it('R77 never is negative or NaN, whatever a server reports', () => {
    const count = fc.nat(1_000_000)
    const reported = fc.record({
      inputTokens: count,
      outputTokens: count,
      cachedInputTokens: count,
      cacheWriteTokens: count,
      cacheWriteTokens1h: count,
    })
    fc.assert(
      fc.property(reported, (given) => {
        expect(priceUsage(given, rates)).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  it.each([
    [undefined, 'rates is missing.'],
    [{ output: 1 }, 'rates.input is missing.'],
    [{ input: NaN, output: 1 }, 'rates.input is NaN.'],
    [{ input: 1, output: Infinity }, 'rates.output is Infinity.'],
    [{ input: 1, output: 1, cacheRead: '0.1' }, "rates.cacheRead is '0.1'."],
    [{ input: 1, output: 1, cacheWrite1h: -1 }, 'rates.cacheWrite1h is -1.'],
  ])('R77 refuses %j', (given, message) => {
    expect(() => priceUsage(usage, given as UsageRates)).toThrow(message)
  })
})
