import type { Message } from '../../../adapters/contract.ts'
import { getForms } from '../../refold/projection.ts'
import type { Event } from '../../../session/event.ts'
import type { Session } from '../../../session/session.ts'
import type { KeptSession } from '../../../session/stores/open-session.ts'
import { agentRun, createRunState, readRunState, reduceRun, toRunState, type RunState } from '../../state/run-state.ts'

/**
 * Stores a run's state: in the session, or here if the session has no slice for it or contains another conversation.
 */
export interface RunJournal {
  readonly state: RunState
  record(event: Event): void
  /** Resolves when the recorded events outlive the process, if the session is in a store. */
  saved(): Promise<void>
}

export interface JournalOptions {
  /** The state to continue from. */
  readonly state: RunState | undefined
  /** Whether the session belongs to a tool call: its conversation is then the one in which the tool was called. */
  readonly isInTool: boolean
}

export function createJournal(session: Session, { state: given, isInTool }: JournalOptions): RunJournal {
  const isInSession = session.has(agentRun) && !isInTool
  const stored = given === undefined ? undefined : readRunState(given)
  let own = stored ?? (isInSession ? session.get(agentRun) : createRunState())
  // A given state takes effect in the session only with the event that resumes it.
  let isAdopted = stored === undefined
  return {
    get state() {
      if (isInSession && isAdopted) return session.get(agentRun)
      return own
    },
    record(event) {
      if (isInSession) {
        isAdopted = true
        session.dispatch(event)
      } else own = reduceRun(own, event)
    },
    saved: () => {
      if (isKept(session)) return session.saved()
      return Promise.resolve()
    },
  }
}

/** Continues a run. If there is new user input, its counts start over. */
export function resumeRun(journal: RunJournal, isNewInput: boolean, given: RunState | undefined): void {
  journal.record(
    agentRun.events.resumed({ isNewInput, ...(given !== undefined && { state: toRunState(journal.state) }) }),
  )
}

/** Finds the whole result that an adapter was given in folded form. */
export function findWhole({ state }: RunJournal, message: Message): Message | undefined {
  if (message.role !== 'tool' || !getForms(state.folded).has(message.callId)) return undefined
  return state.finished.find(({ callId }) => callId === message.callId)
}

function isKept(session: Session): session is KeptSession {
  return 'saved' in session && typeof session.saved === 'function'
}
