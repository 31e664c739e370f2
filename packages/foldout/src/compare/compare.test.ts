import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256Hex } from '../core/hash.ts'
import { bySearch } from '../entries/index.ts'
import { compare, type CompareArm, type CompareOptions } from '../entries/compare.ts'
import { createCases, createModel, desk } from './compare.fixtures.ts'

const prices = { input: 3, read: 0.3, write: 3.75, output: 15, minimum: 1_024, ttl: 300 }
const arms: Record<string, CompareArm> = {
  full: { prompt: desk, open: 'all' },
  folded: { prompt: desk },
  ahead: { prompt: desk, open: bySearch({ max: 1 }) },
}

let requests = 0

/** Every run has a model with a chance of its own, which depends only on the run. */
function createOptions(more: Partial<CompareOptions> = {}): CompareOptions {
  return {
    cases: createCases(30),
    arms,
    adapter: ({ arm, case: { id }, repeat }) => {
      const own = Number.parseInt(sha256Hex(`${arm} ${id} ${repeat}`).slice(0, 8), 16)
      return createModel({ misses: 0.3, errs: 0.05, seed: own, onRequest: () => requests++ })
    },
    prices,
    perHour: 40,
    ...more,
  }
}

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-compare-'))
  requests = 0
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('compare', () => {
  it('R80 finds, names and prices a section that a model misses', async () => {
    const report = await compare(createOptions({ repeat: 3, cases: createCases(45) }))
    const { full, folded, ahead } = report.arms
    expect(report.base).toBe('full')
    expect(full?.errors).toBe(0)
    expect(full?.openings).toMatchObject({ needed: 0, opened: 0 })
    expect(folded?.against).toMatchObject({ verdict: 'worse', clusters: 45 })
    expect(folded?.openings.needed).toBe(135)
    const [worst, ...others] = folded?.openings.sections ?? []
    expect(worst?.path).toBe('refunds')
    // A third of the cases are about refunds, and three of ten of their runs miss the section.
    expect(worst?.needed).toBe(45)
    expect(worst?.missed).toBeGreaterThan(6)
    expect(worst?.missed).toBeLessThan(25)
    expect(worst?.missedInFailures).toBe(worst?.missed)
    expect(worst?.wastedUsd).toBeGreaterThan(0)
    // The others are missed only when the model does not know anything.
    for (const { missed } of others) expect(missed).toBeLessThan(8)
    expect(folded?.openings.precision).toBe(1)
    // What is opened ahead cannot be missed.
    expect(ahead?.openings.recall).toBeGreaterThan(0.9)
    expect(report.arms['ahead']?.success).toBeGreaterThan(folded?.success ?? 1)
  })

  it('R80 counts requests and money of the recorded requests', async () => {
    const report = await compare(createOptions({ adapter: () => createModel() }))
    const { full, folded } = report.arms
    expect([full?.requests, folded?.requests]).toEqual([2, 3])
    expect(full?.money?.usd.cold).toBeGreaterThan(full?.money?.usd.warm ?? Infinity)
    expect(full?.money?.share).toBe(1)
    expect(full?.reported.inputTokens).toBe(30 * 2 * 900)
    expect(report.verdict).toBe('no-signal')
    expect(report.arms['folded']?.against?.reasons[0]).toMatch(/^Every run of both arms passed/)
    expect(JSON.parse(JSON.stringify(report))).toEqual(report)
  })

  it('R80 runs nothing twice that the file has, and says the same', async () => {
    const save = join(folder, 'compare.jsonl')
    const first = await compare(createOptions({ save, repeat: 2 }))
    const paid = requests
    expect(paid).toBeGreaterThan(0)
    const again = await compare(createOptions({ save, repeat: 2 }))
    expect(requests).toBe(paid)
    expect({ ...again, spentUsd: 0 }).toEqual({ ...first, spentUsd: 0 })
    // More repeats only add what is missing; a torn line is left out.
    appendFileSync(save, '{"type":"run","run":"torn')
    await compare(createOptions({ save, repeat: 3 }))
    expect(requests).toBeGreaterThan(paid)
    const more = requests
    expect((await compare(createOptions({ save, repeat: 3, offline: true }))).arms['full']?.errors).toBe(0)
    expect(requests).toBe(more)
  })
})
