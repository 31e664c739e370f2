import { formatCount } from 'foldout-shared/numbers'
import { useState } from 'preact/hooks'
import type { CatalogView, FoundTool, SearchView, ToolRow } from '../../../src/inspector/protocol/protocol.ts'
import { formatNumber, toLabel } from '../base/format.ts'
import { Bar } from '../parts/bar.tsx'
import { Empty } from '../parts/notes.tsx'
import { moveFocus } from '../parts/roving.ts'
import { useVirtual } from '../parts/virtual.ts'
import { choose, chosen, found, query } from './state.ts'

/** All tools, or those that a search finds. */
export function ToolList({ shown }: { readonly shown: CatalogView }) {
  const outcome = found.value
  if (query.value.trim() !== '' && outcome) return <Hits outcome={outcome} />
  if (shown.tools.length === 0)
    return <Empty title="No tools yet">Servers that start or fail appear under “Servers”.</Empty>
  return <AllTools tools={shown.tools} />
}

const ROW_HEIGHT = 46

function AllTools({ tools }: { readonly tools: readonly ToolRow[] }) {
  const [at, setAt] = useState(0)
  const { scroller, items, size, show } = useVirtual({ count: tools.length, height: ROW_HEIGHT })
  // The one that had the focus last, or the first one in view.
  const stop = items.some(({ index }) => index === at) ? at : (items[0]?.index ?? 0)
  const largest = tools.reduce((most, { tokens }) => Math.max(most, tokens), 1)
  return (
    <div ref={scroller} class="rows" tabIndex={-1} onKeyDown={(event) => moveFocus(event, tools.length, show)}>
      <ul class="tree-space" aria-label={formatCount(tools.length, 'tool')} style={{ height: `${size}px` }}>
        {items.map(({ index, start }) => {
          const tool = tools[index]
          if (!tool) return null
          return (
            <li
              key={tool.name}
              class="row"
              aria-setsize={tools.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start}px)` }}
            >
              <button
                type="button"
                class="row-button"
                data-index={index}
                tabIndex={index === stop ? 0 : -1}
                aria-pressed={chosen.value === tool.name}
                onFocus={() => setAt(index)}
                onClick={() => void choose(tool.name)}
              >
                <span class="row-main">
                  <code>{toLabel(tool.name)}</code>
                  <span class="note">{toLabel(tool.summary)}</span>
                </span>
                <span class="row-side">
                  <span class="note">{toLabel(tool.server)}</span>
                  <span class="number">{formatNumber(tool.tokens)}</span>
                  <Bar whole={largest} parts={[{ kind: 'now', value: tool.tokens }]} />
                </span>
              </button>
            </li>
          )
        })}
      </ul>
    </div>
  )
}

const FITS: Readonly<Record<SearchView['fit'], string>> = {
  good: 'These fit.',
  weak: 'Nothing fits well. These are guesses.',
  none: 'Nothing fits.',
}

/** What a search found, each with the reason for its score. */
function Hits({ outcome }: { readonly outcome: SearchView }) {
  const { hits, fit, alsoNear, withoutEncoder } = outcome
  const [at, setAt] = useState(0)
  const stop = Math.min(at, hits.length - 1)
  const best = Math.max(1e-9, hits[0]?.score ?? 0)
  return (
    <div class="rows hits">
      <p class="note hits-head" role="status">
        {FITS[fit]} {hits.length > 0 && `${formatCount(hits.length, 'tool')}.`}{' '}
        {alsoNear.length > 0 && `Also near: ${alsoNear.map(toLabel).join(', ')}.`} {withoutEncoder}
      </p>
      <ol onKeyDown={(event) => moveFocus(event, hits.length)}>
        {hits.map((hit, index) => (
          <li key={hit.name}>
            <button
              type="button"
              class="row-button"
              data-index={index}
              tabIndex={index === stop ? 0 : -1}
              aria-pressed={chosen.value === hit.name}
              onFocus={() => setAt(index)}
              onClick={() => void choose(hit.name)}
            >
              <span class="row-main">
                <code>{toLabel(hit.name)}</code>
                <span class="note">{toLabel(hit.summary)}</span>
              </span>
              <span class="row-side">
                <span class="note">{toLabel(hit.server)}</span>
                <span class="number">{hit.score.toFixed(2)}</span>
                <Bar whole={best} parts={[{ kind: 'now', value: hit.score }]} />
              </span>
            </button>
            <Reason hit={hit} />
          </li>
        ))}
      </ol>
    </div>
  )
}

const HOW = {
  stem: '',
  spelling: ', by its spelling',
  part: ', as a part',
  action: ', as the same action',
  kind: ', as what it is',
  meaning: ', by its meaning',
} as const

function Reason({ hit: { explanation } }: { readonly hit: FoundTool }) {
  const { words, meaning, named } = explanation
  return (
    <ul class="reasons" aria-label="Why it was found">
      {named && <li class="chip accent">the query names it</li>}
      {words.map(({ word, matched, fields, score, how }, i) => (
        <li key={i} class="chip" title={`${word} matched ${matched}${HOW[how]}`}>
          {matched === word ? word : `${word} ~ ${matched}`} <span class="in">in {fields.join(', ')}</span>{' '}
          <span class="number">+{score.toFixed(2)}</span>
        </li>
      ))}
      {meaning !== 0 && (
        <li class="chip">
          meaning <span class="number">+{meaning.toFixed(2)}</span>
        </li>
      )}
    </ul>
  )
}
