import { formatCount } from 'foldout-shared/numbers'
import type { ClientView } from '../../../src/inspector/protocol/protocol.ts'
import { formatClock, formatNumber, toLabel } from '../base/format.ts'
import { Chart, type ChartWords } from './chart.tsx'
import { Figures, type FigureRow } from './figures.tsx'
import { Timeline } from './timeline.tsx'

const WORDS: ChartWords = {
  now: 'tokens given to the client so far',
  everything: 'with every tool listed',
  unit: 'step',
  mark: 'so far',
  isWarning: false,
}

/** What one client of a gateway did. */
export function ClientDetail({ shown }: { readonly shown: ClientView }) {
  const { name, user, preset, part, lastAt } = shown
  return (
    <div class="run">
      <header class="run-head">
        <div>
          <h1>{name === '' ? NAMELESS : toLabel(name)}</h1>
          <p class="chips">
            <span class="chip accent">client</span>
            {preset !== '' && <span class="chip">preset {toLabel(preset, 60)}</span>}
            {user !== '' && <span class="chip">user {toLabel(user, 60)}</span>}
            {part > 1 && <span class="chip">part {formatNumber(part)}</span>}
            {lastAt > 0 && <span class="chip">last seen {formatClock(lastAt)}</span>}
          </p>
        </div>
        <Figures rows={toFigures(shown)} />
      </header>
      {shown.skipped > 0 && (
        <p class="note">{formatCount(shown.skipped, 'line')} of the recording could not be read.</p>
      )}
      <section class="pane chart-pane" aria-label="What the client was given">
        <Chart shown={{ chart: shown.chart, words: WORDS }} />
      </section>
      <section class="pane run-pane" aria-label="What the client did">
        <header class="pane-head">
          <h2>
            Timeline <span class="count">{formatNumber(shown.steps)}</span>
          </h2>
        </header>
        <div class="tab-panel">
          <Timeline id={shown.id} count={shown.steps} columns="answer" startedAt={shown.startedAt} />
        </div>
      </section>
    </div>
  )
}

export const NAMELESS = 'Clients without a name'

function toFigures({ figures }: ClientView): readonly FigureRow[] {
  const { lists, searches, openings, calls, failed, held, listed, answered, everything } = figures
  const whole = everything === undefined ? '' : ` of ${formatNumber(everything)}`
  return [
    ['Tokens listed', `${formatNumber(listed)}${whole}`],
    ['Tokens answered', formatNumber(answered)],
    ['Lists', formatNumber(lists)],
    ['Searches', formatNumber(searches)],
    ['Openings', formatNumber(openings)],
    ['Calls', formatNumber(calls)],
    ['Failed', formatNumber(failed)],
    ...(held > 0 ? [['Held back', formatNumber(held)] as const] : []),
  ]
}
