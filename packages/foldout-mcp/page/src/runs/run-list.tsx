import { formatCount } from 'foldout-shared/numbers'
import { useEffect, useState } from 'preact/hooks'
import type { ClientSummary, RunStatus, RunSummary } from '../../../src/inspector/protocol/protocol.ts'
import { formatClock, formatNumber, toLabel } from '../base/format.ts'
import { CopyButton } from '../parts/copy.tsx'
import { moveFocus } from '../parts/roving.ts'
import { useVirtual, type Virtual } from '../parts/virtual.ts'
import { getAddress, toHref } from '../base/route.ts'
import { NAMELESS } from './client-detail.tsx'
import { STATUS } from './run-detail.tsx'
import { getTitle } from './run-title.ts'
import { changeSelection, clearSelection, ORDERS, selected, selection, type Listed, type Order } from './selection.ts'
import { isComparing, runs } from './state.ts'

const ROW_HEIGHT = 58

/** All runs, and all clients of a gateway, as far as they are selected. */
export function RunList({
  chosen,
  other,
}: {
  readonly chosen: string | undefined
  readonly other?: string | undefined
}) {
  const all = runs.value ?? []
  const list = isComparing.value ? selected.value.filter(({ kind }) => kind === 'run') : selected.value
  const { scroller, items, size, show } = useVirtual({ count: list.length, height: ROW_HEIGHT })
  const { stop, setStop } = useStop(
    list.findIndex(({ id }) => id === chosen),
    chosen,
    { items, show },
  )
  const hasRuns = all.some(({ kind }) => kind === 'run')
  const hasClients = all.some(({ kind }) => kind === 'client')
  const title = [...(hasRuns ? ['Runs'] : []), ...(hasClients ? ['Clients'] : [])].join(' and ')
  return (
    <nav class="pane run-list" aria-label={title}>
      <header class="pane-head">
        <h2>
          {title} <span class="count">{formatSize(list.length, all.length)}</span>
        </h2>
        {hasRuns && (
          <span class="actions">
            <CopyButton text={`${getAddress()}mcp`} label="Copy address for agents" />
          </span>
        )}
      </header>
      <RunFilter list={all} />
      {isComparing.value && (
        <p class="note run-choice" role="status">
          Choose the run to compare with.{' '}
          <button type="button" onClick={() => (isComparing.value = false)}>
            Cancel
          </button>
        </p>
      )}
      {list.length === 0 && (
        <p class="note run-choice" role="status">
          Nothing matches.{' '}
          <button type="button" onClick={clearSelection}>
            Show all
          </button>
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
                <a
                  href={
                    isComparing.value && chosen !== undefined ? toHref('runs', chosen, one.id) : toHref('runs', one.id)
                  }
                  data-index={index}
                  tabIndex={index === stop ? 0 : -1}
                  aria-current={one.id === chosen || one.id === other ? 'true' : undefined}
                  onFocus={() => setStop(index)}
                >
                  {one.kind === 'run' ? <RunEntry run={one} /> : <ClientEntry client={one} />}
                </a>
              </li>
            )
          })}
        </ol>
      </div>
    </nav>
  )
}

/** Keeps the chosen row in view, and finds the one that Tab leads to: the last that had the focus, or else the chosen one. */
function useStop(position: number, chosen: string | undefined, { items, show }: Pick<Virtual, 'items' | 'show'>) {
  const [at, setStop] = useState<number>()
  useEffect(() => setStop(undefined), [chosen])
  useEffect(() => {
    if (position !== -1) show(position)
  }, [chosen, position === -1, selection.value.order])
  const stop = [at, position, items[0]?.index].find((one) => items.some(({ index }) => index === one))
  return { stop, setStop }
}

function formatSize(shown: number, all: number): string {
  if (shown === all) return formatNumber(all)
  return `${formatNumber(shown)} of ${formatNumber(all)}`
}

function RunEntry({ run }: { readonly run: RunSummary }) {
  const { status, requests, usage, startedAt } = run
  return (
    <>
      <span class="run-name">{getTitle(run)}</span>
      <span class="run-facts">
        <span class={`chip ${STATUS[status]}`}>{status}</span>
        <span class="note">
          {formatNumber(usage.input)} in, {formatCount(requests, 'request')}
        </span>
        <Clock at={startedAt} />
      </span>
    </>
  )
}

function ClientEntry({ client }: { readonly client: ClientSummary }) {
  const { name, preset, part, lastAt, figures } = client
  const { calls, searches, failed, held } = figures
  return (
    <>
      <span class="run-name">
        {name === '' ? NAMELESS : toLabel(name)}
        {preset !== '' && ` (${toLabel(preset, 60)})`}
        {part > 1 && `, part ${formatNumber(part)}`}
      </span>
      <span class="run-facts">
        <Trouble failed={failed} held={held} />
        <span class="note">
          {formatCount(calls, 'call')}, {formatCount(searches, 'search', 'searches')}
        </span>
        <Clock at={lastAt} />
      </span>
    </>
  )
}

function Trouble({ failed, held }: Pick<ClientSummary['figures'], 'failed' | 'held'>) {
  if (failed > 0) return <span class="chip bad">{formatNumber(failed)} failed</span>
  if (held > 0) return <span class="chip fold">{formatNumber(held)} held back</span>
  return <span class="chip accent">client</span>
}

/** Runs that were recorded as numbers have no time. */
function Clock({ at }: { readonly at: number }) {
  if (at > 1e9) return <time class="note">{formatClock(at)}</time>
  return null
}

/** Searches, filters and sorts the list. It is worth its room only if there is something to choose from. */
function RunFilter({ list }: { readonly list: readonly Listed[] }) {
  const { text, status, order } = selection.value
  if (list.length < 2) return null
  const statuses = [...new Set(list.filter((one) => one.kind === 'run').map((one) => one.status))].toSorted()
  return (
    <div class="run-filter" role="search" aria-label="Runs">
      <input
        type="search"
        aria-label="Search the runs"
        placeholder="Search"
        value={text}
        onInput={({ currentTarget }) => changeSelection({ text: currentTarget.value })}
      />
      {statuses.length > 1 && (
        <select
          aria-label="Status"
          value={status}
          onChange={({ currentTarget }) => changeSelection({ status: currentTarget.value as RunStatus | '' })}
        >
          <option value="">Any status</option>
          {statuses.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      )}
      {statuses.length > 0 && (
        <select
          aria-label="Order"
          value={order}
          onChange={({ currentTarget }) => changeSelection({ order: currentTarget.value as Order })}
        >
          {Object.entries(ORDERS).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      )}
    </div>
  )
}
