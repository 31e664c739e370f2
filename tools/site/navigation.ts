// The order of the pages, for the sidebar and for models.
import type { SitePage } from './pages.ts'

export interface NavigationGroup {
  readonly title: string
  /** Paths of pages without `.md`. */
  readonly pages: readonly string[]
}

const GROUPS: readonly NavigationGroup[] = [
  {
    title: 'Start',
    pages: ['guide/install', 'guide/start-agent', 'guide/start-servers', 'guide/start-mcp-server', 'guide/concepts'],
  },
  {
    title: 'Prompts and agents',
    pages: [
      'guide/prompts',
      'guide/disclosure',
      'guide/when-folding-pays',
      'guide/compare',
      'guide/skills',
      'guide/agents',
      'guide/chat',
      'guide/long-conversations',
      'guide/sessions',
      'guide/durable',
      'guide/hosts',
      'guide/own-loop',
      'guide/providers',
      'guide/telemetry',
      'guide/inspector',
      'guide/testing',
    ],
  },
  { title: 'Tools', pages: ['guide/catalogs'] },
  {
    title: 'The gateway',
    pages: [
      'guide/gateway',
      'guide/gateway-configuration',
      'guide/gateway-sign-in',
      'guide/gateway-rules',
      'guide/gateway-running',
      'guide/gateway-commands',
      'guide/gateway-recording',
    ],
  },
  { title: 'Many machines', pages: ['guide/fleet'] },
  { title: 'In depth', pages: ['guide/security', 'guide/extending', 'guide/coming-from'] },
  { title: 'Reference', pages: ['errors', 'events', 'limits', 'specification', 'architecture'] },
  { title: 'Project', pages: ['project/changelog', 'project/contributing', 'project/security'] },
]

/** The groups with the pages that exist. Pages of the guide that no group names come last. */
export function listNavigation(pages: readonly SitePage[]): readonly NavigationGroup[] {
  const existing = pages.map(({ page }) => page.replace(/\.md$/, ''))
  const listed = new Set(GROUPS.flatMap((group) => group.pages))
  const others = existing.filter((page) => page.startsWith('guide/') && !listed.has(page))
  const groups = GROUPS.map(({ title, pages: names }) => ({
    title,
    pages: names.filter((name) => existing.includes(name)),
  }))
  return others.length === 0 ? groups : [...groups, { title: 'More', pages: others }]
}
