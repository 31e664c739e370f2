import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatFullText, formatOverview } from '../../tools/site/llms.ts'
import { listNavigation } from '../../tools/site/navigation.ts'
import {
  isLocal,
  listAnchors,
  listLinks,
  listPages,
  resolveLink,
  toAnchor,
  toSitePage,
} from '../../tools/site/pages.ts'

const repository = join(import.meta.dirname, '../..')
const pages = listPages()
const readmes = readdirSync(join(repository, 'packages')).map((name) => `packages/${name}/README.md`)
// The library's README is a copy of the repository's.
const sources = [
  ...pages.map(({ source }) => source),
  'README.md',
  ...readmes.filter((file) => !file.includes('/foldout/')),
]

function read(file: string): string {
  return readFileSync(join(repository, file), 'utf8')
}

/** The links of a page that lead nowhere. */
function findDeadLinks(source: string, text: string): readonly string[] {
  return listLinks(text)
    .filter(({ target }) => isLocal(target))
    .filter(({ target }) => {
      const { file, anchor } = resolveLink(source, target)
      if (!existsSync(join(repository, file))) return true
      return anchor !== '' && !listAnchors(file === source ? text : read(file)).includes(anchor)
    })
    .map(({ target, line }) => `${source}:${line}: ${target}`)
}

describe('links of the documentation', () => {
  it('lead to files and headings that exist', () => {
    expect(sources.length).toBeGreaterThan(30)
    expect(sources.flatMap((source) => findDeadLinks(source, read(source)))).toEqual([])
  })

  it('are reported if they are dead', () => {
    const text =
      '# A\n\n[a](prompts.md), [b](gone.md)\n[c](#a) [d](#b)\n[e](prompts.md#gone) `[f](gone.md)`\n```\n[g](gone.md)\n```\n'
    expect(findDeadLinks('docs/guide/agents.md', text)).toEqual([
      'docs/guide/agents.md:3: gone.md',
      'docs/guide/agents.md:4: #b',
      'docs/guide/agents.md:5: prompts.md#gone',
    ])
  })

  it('of the home page lead to pages', () => {
    const links = [...read('docs/index.md').matchAll(/^ +link: \/(.+)$/gm)].map(([, link]) => `${link}.md`)
    expect(links.length).toBeGreaterThan(2)
    const known = new Set(pages.map(({ page }) => page))
    expect(links.filter((link) => !known.has(link))).toEqual([])
  })
})

describe('the site', () => {
  it('has every page of the guide in its navigation, once', () => {
    const listed = listNavigation(pages).flatMap((group) => group.pages)
    expect(listed).toEqual([...new Set(listed)])
    const guide = pages.map(({ page }) => page.replace(/\.md$/, '')).filter((page) => page.startsWith('guide/'))
    expect(guide.filter((page) => !listed.includes(page))).toEqual([])
  })

  it('links pages to each other, and everything else to the repository', () => {
    const toLinks = (source: string): readonly string[] => {
      const found = pages.find((page) => page.source === source)
      if (found === undefined) throw new Error(`${source} is not a page.`)
      const project = { author: 'A', repository: 'https://example.com/a/b', branch: 'main' }
      expect(toSitePage(found, pages)).not.toMatch(/undefined\/|\]\(https:\/\/[^)]*\/blob\/main/)
      return listLinks(toSitePage(found, pages, project)).map(({ target }) => target)
    }
    expect(toLinks('docs/guide/catalogs.md')).toEqual(
      expect.arrayContaining([
        './agents.md#asking-a-person-first',
        '../project/security.md',
        expect.stringMatching(/^https:.+\/blob\/main\/examples\/catalog-encoder\.ts$/),
      ]),
    )
    expect(toLinks('docs/decisions/README.md')).toContain('./rooms.md')
    expect(toLinks('SECURITY.md')).toContain('../limits.md')
  })

  it('makes anchors as GitHub does', () => {
    expect(['When folding pays', '`run/started`, again', 'A [link](b.md)', 'What’s 1.5 %?'].map(toAnchor)).toEqual([
      'when-folding-pays',
      'runstarted-again',
      'a-link',
      'whats-15-',
    ])
    expect(listAnchors('# A\n```\n# no\n```\n## A\n')).toEqual(['a', 'a-1'])
  })

  it('has texts for models', () => {
    expect(formatOverview(pages)).toMatch(/^- \[Prompts\]\(guide\/prompts\.md\): A prompt is a tree of sections\.$/m)
    const full = formatFullText(pages)
    expect(full).toContain('\n# Errors\n')
    expect(full).not.toMatch(/^<!--/m)
  })
})
