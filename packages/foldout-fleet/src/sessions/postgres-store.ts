import { isCode } from 'foldout-shared/error-codes'
import { FoldoutError } from 'foldout'
import {
  checkEvents,
  checkSessionId,
  checkSnapshot,
  type Event,
  type SessionLease,
  type SessionStore,
  type Snapshot,
  type StoredEvent,
  type StoredRange,
  type StoredSession,
} from 'foldout/session'
import { getErrorMessage } from '../error-message.ts'
import { openPostgres, type PostgresDatabase, type PostgresStoreOptions } from './database.ts'
import { SESSION_TABLES } from './tables.ts'

/**
 * Creates a store that keeps sessions in PostgreSQL, for programs that run on several machines. Once a promise resolves, its
 * data is committed. Each event is a row with the key (session, sequence), so of two writers of a session one is refused with
 * `store-conflict`, whenever it wakes up. It works behind pgbouncer in transaction mode.
 *
 * @example
 * ```ts
 * const store = await createPostgresStore({ pool: new pg.Pool({ connectionString: process.env.DATABASE_URL }) })
 * const session = await openSession({ store, id: 'chat-1' })
 * ```
 */
export async function createPostgresStore(options: PostgresStoreOptions): Promise<SessionStore> {
  const database = await openPostgres(options, SESSION_TABLES)
  const sql = writeStatements(database.schema)

  async function getRange(id: string): Promise<StoredRange> {
    const { rows } = await database.run('be read', sql.range, [id])
    const [row] = rows as readonly RangeRow[]
    const snapshot = Number(row?.snapshot ?? 0)
    return { snapshot, last: Math.max(snapshot, Number(row?.last ?? 0)) }
  }
  /** Throws the reason why events were rejected. Another writer may have removed that reason since. */
  async function explainRefusal(id: string, events: readonly StoredEvent[]): Promise<never> {
    checkEvents(id, await getRange(id), events)
    throw new FoldoutError(
      'store-conflict',
      `Session '${id}' cannot take event ${events[0]?.sequence}: another writer was faster. Open the session again.`,
    )
  }
  /** Whether these events are in the store because the answer to an earlier attempt was lost. */
  async function isWritten(id: string, events: readonly StoredEvent[], batch: string): Promise<boolean> {
    const { rows } = await database.run('be read', sql.batch, [id, events.at(-1)?.sequence, batch])
    return rows.length > 0
  }

  return {
    async load(id) {
      const { rows } = await database.run('be read', sql.load, [id])
      return decode(id, rows as readonly LoadedRow[])
    },
    async append(id, events) {
      checkSessionId(id)
      const [first, ...more] = events
      if (!first) return
      checkEvents(id, { snapshot: 0, last: first.sequence - 1 }, events)
      const batch = crypto.randomUUID()
      const values = [id, first.sequence, encode(first), first.scope, batch, ...encodeColumns(more)]
      const isKept = await insertEvents(database, sql.append, values)
      if (!isKept && !(await isWritten(id, events, batch))) await explainRefusal(id, events)
    },
    async save(id, snapshot, sequence) {
      checkSessionId(id)
      checkSnapshot(id, { snapshot: 0, last: Math.max(0, sequence) }, { snapshot, sequence })
      const statement = sequence === 0 ? sql.begin : sql.save
      const { rows } = await database.run('be written', statement, [id, JSON.stringify(snapshot), sequence])
      if (rows.length > 0) return
      checkSnapshot(id, await getRange(id), { snapshot, sequence })
      throw new FoldoutError(
        'store-conflict',
        `Session '${id}' cannot take a snapshot of its first ${sequence} events: another writer was faster. Open the session again.`,
      )
    },
    async list({ after, limit } = {}) {
      const { rows } = await database.run('be read', sql.list, [after ?? null, limit ?? null])
      return (rows as readonly { readonly id: string }[]).map(({ id }) => id)
    },
    async listEnds({ after, limit } = {}) {
      const { rows } = await database.run('be read', sql.ends, [after ?? null, limit ?? null])
      return (rows as readonly { readonly id: string; readonly last: string }[]).map((row) => ({
        id: row.id,
        last: Number(row.last),
      }))
    },
    async delete(id) {
      await database.inTransaction('be written', async (client) => {
        // An append that has begun ends first; one that begins now finds no session.
        await client.query(sql.lock, [id])
        await client.query(sql.dropEvents, [id])
        await client.query(sql.dropSession, [id])
        await client.query(sql.dropLease, [id])
      })
    },
    async swapLease(id, from, to) {
      checkSessionId(id)
      return swapLease(database, sql, { id, from, to })
    },
    close: () => database.close(),
  }
}

