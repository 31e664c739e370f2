import type { ArmReport, CaseReport, CompareReport, CompareVerdict } from 'foldout/compare'
import { afterEach, describe, expect, it } from 'vitest'
import { createInspector, type Inspector } from '../../packages/foldout-mcp/src/inspector/inspector.ts'
import { findBarriers, type Page } from './browser.ts'
import { open, useBrowser } from './harness.ts'

useBrowser()

let inspector: Inspector | undefined
afterEach(async () => {
  await inspector?.close()
  inspector = undefined
})

const interval = (low: number, high: number) => ({ low, high, level: 0.9 })

function createArm(success: number, usd: number, verdict?: CompareVerdict): ArmReport {
  const cost = (cold: number, warm: number) => ({ cold, warm, atTraffic: null })
  return {
    runs: 36,
    errors: verdict === 'no-signal' ? 3 : 0,
    success,
    interval: interval(success - 0.1, Math.min(1, success + 0.1)),
    passAll: success,
    grades: { done: success },
    ...(verdict && {
      against: {
        base: 'full',
        difference: success - 0.9,
        interval: interval(success - 1, success - 0.8),
        p: 0.03,
        test: 'sign-flips',
        verdict,
        reasons: verdict === 'no-signal' ? ['More than 5 % of the runs of this arm failed with an error.'] : [],
        cases: 12,
        clusters: 12,
        better: 1,
        worse: 3,
        casesNeeded: 180,
      },
    }),
    openings: {
      needed: 20,
      opened: 17,
      recall: 0.85,
      precision: 1,
      missed: [],
      missedInAll: 3,
      missedInFailures: 2,
      sections: [{ path: 'exchange', needed: 9, missed: 3, missedInFailures: 2, wastedUsd: 0.04 }],
      unknown: 0,
    },
    callsNotOffered: 1,
    requests: 6.5,
    inputTokens: 12_345,
    outputTokens: 321,
    seconds: { p50: 2.5, p90: 6 },
    money: {
      usd: cost(usd, usd / 2),
      usdPerSuccess: cost(usd / success, usd / 2 / success),
      outputUsd: 0.001,
      share: 1,
    },
    reported: { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 },
  }
}

/** Case i: the folded arm is worse in every third, has missed an opening in every fourth, and is undecided in every fifth. */
function createCase(at: number): CaseReport {
  const cell = (arm: string, scores: readonly number[], hasMissed = false) => ({
    scores,
    errors: 0,
    hasMissed,
    runs: scores.map((_, i) => `${arm}-${at}-${i}`),
  })
  const folded = at % 5 === 0 ? [1, 0, 1] : [1, 1, 1]
  return {
    id: `case-${at}`,
    input: at === 7 ? 'Swap my <b>kettle</b> \u202efor a lamp' : `Refund order ${at}, please.`,
    needs: ['refunds'],
    arms: {
      full: cell('full', [1, 1, 1]),
      folded: cell('folded', at % 3 === 0 ? [0, 0, 0] : folded, at % 4 === 0),
      hybrid: cell('hybrid', [1, 1, 0.5]),
    },
  }
}

const createReport = (cases: number): CompareReport => ({
  version: 1,
  base: 'full',
  verdict: 'worse',
  margin: 0.05,
  repeats: { done: 3, planned: 5 },
  stopped: 'decided',
  arms: {
    full: createArm(0.9, 0.04),
    folded: createArm(0.75, 0.02, 'worse'),
    hybrid: createArm(0.88, 0.03, 'undecided'),
    other: createArm(0.5, 0.03, 'no-signal'),
  },
  cases: Array.from({ length: cases }, (_, at) => createCase(at)),
  prices: { input: 3, output: 15, read: 0.3, write: 3.75, minimum: 1_024, ttl: 300 },
  perHour: 40,
  spentUsd: 1.5,
  assumptions: ['Tokens are estimated (tokenx).'],
  notes: ['Two runs of an older prompt were left out.'],
})

async function show(report: CompareReport | undefined, options?: Parameters<typeof open>[1]): Promise<Page> {
  const view = { report, problem: report ? undefined : 'compare.jsonl has no runs yet.' }
  inspector = await createInspector([{ view: 'compare', handlers: { 'compare/get': () => view } }], {
    title: 'compare',
  })
  return open(`${inspector.url}#/compare`, options)
}

