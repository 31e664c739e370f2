import { getErrorMessage, getErrorType, isInstance } from '../../core/errors.ts'
import { ignore } from '../../core/promises.ts'
import { holdLease } from '../../session/stores/lease.ts'
import type { KeptSession } from '../../session/stores/open-session.ts'
import { LimitReachedError, RunAbortedError, withRunState } from '../errors.ts'
import type { AgentResult } from '../options.ts'
import { checkAnswers } from './answers.ts'
import { beginConversation } from './conversation.ts'
import type { RunCore } from './run-core.ts'
import { evaluate, finish, getStoredResult, restart } from './run.ts'

/** Runs until there is a result, through all restarts. */
export function driveRun<Output>(core: RunCore): Promise<AgentResult<Output>> {
  return guard<Output>(core, () => loop(core, (ended) => restart(core, ended)))
}

/** Evaluates until the run has a result. */
export async function loop(
  core: RunCore,
  onRestart: (ended: Parameters<typeof restart>[1]) => Promise<void>,
): Promise<AgentResult> {
  await takeLease(core)
  checkAnswers(core)
  const stored = getStoredResult(core)
  if (stored) return stored
  beginConversation(core)
  for (;;) {
    const ended = await evaluate(core)
    if (ended.type === 'restart') {
      await onRestart(ended)
      continue
    }
    const result = await finish(core, ended)
    if (result) return result
  }
}

/** Claims a stored session against runs of other processes. */
async function takeLease(core: RunCore): Promise<void> {
  const { session, options, signal } = core
  const { id, store, sync } = session as Partial<KeptSession>
  if (id === undefined || store === undefined || sync === undefined) return
  core.check()
  core.lease = await holdLease({
    ...options.lease,
    store,
    id,
    signal: signal.signal,
    onLost(error) {
      core.lost = error
      signal.cancel(error)
    },
  })
  // The other run may have gone on after the session was opened here.
  if (core.lease.isTaken) await sync()
}

/** Runs to the end, releases the session, and attaches the run's state to errors. */
export async function guard<Output>(core: RunCore, work: () => Promise<AgentResult>): Promise<AgentResult<Output>> {
  try {
    return (await work()) as AgentResult<Output>
  } catch (thrown) {
    const error = withRunState(explain(core, thrown), core.journal.state)
    core.tell({ type: 'run/failed', errorType: getErrorType(error) })
    // The run has already failed, so errors of the store add nothing.
    await ignore(core.journal.saved(), 'the run has already failed')
    throw error
  } finally {
    await releaseLease(core)
    core.release()
  }
}

async function releaseLease({ lease, tell }: RunCore): Promise<void> {
  try {
    await lease?.release()
  } catch (error) {
    // The result stands. The lease lapses by itself.
    tell({ type: 'warning', message: `The lease of the session was not released: ${getErrorMessage(error)}` })
  }
}

/** Reports the cause that ended a run rather than its consequences. */
function explain({ signal, journal, lost }: RunCore, thrown: unknown): unknown {
  if (lost) return lost
  const isExplained = isInstance(thrown, LimitReachedError) || isInstance(thrown, RunAbortedError)
  if (signal.signal.aborted && !isExplained) return signal.getError(journal.state)
  return thrown
}
