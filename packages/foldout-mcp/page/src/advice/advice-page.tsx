import { formatCount } from 'foldout-shared/numbers'
import { useEffect, useState } from 'preact/hooks'
import type { AdviceItem, AdviceView, CoreView } from '../../../src/inspector/protocol/protocol.ts'
import { call, changes } from '../base/connection.ts'
import { formatNumber, formatSigned, toLabel } from '../base/format.ts'
import { Bar } from '../parts/bar.tsx'
import { Empty, Failure } from '../parts/notes.tsx'

/** The advice view: what to show, fold and list, from recorded use. */
export function AdvicePage() {
  const [view, setView] = useState<AdviceView | undefined>(undefined)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const version = changes.value.advice
  useEffect(() => {
    call('advice/get', {}).then(setView, (error: Error) => setProblem(error.message))
  }, [version])
  if (problem !== undefined) return <Failure message={problem} />
  if (!view) return <Empty title="Counting">One moment.</Empty>
  return (
    // Without anything to click, it must be focusable to be scrolled by keyboard.
    <div class="advice" role="region" aria-label="Advice" tabIndex={0}>
      <header>
        <h1>Advice</h1>
        <p class="note">
          From what was recorded. Tokens count once for every request that sends them, without a prompt cache.
        </p>
      </header>
      {view.hasPrompt && <PromptAdvice view={view} />}
      {!view.hasPrompt && view.runs > 0 && (
        <Empty title="Which prompt was recorded?">Start foldout inspect with --prompt and its module.</Empty>
      )}
      {view.core && <CoreAdvice core={view.core} />}
    </div>
  )
}

function PromptAdvice({ view }: { readonly view: AdviceView }) {
  const { items, promptRuns, minRuns } = view
  if (promptRuns < minRuns)
    return (
      <Empty title="Too few runs">
        {formatCount(promptRuns, 'run')} of this prompt recorded. Advice needs at least {formatNumber(minRuns)}.
        {view.runs > promptRuns && ` ${formatCount(view.runs - promptRuns, 'run')} of other prompts do not count.`}
      </Empty>
    )
  if (items.length === 0)
    return (
      <Empty title="Nothing to change">
        No change of the prompt would have saved tokens in its {formatCount(promptRuns, 'recorded run')}.
      </Empty>
    )
  const largest = Math.max(1, ...items.flatMap(({ before, after }) => [before.total, after?.total ?? 0]))
  return (
    <ol class="advice-list">
      {items.map((item) => (
        <Item key={`${item.type} ${item.path} ${item.tool}`} item={item} largest={largest} />
      ))}
    </ol>
  )
}

const LABELS: Readonly<Record<AdviceItem['type'], { readonly label: string; readonly tone: string }>> = {
  'show-all': { label: 'Show all', tone: 'bad' },
  'show-section': { label: 'Show', tone: 'accent' },
  'fold-section': { label: 'Fold', tone: 'fold' },
  'offer-tool': { label: 'Offer tool', tone: 'good' },
  'delegate-section': { label: 'Delegate', tone: 'good' },
  refold: { label: 'Fold results', tone: 'good' },
}

function Item({ item, largest }: { readonly item: AdviceItem; readonly largest: number }) {
  const { type, path, tool, message, saved, runs, used, before, after } = item
  return (
    <li class="pane advice-item">
      <h2>
        <span class={`chip ${LABELS[type].tone}`}>{LABELS[type].label}</span>{' '}
        <code>{toLabel(tool ?? path ?? 'every section')}</code>
      </h2>
      <p>{message}</p>
      <dl class="figures">
        <div>
          <dt>Tokens saved</dt>
          <dd class="number">{formatNumber(saved.tokens)}</dd>
        </div>
        <div>
          <dt>Requests saved</dt>
          <dd class="number">{formatNumber(saved.requests)}</dd>
        </div>
        <div>
          <dt>Restarts saved</dt>
          <dd class="number">{formatNumber(saved.restarts)}</dd>
        </div>
        <div>
          <dt>Used in</dt>
          <dd class="number">
            {formatNumber(used)} of {formatCount(runs, 'run')}
          </dd>
        </div>
      </dl>
      <table class="before-after">
        <caption>What a run begins with</caption>
        <tbody>
          <ContextRow name="Before" total={before.total} largest={largest} note="" />
          {after && (
            <ContextRow
              name="After"
              total={after.total}
              largest={largest}
              note={formatSigned(after.total - before.total)}
            />
          )}
        </tbody>
      </table>
      {!after && <p class="note">It has no summary yet, so its cost when folded is unknown.</p>}
    </li>
  )
}

interface ContextProps {
  readonly name: string
  readonly total: number
  readonly largest: number
  readonly note: string
}

function ContextRow({ name, total, largest, note }: ContextProps) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="number strong">{formatNumber(total)}</td>
      <td class="wide">
        <Bar whole={largest} parts={[{ kind: name === 'Before' ? 'more' : 'now', value: total }]} />
      </td>
      <td class="number note">{note}</td>
    </tr>
  )
}

function CoreAdvice({ core }: { readonly core: CoreView }) {
  return (
    <section class="pane advice-item" aria-label="Core tools">
      <h2>Core tools of the catalog</h2>
      <p>{core.summary}</p>
      {core.isEnough && (
        <p>
          {core.core.length === 0 ? (
            'No tool is worth listing from the start.'
          ) : (
            <>
              List <code>{core.core.join(', ')}</code> from the start: that would have saved{' '}
              {formatNumber(core.saved.tokens)} of {formatNumber(core.spent.tokens)} tokens for finding tools, and{' '}
              {formatNumber(core.saved.roundTrips)} of {formatCount(core.spent.roundTrips, 'round trip')}.
            </>
          )}
        </p>
      )}
      {core.isEnough && core.core.length > 0 && (
        <table class="before-after">
          <caption>Tokens for finding tools, in all that was recorded</caption>
          <tbody>
            <ContextRow name="Before" total={core.spent.tokens} largest={core.spent.tokens} note="" />
            <ContextRow
              name="After"
              total={core.spent.tokens - core.saved.tokens}
              largest={core.spent.tokens}
              note={formatSigned(-core.saved.tokens)}
            />
          </tbody>
        </table>
      )}
      {core.tools.length > 0 && (
        <table class="core-tools">
          <thead>
            <tr>
              <th scope="col">Tool</th>
              <th scope="col" class="number">
                Uses
              </th>
              <th scope="col" class="number">
                Clients
              </th>
              <th scope="col" class="number">
                Listing costs
              </th>
              <th scope="col" class="number">
                Listing saves
              </th>
            </tr>
          </thead>
          <tbody>
            {core.tools.map((tool) => (
              <tr key={tool.name}>
                <th scope="row">
                  <code>{toLabel(tool.name)}</code> {tool.core && <span class="chip good">list it</span>}
                </th>
                <td class="number">{formatNumber(tool.uses)}</td>
                <td class="number">{formatNumber(tool.clients)}</td>
                <td class="number">{formatNumber(tool.costs)}</td>
                <td class="number">{formatNumber(tool.saves.tokens)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
