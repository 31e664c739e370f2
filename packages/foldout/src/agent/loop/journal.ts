import type { Event } from '../../session/event.ts'
import type { Session } from '../../session/session.ts'
import type { KeptSession } from '../../session/stores/store.ts'
import { agentRun, newRun, readRunState, reduceRun, type RunState } from './run-state.ts'

/** Where a run's state is kept: in the session if it has the slice for it, else here. */
export interface RunJournal {
  readonly state: RunState
  record(event: Event): void
  /** Resolves when what was recorded outlives the process, where the session is kept in a store. */
  saved(): Promise<void>
}

export function createJournal(session: Session, given: RunState | undefined): RunJournal {
  const isInSession = session.has(agentRun)
  let own = given === undefined ? newRun() : readRunState(given)
  const journal: RunJournal = {
    get state() {
      return isInSession ? session.get(agentRun) : own
    },
    record(event) {
      if (isInSession) session.dispatch(event)
      else own = reduceRun(own, event)
    },
    saved: () => (isKept(session) ? session.saved() : Promise.resolve()),
  }
  if (given !== undefined) journal.record(agentRun.events.resumed({ state: own }))
  else if (journal.state.status !== 'new') journal.record(agentRun.events.resumed({}))
  return journal
}

function isKept(session: Session): session is KeptSession {
  return 'saved' in session && typeof session.saved === 'function'
}
