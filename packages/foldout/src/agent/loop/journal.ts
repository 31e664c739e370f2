import type { Event } from '../../session/event.ts'
import type { Session } from '../../session/session.ts'
import type { KeptSession } from '../../session/stores/store.ts'
import { agentRun, createRunState, readRunState, reduceRun, toRunState, type RunState } from './run-state.ts'

/** Where a run's state is kept: in the session, or here where that has no slice for it or another conversation. */
export interface RunJournal {
  readonly state: RunState
  record(event: Event): void
  /** Resolves when what was recorded outlives the process, where the session is kept in a store. */
  saved(): Promise<void>
}

export interface JournalOptions {
  /** The state to continue from. */
  readonly state: RunState | undefined
  /** Whether the session is that of a tool's call: its conversation is the one that the tool was called in. */
  readonly isInTool: boolean
}

export function createJournal(session: Session, { state: given, isInTool }: JournalOptions): RunJournal {
  const isInSession = session.has(agentRun) && !isInTool
  const stored = given === undefined ? undefined : readRunState(given)
  let own = stored ?? (isInSession ? session.get(agentRun) : createRunState())
  // A given state takes effect in the session with the event that resumes it, and not before.
  let isAdopted = stored === undefined
  return {
    get state() {
      return isInSession && isAdopted ? session.get(agentRun) : own
    },
    record(event) {
      if (isInSession) {
        isAdopted = true
        session.dispatch(event)
      } else own = reduceRun(own, event)
    },
    saved: () => (isKept(session) ? session.saved() : Promise.resolve()),
  }
}

/** Goes on with a run. Where the user says something new, its counts begin again. */
export function resumeRun(journal: RunJournal, isNewInput: boolean, given: RunState | undefined): void {
  journal.record(
    agentRun.events.resumed({ isNewInput, ...(given === undefined ? {} : { state: toRunState(journal.state) }) }),
  )
}

function isKept(session: Session): session is KeptSession {
  return 'saved' in session && typeof session.saved === 'function'
}
