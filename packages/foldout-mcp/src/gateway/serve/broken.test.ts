import { expect, it } from 'vitest'
import { createCatalog, type RawTool } from 'foldout/catalog'
import { createBrokenReport } from './broken.ts'

const tool = (name: string, source = 'files'): RawTool => ({ name, source, call: async () => ({ content: [] }) })
const long = (letter: string): string => letter.repeat(300)
const shown = (letter: string): string => `'${letter.repeat(80)}…'`
const WHY = 'Its name or source has 300 characters. At most 256 are allowed.'

it('tools that cannot be used are reported once, by server', () => {
  const reports: string[] = []
  const catalog = createCatalog([tool('fine'), tool(long('x')), tool('mail', 'mail'), tool('mail', 'mail')])
  const report = createBrokenReport(catalog, ({ message }) => reports.push(message))
  report()
  report()
  expect(reports).toEqual([
    `1 tool of the server 'files' cannot be used. ${shown('x')}: ${WHY}`,
    "1 tool of the server 'mail' cannot be used. 'mail': There is another tool 'mail/mail'; the first one is kept.",
  ])
  catalog.add(Array.from('abcde', (letter) => tool(long(letter), 'new')))
  report()
  expect(reports[2]).toBe(
    `5 tools of the server 'new' cannot be used. ${shown('a')}: ${WHY} ${shown('b')}: ${WHY} ${shown('c')}: ${WHY} And 2 more; foldout doctor lists them all.`,
  )
  expect(reports).toHaveLength(3)
})
