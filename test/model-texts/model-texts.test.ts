import { describe, expect, it } from 'vitest'
import { writeCatalogs, writeFileTools } from './catalog.ts'
import { writeCalls, writeDisclosure } from './disclosure.ts'
import { createPage } from './page.ts'
import { writeResults } from './results.ts'

describe('texts that models read', () => {
  it('R26 R27 R29 R37 R45 R46 R57 match texts.md', { timeout: 60_000 }, async () => {
    const page = createPage('Every text that a model can read')
    await writeDisclosure(page)
    await writeCalls(page)
    writeFileTools(page)
    await writeCatalogs(page)
    await writeResults(page)
    await expect(page.toString()).toMatchFileSnapshot('texts.md')
  })
})
