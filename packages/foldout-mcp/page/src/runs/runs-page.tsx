import { useEffect, useState } from 'preact/hooks'
import type { RunStatus, RunView } from '../../../src/inspector/protocol.ts'
import { changes, isRecorded } from '../connection.ts'
import { formatClock, formatCount, formatNumber, formatSeconds, formatShare, toLabel } from '../format.ts'
import { CopyButton } from '../parts/copy.tsx'
import { Empty, Failure } from '../parts/notes.tsx'
import { Tabs, type Tab } from '../parts/tabs.tsx'
import { route, toHref } from '../route.ts'
import { Chart } from './chart.tsx'
import { Messages } from './messages.tsx'
import { Openings } from './openings.tsx'
import { Questions } from './questions.tsx'
import { problem, refreshList, refreshRun, run, runs } from './state.ts'
import { Timeline } from './timeline.tsx'

/** The run view: a list of runs, and one of them in full. */
export function RunsPage() {
  const version = changes.value.runs
  useEffect(() => void refreshList(), [version])
  const [asked] = route.value.rest
  const id = asked ?? runs.value?.[0]?.id
  useEffect(() => {
    if (id !== undefined) void refreshRun(id)
  }, [id, version])
  if (problem.value !== undefined && !run.value)
    return <Failure message={problem.value} onRetry={() => void refreshList()} />
  if (runs.value === undefined) return <Empty title="Reading the runs">One moment.</Empty>
  if (runs.value.length === 0) return <NoRuns />
  const shown = run.value
  return (
    <div class={isRecorded ? 'runs alone' : 'runs'}>
      {!isRecorded && <RunList chosen={id} />}
      {shown ? <RunDetail shown={shown} key={shown.id} /> : <Empty title="Reading the run">One moment.</Empty>}
    </div>
  )
}

/** The address of this page, with its token. */
const getAddress = (): string => location.href.replace(/[?#].*$/, '')

/** How to record a run, with the address of this page in it. */
function NoRuns() {
  const address = getAddress()
  return (
    <div class="empty">
      <h2>No runs yet</h2>
      <p>Add one line to your agent. The run appears here as it happens.</p>
      <pre class="code sample" tabIndex={0}>
        {`import { recordRun } from 'foldout/node'\n\nawait runAgent(prompt, {\n  adapter,\n  onEvent: recordRun({ to: '${address}' }).onEvent,\n})`}
      </pre>
    </div>
  )
}

const STATUS: Readonly<Record<RunStatus, string>> = {
  running: 'accent',
  completed: 'good',
  stopped: '',
  waiting: 'fold',
  failed: 'bad',
  unfinished: '',
}

function RunList({ chosen }: { readonly chosen: string | undefined }) {
  const list = runs.value ?? []
  return (
    <nav class="pane run-list" aria-label="Runs">
      <header class="pane-head">
        <h2>
          Runs <span class="count">{formatNumber(list.length)}</span>
        </h2>
        <span class="actions">
          <CopyButton text={`${getAddress()}mcp`} label="Copy address for agents" />
        </span>
      </header>
      <ol>
        {list.slice(0, 200).map(({ id, input, status, prompt, requests, usage, startedAt }) => (
          <li key={id}>
            <a href={toHref('runs', id)} aria-current={id === chosen ? 'true' : undefined}>
              <span class="run-name">{toLabel(input || prompt || id)}</span>
              <span class="run-facts">
                <span class={`chip ${STATUS[status]}`}>{status}</span>
                <span class="note">
                  {formatCount(requests, 'request')}, {formatNumber(usage.input)} in
                </span>
                {startedAt > 1e9 && <time class="note">{formatClock(startedAt)}</time>}
              </span>
            </a>
          </li>
        ))}
      </ol>
    </nav>
  )
}

type RunTab = 'timeline' | 'messages' | 'openings' | 'questions'

function RunDetail({ shown }: { readonly shown: RunView }) {
  const [tab, setTab] = useState<RunTab>('timeline')
  const tabs: readonly Tab<RunTab>[] = [
    { name: 'timeline', label: 'Timeline', count: shown.steps },
    { name: 'messages', label: 'Messages', count: shown.messages },
    { name: 'openings', label: 'Openings', count: shown.openings },
    { name: 'questions', label: 'Why not, and fork' },
  ]
  return (
    <div class="run">
      <header class="run-head">
        <div>
          <h1>{toLabel(shown.prompt) || 'Run'}</h1>
          <p class="chips">
            <span class={`chip ${STATUS[shown.status]}`}>{shown.status}</span>
            {shown.model !== '' && <span class="chip">{toLabel(shown.model, 60)}</span>}
            <span class="chip">{formatSeconds(shown.durationMs)}</span>
          </p>
        </div>
        <Figures shown={shown} />
        {!isRecorded && (
          <a class="button" href={`export/${encodeURIComponent(shown.id)}.html`} download>
            Export as HTML
          </a>
        )}
      </header>
      {shown.skipped > 0 && (
        <p class="note">{formatCount(shown.skipped, 'line')} of the recording could not be read.</p>
      )}
      <section class="pane chart-pane" aria-label="Context over the run">
        <Chart shown={shown} />
      </section>
      <section class="pane run-pane" aria-label="What happened">
        <Tabs
          label="What happened"
          tabs={isRecorded ? tabs.slice(0, 3) : tabs}
          chosen={tab}
          onChoose={(name) => setTab(name)}
        >
          {tab === 'timeline' && <Timeline shown={shown} />}
          {tab === 'messages' && <Messages shown={shown} />}
          {tab === 'openings' && <Openings shown={shown} />}
          {tab === 'questions' && <Questions shown={shown} />}
        </Tabs>
      </section>
    </div>
  )
}

function Figures({ shown }: { readonly shown: RunView }) {
  const { usage, requests, openings, restarts, peak, retries, cacheMisses } = shown
  const figures = [
    ['Requests', formatNumber(requests)],
    ['Tokens in', formatNumber(usage.input)],
    ['Cached', usage.input === 0 ? '–' : formatShare(usage.cached / usage.input)],
    ['Tokens out', formatNumber(usage.output)],
    ['Peak context', formatNumber(peak)],
    ['Openings', formatNumber(openings)],
    ['Restarts', formatNumber(restarts)],
    ...(retries > 0 ? [['Retries', formatNumber(retries)] as const] : []),
    ...(cacheMisses > 0 ? [['Cache misses', formatNumber(cacheMisses)] as const] : []),
  ] as const
  return (
    <dl class="figures">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="number">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
