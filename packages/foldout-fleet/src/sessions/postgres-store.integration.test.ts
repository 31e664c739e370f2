import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPgbouncer } from '../../../../test/postgres/binaries.ts'
import { startPgbouncer, startPostgres, type Pgbouncer, type PostgresServer } from '../../../../test/postgres/server.ts'
import { defineSlice } from 'foldout'
import { sessionStoreSuite } from 'foldout/testing/suites'
import { openSession, type SessionStore, type StoredEvent } from 'foldout/session'
import { createPostgresStore } from './postgres-store.ts'

let server: PostgresServer
let pooler: Pgbouncer | undefined
const pools: pg.Pool[] = []
let schemas = 0
const newSchema = (): string => `store_${++schemas}`

function openPool(url: string, max = 4): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => undefined)
  pools.push(pool)
  return pool
}

let url: string
let pool: pg.Pool
beforeAll(async () => {
  server = await startPostgres()
  url = await server.createDatabase('sessions')
  pool = openPool(url)
  pooler = await startPgbouncer(server)
}, 300_000)
afterAll(async () => {
  await Promise.all(pools.map((open) => open.end()))
  await pooler?.stop()
  await server.stop()
})

const stored = (sequence: number, payload: unknown = sequence): StoredEvent => ({
  sequence,
  event: { type: 'test/happened', payload },
  scope: 'all',
})
const counter = defineSlice({
  name: 'counter',
  initial: 0,
  reducers: { counted: (_state, payload: number) => payload },
})

describe('R62 sessions in PostgreSQL', () => {
  sessionStoreSuite('createPostgresStore', () => createPostgresStore({ pool, schema: newSchema() }))

  describe.skipIf(findPgbouncer() === undefined)('with pgbouncer', () => {
    const openShared = (): pg.Pool => openPool(pooler?.getUrl('sessions') ?? 'pgbouncer is not there')

    sessionStoreSuite('createPostgresStore behind pgbouncer in transaction mode', () =>
      createPostgresStore({ pool: openShared(), schema: newSchema() }),
    )

    it('R62 switches between connections without noticing', async () => {
      const shared = openShared()
      const getPid = async (): Promise<unknown> =>
        ((await shared.query('SELECT pg_backend_pid() AS pid')).rows[0] as { pid: number }).pid
      const pids = new Set<unknown>()
      const store = await createPostgresStore({ pool: shared, schema: newSchema() })
      const session = await openSession({ store, id: 'one', slices: [counter] })
      // A transaction keeps its connection, so the others need another one.
      const busy = await shared.connect()
      await busy.query('BEGIN')
      pids.add(((await busy.query('SELECT pg_backend_pid() AS pid')).rows[0] as { pid: number }).pid)
      for (let n = 1; n <= 40; n++) {
        if (n === 20) {
          await busy.query('COMMIT')
          busy.release()
        }
        session.dispatch(counter.events.counted(n))
        await Promise.all([session.saved(), ...Array.from({ length: 4 }, async () => pids.add(await getPid()))])
      }
      await session.compact()
      expect(pids.size).toBeGreaterThan(1)
      expect((await openSession({ store, id: 'one', slices: [counter] })).get(counter)).toBe(40)
    })
  })
})

