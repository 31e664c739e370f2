import { formatUsd } from 'foldout-shared/numbers'
import { useEffect, useState } from 'preact/hooks'
import type { ClientView, RunView } from '../../../src/inspector/protocol/protocol.ts'
import { call, changes } from '../base/connection.ts'
import { formatNumber, formatSeconds, formatShare, formatSigned, toLabel } from '../base/format.ts'
import { Empty, Failure } from '../parts/notes.tsx'
import { toHref } from '../base/route.ts'
import { Chart, getExtent } from './chart.tsx'
import { RUN_WORDS, STATUS } from './run-detail.tsx'
import { getTitle } from './run-title.ts'
import { Timeline } from './timeline.tsx'

/** Two runs side by side: their figures with the difference, what each opened, and their timelines. */
export function Comparison({ ids }: { readonly ids: readonly [string, string] }) {
  const [first, second] = ids
  const [pair, setPair] = useState<readonly RunView[] | undefined>(undefined)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const version = changes.value.runs
  useEffect(() => {
    let isCurrent = true
    const get = (id: string): Promise<RunView | ClientView> => call('runs/get', { id })
    Promise.all([get(first), get(second)]).then(
      (views) => isCurrent && setPair(views.filter((view) => view.kind === 'run')),
      (error: Error) => isCurrent && setProblem(error.message),
    )
    return () => {
      isCurrent = false
    }
  }, [first, second, version])
  if (problem !== undefined) return <Failure message={problem} />
  if (!pair) return <Empty title="Reading the runs">One moment.</Empty>
  const [a, b] = pair
  if (!a || !b) return <Failure message="Only two runs can be compared, not clients of a gateway." />
  return (
    <div class="run comparison">
      <header class="run-head">
        <h1>Two runs</h1>
        <p class="actions run-actions">
          <a class="button" href={toHref('runs', b.id, a.id)}>
            Swap
          </a>
          <a class="button" href={toHref('runs', a.id)}>
            Stop comparing
          </a>
        </p>
      </header>
      <section class="pane" aria-label="Figures">
        <table class="compared">
          <thead>
            <tr>
              <td />
              <RunHeader run={a} />
              <RunHeader run={b} />
              <th scope="col" class="number">
                Difference
              </th>
            </tr>
          </thead>
          <tbody>
            {FIGURES.filter(({ isRare, get }) => !isRare || get(a) + get(b) > 0).map((figure) => (
              <FigureRow key={figure.name} figure={figure} pair={[a, b]} />
            ))}
            <OpenedRow pair={[a, b]} />
          </tbody>
        </table>
      </section>
      <div class="beside">
        {[a, b].map((view, i) => (
          <section key={`context of ${view.id}`} class="pane" aria-label={`Context of ${getTitle(view)}`}>
            <Chart
              shown={{
                chart: view.chart,
                window: view.window,
                words: RUN_WORDS,
                beside: getExtent((i === 0 ? b : a).chart),
              }}
            />
          </section>
        ))}
        {[a, b].map((view) => (
          <section key={view.id} class="pane run-pane" aria-label={`Timeline of ${getTitle(view)}`}>
            <h2 class="pane-head">{getTitle(view)}</h2>
            <Timeline id={view.id} count={view.steps} columns="usage" />
          </section>
        ))}
      </div>
    </div>
  )
}

function RunHeader({ run }: { readonly run: RunView }) {
  return (
    <th scope="col" class="number">
      <a class="run-title" href={toHref('runs', run.id)}>
        {getTitle(run)}
      </a>{' '}
      <span class={`chip ${STATUS[run.status]}`}>{run.status}</span>
    </th>
  )
}

interface ComparedFigure {
  readonly name: string
  readonly format: (value: number) => string
  readonly get: (run: RunView) => number
  /** Shown only if one of the runs has some. */
  readonly isRare?: boolean
}

const FIGURES: readonly ComparedFigure[] = [
  { name: 'Requests', format: formatNumber, get: ({ requests }) => requests },
  { name: 'Tokens in', format: formatNumber, get: ({ usage }) => usage.input },
  { name: 'Of it cached', format: formatShare, get: ({ usage }) => usage.cached / Math.max(1, usage.input) },
  { name: 'Tokens out', format: formatNumber, get: ({ usage }) => usage.output },
  { name: 'Dollars', format: formatUsd, get: ({ usd }) => usd ?? 0, isRare: true },
  { name: 'Dollars, reported', format: formatUsd, get: ({ reportedUsd }) => reportedUsd ?? 0, isRare: true },
  { name: 'Peak context', format: formatNumber, get: ({ peak }) => peak },
  { name: 'Openings', format: formatNumber, get: ({ openings }) => openings },
  { name: 'Restarts', format: formatNumber, get: ({ restarts }) => restarts, isRare: true },
  { name: 'Retries', format: formatNumber, get: ({ retries }) => retries, isRare: true },
  { name: 'Cache misses', format: formatNumber, get: ({ cacheMisses }) => cacheMisses, isRare: true },
  { name: 'Time', format: formatSeconds, get: ({ durationMs }) => durationMs },
]

interface RowProps {
  readonly figure: ComparedFigure
  readonly pair: readonly [RunView, RunView]
}

function FigureRow({ figure: { name, format, get }, pair: [a, b] }: RowProps) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="number">{format(get(a))}</td>
      <td class="number">{format(get(b))}</td>
      <td class="number note">{formatDifference(get(b) - get(a), format)}</td>
    </tr>
  )
}

function formatDifference(difference: number, format: ComparedFigure['format']): string {
  if (format === formatNumber) return formatSigned(difference)
  const text = format(Math.abs(difference))
  if (text === format(0)) return '±0'
  return `${difference < 0 ? '−' : '+'}${text}`
}

/** Which sections only one of them opened is what most differences come from. */
function OpenedRow({ pair: [a, b] }: Pick<RowProps, 'pair'>) {
  const [openedByA, openedByB] = [a, b].map(({ openingList }) => new Set(openingList.flatMap(({ keys }) => keys))) as [
    Set<string>,
    Set<string>,
  ]
  return (
    <tr>
      <th scope="row">Opened</th>
      <Sections keys={openedByA} others={openedByB} />
      <Sections keys={openedByB} others={openedByA} />
      <td />
    </tr>
  )
}

function Sections({ keys, others }: { readonly keys: ReadonlySet<string>; readonly others: ReadonlySet<string> }) {
  return (
    <td class="number">
      {keys.size === 0 && '–'}
      {[...keys].map((key) => (
        <span key={key} class={others.has(key) ? 'chip' : 'chip fold'}>
          {toLabel(key, 60)}
        </span>
      ))}
    </td>
  )
}
