// llms.txt and llms-full.txt: the guide as plain text, for models. Links are relative, because a site may be in a subfolder of its host.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../packages.mjs'
import { listNavigation } from './navigation.ts'
import { mapProse, type SitePage } from './pages.ts'

const SUMMARY =
  'Progressive disclosure for language-model agents, in TypeScript. A model first sees a table of contents of its prompt and its tools, and opens the parts it needs. `foldout` is the library; `foldout-mcp` is a command and a gateway in front of MCP servers.'

/** The list of all pages with their titles and first sentences. */
export function formatOverview(pages: readonly SitePage[]): string {
  const groups = listNavigation(pages).map(({ title, pages: names }) => {
    const lines = findPages(names, pages).map(({ page, source }) => {
      const text = readText(source)
      return `- [${readTitle(text)}](${page}): ${readFirstSentence(text)}`
    })
    return `## ${title}\n\n${lines.join('\n')}`
  })
  const rest = '## Optional\n\n- [Everything in one file](llms-full.txt)\n- [API reference](api/index.md)'
  return `# Foldout\n\n> ${SUMMARY}\n\n${groups.join('\n\n')}\n\n${rest}\n`
}

/** The pages of the guide and the reference, one after the other. */
export function formatFullText(pages: readonly SitePage[]): string {
  const names = listNavigation(pages)
    .flatMap((group) => group.pages)
    .filter((name) => !name.startsWith('project/'))
  const texts = findPages(names, pages).map(({ source }) => readText(source).trimEnd())
  return `${texts.join('\n\n---\n\n')}\n`
}

function findPages(names: readonly string[], pages: readonly SitePage[]): readonly SitePage[] {
  return names.flatMap((name) => pages.filter(({ page }) => page === `${name}.md`))
}

function readText(source: string): string {
  return mapProse(readFileSync(join(repository, source), 'utf8'), (prose) => prose.replaceAll(/^<!--[^]*?-->\n?/gm, ''))
}

/** The title of a page. */
export function readTitle(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? ''
}

/** The first sentence of a page. */
export function readFirstSentence(text: string): string {
  const paragraphs = text.replaceAll(/^```[^]*?^```$/gm, '').split(/\n{2,}/)
  const first = paragraphs.find((paragraph) => /^[A-Z`*]/.test(paragraph)) ?? ''
  const plain = first.replaceAll('\n', ' ').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain
}
