import { diffLines } from 'diff'
import { useMemo } from 'preact/hooks'
import type { PromptView } from '../../../src/inspector/protocol/protocol.ts'
import { formatNumber, formatSigned } from '../base/format.ts'
import { Exact } from '../parts/exact.tsx'
import { Empty } from '../parts/notes.tsx'
import { pinned } from './state.ts'

/** Texts that differ in more lines than this are not compared line by line. */
const MOST_EDITS = 5_000

/** The pinned render against the current one. */
export function DiffPane({ shown }: { readonly shown: PromptView }) {
  const before = pinned.value
  const parts = useMemo(
    () => before && diffLines(before.text, shown.text, { maxEditLength: MOST_EDITS }),
    [before?.text, shown.text],
  )
  if (!before)
    return (
      <Empty title="Nothing to compare with">
        Choose “Pin to compare”, then open or fold a section or choose another strategy. The difference appears here.
      </Empty>
    )
  return (
    <>
      <p class="diff-head">
        <span>
          {formatNumber(before.tokens.total)} → <strong>{formatNumber(shown.tokens.total)}</strong> tokens (
          {formatSigned(shown.tokens.total - before.tokens.total)})
        </span>
        <span class="note">
          {before.strategy} → {shown.strategy}
        </span>
        <button type="button" onClick={() => (pinned.value = undefined)}>
          Unpin
        </button>
      </p>
      {before.text === shown.text && <Empty title="No difference">Both renders have the same text.</Empty>}
      {parts === undefined && <Empty title="Too different">The texts differ in too many lines to compare them.</Empty>}
      <div class="text diff">
        {parts?.map(({ value, added, removed }, i) => (
          <DiffPart key={i} text={value} kind={getKind(added, removed)} />
        ))}
      </div>
    </>
  )
}

const MARKS = { added: '+', removed: '−', same: ' ' } as const
const WORDS = { added: 'Added: ', removed: 'Removed: ', same: '' } as const

function getKind(isAdded: boolean, isRemoved: boolean): keyof typeof MARKS {
  if (isAdded) return 'added'
  if (isRemoved) return 'removed'
  return 'same'
}

function DiffPart({ text, kind }: { readonly text: string; readonly kind: keyof typeof MARKS }) {
  const lines = text.replace(/\n$/, '').split('\n')
  return (
    <div class={`diff-part ${kind}`}>
      <span class="hidden">{WORDS[kind]}</span>
      {lines.map((line, i) => (
        <div key={i} class="diff-line" data-mark={MARKS[kind]}>
          <Exact text={line} />
        </div>
      ))}
    </div>
  )
}
