import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { query, startPostgres, type PostgresServer } from '../../../../test/postgres/server.ts'
import type { StoredEvent } from 'foldout/session'
import { createPostgresStore } from './postgres-store.ts'

let server: PostgresServer
let url: string
let pool: pg.Pool
const pools: pg.Pool[] = []
let schemas = 0
const newSchema = (): string => `tables_${++schemas}`

function openPool(max: number): pg.Pool {
  const opened = new pg.Pool({ connectionString: url, max })
  pools.push(opened)
  return opened
}
beforeAll(async () => {
  server = await startPostgres()
  url = await server.createDatabase('tables')
  pool = openPool(4)
}, 300_000)
afterAll(async () => {
  await Promise.all(pools.map((open) => open.end()))
  await server.stop()
})

const stored = (sequence: number): StoredEvent => ({
  sequence,
  event: { type: 'test/happened', payload: sequence },
  scope: 'all',
})
const WAITING = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%pg_advisory_xact_lock%'`

describe('R62 the tables of createPostgresStore', () => {
  it('R62 is created once when twelve stores open it at the same time', async () => {
    const schema = newSchema()
    const others = await Promise.all(
      Array.from({ length: 12 }, () => createPostgresStore({ connectionString: url, schema })),
    )
    await Promise.all(others.map((store, i) => store.append(`s-${i}`, [stored(1)])))
    expect(await others[0]?.list()).toHaveLength(12)
    await Promise.all(others.map((store) => store.close()))
    await expect(others[0]?.list()).rejects.toMatchObject({ code: 'store-closed' })
  })

  it.each([
    ['first', writeFirstVersion],
    ['second', writeSecondVersion],
  ])('R62 updates tables of the %s version, which twelve do at a time', async (_version, writeTables) => {
    const schema = newSchema()
    await pool.query(`${writeTables(schema)};
      INSERT INTO ${schema}.sessions VALUES ('one', '{"version":1,"slices":{}}', 2);
      INSERT INTO ${schema}.events VALUES ('one', 3, '{"type":"test/happened","payload":3}', 'all', gen_random_uuid())`)
    const stores = await Promise.all(
      Array.from({ length: 12 }, () => createPostgresStore({ connectionString: url, schema })),
    )
    const ends = await Promise.allSettled(stores.map((store) => store.append('one', [stored(4), stored(5)])))
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await stores[0]?.load('one')).toMatchObject({ sequence: 2, events: [stored(3), stored(4), stored(5)] })
    await Promise.all(stores.map((store) => store.close()))
  })

  it('R62 shares sessions with a process that still calls the function of the second version', async () => {
    const schema = newSchema()
    await pool.query(writeSecondVersion(schema))
    const store = await createPostgresStore({ pool, schema })
    const call = `SELECT ${schema}.append_events('one', $1, ARRAY['{"type":"earlier"}'], ARRAY['all'], gen_random_uuid()) AS kept`
    const refused: unknown[] = []
    for (let n = 1; n <= 20; n++) {
      const ends = await Promise.allSettled([store.append('one', [stored(n)]), pool.query(call, [n])])
      refused.push(...ends.flatMap((end) => (end.status === 'rejected' ? [(end.reason as { code: string }).code] : [])))
    }
    expect(refused).toHaveLength(20)
    expect(new Set([...refused, 'store-conflict', '23505']).size).toBe(2)
    expect((await store.load('one'))?.events).toHaveLength(20)
  })

  it('R62 does not replace tables of a later version that were made while it waited', async () => {
    const schema = newSchema()
    await pool.query(writeSecondVersion(schema))
    const later = await openPool(1).connect()
    await later.query('BEGIN')
    await later.query('SELECT pg_advisory_xact_lock($1)', [0x46_4c_44_54])
    const opened = createPostgresStore({ pool, schema }).catch((error: unknown) => error)
    await expect.poll(async () => (await pool.query(WAITING)).rowCount).toBe(1)
    await later.query(`INSERT INTO ${schema}.store_version VALUES (99)`)
    await later.query('COMMIT')
    later.release()
    expect(await opened).toMatchObject({ code: 'store-version' })
    expect((await pool.query(`SELECT FROM pg_proc WHERE pronamespace = '${schema}'::regnamespace`)).rowCount).toBe(1)
  })

  it('R62 finds rows by their keys, also if tables were small when the statements were planned', async () => {
    const schema = newSchema()
    const own = openPool(1)
    const store = await createPostgresStore({ pool: own, schema })
    const append = async (from: number, to: number): Promise<void> => {
      for (let n = from; n <= to; n++) await store.append('one', [stored(n)])
    }
    await append(1, 20)
    // The planner now knows that a scan of the tables would be cheaper.
    await own.query(`ANALYZE ${schema}.sessions, ${schema}.events`)
    await append(21, 40)
    const sql = `SELECT relname, idx_scan >= 39 AS found, seq_scan < 5 AS few
      FROM pg_stat_user_tables WHERE schemaname = $1 AND relname IN ('events', 'sessions') ORDER BY relname`
    // Statistics arrive late. Creating a key counts as a scan.
    await expect
      .poll(async () => (await pool.query(sql, [schema])).rows, { timeout: 20_000 })
      .toEqual([
        { relname: 'events', found: true, few: true },
        { relname: 'sessions', found: true, few: true },
      ])
  })

  it('R62 needs no right to create tables where they exist', async () => {
    const schema = newSchema()
    await (await createPostgresStore({ pool, schema })).append('one', [stored(1)])
    await query(
      url,
      `CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA ${schema} TO reader;
      GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO reader`,
    )
    const store = await createPostgresStore({ connectionString: url.replace('foldout@', 'reader@'), schema })
    expect(await store.list()).toEqual(['one'])
    await expect(store.append('one', [stored(2)])).rejects.toMatchObject({
      code: 'store-failed',
      message: expect.stringContaining('permission denied') as string,
    })
    await store.close()
  })

  it('R62 refuses tables of a later version, a schema with a strange name, and no address', async () => {
    const schema = newSchema()
    await createPostgresStore({ pool, schema })
    await pool.query(`INSERT INTO ${schema}.store_version VALUES (99)`)
    await expect(createPostgresStore({ pool, schema })).rejects.toMatchObject({ code: 'store-version' })
    await expect(createPostgresStore({ pool, schema: 'a"; DROP' })).rejects.toMatchObject({ code: 'store-failed' })
    await expect(createPostgresStore({})).rejects.toMatchObject({ code: 'store-failed' })
  })
})

