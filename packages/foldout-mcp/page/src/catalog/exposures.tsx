import { useEffect, useState } from 'preact/hooks'
import type { ExposureRow } from '../../../src/inspector/protocol/protocol.ts'
import { call, changes } from '../base/connection.ts'
import { formatNumber, formatShare } from '../base/format.ts'
import { Bar } from '../parts/bar.tsx'
import { Empty, Failure } from '../parts/notes.tsx'

/** What each exposure lists, and what finding a tool costs. */
export function Exposures({ total }: { readonly total: number }) {
  const [rows, setRows] = useState<readonly ExposureRow[] | undefined>(undefined)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const version = changes.value.catalog
  useEffect(() => {
    call('catalog/exposures', {}).then(setRows, (error: Error) => setProblem(error.message))
  }, [version])
  if (problem !== undefined) return <Failure message={problem} />
  if (!rows) return <Empty title="Measuring">Each exposure is measured with its own searches.</Empty>
  return (
    <table class="exposures">
      <thead>
        <tr>
          <th scope="col">Exposure</th>
          <th scope="col" class="number">
            Tools listed
          </th>
          <th scope="col" class="number">
            Tokens
          </th>
          <th scope="col">Against everything</th>
          <th scope="col" class="number">
            To find a tool
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <th scope="row">
              {row.name}
              <span class="note">{row.problem ?? describe(row)}</span>
            </th>
            <td class="number">{row.problem === undefined ? formatNumber(row.tools) : ''}</td>
            <td class="number strong">{row.problem === undefined ? formatNumber(row.tokens) : ''}</td>
            <td>
              {row.problem === undefined && (
                <>
                  <Bar
                    whole={Math.max(total, row.tokens)}
                    parts={[{ kind: row.saved < 0 ? 'bad' : 'now', value: row.tokens }]}
                  />
                  <span class="note">{describeSaving(row.saved)}</span>
                </>
              )}
            </td>
            <td class="number">{row.findTokens === 0 ? '–' : `+${formatNumber(row.findTokens)}`}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function describeSaving(saved: number): string {
  if (Math.abs(saved) < 0.005) return 'the same'
  if (saved > 0) return `${formatShare(saved)} less`
  return `${formatShare(-saved)} more`
}

function describe({ findTokens, breakEven }: ExposureRow): string {
  if (findTokens === 0) return 'lists everything'
  if (breakEven === null) return 'always cheaper than listing everything'
  if (breakEven === 0) return 'never cheaper than listing everything'
  return `cheaper until search ${formatNumber(breakEven)} of a conversation`
}
