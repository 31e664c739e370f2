import { checkEvents, checkSessionId, checkSnapshot, isSameLease, selectPage } from 'foldout/session'
import type { SessionLease, SessionStore, StoredSession } from 'foldout/session'

/** The store of the guide's page on extending Foldout, as it is printed there. */
export function createMapStore(sessions: Map<string, string>): SessionStore {
  const leases = new Map<string, SessionLease>()
  // Kept as text, because callers may change the objects that they pass or get.
  const read = (id: string): StoredSession | undefined => JSON.parse(sessions.get(id) ?? 'null') ?? undefined
  const write = (id: string, session: StoredSession) => sessions.set(id, JSON.stringify(session))
  const begin = (id: string): StoredSession => read(id) ?? { sequence: 0, events: [] }
  const getRange = ({ sequence, events }: StoredSession) => ({
    snapshot: sequence,
    last: events.at(-1)?.sequence ?? sequence,
  })
  return {
    load: async (id) => read(id),
    async append(id, events) {
      checkSessionId(id)
      const kept = begin(id)
      checkEvents(id, getRange(kept), events)
      if (events.length > 0) write(id, { ...kept, events: [...kept.events, ...events] })
    },
    async save(id, snapshot, sequence) {
      checkSessionId(id)
      const kept = begin(id)
      checkSnapshot(id, getRange(kept), { snapshot, sequence })
      write(id, { snapshot, sequence, events: kept.events.filter((event) => event.sequence > sequence) })
    },
    list: async (page) => selectPage([...sessions.keys()], page),
    async delete(id) {
      sessions.delete(id)
      leases.delete(id)
    },
    async swapLease(id, from, to) {
      checkSessionId(id)
      if (isSameLease(leases.get(id), from)) {
        if (to) leases.set(id, to)
        else leases.delete(id)
      }
      return leases.get(id)
    },
    close: async () => {},
  }
}
