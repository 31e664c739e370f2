import { describe, expect, it } from 'vitest'
import { createRandom, findT, getCoinShare, getNormalShare, getTShare, shuffle } from './distributions.ts'
import { getTango, getWilson } from './intervals.ts'
import { getLookZ } from './looks.ts'
import {
  comparePaired,
  countCasesNeeded,
  findP,
  findSmallestDrop,
  flipSigns,
  getDifferenceVariance,
  getMcNemar,
  HARD_TASKS,
  STABLE_TASKS,
  type PairedCase,
} from './paired.ts'

const ROUNDS = 4_000
const terms = { margin: 0.05, z: 1.645 }
const pair = (base: readonly number[], other: readonly number[], cluster: string): PairedCase => ({
  base,
  other,
  cluster,
})

describe('distributions', () => {
  it('R80 agree with published tables', () => {
    expect(getNormalShare(1.6448536)).toBeCloseTo(0.95, 7)
    expect(getNormalShare(-1.959964)).toBeCloseTo(0.025, 7)
    expect(findT(0.95, 9)).toBeCloseTo(1.833113, 5)
    expect(findT(0.975, 1)).toBeCloseTo(12.7062, 3)
    expect(findT(0.95, 1e10)).toBeCloseTo(1.644854, 5)
    expect(getTShare(2.228139, 10)).toBeCloseTo(0.975, 6)
    expect(getCoinShare(1, 8)).toBeCloseTo(9 / 256, 12)
  })

  it("R80 give O'Brien and Fleming's bounds for early looks", () => {
    expect([0, 1, 2].map((look) => getLookZ(look, 3).toFixed(2))).toEqual(['2.96', '2.09', '1.71'])
    expect(getLookZ(0, 1)).toBe(1.645)
  })
})

describe('intervals', () => {
  it('R80 Wilson: 8 of 10, and none of 10', () => {
    const { low, high } = getWilson(8, 10, 1.959964)
    expect([low.toFixed(4), high.toFixed(4)]).toEqual(['0.4902', '0.9433'])
    expect(getWilson(0, 10, 1.959964).high).toBeCloseTo(0.2775, 4)
  })

  it("R80 Tango's interval is never a point, and the same from both sides", () => {
    const { low, high } = getTango(0, 0, 12, 1.645)
    expect(high).toBeCloseTo(1.645 ** 2 / (12 + 1.645 ** 2), 6)
    expect(low).toBeCloseTo(-high, 6)
    const some = getTango(2, 9, 60, 1.645)
    expect(getTango(9, 2, 60, 1.645).high).toBeCloseTo(-some.low, 9)
    // With many cases, it is that of the normal distribution.
    const many = getTango(2_000, 3_000, 100_000, 1.645)
    const error = Math.sqrt(0.05 - 0.01 ** 2) / Math.sqrt(100_000)
    expect(many.low).toBeCloseTo(-0.01 - 1.645 * error, 4)
  })
})

describe('tests', () => {
  it('R80 McNemar: 1 better and 7 worse', () => {
    expect(getMcNemar(1, 7)).toBeCloseTo(2 * (9 / 256), 12)
    expect(getMcNemar(0, 0)).toBe(1)
    expect(getMcNemar(4, 4)).toBe(1)
  })

  it('R80 sign flips: all eight ways, and a sample of many', () => {
    // Of +-1 +-2 +-3, the sums 6 and -6 are as far from 0 as the 6 that was seen.
    expect(flipSigns([1, 2, 3], 1)).toBe(2 / 8)
    expect(flipSigns([0, 0], 1)).toBe(1)
    const sums = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? 1 : -1))
    expect(flipSigns(sums, 1)).toBeGreaterThan(0.99)
    expect(flipSigns(sums, 1)).toBe(flipSigns(sums, 1))
  })
})

describe('comparePaired()', () => {
  it('R80 is the paired t interval on the means of cases', () => {
    // The differences -0.5, 0, 0.5, 0.5: mean 0.125, standard deviation 0.4787, standard error 0.2394, t(3) 2.3534.
    const cases = [
      pair([1, 1], [1, 0], 'a'),
      pair([1, 0], [0, 1], 'b'),
      pair([0, 1], [1, 1], 'c'),
      pair([0, 0], [1, 0], 'd'),
    ]
    const result = comparePaired(cases, terms)
    const { difference, interval, better, worse } = result
    expect(difference).toBe(0.125)
    expect(interval.low).toBeCloseTo(0.125 - 2.3534 * 0.23936, 3)
    expect(interval.high).toBeCloseTo(0.125 + 2.3534 * 0.23936, 3)
    expect([better, worse]).toEqual([2, 1])
    // Five of eight ways to flip 0.5, 0.5 and -0.5 have a sum of 0.5 or more on one side, and all eight on either.
    expect(findP(cases, result, 1)).toBe(1)
  })

  it('R80 takes the cases of one conversation as one', () => {
    const alone = Array.from({ length: 12 }, (_, at) => pair([1, 1], [at % 3 === 0 ? 0 : 1, 1], String(at)))
    const together = alone.map((one, at) => ({ ...one, cluster: String(Math.floor(at / 6)) }))
    expect(comparePaired(alone, terms).clusters).toBe(12)
    const { clusters, difference, interval } = comparePaired(together, terms)
    expect([clusters, difference]).toEqual([2, comparePaired(alone, terms).difference])
    // Both clusters have the same mean, so only what was never seen makes the interval.
    expect(interval.low).toBeLessThan(difference - 0.5)
  })

  it('R80 is exact with one run of fewer than 30 cases: 5 of 12 worse decides, 4 do not', () => {
    const make = (worse: number): readonly PairedCase[] =>
      Array.from({ length: 12 }, (_, at) => pair([1], [at < worse ? 0 : 1], String(at)))
    const five = comparePaired(make(5), terms)
    expect(five).toMatchObject({ test: 'mcnemar', verdict: 'worse' })
    expect(findP(make(5), five, 1)).toBeCloseTo(2 / 32, 12)
    expect(comparePaired(make(4), terms)).toMatchObject({ test: 'mcnemar', verdict: 'undecided' })
    expect(comparePaired(make(0), terms).verdict).toBe('undecided')
  })

  it('R80 needs the published numbers of cases', () => {
    const count = (spread: typeof HARD_TASKS, drop: number): readonly number[] =>
      [1, 3, 5, 10].map((repeats) => countCasesNeeded(getDifferenceVariance(spread, repeats), drop))
    expect(count(HARD_TASKS, 0.05)).toEqual([752, 268, 171, 98])
    expect(count(STABLE_TASKS, 0.05)).toEqual([260, 95, 62, 38])
    expect(count(HARD_TASKS, 0.1)).toEqual([188, 67, 43, 25])
    expect(count(STABLE_TASKS, 0.1)).toEqual([65, 24, 16, 10])
    expect(findSmallestDrop(getDifferenceVariance(HARD_TASKS, 5), 171)).toBeCloseTo(0.05, 3)
  })
})

