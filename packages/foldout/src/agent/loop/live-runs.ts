import { FoldoutError } from '../../core/errors.ts'
import type { Session } from '../../session/session.ts'
import type { KeptSession } from '../../session/stores/store.ts'

// Of this process only: a run that another process has left behind can always be resumed.
const liveSessions = new WeakSet<Session>()
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
