import { resolve } from 'node:path'
import { FoldoutError, getErrorMessage } from '../../../core/errors.ts'
import type { Event } from '../../event.ts'
import type { Snapshot } from '../../snapshot.ts'
import { isSameLease } from '../lease.ts'
import type { SessionLease, SessionEnd, SessionStore, StoredEvent, StoredSession } from '../store.ts'
import { checkEvents, checkLimit, checkSessionId, checkSnapshot, type StoredRange } from '../store-checks.ts'
import { corrupt, inTransaction, nameFile, openDatabase, type Connection } from './database.ts'

/**
 * Options of {@link createLibsqlStore}.
 *
 * @example
 * ```ts
 * const options: LibsqlStoreOptions = { path: 'data/sessions.db', createFolder: true }
 * const store = await createLibsqlStore(options)
 * await store.close()
 * ```
 */
export interface LibsqlStoreOptions {
  /**
   * The path of the file, which is created if it does not exist. The `-wal` and `-shm` files next to it, present while it is
   * open and after a crash, belong to it.
   */
  readonly path: string
  /** Whether to create missing parent folders. Default false: a missing folder is an error. */
  readonly createFolder?: boolean
}

/**
 * Creates a store that keeps sessions in one SQLite file. Once a promise resolves, its data is on disk. Several processes
 * can open the same file; a session has one live run at a time. Requires the package `libsql`.
 *
 * @example
 * ```ts
 * const store = await createLibsqlStore({ path: 'data/sessions.db', createFolder: true })
 * const session = await openSession({ store, id: 'chat-1' })
 * ```
 */
