import { formatBytes } from 'foldout-shared/numbers'
import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import type { RunMessage, RunStep, StepKind } from '../../../src/inspector/protocol/protocol.ts'
import { formatNumber, formatSeconds, formatTimeOfDay, toLabel } from '../base/format.ts'
import { Exact } from '../parts/exact.tsx'
import { Empty } from '../parts/notes.tsx'
import { moveFocus } from '../parts/roving.ts'
import { useVirtual } from '../parts/virtual.ts'
import { createPages, loadMessages, loadSteps } from './state.ts'

const ROW_HEIGHT = 44
const OPEN_HEIGHT = 180
/** With the results that a fold is about. */
const RESULTS_HEIGHT = 380
/** Somebody who is this near to the end, in pixels, follows it. */
const NEAR_END = 60

const LABELS: Readonly<Record<StepKind, string>> = {
  start: 'start',
  render: 'render',
  request: 'request',
  reply: 'reply',
  call: 'call',
  opening: 'opening',
  added: 'tools',
  restart: 'restart',
  fold: 'fold',
  retry: 'retry',
  miss: 'cache',
  approval: 'approval',
  note: 'note',
  end: 'end',
  list: 'list',
  search: 'search',
}

const COLUMNS = {
  usage: ['Request', 'In', 'Out', 'Cached'],
  answer: ['Step', 'Tokens', 'Size', 'Took'],
} as const

export interface TimelineProps {
  readonly id: string
  /** How many steps there are by now. */
  readonly count: number
  /** The figures of a step: what a request used, or what a client was answered. */
  readonly columns: keyof typeof COLUMNS
  /** When the first step was, if steps are shown by the clock. */
  readonly startedAt?: number | undefined
  /** Asks about a request. */
  readonly onAsk?: ((request: number) => void) | undefined
}

