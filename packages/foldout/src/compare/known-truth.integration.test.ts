import { describe, expect, it } from 'vitest'
import { compare, type CompareArm, type CompareReport } from '../entries/compare.ts'
import { desk } from './compare.fixtures.ts'
import { createRandom, findT, getNormalShare } from './statistics/distributions.ts'
import { getLookZ } from './statistics/looks.ts'
import { getDifferenceVariance } from './statistics/paired.ts'

const CASES = 24
const LOOKS = [1, 2, 3]
const ROUNDS = 300
const MARGIN = 0.2
const CHANCE = 0.5
/** How much the drop differs from case to case. */
const RANGE = 0.2

/** Compares two loops that pass each case with a known chance, which is lower by `drop` in the second one. */
async function compareTruth(drop: number, round: number): Promise<CompareReport> {
  const drops = Array.from({ length: CASES }, (_, i) => drop + (createRandom(round * 1_000 + i)() - 0.5) * RANGE)
  const arm = (place: number, getChance: (index: number) => number): CompareArm => ({
    prompt: desk,
    host: async ({ case: { id }, repeat }) => {
      const seed = ((round * CASES + Number(id)) * 10 + repeat) * 10 + place
      return { text: createRandom(seed)() < getChance(Number(id)) ? 'Done.' : 'Sorry.' }
    },
  })
  return compare({
    cases: drops.map((_, i) => ({ id: String(i), input: 'Go.', includes: 'Done' })),
    arms: { base: arm(0, () => CHANCE), other: arm(1, (index) => CHANCE - (drops[index] ?? 0)) },
    repeat: LOOKS.length,
    looks: LOOKS,
    margin: MARGIN,
    seed: round,
  })
}

/** Returns the share of comparisons for which something holds. */
async function measure(drop: number): Promise<(holds: (report: CompareReport) => boolean) => number> {
  const reports: CompareReport[] = []
  for (let round = 0; round < ROUNDS; round++) reports.push(await compareTruth(drop, round))
  return (holds) => reports.filter(holds).length / ROUNDS
}

describe('R80 compare with three looks and a known truth', () => {
  it('calls the same worse in at most 6 % of comparisons, and ends early in many', async () => {
    const share = await measure(0)
    expect(share(({ verdict }) => verdict === 'worse')).toBeLessThanOrEqual(0.06)
    expect(share(({ stopped, repeats }) => stopped === 'decided' && repeats.done < 3)).toBeGreaterThan(0.3)
  })

  it('calls what is worse by the margin not worse in at most 6 %', async () => {
    const share = await measure(MARGIN)
    expect(share(({ verdict }) => verdict === 'not-worse')).toBeLessThanOrEqual(0.06)
  })

  it('finds a drop as often as the formula says, within 3 points', async () => {
    const drop = 0.25
    const within = (CHANCE * (1 - CHANCE) + (CHANCE - drop) * (1 - CHANCE + drop)) / 2
    const variance = getDifferenceVariance({ within, between: RANGE ** 2 / 12 }, LOOKS.length)
    // With so few cases, the t distribution asks for more than the normal one.
    const bound = findT(getNormalShare(getLookZ(2, 3)), CASES - 1)
    const expected = getNormalShare(drop / Math.sqrt(variance / CASES) - bound)
    const share = await measure(drop)
    expect(Math.abs(share(({ verdict }) => verdict === 'worse') - expected)).toBeLessThan(0.03)
  })
})
