import type { SectionRow } from '../../../src/inspector/protocol/protocol.ts'
import { formatNumber, toLabel } from '../base/format.ts'
import { Bar } from '../parts/bar.tsx'
import { useVirtual } from '../parts/virtual.ts'
import { cursor, toggle } from './state.ts'

const ROW_HEIGHT = 34

/** All sections with their costs. Arrow keys move, and open and fold. */
export function SectionTree({ rows }: { readonly rows: readonly SectionRow[] }) {
  const { scroller, items, size, show } = useVirtual({ count: rows.length, height: ROW_HEIGHT })
  const largest = Math.max(1, ...rows.map(({ ifOpen, subtree }) => Math.max(ifOpen, subtree)))
  const at = Math.min(cursor.value, rows.length - 1)
  const moveTo = (index: number): void => {
    cursor.value = Math.max(0, Math.min(rows.length - 1, index))
    show(cursor.value)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    // Keys may come faster than the page is drawn.
    const now = Math.min(cursor.peek(), rows.length - 1)
    const next = move(rows, now, event.key)
    if (next === undefined) return
    event.preventDefault()
    if (next === 'toggle') toggleAt(rows[now])
    else moveTo(next)
  }
  return (
    <>
      <div class="tree-head" aria-hidden="true">
        <span>Section</span>
        <span class="number">Own text</span>
        <span class="number">Now</span>
        <span class="number">If open</span>
      </div>
      <div
        ref={scroller}
        class="tree"
        role="tree"
        aria-label="Sections of the prompt"
        tabIndex={0}
        aria-activedescendant={rows.length > 0 ? `section-${at}` : undefined}
        onKeyDown={onKeyDown}
      >
        <div class="tree-space" role="none" style={{ height: `${size}px` }}>
          {items.map(({ index, start }) => {
            const row = rows[index]
            if (!row) return null
            return (
              <Row key={row.path} {...{ row, rows, index, start, largest }} isCurrent={index === at} onPick={moveTo} />
            )
          })}
        </div>
      </div>
    </>
  )
}

interface RowProps {
  readonly row: SectionRow
  readonly rows: readonly SectionRow[]
  readonly index: number
  readonly start: number
  readonly largest: number
  readonly isCurrent: boolean
  onPick(index: number): void
}

function Row({ row, index, start, largest, isCurrent, onPick }: RowProps) {
  const { number, title, depth, state, own, subtree, ifOpen, tools, canFold } = row
  const fixed = state === 'open' && !canFold
  return (
    <div
      id={`section-${index}`}
      role="treeitem"
      aria-level={depth + 1}
      aria-expanded={fixed ? undefined : state === 'open'}
      aria-selected={isCurrent}
      class={`tree-row is-${state}`}
      style={{ transform: `translateY(${start}px)`, paddingInlineStart: `${8 + depth * 16}px` }}
      title={fixed ? 'It has no summary, so it cannot be folded.' : undefined}
      onClick={() => {
        onPick(index)
        toggleAt(row)
      }}
    >
      <span class="tree-name">
        <span class={`fold-mark${fixed ? ' fixed' : ''}`} aria-hidden="true" />
        <span class="tree-number">{number}</span>
        <span class="tree-title">{toLabel(title)}</span>
        <span class="hidden"> ({describeState(row)}) </span>
        {tools.length > 0 && (
          <span class="chip" title={toLabel(tools.join(', '), 1_000)}>
            {tools.length} {tools.length === 1 ? 'tool' : 'tools'}
          </span>
        )}
      </span>
      <Figure label="own text" value={state === 'hidden' ? undefined : own} />
      <Figure label="now" value={state === 'hidden' ? undefined : subtree} />
      <Figure label="if open" value={ifOpen} isStrong />
      <Bar
        whole={largest}
        parts={[
          { kind: subtree > ifOpen ? 'bad' : 'now', value: subtree },
          { kind: 'more', value: Math.max(0, ifOpen - subtree) },
        ]}
      />
    </div>
  )
}

interface FigureProps {
  readonly label: string
  readonly value: number | undefined
  readonly isStrong?: boolean
}

/** A number in a column, which is named for those who do not see the column. */
function Figure({ label, value, isStrong }: FigureProps) {
  return (
    <span class={isStrong ? 'number strong' : 'number'}>
      <span class="hidden"> {label} </span>
      {value === undefined ? '–' : formatNumber(value)}
    </span>
  )
}

function describeState({ state, canFold }: SectionRow): string {
  if (state === 'hidden') return 'inside a folded section'
  if (state === 'folded') return 'folded'
  if (canFold) return 'open'
  return 'always open'
}

function toggleAt(row: SectionRow | undefined): void {
  if (row) toggle(row)
}

const PAGE = 10

/** Where a key leads: to a row, or to opening or folding the one that is chosen. */
function move(rows: readonly SectionRow[], at: number, key: string): number | 'toggle' | undefined {
  const row = rows[at]
  if (!row) return undefined
  switch (key) {
    case 'ArrowDown':
      return at + 1
    case 'ArrowUp':
      return at - 1
    case 'PageDown':
      return at + PAGE
    case 'PageUp':
      return at - PAGE
    case 'Home':
      return 0
    case 'End':
      return rows.length - 1
    case 'Enter':
    case ' ':
      return 'toggle'
    case 'ArrowRight':
      if (row.state === 'open') return at + 1
      return 'toggle'
    case 'ArrowLeft':
      if (row.state === 'open' && row.canFold) return 'toggle'
      return findParent(rows, at)
    default:
      return undefined
  }
}

function findParent(rows: readonly SectionRow[], at: number): number {
  const depth = rows[at]?.depth ?? 0
  for (let i = at - 1; i >= 0; i--) if ((rows[i]?.depth ?? 0) < depth) return i
  return at
}
