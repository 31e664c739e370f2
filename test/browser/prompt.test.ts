import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { travelDesk } from '../../examples/inspector/travel-desk.ts'
import { findBarriers, type Page } from './browser.ts'
import { EXAMPLES, isWhole, open, startInspector, takeProblems, useBrowser } from './harness.ts'
import { removeFolder } from '../remove-folder.ts'

useBrowser()

const DESK = join(EXAMPLES, 'inspector/travel-desk.ts')
const folder = mkdtempSync(join(import.meta.dirname, '.tmp-'))
afterAll(() => removeFolder(folder))

const getTotal = async (page: Page): Promise<number> =>
  Number((await page.locator('.figure strong').innerText()).replace(',', ''))

describe('R59 the prompt view in a browser', () => {
  it('opens a section with a click, and shows the resulting text, tools and tokens', async () => {
    const { url } = await startInspector('inspect', DESK)
    const page = await open(url)
    await page.getByRole('treeitem', { name: /^3 Changing a booking \(folded\)/ }).waitFor()
    expect(await page.locator('.part.folded').count()).toBe(5)
    expect(await page.locator('.text').textContent()).not.toContain('checked out by the airport')
    const before = await getTotal(page)
    await page.getByRole('treeitem', { name: /^3 Changing/ }).click()
    await page.getByRole('treeitem', { name: /^3 Changing a booking \(open\)/ }).waitFor()
    expect(await page.locator('.text').textContent()).toContain('checked out by the airport')
    expect(await page.locator('.change').innerText()).toMatch(
      /^\+\d+ tokens, 2 tools added: rebook_flight, cancel_booking$/,
    )
    expect(await getTotal(page)).toBeGreaterThan(before)
    await page.getByRole('button', { name: 'Open section Fares' }).click()
    await page.getByText(/two hours\s+before departure/).waitFor()
    await page.getByRole('tab', { name: /^Tools/ }).click()
    expect(await page.locator('tbody code').allInnerTexts()).toContain('rebook_flight')
    await page.getByRole('button', { name: 'Reset' }).click()
    await page.getByRole('treeitem', { name: /^3 Changing a booking \(folded\)/ }).waitFor()
    expect(await getTotal(page)).toBe(before)
  })

  it('compares two renders, switches the strategy and lints', async () => {
    const { url } = await startInspector('inspect', DESK)
    const page = await open(url)
    await page.getByRole('button', { name: 'Pin to compare' }).click()
    await page.getByLabel('Strategy').selectOption('open-sections')
    await page.getByRole('tab', { name: 'Compare' }).click()
    await page.locator('.diff-part.added').first().waitFor()
    expect(await page.locator('.diff-head').innerText()).toContain('readSection → openSections')
    expect((await page.locator('.diff-part.added').allInnerTexts()).join('\n')).toContain('open_sections')
    await page.getByRole('tab', { name: /Fold linter/ }).click()
    await page.getByText(/“Tone” costs more folded/).waitFor()
    // What the linter says can be tried, and is what it said.
    const row = page.getByRole('row').filter({ hasText: /“Tone” costs more folded/ })
    const saved = Number(await row.locator('td.number').innerText())
    await row.getByRole('button', { name: /^Try it/ }).click()
    await page.getByRole('treeitem', { name: /^2 Tone \(open\)/ }).waitFor()
    expect(await page.locator('.change').innerText()).toBe(`−${saved} tokens`)
    await row.waitFor({ state: 'detached' })
  })

  it('copies exactly what the model reads', async () => {
    const { url } = await startInspector('inspect', DESK)
    const page = await open(url)
    await page.getByRole('button', { name: 'Copy text' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(travelDesk.render().text)
  })

  it('says why a strategy cannot be used, and goes back', async () => {
    const { url } = await startInspector('inspect', DESK)
    const page = await open(url)
    await page.getByLabel('Strategy').selectOption('context-files')
    await page.getByRole('alert').waitFor()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    expect(takeProblems(page)).toHaveLength(1)
  })

  it('R60 works with the keyboard alone', async () => {
    const { url } = await startInspector('inspect', DESK)
    const page = await open(url)
    const isAt = (row: number): Promise<void> => page.locator(`[aria-activedescendant=section-${row}]`).waitFor()
    await page.getByRole('tree').waitFor()
    for (let i = 0; i < 12 && !(await page.evaluate<boolean>('document.activeElement?.role === "tree"')); i++)
      await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await isAt(2)
    await page.keyboard.press('ArrowRight')
    await page.getByRole('treeitem', { name: /^3 Changing a booking \(open\)/ }).waitFor()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.getByRole('treeitem', { name: /^3.1 Fares \(open\)/ }).waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.getByRole('treeitem', { name: /^3.1 Fares \(folded\)/ }).waitFor()
    await page.keyboard.press('ArrowLeft')
    await isAt(2)
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Text')
    await page.keyboard.press('ArrowRight')
    await page.locator('[role=tab][aria-selected=true]').filter({ hasText: 'Tools' }).waitFor()
  })

  it.each([
    ['light', 1280],
    ['dark', 400],
  ] as const)('R60 axe finds nothing, and nothing is wider than the page: %s, %i px', async (colorScheme, width) => {
    const { url } = await startInspector('inspect', DESK)
    const page = await open(url, { colorScheme, width })
    await page.getByRole('treeitem', { name: /^3 Changing/ }).waitFor()
    for (const tab of isWhole ? [/^Text/, /^Tools/, /^Fold linter/, /^Compare/] : [/^Text/]) {
      await page.getByRole('tab', { name: tab }).click()
      expect(await findBarriers(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
    }
  })

  it('R60 shows hostile titles, texts and tools as text', async () => {
    const hostile = '<img src=x onerror="document.title=`pwned`"></script><script>alert(1)</script>'
    const module = join(folder, 'hostile.mjs')
    writeFileSync(
      module,
      `import { definePrompt, defineSection, defineTool, ok } from 'foldout'
      const hostile = ${JSON.stringify(hostile)}
      const tool = defineTool({ name: 'look', description: hostile, execute: () => ok(hostile) })
      export default definePrompt({ ns: 'test', key: 'hostile', sections: [
        defineSection({ key: 'a', title: hostile.replaceAll('$', ''), template: hostile, summary: hostile, tools: [tool] }),
      ] }).bind()`,
    )
    const { url } = await startInspector('inspect', module)
    const page = await open(url)
    await page.getByRole('treeitem').first().waitFor()
    expect(await page.locator('.text').textContent()).toContain(hostile)
    await page.getByRole('tab', { name: /^Tools/ }).click()
    expect(await page.locator('td .clamp, th .clamp').first().innerText()).toBe(hostile)
    expect(await page.evaluate('document.querySelectorAll("img").length')).toBe(0)
    expect(await page.title()).not.toContain('pwned')
  })

  it.runIf(isWhole)('stays responsive with 1,000 sections', async () => {
    const module = join(folder, 'large.mjs')
    writeFileSync(
      module,
      `import { definePrompt, defineSection } from 'foldout'
      const sections = Array.from({ length: 1000 }, (_, i) => defineSection({
        key: 's' + i, title: 'Section ' + i, template: 'Text of section ' + i + '. '.repeat(40), summary: 'Summary ' + i, visibility: 'summary',
      }))
      export default definePrompt({ ns: 'test', key: 'large', sections }).bind()`,
    )
    const { url } = await startInspector('inspect', module)
    const page = await open(url)
    await page.getByRole('treeitem', { name: /^1 Section 0/ }).waitFor()
    expect(await page.getByRole('treeitem').count()).toBeLessThan(60)
    await page.getByRole('tree').focus()
    await page.keyboard.press('End')
    await page.getByRole('treeitem', { name: /^1000 Section 999 \(folded\)/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('treeitem', { name: /^1000 Section 999 \(open\)/ }).waitFor()
    await page.getByText('Text of section 999', { exact: false }).first().waitFor()
  })
})
