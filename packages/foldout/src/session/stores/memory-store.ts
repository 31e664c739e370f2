import { checkAppend, checkEvent, checkId, checkSave, type StoredRange } from './store-checks.ts'
import type { SessionStore, StoredEvent } from './store.ts'
import type { Snapshot } from '../snapshot.ts'

/** Keeps sessions for as long as the process lives. Contents are copied in and out, as a file would. */
export function createMemoryStore(): SessionStore {
  interface Kept {
    readonly snapshot?: Snapshot
    readonly sequence: number
    readonly events: readonly StoredEvent[]
  }
  const sessions = new Map<string, Kept>()
  const keptAs = (id: string): Kept => sessions.get(id) ?? { sequence: 0, events: [] }
  return {
    async load(id) {
      const kept = sessions.get(id)
      return kept && copy(kept)
    },
    async append(id, events) {
      checkId(id)
      const kept = keptAs(id)
      checkAppend(id, getRange(kept), events)
      for (const { event } of events) checkEvent(event)
      if (events.length === 0) return
      sessions.set(id, { ...kept, events: kept.events.concat(copy(events)) })
    },
    async save(id, snapshot, sequence) {
      checkId(id)
      const kept = keptAs(id)
      checkSave(id, getRange(kept), sequence)
      const events = kept.events.filter((event) => event.sequence > sequence)
      sessions.set(id, { snapshot: copy(snapshot), sequence, events })
    },
    async list() {
      return [...sessions.keys()].sort()
    },
    async delete(id) {
      sessions.delete(id)
    },
    async close() {},
  }
}

const getRange = (kept: { readonly sequence: number; readonly events: readonly StoredEvent[] }): StoredRange => ({
  snapshot: kept.sequence,
  last: kept.events.at(-1)?.sequence ?? kept.sequence,
})

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
