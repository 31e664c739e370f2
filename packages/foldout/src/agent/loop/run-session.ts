import { FoldoutError } from '../../core/errors.ts'
import { DispatchError, type Session } from '../../session/session.ts'
import type { KeptSession } from '../../session/stores/store.ts'

// Of this process only: a run that another process has left behind can always be resumed.
const liveSessions = new WeakSet<Session>()
const toolSessions = new WeakSet<Session>()
const liveIds = new WeakMap<object, Set<string>>()

/** Claims a session for one run, until the returned function is called. Two runs at once would mix two conversations. */
export function claimSession(session: Session): () => void {
  const ids = getStoredIds(session)
  if (liveSessions.has(session) || ids?.live.has(ids.id)) throw busy()
  liveSessions.add(session)
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
    'This session has a run that has not ended yet. Wait for it or cancel it, or give each run a session of its own.',
  )
}

/**
 * Whether a session is the one that a tool gets for a call. A run in it has a conversation of its own: it must not mix with
 * the one that the tool is called in.
 */
export function isInTool(session: Session): boolean {
  return toolSessions.has(session)
}

/**
 * A session for the loop to work on. Where a listener or a reducer of the user's fails on an event, all others have taken it;
 * that is worth a warning, and not a reason to end a run.
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
  // Everything else, a store's `saved` included, is the session's own.
  return Object.assign(Object.create(session) as Session, {
    dispatch: (event: Parameters<Session['dispatch']>[0]) => quietly(() => session.dispatch(event)),
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
