import type { RunOpening, RunView } from '../../../src/inspector/protocol.ts'
import { toLabel } from '../format.ts'
import { Exact } from '../parts/exact.tsx'
import { Empty } from '../parts/notes.tsx'

const ANSWERS: Readonly<Record<RunOpening['answer'], { readonly label: string; readonly tone: string }>> = {
  'in-place': { label: 'in the conversation', tone: 'good' },
  restart: { label: 'by a restart', tone: 'fold' },
  none: { label: 'not answered', tone: 'bad' },
}

/** What the model opened, and why. */
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
          <th scope="col">The model's reason</th>
          <th scope="col">Answered</th>
        </tr>
      </thead>
      <tbody>
        {shown.openingList.map(({ request, keys, reason, answer }, i) => (
          <tr key={i}>
            <td class="number">{request}</td>
            <th scope="row">
              <code>{keys.map((key) => toLabel(key)).join(', ')}</code>
            </th>
            <td>{reason === '' ? <span class="note">It gave none.</span> : <Exact text={reason} />}</td>
            <td>
              <span class={`chip ${ANSWERS[answer].tone}`}>{ANSWERS[answer].label}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
