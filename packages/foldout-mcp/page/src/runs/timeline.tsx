import { useMemo, useReducer } from 'preact/hooks'
import type { RunStep, RunView, StepKind } from '../../../src/inspector/protocol.ts'
import { formatNumber, formatSeconds, toLabel } from '../format.ts'
import { Empty } from '../parts/notes.tsx'
import { useVirtual } from '../parts/virtual.ts'
import { createPages, loadSteps } from './state.ts'

const ROW_HEIGHT = 44

const LABELS: Readonly<Record<StepKind, string>> = {
  start: 'start',
  render: 'render',
  request: 'request',
  reply: 'reply',
  call: 'call',
  opening: 'opening',
  added: 'tools',
  restart: 'restart',
  retry: 'retry',
  miss: 'cache',
  approval: 'approval',
  note: 'note',
  end: 'end',
}

/** Everything that happened, in order. Parts of it are asked for as they come into view. */
export function Timeline({ shown }: { readonly shown: RunView }) {
  const [, draw] = useReducer<number, void>((times) => times + 1, 0)
  const pages = useMemo(() => createPages(loadSteps(shown.id), draw), [shown.id])
  const { scroller, items, size } = useVirtual({ count: shown.steps, height: ROW_HEIGHT })
  if (shown.steps === 0) return <Empty title="Nothing happened yet" />
  return (
    <>
      <div class="step step-head" aria-hidden="true">
        <span class="number">Time</span>
        <span class="number">Request</span>
        <span />
        <span>What happened</span>
        <span class="number">In</span>
        <span class="number">Out</span>
        <span class="number">Cached</span>
      </div>
      <div ref={scroller} class="rows" tabIndex={0}>
        <ol class="tree-space timeline" style={{ height: `${size}px` }}>
          {items.map(({ index, start }) => (
            <li
              key={index}
              class="row"
              aria-setsize={shown.steps}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start}px)` }}
            >
              <Step step={pages.get(index, shown.steps)} />
            </li>
          ))}
        </ol>
      </div>
    </>
  )
}

function Step({ step }: { readonly step: RunStep | undefined }) {
  if (!step) return <div class="step">…</div>
  const { kind, at, request, title, detail, isBad, usage } = step
  return (
    <div class={`step ${kind}${isBad ? ' bad' : ''}`}>
      <span class="number note">{formatSeconds(at)}</span>
      <span class="number note">{request === 0 ? '' : `#${request}`}</span>
      <span class={`chip kind-${kind}`}>{LABELS[kind]}</span>
      <span class="step-text">
        <span class="step-title">{toLabel(title)}</span>
        {detail !== '' && <span class="note">{toLabel(detail, 500)}</span>}
      </span>
      <Figure label="tokens in" value={usage?.input} />
      <Figure label="tokens out" value={usage?.output} />
      <Figure label="tokens cached" value={usage?.cached} />
    </div>
  )
}

/** A number in a column, which is named for those who do not see the column. */
function Figure({ label, value }: { readonly label: string; readonly value: number | undefined }) {
  if (value === undefined) return <span />
  return (
    <span class="number step-figure">
      {formatNumber(value)}
      <span class="hidden"> {label}</span>
    </span>
  )
}
