import { definePrompt, defineSection, defineTool, ok, openSession, runAgent } from 'foldout'
import { createLocalEngine, defineRun, startRun } from 'foldout/durable'
import { createPostgresStore } from 'foldout-fleet'
import { callsAll, says, scriptedAdapter } from 'foldout/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPostgres, type PostgresServer } from '../postgres/server.ts'

let server: PostgresServer
let pool: pg.Pool
beforeAll(async () => {
  server = await startPostgres()
  pool = new pg.Pool({ connectionString: await server.createDatabase('turns'), max: 4 })
}, 300_000)
afterAll(async () => {
  await pool.end()
  await server.stop()
})

/** A pool that counts what is sent to the database. */
function countTrips() {
  const trips = { count: 0 }
  const send = <Answer>(job: () => Promise<Answer>): Promise<Answer> => (trips.count++, job())
  const counting = {
    query: (sql: string, values?: unknown[]) => send(() => pool.query(sql, values)),
    async connect() {
      const client = await pool.connect()
      return {
        query: (sql: string, values?: unknown[]) => send(() => client.query(sql, values)),
        release: (error?: Error | boolean) => client.release(error),
      }
    },
  }
  return { trips, counting }
}

const work = defineTool({ name: 'work', description: 'Works.', execute: () => ok('Done.') })
const section = defineSection({ key: 'desk', title: 'Desk', template: 'Work.', tools: [work] })
const prompt = definePrompt({ ns: 't', key: 't', sections: [section] }).bind()
const play = (turns: number) =>
  scriptedAdapter([...Array.from({ length: turns }, () => callsAll(['work', {}], ['work', {}])), says('All done.')])

let sessions = 0
async function countRun(turns: number): Promise<number> {
  const { trips, counting } = countTrips()
  const store = await createPostgresStore({ pool: counting })
  const session = await openSession({ store, id: `plain-${++sessions}` })
  trips.count = 0
  await runAgent(prompt, { adapter: play(turns), session, input: 'Go.' })
  await session.saved()
  return trips.count
}
async function countDurable(turns: number): Promise<number> {
  const { trips, counting } = countTrips()
  const store = await createPostgresStore({ pool: counting })
  const run = defineRun({ name: 'desk', engine: createLocalEngine(), store, prompt, adapter: play(turns) })
  trips.count = 0
  const handle = await startRun(run, { id: `durable-${++sessions}`, input: 'Go.' })
  expect(await handle.result()).toMatchObject({ status: 'completed', text: 'All done.' })
  return trips.count
}

describe('R62 a turn of the model', () => {
  it.each([
    ['of a run in a session', countRun],
    ['of a durable run', countDurable],
  ])('R62 %s costs at most three round trips to PostgreSQL', async (_title, count) => {
    // One-time costs of a run are not part of a turn.
    const [few, many] = [await count(5), await count(25)]
    expect((many - few) / 20).toBeLessThanOrEqual(3)
    expect(many).toBeGreaterThan(few)
  })
})
