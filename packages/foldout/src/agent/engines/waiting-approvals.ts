import { createJournaledSession } from '../../session/session.ts'
import type { Snapshot } from '../../session/snapshot.ts'
import type { StoredSession } from '../../session/stores/store.ts'
import type { ApprovalRequest } from '../state/approvals.ts'
import { listWaiting } from '../loop/answers.ts'
import { agentRun } from '../state/run-state.ts'

/**
 * Lists the calls of a stored run that wait for a person, whatever else its session contains. It needs neither the
 * prompt nor the slices of the program that runs it.
 *
 * @example
 * ```ts
 * const store = createMemoryStore()
 * const stored = await store.load('order-17')
 * const waiting = stored ? listWaitingApprovals(stored) : []
 * ```
 */
export function listWaitingApprovals(stored: StoredSession): readonly ApprovalRequest[] {
  const { session, replay, replayRestore } = createJournaledSession(
    stored.snapshot ? { snapshot: pickRun(stored.snapshot) } : {},
  )
  for (const { event, scope } of stored.events) {
    if (scope !== 'restore') replay(event, scope)
    else replayRestore(pickRun(event.payload))
  }
  return listWaiting(session.get(agentRun))
}

/** Returns the part of a snapshot that is about the run. Other slices belong to the program that defined it. */
export function pickRun(snapshot: unknown): Snapshot {
  const { version, slices } = snapshot as Snapshot
  const run = slices[agentRun.name]
  return { version, slices: run && 'state' in run ? { [agentRun.name]: run } : {} }
}
