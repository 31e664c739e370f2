import { useEffect, useState } from 'preact/hooks'
import type { ApprovalRow } from '../../../src/inspector/protocol/protocol.ts'
import { formatTime, toLabel } from '../base/format.ts'
import { Empty, Failure } from '../parts/notes.tsx'
import { answerApproval, approvalProblem, approvals } from './state.ts'

/** The calls that wait for the user. Each decision is for one call, exactly as shown. */
export function Approvals() {
  const list = approvals.value
  return (
    <>
      {approvalProblem.value !== undefined && <Failure message={approvalProblem.value} />}
      {list?.length === 0 && (
        <Empty title="No calls are waiting for you">
          A call appears here when a rule requires your approval and the client cannot ask you.
        </Empty>
      )}
      {list && list.length > 0 && (
        <ol class="approvals" aria-label="Calls waiting for you">
          {list.map((call) => (
            <Waiting key={call.seen} call={call} />
          ))}
        </ol>
      )}
    </>
  )
}

function Waiting({ call }: { readonly call: ApprovalRow }) {
  const [isBusy, setBusy] = useState(false)
  const left = useCountdown(call.expiresAt)
  const answer = (isApproved: boolean): void => {
    setBusy(true)
    void answerApproval(call, isApproved).finally(() => setBusy(false))
  }
  return (
    <li class="approval">
      <h3>
        <code>{toLabel(call.tool)}</code>
      </h3>
      <p class="chips">
        <span class="chip">
          <bdi>{call.client === undefined ? 'called from here, or by a command' : toLabel(call.client)}</bdi>
        </span>
        {call.user !== undefined && <span class="chip">of {toLabel(call.user)}</span>}
        {call.preset !== '' && <span class="chip">preset {toLabel(call.preset)}</span>}
        <span class="chip fold">
          <span class="number">{left}</span> left
        </span>
      </p>
      {call.reason !== undefined && <p>{call.reason}</p>}
      <pre class="code" tabIndex={0} aria-label="Its arguments">
        {call.arguments}
      </pre>
      <p class="call-actions">
        <button type="button" class="primary" disabled={isBusy} onClick={() => answer(true)}>
          Approve once
        </button>
        <button type="button" disabled={isBusy} onClick={() => answer(false)}>
          Deny
        </button>
        <span class="note">Applies to this call with these arguments only. The client must send it again.</span>
      </p>
    </li>
  )
}

/** How long there is until a moment, as minutes and seconds. */
function useCountdown(until: number): string {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  return formatTime(until - now)
}