/** Everything that happened, in order. Parts of it are asked for as they come into view, and one step can be read in full. */
export function Timeline({ id, count, columns, startedAt, onAsk }: TimelineProps) {
  const [, draw] = useReducer<number, void>((times) => times + 1, 0)
  const [opened, setOpened] = useState<number | undefined>(undefined)
  const [at, setAt] = useState(0)
  const pages = useMemo(() => createPages(loadSteps(id), draw), [id])
  const hasResults = opened !== undefined && (pages.get(opened, count)?.results?.length ?? 0) > 0
  const height = hasResults ? RESULTS_HEIGHT : OPEN_HEIGHT
  const large = opened === undefined ? undefined : { index: opened, height }
  const { scroller, items, size, show } = useVirtual({ count, height: ROW_HEIGHT, large })
  useFollow(scroller, size)
  if (count === 0) return <Empty title="Nothing happened yet" />
  const stop = items.some(({ index }) => index === at) ? at : (items[0]?.index ?? 0)
  const [number, ...figures] = COLUMNS[columns]
  return (
    <>
      <div class="step step-head" aria-hidden="true">
        <span class="number">Time</span>
        <span class="number">{number}</span>
        <span />
        <span>What happened</span>
        {figures.map((name) => (
          <span key={name} class="number">
            {name}
          </span>
        ))}
      </div>
      <div ref={scroller} class="rows" tabIndex={-1} onKeyDown={(event) => moveFocus(event, count, show)}>
        <ol class="tree-space timeline" style={{ height: `${size}px` }}>
          {items.map(({ index, start }) => {
            const step = pages.get(index, count)
            const isOpen = index === opened
            return (
              <li
                key={index}
                class={isOpen ? 'row is-open' : 'row'}
                aria-setsize={count}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)` }}
              >
                <button
                  type="button"
                  class={`step is-${step?.kind ?? 'loading'}${step?.isBad ? ' bad' : ''}`}
                  data-index={index}
                  tabIndex={index === stop ? 0 : -1}
                  aria-expanded={isOpen}
                  onFocus={() => setAt(index)}
                  onClick={() => setOpened(isOpen ? undefined : index)}
                >
                  {step ? <Step {...{ step, columns, startedAt }} /> : '…'}
                </button>
                {isOpen && step && <More id={id} step={step} onAsk={onAsk} />}
              </li>
            )
          })}
        </ol>
      </div>
    </>
  )
}

/** Stays at the end of a list that grows, if that is where it was. */
function useFollow(scroller: { readonly current: HTMLElement | null }, size: number): void {
  const before = useRef(size)
  useEffect(() => {
    const element = scroller.current
    const end = before.current
    before.current = size
    if (!element || size <= end || end <= element.clientHeight) return
    if (element.scrollTop + element.clientHeight > end - NEAR_END) element.scrollTop = size
  }, [size])
}

function Step({ step, columns, startedAt }: Pick<TimelineProps, 'columns' | 'startedAt'> & { readonly step: RunStep }) {
  const { kind, at, request, title, detail } = step
  return (
    <>
      <span class="number note">{startedAt === undefined ? formatSeconds(at) : formatTimeOfDay(startedAt + at)}</span>
      <span class="number note">{request === 0 ? '' : `#${request}`}</span>
      <span class={`chip kind-${kind}`}>{LABELS[kind]}</span>
      <span class="step-text">
        <span class="step-title">{toLabel(title)}</span>
        {detail !== '' && <span class="note">{toLabel(detail)}</span>}
      </span>
      {columns === 'usage' ? <Usage step={step} /> : <Answer step={step} />}
    </>
  )
}

function Usage({ step: { usage } }: { readonly step: RunStep }) {
  return (
    <>
      <Figure label="tokens in" text={usage && formatNumber(usage.input)} />
      <Figure label="tokens out" text={usage && formatNumber(usage.output)} />
      <Figure label="tokens cached" text={usage && formatNumber(usage.cached)} />
    </>
  )
}

function Answer({ step: { answer } }: { readonly step: RunStep }) {
  const { tokens, bytes, durationMs } = answer ?? {}
  return (
    <>
      <Figure label="tokens" text={tokens === undefined ? undefined : formatNumber(tokens)} />
      <Figure label="" text={bytes === undefined ? undefined : formatBytes(bytes)} />
      <Figure label="" text={durationMs === undefined ? undefined : `${formatNumber(durationMs)} ms`} />
    </>
  )
}

/** A number in a column, which is named for those who do not see the column. */
function Figure({ label, text }: { readonly label: string; readonly text: string | undefined }) {
  if (text === undefined) return <span />
  return (
    <span class="number step-figure">
      {text}
      {label !== '' && <span class="hidden"> {label}</span>}
    </span>
  )
}

/** All that is known of a step. */
function More({ id, step, onAsk }: Pick<TimelineProps, 'id' | 'onAsk'> & { readonly step: RunStep }) {
  const { title, detail, request, results = [] } = step
  return (
    <div class={results.length > 0 ? 'step-more has-results' : 'step-more'}>
      <div class="step-all" tabIndex={0} role="group" aria-label="The step in full">
        <p class="strong">
          <Exact text={title} />
        </p>
        <p>
          {detail === '' ? <span class="note">There is nothing more to say about it.</span> : <Exact text={detail} />}
        </p>
        {results.length > 0 && <Results id={id} results={results} />}
      </div>
      {onAsk && request > 0 && (
        <button type="button" onClick={() => onAsk(request)}>
          Why not, or fork from request {request}
        </button>
      )}
    </div>
  )
}

/** The results that a fold is about, as the tools have returned them. Each can be opened. */
function Results({ id, results }: { readonly id: string; readonly results: readonly number[] }) {
  const [, draw] = useReducer<number, void>((times) => times + 1, 0)
  const pages = useMemo(() => createPages(loadMessages(id), draw), [id])
  // A recording may still grow; these messages are in it.
  const count = Math.max(...results) + 1
  return (
    <div class="step-results">
      {results.map((index) => (
        <Result key={index} message={pages.get(index, count)} />
      ))}
    </div>
  )
}

function Result({ message }: { readonly message: RunMessage | undefined }) {
  if (!message) return <p class="note">…</p>
  const { name, text } = message
  return (
    <details>
      <summary>
        Result of <code>{toLabel(name)}</code>{' '}
        <span class="note">
          request {message.request}, {formatNumber(text.length)} characters
        </span>
      </summary>
      <pre class="code" tabIndex={0}>
        <Exact text={text} />
      </pre>
    </details>
  )
}
