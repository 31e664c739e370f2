import { formatCount } from 'foldout-shared/numbers'
import { useEffect, useState } from 'preact/hooks'
import { STRATEGIES, type PromptTool, type PromptView } from '../../../src/inspector/protocol/protocol.ts'
import { changes } from '../base/connection.ts'
import { formatNumber, formatShare, formatSigned, toLabel } from '../base/format.ts'
import { Bar } from '../parts/bar.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Exact } from '../parts/exact.tsx'
import { Empty, Failure } from '../parts/notes.tsx'
import { Tabs, type Tab } from '../parts/tabs.tsx'
import { DiffPane } from './diff-pane.tsx'
import { Findings } from './findings.tsx'
import { SectionTree } from './section-tree.tsx'
import {
  chooseStrategy,
  isChanged,
  lastChange,
  pinned,
  problem,
  refresh,
  reset,
  setAll,
  strategy,
  view,
} from './state.ts'
import { TextPane } from './text-pane.tsx'

/** The prompt view: sections and their costs on the left, what the model reads on the right. */
export function PromptPage() {
  const version = changes.value.prompt
  useEffect(() => void refresh(), [version])
  const shown = view.value
  if (!shown) {
    if (problem.value === undefined) return <Empty title="Rendering the prompt">One moment.</Empty>
    return <Failure message={problem.value} onRetry={() => void refresh()} />
  }
  return (
    <div class="prompt">
      <Summary shown={shown} />
      {problem.value !== undefined && <Failure message={problem.value} onRetry={reset} />}
      <section class="pane sections" aria-label="Sections">
        <header class="pane-head">
          <h2>Sections</h2>
          <span class="actions">
            <button type="button" onClick={() => setAll('open')}>
              Open all
            </button>
            <button type="button" onClick={() => setAll('folded')}>
              Fold all
            </button>
            <button type="button" onClick={reset} disabled={!isChanged.value}>
              Reset
            </button>
          </span>
        </header>
        <SectionTree rows={shown.sections} />
      </section>
      <section class="pane reading" aria-label="What the model reads">
        <Reading shown={shown} />
      </section>
    </div>
  )
}

type ReadingTab = 'text' | 'tools' | 'linter' | 'diff'

function Reading({ shown }: { readonly shown: PromptView }) {
  const [tab, setTab] = useState<ReadingTab>('text')
  const tabs: readonly Tab<ReadingTab>[] = [
    { name: 'text', label: 'Text' },
    { name: 'tools', label: 'Tools', count: shown.tools.length },
    { name: 'linter', label: 'Fold linter', count: shown.findings.length },
    { name: 'diff', label: 'Compare' },
  ]
  return (
    <Tabs label="What the model reads" tabs={tabs} chosen={tab} onChoose={(name) => setTab(name)}>
      {tab === 'text' && <TextPane shown={shown} />}
      {tab === 'tools' && <ToolList tools={shown.tools} />}
      {tab === 'linter' && <Findings findings={shown.findings} />}
      {tab === 'diff' && <DiffPane shown={shown} />}
    </Tabs>
  )
}

/** The tools that the model is offered, in the order that it gets them. */
function ToolList({ tools }: { readonly tools: readonly PromptTool[] }) {
  if (tools.length === 0) return <Empty title="No tools">No open section offers a tool, and nothing is folded.</Empty>
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Tool</th>
          <th scope="col">Offered by</th>
          <th scope="col" class="number">
            Tokens
          </th>
        </tr>
      </thead>
      <tbody>
        {tools.map(({ name, description, section, tokens }) => (
          <tr key={name}>
            <th scope="row">
              <code>{toLabel(name)}</code>
              <span class="note clamp">
                <Exact text={description} />
              </span>
            </th>
            <td>
              {section === undefined ? (
                <span class="chip accent">opens sections</span>
              ) : (
                <code>{toLabel(section)}</code>
              )}
            </td>
            <td class="number">{formatNumber(tokens)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Summary({ shown }: { readonly shown: PromptView }) {
  const { tokens, tokensIfAllOpen, counter } = shown
  const whole = Math.max(tokens.total, tokensIfAllOpen.total)
  const saved = tokensIfAllOpen.total === 0 ? 0 : 1 - tokens.total / tokensIfAllOpen.total
  return (
    <header class="summary">
      <div class="summary-title">
        <h1>{toLabel(shown.name)}</h1>
        <p class="note">{counter.exact ? `Counted by ${counter.name}` : 'Token counts are estimates'}</p>
      </div>
      <div class="summary-cost">
        <p class="figure">
          <strong>{formatNumber(tokens.total)}</strong> of {formatNumber(tokensIfAllOpen.total)} tokens
          <span class="note">{describeSaving(saved)}</span>
        </p>
        <Bar
          whole={whole}
          parts={[
            { kind: 'now', value: tokens.text },
            { kind: 'tools', value: tokens.tools },
          ]}
        />
        <p class="legend note">
          <span class="key now">text {formatNumber(tokens.text)}</span>
          <span class="key tools">tools {formatNumber(tokens.tools)}</span>
          <span class="key rest">folded {formatNumber(Math.max(0, whole - tokens.total))}</span>
          <LastChange />
        </p>
      </div>
      <div class="summary-actions">
        <label>
          Strategy{' '}
          <select
            value={strategy.value ?? ''}
            onChange={({ currentTarget }) => chooseStrategy(STRATEGIES.find((name) => name === currentTarget.value))}
          >
            <option value="">
              {strategy.value === undefined ? `${shown.strategy} (the prompt's own)` : "the prompt's own"}
            </option>
            {STRATEGIES.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="button" aria-pressed={pinned.value !== undefined} onClick={() => (pinned.value = shown)}>
          Pin to compare
        </button>
        <CopyButton text={shown.text} label="Copy text" />
      </div>
    </header>
  )
}

function describeSaving(saved: number): string {
  if (saved > 0.005) return `${formatShare(saved)} less than with everything open`
  if (saved < -0.005) return `${formatShare(-saved)} more than with everything open`
  return 'as much as with everything open'
}

/** What the last click did, for the eye and for screen readers. */
function LastChange() {
  const change = lastChange.value
  return (
    <span class="change" role="status">
      {change && (
        <>
          {formatSigned(change.tokens)} tokens
          {change.added.length > 0 && `, ${formatCount(change.added.length, 'tool')} added: ${change.added.join(', ')}`}
          {change.removed.length > 0 &&
            `, ${formatCount(change.removed.length, 'tool')} removed: ${change.removed.join(', ')}`}
        </>
      )}
    </span>
  )
}
