import { formatCount } from 'foldout-shared/numbers'
import { useMemo, useReducer, useState } from 'preact/hooks'
import type { RunMessage, RunView } from '../../../src/inspector/protocol/protocol.ts'
import { toLabel } from '../base/format.ts'
import { Exact } from '../parts/exact.tsx'
import { Empty } from '../parts/notes.tsx'
import { createPages, loadMessages } from './state.ts'

const STEP = 100
const ROLES: Readonly<Record<RunMessage['role'], string>> = {
  system: 'System',
  user: 'User',
  assistant: 'Model',
  tool: 'Result of',
  tools: 'Tools added',
}

/** The conversation. Long ones are shown a hundred messages at a time, and drawn as they come into view. */
export function Messages({ shown }: { readonly shown: RunView }) {
  const [, draw] = useReducer<number, void>((times) => times + 1, 0)
  const [from, setFrom] = useState(0)
  const pages = useMemo(() => createPages(loadMessages(shown.id), draw), [shown.id])
  if (!shown.hasTexts)
    return (
      <Empty title="No texts">
        This run was recorded as numbers and names. Record it with recordRun() to see what was said.
      </Empty>
    )
  const end = Math.min(shown.messages, from + STEP)
  const list = Array.from({ length: end - from }, (_, i) => pages.get(from + i, shown.messages))
  return (
    <div class="messages">
      {shown.earlier > 0 && (
        <p class="note">
          The run began with {formatCount(shown.earlier, 'earlier message')} of its conversation, which this recording
          does not have.
        </p>
      )}
      {shown.messages > STEP && (
        <p class="pager">
          <button type="button" disabled={from === 0} onClick={() => setFrom(Math.max(0, from - STEP))}>
            Earlier
          </button>
          <span class="note">
            {from + 1} to {end} of {formatCount(shown.messages, 'message')}
          </span>
          <button type="button" disabled={end >= shown.messages} onClick={() => setFrom(from + STEP)}>
            Later
          </button>
        </p>
      )}
      {list.map((message, i) => (message ? <Message key={from + i} message={message} /> : null))}
      {shown.output !== '' && shown.status === 'completed' && (
        <section class="output" aria-label="Final output">
          <h2>Final output</h2>
          <pre class="code" tabIndex={0}>
            <Exact text={shown.output} />
          </pre>
        </section>
      )}
    </div>
  )
}

function Message({ message }: { readonly message: RunMessage }) {
  const { role, name, text, calls, isBad, request } = message
  return (
    <article class={`message ${role}${isBad ? ' bad' : ''}`}>
      <h2>
        {ROLES[role]} {name !== '' && <code>{toLabel(name)}</code>}
        {isBad && <span class="chip bad">failed</span>}
        <span class="note">{request === 0 ? '' : `request ${request}`}</span>
      </h2>
      {text !== '' && (
        // Long ones scroll, which a keyboard must be able to do.
        <div class="message-text" tabIndex={role === 'system' || role === 'tool' ? 0 : undefined}>
          <Exact text={text} />
        </div>
      )}
      {calls.map((call, i) => (
        <pre key={i} class="code" tabIndex={0}>
          <Exact text={`${toLabel(call.name)}(${call.arguments})`} />
        </pre>
      ))}
    </article>
  )
}
