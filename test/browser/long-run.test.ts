import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { definePrompt, defineSection, defineTool, ok, runAgent } from 'foldout'
import { recordRun } from 'foldout/node'
import { calls, says, scriptedAdapter } from 'foldout/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBarriers } from './browser.ts'
import { open, startInspector, useBrowser } from './harness.ts'
import { removeFolder } from '../remove-folder.ts'

useBrowser()

const folder = mkdtempSync(join(tmpdir(), 'foldout-long-run-'))
const FILE = join(folder, 'runs.jsonl')

const report = defineTool({
  name: 'get_report',
  description: 'Returns a report.',
  params: { type: 'object' },
  execute: ({ n }) => ok(`report ${String(n)}: ${'many orders, none of them late. '.repeat(150)}`),
})
const bound = definePrompt({
  ns: 'test',
  key: 'reports',
  sections: [
    defineSection({ key: 'task', title: 'Task', template: 'Read the reports. '.repeat(200), tools: [report] }),
    defineSection({
      key: 'guide',
      title: 'Guide',
      summary: 'How to read them.',
      visibility: 'summary',
      template: 'Read every line. '.repeat(200),
    }),
  ],
}).bind({})

beforeAll(async () => {
  const adapter = scriptedAdapter([
    calls('read_section', { section_key: 'guide' }),
    ...Array.from({ length: 4 }, (_, n) => calls('get_report', { n })),
    calls('read_result', { result: 'r2', grep: 'report 0' }),
    says('All reports are read.'),
  ])
  const recorder = recordRun({ to: FILE })
  const refold = { at: 4_000, keepTurns: 1, frees: 500 }
  await runAgent(bound, { adapter, input: 'Read them all.', refold, onEvent: recorder.onEvent, maxTurns: 100 })
  await recorder.saved()
})
afterAll(() => removeFolder(folder))

describe('R67 a long run in a browser', () => {
  it.each([1_280, 400])(
    '%d pixels wide: what the context is for, and what was folded and read again',
    async (width) => {
      const { url } = await startInspector('inspect', FILE)
      const page = await open(url, { width, height: 2_400 })
      await page.locator('.plot canvas').waitFor()
      const keys = await page.locator('.chart .key').allInnerTexts()
      expect(keys.slice(0, 5)).toEqual(['system', 'tools', 'sections', 'results', 'conversation'])
      expect(await page.locator('.chart figcaption').innerText()).toMatch(
        /Peak [\d,]+ tokens at request \d+;.* Of these, system [\d,]+, tools [\d,]+, sections [\d,]+, results [\d,]+/,
      )
      const fold = page
        .locator('.step.is-fold')
        .filter({ hasText: /Folded \d+ result/ })
        .first()
      await fold.focus()
      await page.keyboard.press('Enter')
      const first = page.locator('.step-results details').first()
      await first.getByText('Result of get_report').waitFor()
      await first.locator('summary').focus()
      await page.keyboard.press('Enter')
      await first.getByText(/^report 0: many orders/).waitFor()
      expect(await findBarriers(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
      await fold.focus()
      await page.keyboard.press('Enter')
      await page.keyboard.press('End')
      const read = page.locator('.step.is-fold').filter({ hasText: 'Read r2 again, of get_report' })
      await read.click()
      await page.locator('.step-results').getByText('Result of get_report').waitFor()
    },
  )
})