describe('R80 the compare view in a browser', () => {
  it('shows each arm with its verdict, why there is none, what it missed, and what the figures assume', async () => {
    const page = await show(createReport(12))
    await page.getByRole('region', { name: 'Table of arms' }).waitFor()
    const rows = await page.locator('.arms tbody tr').allInnerTexts()
    expect(rows[0]).toMatch(/full\s+90\.0 %.*80\.0 % to 100\.0 %\s+–\s+base/s)
    expect(rows[1]).toMatch(/folded\s+75\.0 %.*−15\.0.*worse\s+1, 3\s+3 of 20\s+6\.5\s+12,345\s+2\.50 s/s)
    expect(rows[2]).toMatch(/undecided.*needs about 180 cases/s)
    expect(rows[3]).toMatch(/other.*3 errors.*no verdict/s)
    const text = await page.locator('main').innerText()
    expect(text).toContain(
      '12 cases, 3 of 5 repeats. folded, hybrid, other against full. It ended early, because it was decided.',
    )
    expect(text).toContain('other: More than 5 % of the runs of this arm failed with an error.')
    expect(text).toContain('folded missed exchange in 3 of 9 runs that needed it, of which 2 failed and cost $0.04.')
    expect(text).toContain('Two runs of an older prompt were left out.')
  })

  it('prices every arm at the traffic of the slider, which moves with the arrow keys', async () => {
    const page = await show(createReport(12))
    const slider = page.getByRole('slider', { name: 'Conversations an hour' })
    await slider.waitFor()
    const getRow = async (at: number): Promise<string> =>
      (await page.locator('.compare-money tbody tr').allInnerTexts())[at] ?? ''
    expect(await slider.getAttribute('aria-valuetext')).toBe('40 conversations an hour')
    // Cold, warm, and at a warmth of 1 − e^(−40 · 300 / 3,600).
    expect(await getRow(1)).toMatch(/folded\s+20\.00 −50 %\s+10\.00 −50 %\s+10\.36 −50 %\s+13\.81 −40 %/)
    await slider.focus()
    await page.keyboard.press('Home')
    expect(await slider.getAttribute('aria-valuetext')).toBe('0 conversations an hour')
    expect(await getRow(1)).toMatch(/20\.00 −50 %\s+10\.00 −50 %\s+20\.00 −50 %/)
    await page.keyboard.press('End')
    expect(await getRow(1)).toMatch(/20\.00 −50 %\s+10\.00 −50 %\s+10\.00 −50 %/)
    expect(await page.locator('.compare-cache').innerText()).toMatch(
      /at least 1,024 tokens for 300 seconds.*\$3 per million.*\$0\.3 to read/s,
    )
  })

  it('filters the cases, and opens the runs of one, each beside the run of the base, by keyboard', async () => {
    const page = await show(createReport(60))
    const list = page.getByRole('region', { name: 'Cases' })
    await list.waitFor()
    const filter = page.getByLabel('Which cases')
    const options = await filter.locator('option').allInnerTexts()
    expect(options).toEqual([
      'All cases (60)',
      'Worse (60)',
      'Better (0)',
      'Missed opening (15)',
      'Undecided (60)',
      'Errors (0)',
    ])
    await filter.selectOption('missed')
    await page.getByText('Cases 15', { exact: true }).waitFor()
    await page.getByLabel('Search the cases').fill('case-8 order')
    const rows = list.locator('button.case')
    await page.getByText('Cases 1', { exact: true }).waitFor()
    expect(await rows.count()).toBe(1)
    expect(await rows.first().innerText()).toContain('folded: 3 of 3 passed, missed an opening.')
    await page.getByLabel('Search the cases').fill('')
    await rows.nth(1).waitFor()
    await rows.first().focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    const runs = page.getByRole('region', { name: 'Runs of case-4' })
    await runs.waitFor()
    const links = await runs.locator('a.run-link').allInnerTexts()
    expect(links).toContain('1: passed')
    expect(links).toContain('3: 50 %')
    const beside = runs.locator('a.run-link').filter({ hasText: 'compare 2' })
    expect(await beside.first().getAttribute('href')).toBe('#/runs/full-4-1/folded-4-1')
  })

  it('shows texts of cases as texts, with marks for what is invisible', async () => {
    const page = await show(createReport(12))
    const text = page.getByText('Swap my <b>kettle</b> <U+202E>for a lamp').first()
    await text.waitFor()
    expect(await text.locator('b').count()).toBe(0)
  })

  it('stays small with 10,000 cases, and reaches the last one', async () => {
    const page = await show(createReport(10_000))
    const list = page.getByRole('region', { name: 'Cases' })
    const rows = list.locator('button.case')
    await rows.first().waitFor()
    expect(await rows.count()).toBeLessThan(60)
    await rows.first().focus()
    await page.keyboard.press('End')
    await page.getByText('case-9999', { exact: true }).waitFor()
    expect(await rows.count()).toBeLessThan(60)
  })

  it('says that there is nothing yet', async () => {
    const page = await show(undefined)
    const text = page.getByText('compare.jsonl has no runs yet.')
    await text.waitFor()
    expect(await page.getByRole('slider').count()).toBe(0)
  })

  it.each([
    ['light', 1280],
    ['dark', 400],
  ] as const)('R60 axe finds nothing, and nothing is wider than the page: %s, %i px', async (colorScheme, width) => {
    const page = await show(createReport(40), { colorScheme, width })
    const row = page.locator('button.case').first()
    await row.waitFor()
    await row.click()
    await page.getByRole('region', { name: 'Runs of case-0' }).waitFor()
    if (process.env['PICTURES']) await page.screenshot({ path: `${process.env['PICTURES']}/compare-${width}.png` })
    expect(await findBarriers(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
  })
})