/** Replaces a lease if it is the expected one. Returns the lease that is held then. */
async function swapLease(
  database: PostgresDatabase,
  sql: ReturnType<typeof writeStatements>,
  {
    id,
    from,
    to,
  }: { readonly id: string; readonly from?: SessionLease | undefined; readonly to?: SessionLease | undefined },
): Promise<SessionLease | undefined> {
  // Each statement is its own comparison. What is held afterwards says whether it took effect, here or in an earlier attempt.
  if (from && to) await database.run('be written', sql.renewLease, [id, ...toValues(from), ...toValues(to), to.ms])
  else if (to) await database.run('be written', sql.takeLease, [id, ...toValues(to), to.ms])
  else if (from) await database.run('be written', sql.releaseLease, [id, ...toValues(from)])
  const { rows } = await database.run('be read', sql.lease, [id])
  const [held] = rows as readonly LeaseRow[]
  return held && { owner: held.owner, beat: Number(held.beat), ms: held.ms }
}

/** Adds events in one statement. False if the session does not end right before them. */
async function insertEvents(database: PostgresDatabase, sql: string, values: unknown[]): Promise<boolean> {
  try {
    await database.run('be written', sql, values)
    return true
  } catch (error) {
    // The key is taken, or the procedure says so.
    if (error instanceof FoldoutError && isCode(error.cause, '23505')) return false
    throw error
  }
}

/** A snapshot keeps the names of this many batches. An append is tried again within seconds, so a few would do. */
const KEPT_BATCHES = 32

