import { formatCount } from 'foldout-shared/numbers'
import { useEffect } from 'preact/hooks'
import type { CatalogView } from '../../../src/inspector/protocol/protocol.ts'
import { changes } from '../base/connection.ts'
import { formatNumber } from '../base/format.ts'
import { Empty, Failure } from '../parts/notes.tsx'
import { Tabs, type Tab } from '../parts/tabs.tsx'
import { Approvals } from './approvals.tsx'
import { Exposures } from './exposures.tsx'
import { Servers } from './servers.tsx'
import { approvals, catalog, problem, query, refresh, search, tab } from './state.ts'
import { ToolList } from './tool-list.tsx'
import { ToolPane } from './tool-pane.tsx'
import { TokenMap } from './token-map.tsx'

/** The catalog view: what the servers offer, where its tokens go, and how it is found. */
export function CatalogPage() {
  const version = changes.value.catalog
  useEffect(() => void refresh(), [version])
  const shown = catalog.value
  if (!shown) {
    if (problem.value === undefined)
      return <Empty title="Asking the servers">Their tools appear here as soon as they are known.</Empty>
    return <Failure message={problem.value} onRetry={() => void refresh()} />
  }
  return (
    <div class="catalog">
      <header class="summary">
        <div class="summary-title">
          <h1>Catalog</h1>
          <p class="note">{shown.counter.exact ? `Counted by ${shown.counter.name}` : 'Token counts are estimates'}</p>
        </div>
        <p class="figure">
          <strong>{formatNumber(shown.tokens)}</strong> tokens to list everything
          <span class="note">
            {formatCount(shown.tools.length, 'tool')} of {formatCount(shown.servers.length, 'server')}
          </span>
        </p>
      </header>
      {problem.value !== undefined && <Failure message={problem.value} onRetry={() => void refresh()} />}
      <section class="pane finder" aria-label="Tools">
        <div class="pane-head">
          <h2>Tools</h2>
          <input
            type="search"
            class="search"
            placeholder="Search as a model would"
            aria-label="Search the tools as a model would"
            value={query.value}
            onInput={({ currentTarget }) => search(currentTarget.value)}
          />
        </div>
        <ToolList shown={shown} />
      </section>
      <section class="pane" aria-label="Details">
        <Details shown={shown} />
      </section>
    </div>
  )
}

function Details({ shown }: { readonly shown: CatalogView }) {
  const faults = shown.broken.length + shown.servers.filter(({ state }) => state === 'failed').length
  const tabs: readonly Tab<typeof tab.value>[] = [
    { name: 'map', label: 'Where tokens go' },
    { name: 'tool', label: 'Tool' },
    { name: 'exposures', label: 'Exposures' },
    { name: 'servers', label: 'Servers', count: faults },
    { name: 'approvals', label: 'Approvals', count: approvals.value?.length },
  ]
  const chosen = tab.value
  return (
    <Tabs label="Details" tabs={tabs} chosen={chosen} onChoose={(name) => (tab.value = name)}>
      {chosen === 'map' && <TokenMap shown={shown} />}
      {chosen === 'tool' && <ToolPane />}
      {chosen === 'exposures' && <Exposures total={shown.tokens} />}
      {chosen === 'servers' && <Servers shown={shown} />}
      {chosen === 'approvals' && <Approvals />}
    </Tabs>
  )
}
