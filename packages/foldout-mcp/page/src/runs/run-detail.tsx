import { formatCount, formatUsd } from 'foldout-shared/numbers'
import { useState } from 'preact/hooks'
import type { RunStatus, RunView } from '../../../src/inspector/protocol/protocol.ts'
import { isRecorded } from '../base/connection.ts'
import { formatNumber, formatSeconds, formatShare, toLabel } from '../base/format.ts'
import { Tabs, type Tab } from '../parts/tabs.tsx'
import { Chart, type ChartWords } from './chart.tsx'
import { Figures, type FigureRow } from './figures.tsx'
import { Messages } from './messages.tsx'
import { Openings } from './openings.tsx'
import { Questions } from './questions.tsx'
import { getTitle } from './run-title.ts'
import { chosenRequest, isComparing, runs } from './state.ts'
import { Timeline } from './timeline.tsx'

export const STATUS: Readonly<Record<RunStatus, string>> = {
  running: 'accent',
  completed: 'good',
  stopped: '',
  waiting: 'fold',
  failed: 'bad',
  unfinished: '',
}

export const RUN_WORDS: ChartWords = {
  now: 'context',
  cached: 'of it cached',
  everything: 'with everything open',
  unit: 'request',
  mark: 'peak',
  isWarning: true,
}

type RunTab = 'timeline' | 'messages' | 'openings' | 'questions'

/** One run of an agent in full. */
export function RunDetail({ shown }: { readonly shown: RunView }) {
  const [tab, setTab] = useState<RunTab>('timeline')
  const tabs: readonly Tab<RunTab>[] = [
    { name: 'timeline', label: 'Timeline', count: shown.steps },
    { name: 'messages', label: 'Messages', count: shown.messages },
    { name: 'openings', label: 'Openings', count: shown.openings },
    { name: 'questions', label: 'Why not, and fork' },
  ]
  const askAbout = (request: number): void => {
    chosenRequest.value = request
    setTab('questions')
  }
  return (
    <div class="run">
      <header class="run-head">
        <div>
          <h1 class="run-title" title={toLabel(shown.input)}>
            {getTitle(shown)}
          </h1>
          <p class="chips">
            <span class={`chip ${STATUS[shown.status]}`}>{shown.status}</span>
            {shown.prompt !== '' && <span class="chip">{toLabel(shown.prompt, 60)}</span>}
            {shown.model !== '' && <span class="chip">{toLabel(shown.model, 60)}</span>}
            <span class="chip">{formatSeconds(shown.durationMs)}</span>
          </p>
        </div>
        <Figures rows={toFigures(shown)} />
        {!isRecorded && <Actions id={shown.id} />}
      </header>
      {shown.skipped > 0 && (
        <p class="note">{formatCount(shown.skipped, 'line')} of the recording could not be read.</p>
      )}
      <section class="pane chart-pane" aria-label="Context over the run">
        <Chart shown={{ chart: shown.chart, window: shown.window, words: RUN_WORDS, onChoose: askAbout }} />
      </section>
      <section class="pane run-pane" aria-label="What happened">
        <Tabs
          label="What happened"
          tabs={isRecorded ? tabs.slice(0, 3) : tabs}
          chosen={tab}
          onChoose={(name) => setTab(name)}
        >
          {tab === 'timeline' && (
            <Timeline id={shown.id} count={shown.steps} columns="usage" onAsk={isRecorded ? undefined : askAbout} />
          )}
          {tab === 'messages' && <Messages shown={shown} />}
          {tab === 'openings' && <Openings shown={shown} />}
          {tab === 'questions' && <Questions shown={shown} />}
        </Tabs>
      </section>
    </div>
  )
}

function Actions({ id }: { readonly id: string }) {
  const others = runs.value?.filter((one) => one.kind === 'run' && one.id !== id) ?? []
  return (
    <p class="actions run-actions">
      {others.length > 0 && (
        <button type="button" aria-pressed={isComparing.value} onClick={() => (isComparing.value = !isComparing.value)}>
          Compare
        </button>
      )}
      <a class="button" href={`export/${encodeURIComponent(id)}.html`} download>
        Export as HTML
      </a>
    </p>
  )
}

export function toFigures({
  usage,
  usd,
  reportedUsd,
  requests,
  openings,
  restarts,
  peak,
  retries,
  cacheMisses,
}: RunView): readonly FigureRow[] {
  return [
    ['Requests', formatNumber(requests)],
    ['Tokens in', formatNumber(usage.input)],
    ['Cached', usage.input === 0 ? '–' : formatShare(usage.cached / usage.input)],
    ['Tokens out', formatNumber(usage.output)],
    ...(usd === undefined ? [] : [['Dollars', formatUsd(usd)] as const]),
    ...(reportedUsd === undefined ? [] : [['Reported', formatUsd(reportedUsd)] as const]),
    ['Peak context', formatNumber(peak)],
    ['Openings', formatNumber(openings)],
    ['Restarts', formatNumber(restarts)],
    ...(retries > 0 ? [['Retries', formatNumber(retries)] as const] : []),
    ...(cacheMisses > 0 ? [['Cache misses', formatNumber(cacheMisses)] as const] : []),
  ]
}
