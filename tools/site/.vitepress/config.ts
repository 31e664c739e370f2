import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type MarkdownRenderer } from 'vitepress'
import { readProject } from '../../packages.mjs'
import { readTitle } from '../llms.ts'
import { listNavigation } from '../navigation.ts'
import { listPages, toAnchor } from '../pages.ts'

const pages = join(import.meta.dirname, '../generated/pages')
const { repository: address } = readProject()

const guide = listNavigation(listPages()).map(({ title, pages: names }) => ({
  text: title,
  items: names.flatMap(toItem),
}))
const decisions = { text: 'Decisions', collapsed: true, items: listFolder('decisions') }
const reference = { text: 'API reference', collapsed: true, items: listReference() }

const icon = readFileSync(join(import.meta.dirname, '../../../packages/foldout-mcp/page/public/icon.svg'), 'utf8')
const ICON = `data:image/svg+xml,${encodeURIComponent(icon.trim())}`

export default defineConfig({
  title: 'Foldout',
  description: 'Progressive disclosure for language-model agents',
  lang: 'en-US',
  srcDir: 'generated/pages',
  // The texts for models are not pages.
  srcExclude: ['public/**'],
  outDir: 'generated/site',
  cacheDir: 'generated/cache',
  cleanUrls: true,
  lastUpdated: false,
  // In the page itself, since a site may be in a folder of its host.
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: ICON }]],
  // Pictures stay files, and the reference is one large page for each entry.
  vite: { build: { assetsInlineLimit: 0, chunkSizeWarningLimit: 4_000 } },
  // Raw markup in a page is text: the pages are also read on GitHub, and use angle brackets for placeholders.
  markdown: {
    html: false,
    attrs: { disable: true },
    anchor: { slugify: toAnchor },
    toc: { slugify: toAnchor },
    headers: { slugify: toAnchor },
    config: keepBraces,
  },
  themeConfig: {
    logo: { src: '/icon.svg', alt: '' },
    search: {
      provider: 'local',
      options: {
        // A type has the word that somebody looks for as its whole title, and would always come first.
        miniSearch: { searchOptions: { boostDocument: (id: string) => (id.includes('/api/') ? 0.1 : 1) } },
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/guide/install' },
      { text: 'Gateway', link: '/guide/gateway' },
      { text: 'API', link: '/api/' },
      { text: 'Changelog', link: '/project/changelog' },
    ],
    sidebar: { '/api/': [{ ...reference, collapsed: false }], '/': [...guide, decisions, reference] },
    ...(address === undefined ? {} : { socialLinks: [{ icon: 'github' as const, link: address }] }),
    footer: { message: 'Apache-2.0' },
  },
})

/** Keeps the text of a page from being read as code: Vue takes two braces for an interpolation, but not their entities. */
function keepBraces(md: MarkdownRenderer): void {
  const render = md.renderer.render.bind(md.renderer)
  md.renderer.render = (...args) => render(...args).replaceAll('{{', '&#123;&#123;')
}

function toItem(name: string): { text: string; link: string }[] {
  const file = join(pages, `${name}.md`)
  return existsSync(file) ? [{ text: readTitle(readFileSync(file, 'utf8')), link: `/${name}` }] : []
}

function listFolder(folder: string): { text: string; link: string }[] {
  const names = readdirSync(join(pages, folder)).filter((file) => file.endsWith('.md'))
  return names.sort().flatMap((file) => toItem(`${folder}/${file.replace(/\.md$/, '')}`))
}

function listReference(): { text: string; link: string }[] {
  const found = readdirSync(join(pages, 'api'), { recursive: true, encoding: 'utf8' })
  return found
    .filter((file) => file.endsWith('.md') && file !== 'index.md')
    .sort((one, other) => (one < other ? -1 : 1))
    .flatMap((file) => toItem(`api/${file.replace(/\.md$/, '')}`))
}
