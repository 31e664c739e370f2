import { DBOS } from '@dbos-inc/dbos-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPostgres, type PostgresServer } from '../../../../test/postgres/server.ts'
import { engineSuite } from 'foldout/testing/suites'
import { createDbosEngine, type DbosEngine } from './dbos-engine.ts'
import type { DbosSdk } from './sdk.ts'

let server: PostgresServer
let engine: DbosEngine
let url: string

const warnings: string[] = []
const hearWarning = ({ message }: Error): void => void warnings.push(message)

beforeAll(async () => {
  process.on('warning', hearWarning)
  server = await startPostgres()
  url = await server.createDatabase('dbos')
  engine = createDbosEngine({ dbos: DBOS, connectionString: url })
  await expect(engine.serve()).rejects.toMatchObject({ code: 'engine-invalid' })
  DBOS.setConfig({
    name: 'fleet',
    systemDatabaseUrl: `${url}?options=-c%20idle_in_transaction_session_timeout%3D60000`,
    executorID: 'machine-1',
    applicationVersion: '1',
    logLevel: 'error',
  })
  await engine.launch()
  await engine.launch()
  await engine.serve()
}, 300_000)
afterAll(async () => {
  process.off('warning', hearWarning)
  await engine.close()
  await DBOS.shutdown()
  await server.stop()
})

engineSuite('createDbosEngine', async () => engine)

describe('R64 createDbosEngine', () => {
  it('starts without a warning of pg', () => {
    expect(warnings.filter((message) => message.includes('client.query()'))).toEqual([])
  })

  it('R64 rejects a machine without its own name or version, and a second one with the same name', async () => {
    const fake = { registerWorkflow: () => undefined, registerQueue: async () => undefined, isInitialized: () => true }
    const like = (changes: object): DbosEngine =>
      createDbosEngine({
        dbos: { executorID: 'machine-1', applicationVersion: '1', ...fake, ...changes } as unknown as DbosSdk,
        connectionString: url,
      })
    await expect(like({ executorID: 'local' }).serve()).rejects.toMatchObject({ code: 'engine-invalid' })
    await expect(like({ applicationVersion: 'a'.repeat(64) }).serve()).rejects.toMatchObject({ code: 'engine-invalid' })
    await expect(like({}).serve()).rejects.toMatchObject({
      code: 'engine-invalid',
      message: expect.stringContaining("Another process runs as the machine 'machine-1'") as string,
    })
  }, 60_000)
})
