import type { FoldFinding, SectionState } from '../../../src/inspector/protocol/protocol.ts'
import { formatNumber, toLabel } from '../base/format.ts'
import { Exact } from '../parts/exact.tsx'
import { Empty } from '../parts/notes.tsx'
import { cursor, show, view } from './state.ts'

const KINDS: Readonly<Record<FoldFinding['kind'], { readonly label: string; readonly tone: string }>> = {
  'costs-more-folded': { label: 'Show', tone: 'bad' },
  'folding-costs-more': { label: 'Show all', tone: 'bad' },
  'show-cheap': { label: 'Show', tone: 'fold' },
  fold: { label: 'Fold', tone: 'accent' },
  'write-summary': { label: 'Summarize', tone: 'accent' },
}

/** How a section is shown if the advice is followed. What needs another text cannot be tried here. */
const STATES: Readonly<Partial<Record<FoldFinding['kind'], SectionState>>> = {
  'costs-more-folded': 'open',
  'show-cheap': 'open',
  fold: 'folded',
}

/** What the fold linter found, the largest saving first. */
export function Findings({ findings }: { readonly findings: readonly FoldFinding[] }) {
  if (findings.length === 0)
    return (
      <Empty title="Nothing to change">
        Every folded section is cheaper folded, and nothing large is open that could be folded.
      </Empty>
    )
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Change</th>
          <th scope="col">Why</th>
          <th scope="col">
            <span class="hidden">Try</span>
          </th>
          <th scope="col" class="number">
            Tokens saved
          </th>
        </tr>
      </thead>
      <tbody>
        {findings.map(({ kind, path, message, saves }) => (
          <tr key={`${kind} ${path}`}>
            <td>
              <span class={`chip ${KINDS[kind].tone}`}>{KINDS[kind].label}</span>
            </td>
            <th scope="row" class="plain">
              <Exact text={message} />{' '}
              {path !== undefined && (
                <button type="button" class="link" onClick={() => select(path)}>
                  {toLabel(path)}
                </button>
              )}
            </th>
            <td>
              {STATES[kind] !== undefined && path !== undefined && (
                <button
                  type="button"
                  aria-label={`Try it: ${toLabel(message)}`}
                  onClick={() => attempt(path, STATES[kind])}
                >
                  Try it
                </button>
              )}
            </td>
            <td class="number strong">{saves > 0 ? formatNumber(saves) : ''}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Shows a section as a finding says, so that text, tools and tokens can be compared. */
function attempt(path: string, state: SectionState | undefined): void {
  if (state === undefined) return
  select(path)
  show(path, state)
}

/** Makes a section the chosen one in the tree. */
function select(path: string): void {
  const index = view.value?.sections.findIndex((section) => section.path === path) ?? -1
  if (index >= 0) cursor.value = index
}
