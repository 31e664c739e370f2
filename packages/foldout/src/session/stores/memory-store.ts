import { isSameLease } from './lease.ts'
import type { SessionLease, SessionStore, StoredEvent, StoredSession } from './store.ts'
import { checkEvents, checkSessionId, checkSnapshot, selectPage, type StoredRange } from './store-checks.ts'

/**
 * Creates a store that keeps sessions in memory while the process runs. Like a file, it copies data in and out.
 *
 * @example
 * ```ts
 * const store = createMemoryStore()
 * const session = await openSession({ store, id: 'chat-1' })
 * ```
 */
export function createMemoryStore(): SessionStore {
  const sessions = new Map<string, KeptSession>()
  const leases = new Map<string, SessionLease>()
  const getKept = (id: string): KeptSession => sessions.get(id) ?? { sequence: 0, events: [] }
  return {
    async load(id) {
      const kept = sessions.get(id)
      return kept && copy(kept)
    },
    async append(id, events) {
      checkSessionId(id)
      const kept = getKept(id)
      checkEvents(id, getRange(kept), events)
      if (events.length === 0) return
      for (const event of copy(events)) kept.events.push(event)
      sessions.set(id, kept)
    },
    async save(id, snapshot, sequence) {
      checkSessionId(id)
      const kept = getKept(id)
      checkSnapshot(id, getRange(kept), { snapshot, sequence })
      const events = kept.events.filter((event) => event.sequence > sequence)
      sessions.set(id, { snapshot: copy(snapshot), sequence, events })
    },
    async list(page) {
      return selectPage(sessions.keys(), page)
    },
    async listEnds(page) {
      return selectPage(sessions.keys(), page).map((id) => ({ id, last: getRange(getKept(id)).last }))
    },
    async delete(id) {
      sessions.delete(id)
      leases.delete(id)
    },
    async swapLease(id, from, to) {
      checkSessionId(id)
      if (isSameLease(leases.get(id), from)) {
        if (to) leases.set(id, { ...to })
        else leases.delete(id)
      }
      return leases.get(id)
    },
    async close() {},
  }
}

/** The list grows in place, because a session of thousands of turns is written event by event. */
interface KeptSession extends StoredSession {
  readonly events: StoredEvent[]
}

const getRange = (kept: StoredSession): StoredRange => ({
  snapshot: kept.sequence,
  last: kept.events.at(-1)?.sequence ?? kept.sequence,
})

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
