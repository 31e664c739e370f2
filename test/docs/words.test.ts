import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repository } from '../../tools/packages.mjs'
import { listPages } from '../../tools/site/pages.ts'

/** More than this is not read on one page. */
const MOST_WORDS = 2_600
/** Pages to look things up in. The specification has a paragraph for each requirement. */
const LONG: Readonly<Record<string, number>> = {
  'docs/specification.md': 5_100,
  'docs/errors.md': 2_900,
}
const MOST_IN_ALL = 61_700

const pages = listPages().map(({ source }) => {
  const text = readFileSync(join(repository, source), 'utf8')
  return { source, words: text.split(/\s+/).filter((word) => word !== '').length }
})

describe('the words of the documentation', () => {
  it.each(pages)('$source is neither empty nor too long', ({ source, words }) => {
    expect(words).toBeGreaterThan(40)
    expect(words).toBeLessThanOrEqual(LONG[source] ?? MOST_WORDS)
  })

  it('do not become more', () => {
    expect(pages.reduce((sum, { words }) => sum + words, 0)).toBeLessThanOrEqual(MOST_IN_ALL)
  })
})
