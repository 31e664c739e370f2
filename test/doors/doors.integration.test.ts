import { afterAll, describe, expect, it } from 'vitest'
import { stopCounting } from './steps.ts'
import { textDoor, type AnyDoor } from './door.ts'
import { fuzz } from './fuzz.ts'
import { getMaxGrowth, getMaxTimeGrowth, measureGrowth } from './growth.ts'
import { DOORS } from './registry.ts'
import { getShapes, type Shape } from './shapes.ts'

const LETTERS: Shape<string> = ['letters', (size) => 'a'.repeat(size)]
const measure = (open: (text: string) => unknown, size = 4_000) =>
  measureGrowth(textDoor('measured', open, { size }), LETTERS, 2)

describe('the growth of work', () => {
  it('is a little more than 16 for n log n, and far from the 256 of n squared', () => {
    expect(getMaxGrowth(1_000)).toBeCloseTo((16 * 16_000 * Math.log(16_000)) / (16 * 1_000 * Math.log(1_000)), 5)
    expect(getMaxGrowth(4_000)).toBeGreaterThan(16)
    expect(getMaxGrowth(200)).toBeLessThan(25)
    expect(getMaxTimeGrowth(4_000)).toBeLessThan(9)
  })

  it('is detected for nested loops', async () => {
    let found = 0
    const { fault, growth } = await measure((text) => {
      for (let one = 0; one < text.length; one += 8)
        for (let other = 0; other < text.length; other += 8) if (text[one] !== text[other]) found++
    })
    expect(found).toBe(0)
    expect(growth).toBeGreaterThan(200)
    expect(fault).toContain('steps')
  })

  it('is detected for loops in which each step makes the engine search a whole text', async () => {
    let found = 0
    const { fault, growth } = await measure((text) => {
      for (let at = 0; at < text.length; at++) if (text.indexOf('b', at % 8) !== -1) found++
    }, 16_000)
    expect(found).toBe(0)
    expect(growth).toBeLessThan(17)
    expect(fault).toContain('ms')
  })

  it('is detected for loops in which each step makes the engine copy a whole list', async () => {
    let list: readonly string[] = []
    const { fault } = await measure((text) => {
      list = []
      for (const letter of text) list = list.concat(letter)
    }, 1_200)
    expect(list.length).toBeGreaterThan(0)
    expect(fault).toContain('ms')
  })

  it('is detected for a regular expression that backtracks', async () => {
    const { fault } = await measure((text) => /a+b/.test(text), 2_500)
    expect(fault).toContain('ms')
  })

  it('is bounded for a loop, for a binary search at each step, and for constant work', async () => {
    let halves = 0
    const { fault, growth } = await measure((text) => {
      for (const _ of text) for (let rest = text.length; rest > 1; rest >>= 1) halves++
    })
    expect(halves).toBeGreaterThan(0)
    expect(fault).toBeUndefined()
    expect(growth).toBeGreaterThan(16)
    expect((await measure((text) => Array.from(text, (letter) => letter.length))).fault).toBeUndefined()
    expect((await measure((text) => Array.from(text.slice(0, 100), (letter) => letter.length))).fault).toBeUndefined()
  })
})

describe('doors for foreign input', () => {
  afterAll(stopCounting)

  for (const [at, door] of DOORS.entries()) {
    const test = door.skip === undefined ? it : it.skip
    test(`${door.name}: work grows at most n log n`, async () => {
      expect(await findUnbounded(door, at)).toEqual([])
    }, 120_000)
  }

  it('names are unique, and a skipped door says why', () => {
    expect(new Set(DOORS.map(({ name }) => name)).size).toBe(DOORS.length)
    for (const { skip } of DOORS) expect(skip).not.toBe('')
  })
})

describe('random input', () => {
  it('is accepted or refused, and nothing else happens', async () => {
    expect(await fuzz({ cases: 3_000, seed: 20_261_116 })).toBeUndefined()
  }, 60_000)
})

/** `npm run doors` tries every shape at every door; otherwise each door gets some of the shapes, and each shape goes to some doors. */
const { env } = import.meta as ImportMeta & { readonly env: { readonly MODE: string } }
const EVERY = env.MODE === 'all-shapes' ? 1 : 5

/** The shapes for which the work of a door grows too much. */
async function findUnbounded(door: AnyDoor, at: number): Promise<string[]> {
  const found: string[] = []
  for (const [i, shape] of getShapes(door.takes).entries()) {
    if ((i + at) % EVERY !== 0 || door.without?.includes(shape[0])) continue
    const { fault } = await measureGrowth(door, shape)
    if (fault !== undefined) found.push(`${shape[0]}: ${fault}`)
  }
  return found
}
