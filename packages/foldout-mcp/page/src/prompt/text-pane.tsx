import { useEffect, useRef } from 'preact/hooks'
import type { PromptView, TextSpan } from '../../../src/inspector/protocol/protocol.ts'
import { Exact } from '../parts/exact.tsx'
import { cursor, toggle } from './state.ts'

/** The exact text that the model reads, with the folded parts marked. */
export function TextPane({ shown }: { readonly shown: PromptView }) {
  const current = shown.sections[cursor.value]?.path
  const pane = useRef<HTMLDivElement>(null)
  const shownBefore = useRef(current)
  useEffect(() => {
    // Not when the page opens: the browser would begin there with the Tab key.
    if (shownBefore.current === current) return
    shownBefore.current = current
    pane.current?.querySelector('[data-current]')?.scrollIntoView({ block: 'nearest' })
  }, [current])
  return (
    <div class="text" ref={pane}>
      {toParts(shown).map(({ text, span }, i) => {
        if (span) return <Part key={span.path} {...{ text, span, shown }} isCurrent={span.path === current} />
        return (
          <span key={i} class="gap">
            <Exact text={text} />
          </span>
        )
      })}
    </div>
  )
}

interface PartProps {
  readonly text: string
  readonly span: TextSpan
  readonly shown: PromptView
  readonly isCurrent: boolean
}

function Part({ text, span, shown, isCurrent }: PartProps) {
  const index = shown.sections.findIndex(({ path }) => path === span.path)
  const section = shown.sections[index]
  return (
    <div class={`part ${span.state}`} data-current={isCurrent || undefined}>
      {span.state === 'folded' && section && (
        <button
          type="button"
          class="part-open"
          aria-label={`Open section ${section.title}`}
          onClick={() => {
            cursor.value = index
            toggle(section)
          }}
        >
          Open
        </button>
      )}
      <Exact text={text} />
    </div>
  )
}

/** The text from end to end: sections, and what is between them. */
function toParts({ text, spans }: PromptView): readonly { readonly text: string; readonly span?: TextSpan }[] {
  const parts: { readonly text: string; readonly span?: TextSpan }[] = []
  let at = 0
  for (const span of spans) {
    // Each section is a block, which begins a line by itself.
    if (span.start > at) parts.push({ text: text.slice(at, span.start).replace(/^\n/, '') })
    parts.push({ text: text.slice(span.start, span.end), span })
    at = span.end
  }
  if (at < text.length) parts.push({ text: text.slice(at) })
  return parts
}
