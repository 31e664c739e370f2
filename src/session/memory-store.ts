import { FoldoutError } from '../core/errors.ts'
import type { SessionStore, StoredEvent, StoredSession } from './store.ts'

/** Keeps sessions for as long as the process lives. Contents are copied in and out, as a file would. */
export function memoryStore(): SessionStore {
  interface Kept extends StoredSession {
    readonly events: StoredEvent[]
  }
  const sessions = new Map<string, Kept>()
  const keptAs = (id: string): Kept => {
    const known = sessions.get(id) ?? { sequence: 0, events: [] }
    sessions.set(id, known)
    return known
  }
  return {
    async load(id) {
      return structuredClone(sessions.get(id))
    },
    async append(id, events) {
      const known = keptAs(id)
      refuseGap(id, known.events.at(-1)?.sequence ?? known.sequence, events)
      for (const event of events) known.events.push(structuredClone(event))
    },
    async save(id, snapshot, sequence) {
      const events = keptAs(id).events.filter((event) => event.sequence > sequence)
      sessions.set(id, { snapshot: structuredClone(snapshot), sequence, events })
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

/** Refuses events that do not go on where the session's journal ends: someone else has written meanwhile. */
export function refuseGap(id: string, last: number, events: readonly StoredEvent[]): void {
  const expected = last + 1
  const first = events[0]?.sequence
  if (first === undefined || first === expected) return
  throw new FoldoutError(
    'store-conflict',
    `Session '${id}' cannot take event ${first}: its next is ${expected}. Another writer has changed it; open it again.`,
  )
}
