// The pages of the site: those in docs/, and the documents at the repository's root that they link to.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join, posix } from 'node:path'
import { readProject, repository } from '../packages.mjs'

/** A file in the repository and its place on the site, both as relative paths. */
export interface SitePage {
  readonly source: string
  readonly page: string
}

/** Documents outside docs/ that are also pages. */
const DOCUMENTS: readonly SitePage[] = [
  { source: 'CHANGELOG.md', page: 'project/changelog.md' },
  { source: 'CONTRIBUTING.md', page: 'project/contributing.md' },
  { source: 'SECURITY.md', page: 'project/security.md' },
]

/** Every page of the site except the generated reference. */
export function listPages(): readonly SitePage[] {
  const found = readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.md'))
    .sort()
  return [
    ...found.map((file) => ({ source: `docs/${file}`, page: file.replace(/(^|\/)README\.md$/, '$1index.md') })),
    ...DOCUMENTS,
  ]
}

/** Text in parts; every second part is code, in a fence or between backticks. */
function splitCode(text: string): readonly string[] {
  return text.split(/(^```[^]*?^```$|`[^`\n]+`)/m)
}

/** Changes the text of a page outside its code. */
export function mapProse(text: string, change: (prose: string) => string): string {
  return splitCode(text)
    .map((part, i) => (i % 2 === 0 ? change(part) : part))
    .join('')
}

/** A link of a page: what it points to, and its line. */
export interface Link {
  readonly target: string
  readonly line: number
}

const LINK = /(\]\()([^)\s]+)(\))/g
/** A link with its label, which may have code in it. */
const LABELED_LINK = /(!?)\[((?:[^\][]|`[^`]*`)*)\]\(([^)\s]+)\)/g

/** The links and pictures of a page. */
export function listLinks(text: string): readonly Link[] {
  // Code is blanked out rather than cut, so that lines keep their numbers.
  const prose = splitCode(text)
    .map((part, i) => (i % 2 === 0 ? part : part.replaceAll(/[^\n]/g, ' ')))
    .join('')
  return [...prose.matchAll(LINK)].map(({ 2: target = '', index }) => ({
    target,
    line: prose.slice(0, index).split('\n').length,
  }))
}

/** Whether a link leads to a file in the repository or to a heading, rather than to another host. */
export function isLocal(target: string): boolean {
  return !/^[a-z][a-z\d+.-]*:/i.test(target)
}

/** The anchors of a page's headings, as GitHub makes them. */
export function listAnchors(text: string): readonly string[] {
  const seen = new Map<string, number>()
  const headings = text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^#{1,6} (.+)$/gm)
  return [...headings].map(([, heading = '']) => {
    const anchor = toAnchor(heading)
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    return times === 0 ? anchor : `${anchor}-${times}`
  })
}

/** The anchor of a heading, as GitHub makes it. */
export function toAnchor(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}

/** The file in the repository that a page's link leads to, and the anchor in it. */
export function resolveLink(source: string, target: string): { readonly file: string; readonly anchor: string } {
  const [path = '', anchor = ''] = target.split('#')
  return { file: path === '' ? source : posix.join(posix.dirname(source), path), anchor }
}

/**
 * A page as input for the site's builder: links lead to pages of the site or to the repository, and comments are removed. A link to the
 * repository becomes its text while the repository has no URL.
 */
export function toSitePage({ source, page }: SitePage, pages: readonly SitePage[], project = readProject()): string {
  const { repository: address, branch } = project
  const toSiteLink = (target: string): string | undefined => {
    if (!isLocal(target) || target.startsWith('#')) return target
    const { file, anchor } = resolveLink(source, target)
    const suffix = anchor === '' ? '' : `#${anchor}`
    const found = pages.find((each) => each.source === file)
    if (found !== undefined) return `${toRelative(page, found.page)}${suffix}`
    if (file.startsWith('docs/')) return toRelative(page, file.slice('docs/'.length)) + suffix
    if (address === undefined) return undefined
    const kind = existsSync(join(repository, file)) && /\.\w+$/.test(file) ? 'blob' : 'tree'
    return `${address}/${kind}/${branch}/${file}${suffix}`
  }
  const text = readFileSync(join(repository, source), 'utf8').replaceAll(/^<!--[^]*?-->\n?/gm, '')
  // Labels may have code in them, so only fences are left alone.
  return text
    .split(/(^```[^]*?^```$)/m)
    .map((part) => {
      if (part.startsWith('```')) return part
      return part.replaceAll(LABELED_LINK, (_, picture: string, label: string, target: string) => {
        const link = toSiteLink(target)
        return link === undefined ? label : `${picture}[${label}](${link})`
      })
    })
    .join('')
}

function toRelative(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}