describe('R62 createPostgresStore', () => {
  it('R62 carries any JSON without loss', async () => {
    const store = await createPostgresStore({ pool, schema: newSchema() })
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.json(), async (type, json) => {
        const payload: unknown = JSON.parse(json)
        const id = `run-${++run}`
        await store.append(id, [{ sequence: 1, event: { type, payload }, scope: 'all' }])
        expect(JSON.stringify((await store.load(id))?.events[0]?.event)).toBe(JSON.stringify({ type, payload }))
      }),
    )
  })

  it('R62 carries 4 MB, and 10,000 events in one statement', async () => {
    const store = await createPostgresStore({ pool, schema: newSchema() })
    await store.append('large', [stored(1, 'x'.repeat(4_000_000))])
    expect((await store.load('large'))?.events[0]?.event.payload).toHaveLength(4_000_000)
    const many = Array.from({ length: 10_000 }, (_, i) => stored(i + 1))
    await store.append('many', many)
    expect((await store.load('many'))?.events).toHaveLength(10_000)
  })

  it('R62 notices that an event is missing, and text that is not JSON', async () => {
    const schema = newSchema()
    const store = await createPostgresStore({ pool, schema })
    await store.append('gap', [stored(1), stored(2), stored(3)])
    await pool.query(`DELETE FROM ${schema}.events WHERE sequence = 2`)
    await expect(store.load('gap')).rejects.toMatchObject({ code: 'store-corrupt' })
    await store.append('text', [stored(1)])
    await pool.query(`UPDATE ${schema}.events SET event = '{' WHERE session = 'text'`)
    await expect(store.load('text')).rejects.toMatchObject({ code: 'store-corrupt' })
  })

  it('R62 writes the events of a tick in one statement', async () => {
    const statements: string[] = []
    const counting = {
      connect: () => pool.connect(),
      query: (sql: string, values?: unknown[]) => {
        statements.push(sql)
        return pool.query(sql, values)
      },
    }
    const store = await createPostgresStore({ pool: counting, schema: newSchema() })
    const session = await openSession({ store, id: 'one', slices: [counter] })
    session.dispatch(counter.events.counted(1))
    await session.saved()
    statements.length = 0
    for (let n = 2; n <= 50; n++) session.dispatch(counter.events.counted(n))
    await Promise.resolve()
    session.dispatch(counter.events.counted(51))
    await session.saved()
    expect(statements).toHaveLength(1)
    expect((await store.load('one'))?.events).toHaveLength(51)
  })
})

describe('R62 the key (session, sequence)', () => {
  let store: SessionStore
  let schema: string
  beforeAll(async () => {
    schema = newSchema()
    store = await createPostgresStore({ pool: openPool(url, 20), schema })
  })

  it('R62 lets one of twenty writers through, each time', async () => {
    for (let sequence = 1; sequence <= 10; sequence++) {
      const ends = await Promise.allSettled(
        Array.from({ length: 20 }, (_, writer) => store.append('race', [stored(sequence, writer)])),
      )
      const refusals = ends.filter((end) => end.status === 'rejected').map((end) => end.reason as unknown)
      expect(refusals).toEqual(Array.from({ length: 19 }, () => expect.objectContaining({ code: 'store-conflict' })))
    }
    expect((await store.load('race'))?.events).toHaveLength(10)
  })

  it('R62 fences a writer whose statement waits while another one appends and compacts', async () => {
    await store.append('fence', [stored(1)])
    const owner = await openPool(url, 1).connect()
    // The owner holds the row; the sleeper's statement has begun and sees the journal as it was before.
    await owner.query('BEGIN')
    await owner.query(`SELECT FROM ${schema}.sessions WHERE id = 'fence' FOR UPDATE`)
    const sleeper = store.append('fence', [stored(2, 'late')]).catch((error: unknown) => error)
    await expect.poll(async () => (await pool.query(WAITING)).rowCount).toBe(1)
    const batch = 'gen_random_uuid()'
    await owner.query(`INSERT INTO ${schema}.events VALUES ('fence', 2, '{"type":"a"}', 'all', ${batch})`)
    await owner.query(`UPDATE ${schema}.sessions SET sequence = 2, snapshot = '{}' WHERE id = 'fence'`)
    await owner.query(`DELETE FROM ${schema}.events WHERE session = 'fence'`)
    await owner.query('COMMIT')
    owner.release()
    expect(await sleeper).toMatchObject({ code: 'store-conflict' })
    expect((await store.load('fence'))?.events).toEqual([])
  })

  it('R62 leaves nothing behind when a session is deleted while it is written', async () => {
    for (let round = 0; round < 30; round++) {
      await store.append('gone', [stored(1)])
      const end = await Promise.allSettled([store.append('gone', [stored(2)]), store.delete('gone')])
      expect(end[1].status).toBe('fulfilled')
      expect(await store.load('gone')).toBeUndefined()
      expect((await pool.query(`SELECT FROM ${schema}.events WHERE session = 'gone'`)).rowCount).toBe(0)
    }
  })

  it('R62 does not bring a session back that is deleted while a snapshot waits for it', async () => {
    await store.append('deleted', [stored(1), stored(2)])
    const owner = await openPool(url, 1).connect()
    await owner.query('BEGIN')
    await owner.query(`DELETE FROM ${schema}.events WHERE session = 'deleted'`)
    await owner.query(`DELETE FROM ${schema}.sessions WHERE id = 'deleted'`)
    const saving = store.save('deleted', { version: 1, slices: {} }, 2).catch((error: unknown) => error)
    await expect.poll(async () => (await pool.query(WAITING_TO_SAVE)).rowCount).toBe(1)
    await owner.query('COMMIT')
    owner.release()
    expect(await saving).toMatchObject({ code: 'store-conflict' })
    expect(await store.load('deleted')).toBeUndefined()
  })

  it('R62 keeps a journal whole while it is read, appended and compacted at the same time', async () => {
    const session = await openSession({ store, id: 'busy', slices: [counter] })
    const writing = new AbortController()
    const reader = (async () => {
      while (!writing.signal.aborted) await openSession({ store, id: 'busy', slices: [counter] })
    })()
    for (let n = 1; n <= 100; n++) {
      session.dispatch(counter.events.counted(n))
      if (n % 7 === 0) await session.compact()
      else await session.saved()
    }
    writing.abort()
    await reader
    expect((await openSession({ store, id: 'busy', slices: [counter] })).get(counter)).toBe(100)
  })
})

