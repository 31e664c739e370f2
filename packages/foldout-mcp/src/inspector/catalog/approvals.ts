import { createHash } from 'node:crypto'
import { ignore } from 'foldout/promises'
import type { WaitingCall, WaitingCalls } from '../../gateway/gateway.ts'
import type { InspectorSource } from '../inspector.ts'
import { APPROVALS_POLL_MS } from './limits.ts'
import type { ApprovalRow } from '../protocol/protocol.ts'

/** The calls that wait for the user, wherever they are kept. Polled, because other processes may ask and decide too. */
export function createApprovalSource(approvals: WaitingCalls): InspectorSource {
  return {
    view: 'catalog',
    topic: 'approvals',
    subscribe(listener) {
      let known = ''
      const look = async (): Promise<void> => {
        const now = (await approvals.list()).map(getSeen).join()
        if (now === known) return
        known = now
        listener()
      }
      // A failed read is retried; the page shows the error when it asks.
      const timer = setInterval(() => void ignore(look(), 'the page shows the error when it asks'), APPROVALS_POLL_MS)
      timer.unref()
      return () => clearInterval(timer)
    },
    handlers: {
      'approvals/list': async () => (await approvals.list()).map(describeCall),
      'approvals/answer': async ({ id, seen, isApproved }) => {
        const call = (await approvals.list()).find((each) => each.id === id)
        if (!call || getSeen(call) !== seen)
          throw new Error('This call is no longer waiting: it was decided elsewhere, or nobody decided in time.')
        await (isApproved ? approvals.approve(id) : approvals.deny(id))
        return {}
      },
    },
  }
}

/** Changes with everything that a person decides by. A database counts the time that is left by its own clock, so that differs each time. */
function getSeen(call: WaitingCall): string {
  const { expiresAt: _, ...decidedBy } = describe(call)
  return createHash('sha256').update(JSON.stringify(decidedBy)).digest('hex')
}

function describeCall(call: WaitingCall): ApprovalRow {
  return { ...describe(call), seen: getSeen(call) }
}

function describe(call: WaitingCall): Omit<ApprovalRow, 'seen'> {
  const { id, tool, arguments: args, client, user, preset, reason, askedAt, expiresAt } = call
  return { id, tool, arguments: args, client, user, preset, reason, askedAt, expiresAt }
}
