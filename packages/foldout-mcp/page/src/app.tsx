import type { ComponentType } from 'preact'
import { useEffect, useErrorBoundary } from 'preact/hooks'
import { AdvicePage } from './advice/advice-page.tsx'
import { CatalogPage } from './catalog/catalog-page.tsx'
import { approvals, refreshApprovals } from './catalog/state.ts'
import { changes, hello, isRecorded, status } from './base/connection.ts'
import { formatNumber, toLabel } from './base/format.ts'
import { Empty, Failure } from './parts/notes.tsx'
import { ComparePage } from './compare/compare-page.tsx'
import { PromptPage } from './prompt/prompt-page.tsx'
import { RunsPage } from './runs/runs-page.tsx'
import { route, toHref } from './base/route.ts'
import { THEMES, theme } from './base/theme.ts'
import { VIEWS, type ViewName } from '../../src/inspector/protocol/protocol.ts'

const TITLES: Readonly<Record<ViewName, string>> = {
  prompt: 'Prompt',
  compare: 'Compare',
  runs: 'Runs',
  catalog: 'Catalog',
  advice: 'Advice',
}

const PAGES: Readonly<Record<ViewName, ComponentType>> = {
  prompt: PromptPage,
  compare: ComparePage,
  runs: RunsPage,
  catalog: CatalogPage,
  advice: AdvicePage,
}

export function App() {
  const views = hello.value?.views ?? []
  const asked = route.value.view
  const view = asked !== undefined && views.includes(asked) ? asked : views[0]
  const Page = view === undefined ? undefined : PAGES[view]
  const hasApprovals = hello.value?.topics.includes('approvals') ?? false
  const version = changes.value.approvals
  useEffect(() => {
    if (hasApprovals) void refreshApprovals()
  }, [hasApprovals, version])
  return (
    <>
      <a class="skip" href="#content" onClick={skipToContent}>
        Skip to the content
      </a>
      <header class="bar">
        <span class="brand">
          <Logo />
          <span class="brand-name">Foldout</span>
        </span>
        <nav aria-label="Views">
          {VIEWS.filter((each) => views.includes(each)).map((each) => (
            <a key={each} href={toHref(each)} aria-current={each === view ? 'page' : undefined}>
              {TITLES[each]}
              {each === 'catalog' && <WaitingCalls />}
            </a>
          ))}
        </nav>
        <span class="subject" title={toLabel(hello.value?.title ?? '')}>
          {toLabel(hello.value?.title ?? '')}
        </span>
        {isRecorded ? <span class="note">exported, redacted</span> : <Connection />}
        <ThemeChoice />
      </header>
      <main id="content" tabIndex={-1}>
        {Page ? <View key={view} page={Page} /> : <Waiting />}
      </main>
    </>
  )
}

/** How many calls wait for the user, wherever the user looks. */
function WaitingCalls() {
  const count = approvals.value?.length ?? 0
  if (count === 0) return null
  return (
    <span class="count waiting">
      {formatNumber(count)}
      <span class="hidden"> {count === 1 ? 'call waits' : 'calls wait'} for your approval</span>
    </span>
  )
}

/** A view that fails says so, and leaves the others alone. */
function View({ page: Page }: { readonly page: ComponentType }) {
  const [error, reset] = useErrorBoundary()
  if (error === undefined) return <Page />
  const reason = error instanceof Error ? error.message : String(error)
  return <Failure message={`This view could not be drawn: ${toLabel(reason)}`} onRetry={reset} />
}

function skipToContent(event: Event): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#content')?.focus()
}

function Logo() {
  return (
    <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" />
      <path d="M6.5 7.5h11M6.5 12h11M6.5 16.5h5" />
    </svg>
  )
}

const STATUS_TEXTS = { connecting: 'Connecting', open: 'Live', lost: 'Connection lost, trying again' } as const

function Connection() {
  return (
    <span class={`status ${status.value}`} role="status">
      <span class="dot" aria-hidden="true" />
      <span class="status-text">{STATUS_TEXTS[status.value]}</span>
    </span>
  )
}

function ThemeChoice() {
  return (
    <select
      class="theme"
      aria-label="Theme"
      value={theme.value}
      onChange={({ currentTarget }) => {
        theme.value = THEMES.find((each) => each === currentTarget.value) ?? 'system'
      }}
    >
      <option value="system">System</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </select>
  )
}

function Waiting() {
  if (status.value === 'lost')
    return <Empty title="The inspector does not answer">Start foldout again, and open the URL it prints.</Empty>
  if (hello.value)
    return <Empty title="Nothing to show">Start foldout inspect with a prompt, a recording or a configuration.</Empty>
  return <Empty title="Connecting">One moment.</Empty>
}
