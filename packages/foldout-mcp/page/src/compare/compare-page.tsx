import { formatCount } from 'foldout-shared/numbers'
import { useEffect } from 'preact/hooks'
import type { CompareReport } from '../../../src/inspector/protocol/protocol.ts'
import { changes } from '../base/connection.ts'
import { toLabel } from '../base/format.ts'
import { Empty, Failure } from '../parts/notes.tsx'
import { Arms } from './arms.tsx'
import { CaseList } from './case-list.tsx'
import { Money } from './money.tsx'
import { comparison, problem, refreshComparison } from './state.ts'

/** The compare view: the arms, what they cost, and every case as dots. */
export function ComparePage() {
  const version = changes.value.compare
  useEffect(() => void refreshComparison(), [version])
  if (problem.value !== undefined && !comparison.value)
    return <Failure message={problem.value} onRetry={() => void refreshComparison()} />
  if (!comparison.value) return <Empty title="Reading the comparison">One moment.</Empty>
  const { report, problem: reason } = comparison.value
  if (!report) return <Empty title="No comparison yet">{toLabel(reason ?? 'The file has no runs yet.', 500)}</Empty>
  return (
    <div class="compare">
      <header>
        <h1>Comparison</h1>
        <p class="note">{describe(report)}</p>
      </header>
      <Arms report={report} />
      <Money report={report} />
      <CaseList report={report} />
      <Notes report={report} />
    </div>
  )
}

const STOPPED: Readonly<Record<string, string>> = {
  decided: ' It ended early, because it was decided.',
  budget: ' It ended early, because the budget was spent.',
  aborted: ' It was stopped.',
}

function describe({ cases, repeats, base, arms, stopped }: CompareReport): string {
  const others = Object.keys(arms).filter((name) => name !== base)
  const end = stopped === null ? '' : (STOPPED[stopped] ?? '')
  return `${formatCount(cases.length, 'case')}, ${repeats.done} of ${formatCount(repeats.planned, 'repeat')}. ${others.map((name) => toLabel(name, 60)).join(', ')} against ${toLabel(base, 60)}.${end}`
}

/** What the figures assume, and what to know about them. */
function Notes({ report: { assumptions, notes } }: { readonly report: CompareReport }) {
  if (assumptions.length + notes.length === 0) return null
  return (
    <section class="pane compare-notes" aria-label="Assumptions">
      <h2>What this assumes</h2>
      <ul>
        {[...notes, ...assumptions].map((text, i) => (
          <li key={i}>{toLabel(text, 1_000)}</li>
        ))}
      </ul>
    </section>
  )
}