describe('a comparison with a known truth', () => {
  const random = createRandom(2026)
  const draw = (share: number): number => (random() < share ? 1 : 0)
  /** Cases whose chance to pass is drawn for each of them, and falls by `drop` on average in the other arm. */
  const simulateCases = (n: number, repeats: number, drop: number): readonly PairedCase[] =>
    Array.from({ length: n }, (_, at) => {
      const chance = 0.15 + 0.7 * random()
      const own = chance - drop + (random() - 0.5) * 0.3
      const runs = (share: number): readonly number[] => Array.from({ length: repeats }, () => draw(share))
      return pair(runs(chance), runs(own), String(at))
    })
  const share = (rounds: number, hits: (round: number) => boolean): number =>
    Array.from({ length: rounds }, (_, round) => Number(hits(round))).reduce((sum, one) => sum + one, 0) / rounds
  const runRounds = (n: number, repeats: number, drop: number, rounds = ROUNDS): number =>
    share(rounds, () => {
      const { interval } = comparePaired(simulateCases(n, repeats, drop), { ...terms, margin: 0 })
      return interval.high < 0
    })

  it.each([
    [25, 1],
    [60, 1],
    [40, 3],
    [12, 5],
  ])('R80 raises at most 6 %% false alarms: %i cases, %i runs each', (n, repeats) => {
    expect(share(ROUNDS, () => comparePaired(simulateCases(n, repeats, 0), terms).verdict === 'worse')).toBeLessThan(
      0.06,
    )
  })

  it.each([
    [60, 3],
    [171, 1],
  ])('R80 calls what is worse by the margin not worse in at most 6 %%: %i cases, %i runs each', (n, repeats) => {
    const wrong = share(ROUNDS, () => {
      const cases = simulateCases(n, repeats, 0.1)
      return comparePaired(cases, { ...terms, margin: 0.1 }).verdict === 'not-worse'
    })
    expect(wrong).toBeLessThan(0.06)
  })

  it.each([
    [150, 1],
    [60, 3],
    [40, 5],
  ])('R80 has the power of the formula within 3 points: %i cases, %i runs each', (n, repeats) => {
    // The mean of p (1 - p) in both arms, and the variance of the drawn differences.
    const within = 0.209 - 0.7 ** 2 / 12 + 0.7 ** 2 / 12
    const spread = { within: (within + (0.4 * 0.6 - 0.7 ** 2 / 12 - 0.3 ** 2 / 12)) / 2, between: 0.3 ** 2 / 12 }
    const drop = 0.1
    const error = Math.sqrt(getDifferenceVariance(spread, repeats) / n)
    const expected = getNormalShare(drop / error - 1.645)
    expect(Math.abs(runRounds(n, repeats, drop) - expected)).toBeLessThan(0.03)
  })

  it('R80 raises at most 6 % false alarms with three looks, and would raise more without their bounds', () => {
    const looked = (bounds: readonly number[]): number =>
      share(ROUNDS, () => {
        const cases = simulateCases(50, 6, 0)
        return bounds.some((z, look) => {
          const seen = cases.map(({ base, other, cluster }) =>
            pair(base.slice(0, 2 * (look + 1)), other.slice(0, 2 * (look + 1)), cluster),
          )
          return comparePaired(seen, { ...terms, z }).interval.high < 0
        })
      })
    expect(looked([0, 1, 2].map((look) => getLookZ(look, 3)))).toBeLessThan(0.06)
    expect(looked([1.645, 1.645, 1.645])).toBeGreaterThan(0.065)
  })

  it('R80 draws the same order for the same seed', () => {
    const items = [1, 2, 3, 4, 5, 6, 7, 8]
    expect(shuffle(items, createRandom(3))).toEqual(shuffle(items, createRandom(3)))
    expect(shuffle(items, createRandom(3))).not.toEqual(shuffle(items, createRandom(4)))
  })
})