const WAITING = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%append_events%'`
const WAITING_TO_SAVE = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%WITH saved%'`

describe('R62 a database that goes away', () => {
  it('R62 is reached again after a restart; nothing that was acknowledged is lost, and nothing is written twice', async () => {
    const store = await createPostgresStore({ pool: openPool(url), schema: newSchema() })
    const session = await openSession({ store, id: 'one', slices: [counter] })
    const restarts = (async () => {
      await server.restart('fast')
      await server.restart('crash')
    })()
    const away = new AbortController()
    void restarts.then(() => away.abort())
    let n = 0
    while (!away.signal.aborted || n < 50) {
      session.dispatch(counter.events.counted(++n))
      await session.saved()
    }
    await restarts
    const { events } = (await store.load('one')) ?? { events: [] }
    expect(events.map(({ event }) => event.payload)).toEqual(Array.from({ length: n }, (_, i) => i + 1))
  }, 60_000)

  it('R62 recognizes events that were written although the answer was lost', async () => {
    const own = openPool(url)
    let cut = 0
    const losing = {
      connect: () => own.connect(),
      async query(sql: string, values?: unknown[]) {
        const answer = await own.query(sql, values)
        if (!sql.includes('append_events') || cut++ % 2 === 1) return answer
        throw Object.assign(new Error('the connection was reset'), { code: 'ECONNRESET' })
      },
    }
    const store = await createPostgresStore({ pool: losing, schema: newSchema() })
    await store.append('one', [stored(1), stored(2)])
    await store.append('one', [stored(3)])
    expect((await store.load('one'))?.events).toEqual([stored(1), stored(2), stored(3)])
    await expect(store.append('one', [stored(3, 'another')])).rejects.toMatchObject({ code: 'store-conflict' })
  })

  it('R62 recognizes them also if a snapshot has replaced them since', async () => {
    const own = openPool(url)
    const schema = newSchema()
    const other = await createPostgresStore({ pool: own, schema })
    let isLost = true
    const losing = {
      connect: () => own.connect(),
      async query(sql: string, values?: unknown[]) {
        const answer = await own.query(sql, values)
        if (!sql.includes('append_events') || !isLost) return answer
        isLost = false
        // Twice: the second snapshot must not forget what the first one has replaced.
        await other.save('one', { version: 1, slices: {} }, 2)
        await other.append('one', [stored(3)])
        await other.save('one', { version: 1, slices: {} }, 3)
        throw Object.assign(new Error('the connection was reset'), { code: 'ECONNRESET' })
      },
    }
    const store = await createPostgresStore({ pool: losing, schema })
    await store.append('one', [stored(1), stored(2)])
    expect(await other.load('one')).toMatchObject({ sequence: 3, events: [] })
    await expect(store.append('one', [stored(2)])).rejects.toMatchObject({ code: 'store-conflict' })
    await store.append('one', [stored(4)])
    for (let n = 5; n <= 100; n++) await other.append('one', [stored(n)])
    await other.save('one', { version: 1, slices: {} }, 100)
    const { rows } = await own.query(`SELECT cardinality(batches) AS kept FROM ${schema}.sessions`)
    expect(rows).toEqual([{ kept: 32 }])
  })

  it('R62 is abandoned in the end', async () => {
    const gone = Object.assign(new Error('nobody there'), { code: 'ECONNREFUSED' })
    const away = { connect: () => Promise.reject(gone), query: () => Promise.reject(gone) }
    await expect(createPostgresStore({ pool: away, retryMs: 100 })).rejects.toMatchObject({
      code: 'store-failed',
      cause: gone,
    })
  })
})
