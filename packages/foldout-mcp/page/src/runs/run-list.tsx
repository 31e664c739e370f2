import { useState } from 'preact/hooks'
import type { ClientSummary, RunSummary } from '../../../src/inspector/protocol.ts'
import { formatClock, formatCount, formatNumber, toLabel } from '../format.ts'
import { CopyButton } from '../parts/copy.tsx'
import { moveFocus } from '../parts/roving.ts'
import { useVirtual } from '../parts/virtual.ts'
import { getAddress, toHref } from '../route.ts'
import { NAMELESS } from './client-detail.tsx'
import { STATUS } from './run-detail.tsx'
import { runs } from './state.ts'

const ROW_HEIGHT = 58

/** All runs, and all clients of a gateway. */
export function RunList({ chosen }: { readonly chosen: string | undefined }) {
  const list = runs.value ?? []
  const [at, setAt] = useState(0)
  const { scroller, items, size, show } = useVirtual({ count: list.length, height: ROW_HEIGHT })
  const stop = items.some(({ index }) => index === at) ? at : (items[0]?.index ?? 0)
  const hasRuns = list.some(({ kind }) => kind === 'run')
  const hasClients = list.some(({ kind }) => kind === 'client')
  const title = [...(hasRuns ? ['Runs'] : []), ...(hasClients ? ['Clients'] : [])].join(' and ')
  return (
    <nav class="pane run-list" aria-label={title}>
      <header class="pane-head">
        <h2>
          {title} <span class="count">{formatNumber(list.length)}</span>
        </h2>
        {hasRuns && (
          <span class="actions">
            <CopyButton text={`${getAddress()}mcp`} label="Copy address for agents" />
          </span>
        )}
      </header>
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
                  href={toHref('runs', one.id)}
                  data-index={index}
                  tabIndex={index === stop ? 0 : -1}
                  aria-current={one.id === chosen ? 'true' : undefined}
                  onFocus={() => setAt(index)}
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

function RunEntry({ run }: { readonly run: RunSummary }) {
  const { id, input, status, prompt, requests, usage, startedAt } = run
  return (
    <>
      <span class="run-name">{toLabel(input || prompt || id)}</span>
      <span class="run-facts">
        <span class={`chip ${STATUS[status]}`}>{status}</span>
        <span class="note">
          {formatCount(requests, 'request')}, {formatNumber(usage.input)} in
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
  return held > 0 ? (
    <span class="chip fold">{formatNumber(held)} held back</span>
  ) : (
    <span class="chip accent">client</span>
  )
}

/** Runs that were recorded as numbers have no time. */
function Clock({ at }: { readonly at: number }) {
  return at > 1e9 ? <time class="note">{formatClock(at)}</time> : null
}
