import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { completeManifest, hasPlaceholder, listEntries, makeLinksAbsolute, repository } from '../tools/packages.mjs'

const project = { author: 'A', repository: 'https://example.com/a/b', branch: 'main' }

describe('documents in packages', () => {
  it.each([
    ['[guide](docs/guide/prompts.md#fold)', '[guide](https://example.com/a/b/blob/main/docs/guide/prompts.md#fold)'],
    ['[license](./LICENSE)', '[license](https://example.com/a/b/blob/main/LICENSE)'],
    ['![fold](docs/fold.svg)', '![fold](https://example.com/a/b/raw/main/docs/fold.svg)'],
    ['<img alt="x" src="docs/fold.svg">', '<img alt="x" src="https://example.com/a/b/raw/main/docs/fold.svg">'],
    ['[here](#here)', '[here](#here)'],
    ['[there](https://example.org/x.md)', '[there](https://example.org/x.md)'],
    ['[mail](mailto:a@example.org)', '[mail](mailto:a@example.org)'],
    ['```md\n[code](stays.md)\n```', '```md\n[code](stays.md)\n```'],
  ])('%j', (text, expected) => {
    expect(makeLinksAbsolute(text, project)).toBe(expected)
  })
})

describe('package.json', () => {
  const library = join(repository, 'packages/foldout')

  it('has one subpath per entry, with its types first', () => {
    const { exports } = completeManifest(library, { name: 'foldout' }) as { exports: Record<string, unknown> }
    const subpaths = listEntries(library).map(({ subpath }) => subpath)
    expect(Object.keys(exports).sort()).toEqual([...subpaths, './package.json'].sort())
    expect(exports['.']).toEqual({ types: './dist/types/entries/index.d.ts', default: './dist/index.js' })
    expect(exports['./testing/suites']).toMatchObject({ default: './dist/testing-suites.js' })
  })

  it("has the repository's address", () => {
    expect(completeManifest(library, {})).toMatchObject({
      author: 'The Foldout authors',
      homepage: expect.stringMatching(/^https:.+#readme$/) as string,
      bugs: { url: expect.stringMatching(/^https:.+\/issues$/) as string },
      repository: { type: 'git', directory: 'packages/foldout' },
    })
  })

  it('recognizes the placeholder address', () => {
    expect(hasPlaceholder({ ...project, repository: 'https://github.com/OWNER/foldout' })).toBe(true)
    expect(hasPlaceholder(project)).toBe(false)
  })
})