export async function createLibsqlStore(options: LibsqlStoreOptions): Promise<SessionStore> {
  const file = resolve(options.path)
  const db = await openDatabase(file, options.createFolder ?? false)
  let isOpen = true
  const sql = nameFile(file, 'be opened', () => prepareStatements(db))

  function read<T>(job: () => T): T {
    refuseClosed()
    return nameFile(file, 'be read', () => inTransaction(db, 'DEFERRED', job))
  }
  function write<T>(job: () => T): T {
    refuseClosed()
    return nameFile(file, 'be written', () => inTransaction(db, 'IMMEDIATE', job))
  }
  function refuseClosed(): void {
    if (isOpen) return
    throw new FoldoutError(
      'store-closed',
      `The session store ${file} is closed. Open it again with createLibsqlStore().`,
    )
  }

  return {
    async load(id) {
      const rows = read(() => ({
        session: (sql.session.all(id) as SessionRow[])[0],
        events: sql.events.all(id) as EventRow[],
      }))
      return rows.session && decode(file, id, rows.session, rows.events)
    },
    async append(id, events) {
      checkSessionId(id)
      if (events.length === 0) return
      write(() => {
        checkEvents(id, getRange(sql, id), events)
        sql.addSession.run(id)
        for (const { sequence, event, scope } of events.map(encode)) sql.addEvent.run(id, sequence, event, scope)
      })
    },
    async save(id, snapshot, sequence) {
      checkSessionId(id)
      write(() => {
        checkSnapshot(id, getRange(sql, id), { snapshot, sequence })
        sql.addSession.run(id)
        sql.setSnapshot.run(JSON.stringify(snapshot), sequence, id)
        sql.dropEvents.run(id, sequence)
      })
    },
    async list({ after = '', limit } = {}) {
      checkLimit(limit)
      return read(() => sql.ids.all(after, limit ?? -1) as { id: string }[]).map(({ id }) => id)
    },
    async listEnds({ after = '', limit } = {}) {
      checkLimit(limit)
      return read(() => sql.ends.all(after, limit ?? -1) as SessionEnd[]).map(({ id, last }) => ({ id, last }))
    },
    async delete(id) {
      write(() => {
        sql.dropEvents.run(id, Number.MAX_SAFE_INTEGER)
        sql.dropSession.run(id)
        sql.dropLease.run(id)
      })
    },
    async swapLease(id, from, to) {
      checkSessionId(id)
      return write(() => swapLease(sql, id, from, to))
    },
    async close() {
      if (!isOpen) return
      isOpen = false
      // libsql closes the file only when its statements are garbage-collected; a copy made before then must be complete.
      try {
        nameFile(file, 'be closed', () => db.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
      } finally {
        db.close()
      }
    },
  }
}

function getRange(sql: Statements, id: string): StoredRange {
  const [session] = sql.session.all(id) as SessionRow[]
  const [{ last }] = sql.last.all(id) as [{ last: number | null }]
  const snapshot = session?.sequence ?? 0
  return { snapshot, last: last ?? snapshot }
}

/** Replaces a lease if it is the expected one. Returns the lease that is held then. */
function swapLease(
  sql: Statements,
  id: string,
  from: SessionLease | undefined,
  to: SessionLease | undefined,
): SessionLease | undefined {
  const [held] = sql.lease.all(id) as SessionLease[]
  if (!isSameLease(held, from)) return held && toLease(held)
  if (to) sql.setLease.run(id, to.owner, to.beat, to.ms)
  else sql.dropLease.run(id)
  return to
}

type Statements = ReturnType<typeof prepareStatements>

function prepareStatements(db: Connection) {
  return {
    session: db.prepare('SELECT snapshot, sequence FROM sessions WHERE id = ?'),
    events: db.prepare('SELECT sequence, event, scope FROM events WHERE session = ? ORDER BY sequence'),
    last: db.prepare('SELECT max(sequence) AS last FROM events WHERE session = ?'),
    ids: db.prepare('SELECT id FROM sessions WHERE id > ? ORDER BY id LIMIT ?'),
    ends: db.prepare(`SELECT id, max(sequence, coalesce(
        (SELECT max(events.sequence) FROM events WHERE session = id), 0)) AS last
      FROM sessions WHERE id > ? ORDER BY id LIMIT ?`),
    addSession: db.prepare('INSERT OR IGNORE INTO sessions (id, sequence) VALUES (?, 0)'),
    addEvent: db.prepare('INSERT INTO events (session, sequence, event, scope) VALUES (?, ?, ?, ?)'),
    setSnapshot: db.prepare('UPDATE sessions SET snapshot = ?, sequence = ? WHERE id = ?'),
    dropEvents: db.prepare('DELETE FROM events WHERE session = ? AND sequence <= ?'),
    dropSession: db.prepare('DELETE FROM sessions WHERE id = ?'),
    lease: db.prepare('SELECT owner, beat, ms FROM leases WHERE session = ?'),
    setLease: db.prepare('INSERT OR REPLACE INTO leases (session, owner, beat, ms) VALUES (?, ?, ?, ?)'),
    dropLease: db.prepare('DELETE FROM leases WHERE session = ?'),
  }
}

interface SessionRow {
  readonly snapshot: string | null
  readonly sequence: number
}
interface EventRow {
  readonly sequence: number
  readonly event: string
  readonly scope: string
}

const toLease = ({ owner, beat, ms }: SessionLease): SessionLease => ({ owner, beat, ms })

function encode({ sequence, event, scope }: StoredEvent): EventRow {
  return { sequence, event: JSON.stringify({ type: event.type, payload: event.payload }), scope }
}

function decode(file: string, id: string, session: SessionRow, rows: readonly EventRow[]): StoredSession {
  const parse = (json: string): unknown => {
    try {
      return JSON.parse(json)
    } catch (error) {
      throw corrupt(file, `session '${id}' contains invalid JSON (${getErrorMessage(error)})`, error)
    }
  }
  const events = rows.map(({ sequence, event, scope }, i): StoredEvent => {
    const expected = session.sequence + 1 + i
    if (sequence !== expected) throw corrupt(file, `session '${id}' is missing event ${expected}`)
    return { sequence, event: parse(event) as Event, scope: scope as StoredEvent['scope'] }
  })
  const snapshot = session.snapshot === null ? undefined : (parse(session.snapshot) as Snapshot)
  return { ...(snapshot && { snapshot }), sequence: session.sequence, events }
}
