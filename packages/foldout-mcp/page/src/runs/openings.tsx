import type { RunOpening, RunView } from '../../../src/inspector/protocol/protocol.ts'
import { toLabel } from '../base/format.ts'
import { Exact } from '../parts/exact.tsx'
import { Empty } from '../parts/notes.tsx'

const ANSWERS: Readonly<Record<RunOpening['answer'], { readonly label: string; readonly tone: string }>> = {
  'in-place': { label: 'in the conversation', tone: 'good' },
  restart: { label: 'by a restart', tone: 'fold' },
  none: { label: 'not answered', tone: 'bad' },
  ahead: { label: 'ahead', tone: 'good' },
}

const USES = { true: 'ahead, and used', false: 'ahead, and not used' } as const

function getLabel({ answer, isUsed }: RunOpening): string {
  if (isUsed === undefined) return ANSWERS[answer].label
  return USES[`${isUsed}`]
}

/** What the model opened, and what was opened ahead of it, and why. */
export function Openings({ shown }: { readonly shown: RunView }) {
  if (shown.openingList.length === 0)
    return <Empty title="Nothing was opened">The model worked with what it was shown from the start.</Empty>
  return (
    <table>
      <thead>
        <tr>
          <th scope="col" class="number">
            Request
          </th>
          <th scope="col">Sections</th>
          <th scope="col">Why</th>
          <th scope="col">Answered</th>
        </tr>
      </thead>
      <tbody>
        {shown.openingList.map((opening, i) => (
          <tr key={i}>
            <td class="number">{opening.request}</td>
            <th scope="row">
              <code>{opening.keys.map((key) => toLabel(key)).join(', ')}</code>
            </th>
            <td>{opening.reason === '' ? <span class="note">It gave none.</span> : <Exact text={opening.reason} />}</td>
            <td>
              <span class={`chip ${ANSWERS[opening.answer].tone}`}>{getLabel(opening)}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
