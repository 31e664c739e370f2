import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { compile, pages, readSnippets, writeModules, type Snippet } from './snippets.ts'

const repository = join(import.meta.dirname, '../..')

describe('snippets of the README and the guide', () => {
  let files: ReadonlyMap<Snippet, string>
  beforeAll(() => {
    files = writeModules()
  })
  const findFile = ({ page, line }: Snippet): string => {
    const found = [...files].find(([snippet]) => snippet.page === page && snippet.line === line)
    if (found === undefined) throw new Error(`There is no module for ${page}:${line}.`)
    return found[1]
  }

  it('compile', { timeout: 120_000 }, () => {
    expect(compile('test/docs')).toBe('')
  })

  it('state the figures shown in the picture', () => {
    const readme = readFileSync(join(repository, 'README.md'), 'utf8')
    const figures = [...readme.matchAll(/^rendered\.tokens\w*\.total \/\/ => (\d+)$/gm)].map(([, figure]) => figure)
    const picture = readFileSync(join(repository, 'docs/fold.svg'), 'utf8')
    expect([...picture.matchAll(/>~(\d+) tokens</g)].map(([, figure]) => figure)).toEqual(figures)
  })

  const runnable = pages.flatMap(readSnippets).filter(({ runs }) => runs)
  it.each(runnable.map((snippet) => [`${snippet.page}:${snippet.line}`, snippet] as const))(
    '%s runs and returns what it states',
    async (_, snippet) => {
      await expect(import(findFile(snippet))).resolves.toBeDefined()
    },
  )
})
