import { DispatchError, type Session } from '../../session/session.ts'

/**
 * A session for the loop to work on. Where a listener or a reducer of the user's fails on an event, all others have taken it;
 * that is worth a warning and no reason to end a run.
 */
export function quietSession(session: Session, warn: (message: string) => void): Session {
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
      return {
        session: transaction.session,
        commit: () => quietly(() => transaction.commit()),
        abandon: () => quietly(() => transaction.abandon()),
      }
    },
  })
}