/** The tables as Foldout made them at first. */
function writeFirstVersion(schema: string): string {
  return `CREATE SCHEMA ${schema};
    CREATE TABLE ${schema}.sessions (id text COLLATE "C" NOT NULL PRIMARY KEY, snapshot text, sequence bigint NOT NULL);
    CREATE TABLE ${schema}.events (
      session text COLLATE "C" NOT NULL, sequence bigint NOT NULL, event text NOT NULL, scope text NOT NULL, batch uuid NOT NULL,
      PRIMARY KEY (session, sequence)
    );
    CREATE TABLE ${schema}.store_version (version integer NOT NULL PRIMARY KEY);
    INSERT INTO ${schema}.store_version VALUES (1)`
}

/** The tables with a function in place of the procedure. */
function writeSecondVersion(schema: string): string {
  return `${writeFirstVersion(schema)};
    CREATE FUNCTION ${schema}.append_events(
      given_session text, first_sequence bigint, given_events text[], given_scopes text[], given_batch uuid
    ) RETURNS boolean LANGUAGE plpgsql SET enable_seqscan = off AS $$
    BEGIN
      IF first_sequence = 1 THEN
        INSERT INTO ${schema}.sessions (id, sequence) VALUES (given_session, 0) ON CONFLICT (id) DO NOTHING;
      END IF;
      PERFORM FROM (SELECT sequence FROM ${schema}.sessions WHERE id = given_session FOR SHARE) AS kept
      WHERE kept.sequence = first_sequence - 1 OR (
        kept.sequence < first_sequence AND EXISTS (
          SELECT FROM ${schema}.events AS last WHERE last.session = given_session AND last.sequence = first_sequence - 1
        )
      );
      IF NOT FOUND THEN
        RETURN false;
      END IF;
      INSERT INTO ${schema}.events (session, sequence, event, scope, batch)
      SELECT given_session, first_sequence - 1 + given.place, given.event, given.scope, given_batch
      FROM unnest(given_events, given_scopes) WITH ORDINALITY AS given (event, scope, place);
      RETURN true;
    END $$;
    INSERT INTO ${schema}.store_version VALUES (2)`
}