function writeStatements(schema: string) {
  return {
    // One statement, so the session and its events are from the same moment.
    load: `
      SELECT 0 AS kind, sequence, snapshot AS text, NULL AS scope FROM ${schema}.sessions WHERE id = $1
      UNION ALL
      SELECT 1, sequence, event, scope FROM ${schema}.events WHERE session = $1
      ORDER BY kind, sequence`,
    append: `CALL ${schema}.append_events($1, $2, $3, $4, $5, $6, $7)`,
    // The only snapshot that may create a session is the one of no events.
    begin: `
      INSERT INTO ${schema}.sessions AS kept (id, snapshot, sequence) VALUES ($1, $2, $3)
      ON CONFLICT (id) DO UPDATE SET snapshot = excluded.snapshot WHERE kept.sequence = excluded.sequence
      RETURNING kept.id`,
    // It inserts nothing, so a session that is deleted while the statement waits for its row stays deleted.
    save: `
      WITH saved AS (
        UPDATE ${schema}.sessions AS kept SET snapshot = $2, sequence = $3::bigint, batches = (
          ARRAY(
            SELECT batch FROM ${schema}.events WHERE session = $1 AND sequence <= $3::bigint
            GROUP BY batch ORDER BY max(sequence) DESC LIMIT ${KEPT_BATCHES}
          ) || kept.batches
        )[1:${KEPT_BATCHES}]
        WHERE kept.id = $1 AND (
          kept.sequence = $3::bigint OR (
            kept.sequence < $3::bigint AND EXISTS (
              SELECT FROM ${schema}.events AS last WHERE last.session = $1 AND last.sequence = $3::bigint
            )
          )
        )
        RETURNING kept.id
      ), dropped AS (
        DELETE FROM ${schema}.events USING saved WHERE session = saved.id AND sequence <= $3::bigint
      )
      SELECT FROM saved`,
    range: `
      SELECT (SELECT sequence FROM ${schema}.sessions WHERE id = $1) AS snapshot,
        (SELECT max(sequence) FROM ${schema}.events WHERE session = $1) AS last`,
    batch: `
      SELECT 1 FROM ${schema}.events WHERE session = $1 AND sequence = $2 AND batch = $3::uuid
      UNION ALL
      SELECT 1 FROM ${schema}.sessions WHERE id = $1 AND $3::uuid = ANY (batches)`,
    list: `
      SELECT id FROM ${schema}.sessions WHERE $1::text IS NULL OR id > $1::text COLLATE "C"
      ORDER BY id LIMIT $2::bigint`,
    ends: `
      SELECT id, greatest(sequence, (SELECT max(events.sequence) FROM ${schema}.events WHERE session = id)) AS last
      FROM ${schema}.sessions WHERE $1::text IS NULL OR id > $1::text COLLATE "C"
      ORDER BY id LIMIT $2::bigint`,
    lock: `SELECT FROM ${schema}.sessions WHERE id = $1 FOR UPDATE`,
    dropEvents: `DELETE FROM ${schema}.events WHERE session = $1`,
    takeLease: `
      INSERT INTO ${schema}.leases (session, owner, beat, ms) VALUES ($1, $2, $3, $4) ON CONFLICT (session) DO NOTHING`,
    renewLease: `
      UPDATE ${schema}.leases SET owner = $4, beat = $5, ms = $6 WHERE session = $1 AND owner = $2 AND beat = $3`,
    releaseLease: `DELETE FROM ${schema}.leases WHERE session = $1 AND owner = $2 AND beat = $3`,
    lease: `SELECT owner, beat, ms FROM ${schema}.leases WHERE session = $1`,
    dropLease: `DELETE FROM ${schema}.leases WHERE session = $1`,
    dropSession: `DELETE FROM ${schema}.sessions WHERE id = $1`,
  }
}

/** Numbers arrive as strings, because a bigint may not fit into a number. */
interface RangeRow {
  readonly snapshot: string | null
  readonly last: string | null
}
interface LeaseRow {
  readonly owner: string
  readonly beat: string
  readonly ms: number
}
interface LoadedRow {
  /** 0: the session with its snapshot; 1: an event. */
  readonly kind: number
  readonly sequence: string
  readonly text: string | null
  readonly scope: string | null
}

const toValues = ({ owner, beat }: SessionLease): readonly unknown[] => [owner, beat]

function encode({ event }: StoredEvent): string {
  return JSON.stringify({ type: event.type, payload: event.payload })
}

/** The columns of events: their JSON, and their scopes. */
function encodeColumns(events: readonly StoredEvent[]): readonly [string[], string[]] | readonly [null, null] {
  if (events.length === 0) return [null, null]
  return [events.map(encode), events.map(({ scope }) => scope)]
}

function decode(id: string, [head, ...rows]: readonly LoadedRow[]): StoredSession | undefined {
  if (head?.kind !== 0) return undefined
  const sequence = Number(head.sequence)
  const events = rows.map((row, i): StoredEvent => {
    const expected = sequence + 1 + i
    if (Number(row.sequence) !== expected) throw corrupt(`session '${id}' is missing event ${expected}`)
    return { sequence: expected, event: parse(id, row.text) as Event, scope: row.scope as StoredEvent['scope'] }
  })
  const snapshot = head.text === null ? undefined : (parse(id, head.text) as Snapshot)
  return { ...(snapshot && { snapshot }), sequence, events }
}

function parse(id: string, json: string | null): unknown {
  try {
    return JSON.parse(json ?? '')
  } catch (error) {
    throw corrupt(`session '${id}' contains invalid JSON (${getErrorMessage(error)})`, error)
  }
}

function corrupt(why: string, cause?: unknown): FoldoutError {
  return new FoldoutError(
    'store-corrupt',
    `The session store in PostgreSQL is damaged: ${why}. Nothing was changed. Restore the table from a backup.`,
    { cause },
  )
}
