import { FoldoutError } from '../../core/errors.ts'
import type { BoundPrompt } from '../../prompt/prompt.ts'
import { checkSessionId } from '../../session/stores/store-checks.ts'
import { openSession, type KeptSession } from '../../session/stores/open-session.ts'
import type { ApprovalAnswer } from '../state/approvals.ts'
import { findRequest } from '../loop/answers.ts'
import { agentRun, type RunState } from '../state/run-state.ts'
import type { AgentResult } from '../options.ts'
import { runAgent } from '../loop/run-agent.ts'
import { getRunKey, type RunFlow, type RunSignal, type DurablePrompt, type DurableRunOptions } from './contract.ts'

type Outcome = AgentResult['status'] | 'cancelled'

/**
 * Continues a run where its journal ends, until it is over or waits for a person. Calling it again does only the
 * remaining work: the journal alone says what was done.
 */
export async function advance(
  options: DurableRunOptions,
  { id, machine, wokenBy }: Pick<RunFlow, 'id' | 'machine' | 'wokenBy'>,
  signal: AbortSignal,
): Promise<Outcome> {
  for (;;) {
    try {
      const session = options.engine.isExclusive ? await claim(options, id, machine) : await openRun(options, id)
      const { status } = session.get(agentRun)
      if (status === 'completed' || status === 'cancelled') return status
      if (status === 'stopped' && wokenBy === undefined) return status
      return await goOn(options, session, { id, wokenBy, signal })
    } catch (error) {
      if (await isCancelled(options, id, error)) return 'cancelled'
      // A database that is away comes back, so it does not make a run fail.
      if (!hasCode(error, 'store-failed') || signal.aborted) throw error
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}

const PAUSE_MS = 500

/**
 * Opens the session of a run and writes to it at once. From then on, the previous machine cannot write, even if it is
 * still alive, because the number of its next event is taken.
 */
async function claim(options: DurableRunOptions, id: string, machine: string): Promise<KeptSession> {
  return retryConflicts(async () => {
    const session = await openRun(options, id)
    const { status } = session.get(agentRun)
    if (status === 'completed' || status === 'cancelled') return session
    session.dispatch(agentRun.events.claimed({ by: machine }))
    await session.saved()
    return session
  })
}

async function goOn(
  { prompt, ...options }: DurableRunOptions,
  session: KeptSession,
  {
    id,
    wokenBy,
    signal,
  }: { readonly id: string; readonly wokenBy: RunSignal | undefined; readonly signal: AbortSignal },
): Promise<Outcome> {
  const bound = (await bindPrompt({ prompt }, id)) as BoundPrompt<unknown>
  // An exclusive engine has given the run to this machine; the one before it can write no more.
  const lease = options.engine.isExclusive ? { lease: { ...options.lease, ifHeld: 'take' as const } } : {}
  const go = async (answer: ApprovalAnswer | undefined): Promise<Outcome> => {
    const given = answer ? { approvals: [answer] } : {}
    return (await runAgent(bound, { ...options, ...given, ...lease, session, signal })).status
  }
  const answer = findAnswer(session.get(agentRun), wokenBy)
  try {
    return await go(answer)
  } catch (error) {
    // The answer came too late, or its tool has changed: nothing was done, and the person is asked again.
    if (answer && (hasCode(error, 'approval-expired') || hasCode(error, 'approval-changed'))) return go(undefined)
    throw error
  }
}

/**
 * Finds the answer that a run was woken with, unless it was already accepted: the machine that accepted it may have
 * died since.
 */
function findAnswer(state: RunState, wokenBy: RunSignal | undefined): ApprovalAnswer | undefined {
  if (wokenBy?.topic !== 'approval') return undefined
  const answer = wokenBy.value as ApprovalAnswer
  const held = findRequest(state, answer.callId)
  if (held?.digest === answer.digest && !held.answer) return answer
  return undefined
}

/** Whether an error means that another machine has cancelled the run. */
async function isCancelled(options: DurableRunOptions, id: string, error: unknown): Promise<boolean> {
  if (!hasCode(error, 'store-conflict') && !hasCode(error, 'run-aborted')) return false
  return (await openRun(options, id)).get(agentRun).status === 'cancelled'
}

function hasCode(error: unknown, code: FoldoutError['code']): boolean {
  return error instanceof FoldoutError && error.code === code
}

const MOST_CONFLICTS = 20

/** Retries a job from its beginning if another writer was faster. */
export async function retryConflicts<Value>(job: () => Promise<Value>): Promise<Value> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await job()
    } catch (error) {
      if (!hasCode(error, 'store-conflict') || attempt >= MOST_CONFLICTS) throw error
    }
  }
}

/** Opens the session of a run. Runs of two kinds may have the same id, and each has a session of its own. */
export function openRun(
  { store, name, slices = [] }: Pick<DurableRunOptions, 'store' | 'name' | 'slices'>,
  id: string,
): Promise<KeptSession> {
  checkSessionId(id)
  return openSession({ store, id: getRunKey({ kind: name, id }), slices })
}

export async function bindPrompt<Output>(
  { prompt }: Pick<DurableRunOptions<Output>, 'prompt'>,
  id: string,
): Promise<DurablePrompt<Output>> {
  if (typeof prompt === 'function') return prompt(id)
  return prompt
}
