import { useState } from 'preact/hooks'
import type { CaseReport, CompareCell, CompareReport } from '../../../src/inspector/protocol/protocol.ts'
import { formatNumber, toLabel } from '../base/format.ts'
import { toHref } from '../base/route.ts'
import { moveFocus } from '../parts/roving.ts'
import { useVirtual } from '../parts/virtual.ts'
import { counts, filter, FILTERS, getDifference, listed, searched, type FilterName } from './state.ts'

const ROW_HEIGHT = 44

/** Every case as a row of dots, one for each run of each arm, and the runs of the chosen one. */
export function CaseList({ report }: { readonly report: CompareReport }) {
  const list = listed.value
  const [at, setAt] = useState(0)
  const [chosen, setChosen] = useState<string | undefined>(undefined)
  const { scroller, items, size, show } = useVirtual({ count: list.length, height: ROW_HEIGHT })
  const stop = items.some(({ index }) => index === at) ? at : (items[0]?.index ?? 0)
  const opened = report.cases.find(({ id }) => id === chosen)
  const arms = Object.keys(report.arms)
  return (
    <section class="pane case-list" aria-label="Cases">
      <header class="pane-head">
        <h2>
          Cases <span class="count">{formatNumber(list.length)}</span>
        </h2>
        <CaseFilter />
      </header>
      <Legend arms={arms} />
      {list.length === 0 && (
        <p class="note no-cases" role="status">
          No case is like that.
        </p>
      )}
      <div ref={scroller} class="rows" tabIndex={-1} onKeyDown={(event) => moveFocus(event, list.length, show)}>
        <ol class="tree-space" style={{ height: `${size}px` }}>
          {items.map(({ index, start }) => {
            const one = list[index]
            if (!one) return null
            return (
              <li
                key={one.id}
                class="row"
                aria-setsize={list.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)` }}
              >
                <button
                  type="button"
                  class="case"
                  data-index={index}
                  tabIndex={index === stop ? 0 : -1}
                  aria-expanded={one.id === chosen}
                  onFocus={() => setAt(index)}
                  onClick={() => setChosen(one.id === chosen ? undefined : one.id)}
                >
                  <span class="case-name">
                    <strong>{toLabel(one.id, 60)}</strong> <span class="note">{toLabel(one.input, 200)}</span>
                  </span>
                  {arms.map((arm) => (
                    <Dots key={arm} arm={arm} cell={one.arms[arm]} />
                  ))}
                </button>
              </li>
            )
          })}
        </ol>
      </div>
      {opened && <CaseRuns one={opened} report={report} onClose={() => setChosen(undefined)} />}
    </section>
  )
}

function CaseFilter() {
  return (
    <div class="case-filter" role="search" aria-label="Cases">
      <input
        type="search"
        aria-label="Search the cases"
        placeholder="Search"
        value={searched.value}
        onInput={({ currentTarget }) => (searched.value = currentTarget.value)}
      />
      <select
        aria-label="Which cases"
        value={filter.value}
        onChange={({ currentTarget }) => (filter.value = currentTarget.value as FilterName)}
      >
        {(Object.keys(FILTERS) as FilterName[]).map((name) => (
          <option key={name} value={name}>
            {FILTERS[name]} ({formatNumber(counts.value[name])})
          </option>
        ))}
      </select>
    </div>
  )
}

/** The names of the columns of dots, and what the dots mean. */
function Legend({ arms }: { readonly arms: readonly string[] }) {
  return (
    <div class="case-legend note" aria-hidden="true">
      <span class="case-name">
        <span class="run-dot passed" /> passed <span class="run-dot failed" /> failed{' '}
        <span class="run-dot failed missed" /> missed an opening <span class="run-dot error" /> error
      </span>
      {arms.map((arm) => (
        <span key={arm} class="run-dots">
          {toLabel(arm, 20)}
        </span>
      ))}
    </div>
  )
}

/** The dots say with their shape, not only with their color, how runs ended. */
function Dots({ arm, cell }: { readonly arm: string; readonly cell: CompareCell | undefined }) {
  if (!cell) return <span class="run-dots">–</span>
  return (
    <span class="run-dots">
      <span class="hidden">{describeCell(arm, cell)}</span>
      {cell.scores.map((score, i) => (
        <span key={i} class={`run-dot ${getKind(score)}${cell.hasMissed ? ' missed' : ''}`} aria-hidden="true" />
      ))}
      {cell.errors > 0 && <span class="run-dot error" aria-hidden="true" />}
    </span>
  )
}

function getKind(score: number): string {
  if (score === 1) return 'passed'
  if (score === 0) return 'failed'
  return 'partly'
}

function describeCell(arm: string, { scores, errors, hasMissed }: CompareCell): string {
  const passed = scores.filter((score) => score === 1).length
  const more = [hasMissed ? 'missed an opening' : '', errors > 0 ? `${errors} errors` : ''].filter(
    (text) => text !== '',
  )
  return `${toLabel(arm, 60)}: ${passed} of ${scores.length} passed${more.map((text) => `, ${text}`).join('')}. `
}

interface CaseRunsProps {
  readonly one: CaseReport
  readonly report: CompareReport
  onClose(): void
}

/** The runs of a case, each with a link to it, and to it beside the base's. */
function CaseRuns({ one, report: { arms, base }, onClose }: CaseRunsProps) {
  const other = one.arms[base]
  return (
    <div class="case-runs" role="region" aria-label={`Runs of ${toLabel(one.id, 60)}`}>
      <header>
        <h3>{toLabel(one.id, 100)}</h3>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </header>
      <p>{toLabel(one.input, 500)}</p>
      {one.needs.length > 0 && (
        <p class="note">
          Needs <code>{one.needs.map((path) => toLabel(path, 60)).join(', ')}</code>
        </p>
      )}
      <div class="wide-table" tabIndex={0} role="region" aria-label="Table of runs">
        <table>
          <thead>
            <tr>
              <th scope="col">Arm</th>
              <th scope="col">Runs</th>
              <th scope="col">Beside {toLabel(base, 40)}</th>
            </tr>
          </thead>
          <tbody>
            {Object.keys(arms).map((arm) => {
              const cell = one.arms[arm]
              if (!cell) return null
              const isWorse = getDifference(one, arm, base) < 0
              return (
                <tr key={arm}>
                  <th scope="row">
                    {toLabel(arm, 60)} {isWorse && <span class="chip bad">worse</span>}
                    {cell.hasMissed && <span class="chip fold">missed an opening</span>}
                  </th>
                  <td>
                    {cell.runs.map((run, i) => (
                      <a key={run} class="run-link" href={toHref('runs', run)}>
                        {i + 1}: {cell.scores[i] === 1 ? 'passed' : `${formatNumber(100 * (cell.scores[i] ?? 0))} %`}
                      </a>
                    ))}
                  </td>
                  <td>
                    {arm !== base &&
                      cell.runs.map((run, i) => {
                        const beside = other?.runs[i]
                        return (
                          beside !== undefined && (
                            <a key={run} class="run-link" href={toHref('runs', beside, run)}>
                              compare {i + 1}
                            </a>
                          )
                        )
                      })}
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </div>
  )
}
