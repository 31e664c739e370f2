import { FoldoutError } from '../../../core/errors.ts'
import { DispatchError, type Session } from '../../../session/session.ts'
import { freezeChanges } from '../../../session/freeze.ts'
import type { KeptSession } from '../../../session/stores/open-session.ts'

// Only for this process: a run that another process left behind can always be resumed.
const liveSessions = new WeakSet<Session>()
const toolSessions = new WeakSet<Session>()
/** Sessions of tool calls in which an agent has run. */
const agentSessions = new WeakSet<Session>()
const liveIds = new WeakMap<object, Set<string>>()

/** Claims a session for one run, until the returned function is called. Two runs at once would mix two conversations. */
export function claimSession(session: Session): () => void {
  const ids = getStoredIds(session)
  if (liveSessions.has(session) || ids?.live.has(ids.id)) throw busy()
  liveSessions.add(session)
  if (toolSessions.has(session)) agentSessions.add(session)
  ids?.live.add(ids.id)
  return () => {
    liveSessions.delete(session)
    ids?.live.delete(ids.id)
  }
}

function getStoredIds(session: Session): { readonly id: string; readonly live: Set<string> } | undefined {
  const { id, store } = session as Partial<KeptSession>
  if (id === undefined || store === undefined) return undefined
  const live = liveIds.get(store) ?? new Set()
  liveIds.set(store, live)
  return { id, live }
}

function busy(): FoldoutError {
  return new FoldoutError(
    'run-busy',
    'This session has a run that has not ended yet. Wait for it or cancel it, or give each run its own session.',
  )
}

/**
 * Whether a session belongs to a tool call. A run in it has its own conversation, which must not mix with the one in
 * which the tool was called.
 */
export function isInTool(session: Session): boolean {
  return toolSessions.has(session)
}

/** A session for one call, and whether an agent has run in it. */
export interface CallSession {
  readonly session: Session
  hasRunAgent(): boolean
}

/** Creates a session for one call of a tool. */
export function createCallSession(session: Session): CallSession {
  let own: Session | undefined
  const begin = (): ReturnType<Session['begin']> => {
    const transaction = session.begin()
    own = transaction.session
    return transaction
  }
  return {
    session: Object.assign(Object.create(session) as Session, { begin }),
    hasRunAgent: () => own !== undefined && agentSessions.has(own),
  }
}

/**
 * Creates a session for the loop. If one of the user's listeners or reducers fails on an event, all others have still
 * received it, so the failure becomes a warning and does not end the run.
 */
export function createQuietSession(session: Session, warn: (message: string) => void): Session {
  const quietly = (act: () => void): void => {
    try {
      act()
    } catch (error) {
      if (!(error instanceof DispatchError)) throw error
      warn(error.message)
    }
  }
  // Everything else, including a store's `saved`, is inherited from the session.
  return Object.assign(Object.create(session) as Session, {
    // Frozen, because a listener must not change what the loop, the journal and other listeners read.
    dispatch: (event: Parameters<Session['dispatch']>[0]) => quietly(() => session.dispatch(freezeChanges(event))),
    begin: () => {
      const transaction = session.begin()
      toolSessions.add(transaction.session)
      return {
        session: transaction.session,
        commit: () => quietly(() => transaction.commit()),
        abandon: () => quietly(() => transaction.abandon()),
      }
    },
  })
}
