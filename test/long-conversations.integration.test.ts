import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkConversations, PROPERTIES } from '../packages/foldout/src/agent/refold-properties.fixtures.ts'
import { createLibsqlStore } from '../packages/foldout/src/session/stores/libsql/libsql-store.ts'
import { createPostgresStore } from '../packages/foldout-fleet/src/sessions/postgres-store.ts'
import { startPostgres, type PostgresServer } from './postgres/server.ts'
import { removeFolder } from './remove-folder.ts'

const RUNS = 12
const properties = Object.values(PROPERTIES)

const folder = mkdtempSync(join(tmpdir(), 'foldout-long-'))
let server: PostgresServer
let pool: pg.Pool
beforeAll(async () => {
  server = await startPostgres()
  pool = new pg.Pool({ connectionString: await server.createDatabase('long'), max: 4 })
}, 300_000)
afterAll(async () => {
  await pool.end()
  await server.stop()
  await removeFolder(folder)
})

describe('R67 generated long conversations keep their properties, with kills, resumes and user turns', () => {
  it('in a file', async () => {
    expect.hasAssertions()
    const store = await createLibsqlStore({ path: join(folder, 'long.db') })
    await checkConversations(properties, { stores: [store], numRuns: RUNS })
    await store.close()
  }, 300_000)

  it('in PostgreSQL', async () => {
    expect.hasAssertions()
    const store = await createPostgresStore({ pool, schema: 'long' })
    await checkConversations(properties, { stores: [store], numRuns: RUNS })
    await store.close()
  }, 300_000)
})
