import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { query, startPgbouncer, startPostgres, type Pgbouncer, type PostgresServer } from '../postgres/server.ts'
import type { GatewayStore } from '../../packages/foldout-mcp/src/gateway/store/contract/gateway-store.ts'
import { createFileStore } from '../../packages/foldout-mcp/src/gateway/store/open.ts'
import { openPostgresStore } from '../../packages/foldout-mcp/src/gateway/store/postgres/store.ts'
import { openAuditFile } from '../../packages/foldout-mcp/src/gateway/policy/audit/audit-file.ts'
import { openAuditLog } from '../../packages/foldout-mcp/src/gateway/policy/audit/audit.ts'
import { createRedactor } from '../../packages/foldout-mcp/src/gateway/policy/secrets/redact.ts'
import {
  ASKER,
  auditSuite,
  createCall,
  createRecord,
  createSnapshot,
  createTool,
  defineServer,
  gatewayStoreSuite,
} from './gateway-store-suite.ts'
import { removeFolder } from '../remove-folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'foldout-store-'))
const KEY = randomBytes(32).toString('base64')
let server: PostgresServer
let pooler: Pgbouncer | undefined
let url: string
let count = 0
const problems: string[] = []

beforeAll(async () => {
  server = await startPostgres()
  url = await server.createDatabase('gateways')
  pooler = await startPgbouncer(server)
}, 300_000)
afterAll(async () => {
  await pooler?.stop()
  await server.stop()
  await removeFolder(folder)
})

interface OpenOptions {
  readonly at?: string
  readonly schema?: string
  readonly key?: string | undefined
  readonly patienceMs?: number
}

function open({ at = url, schema = `store_${++count}`, key = KEY, ...more }: OpenOptions = {}): Promise<GatewayStore> {
  const onProblem = (message: string): void => void problems.push(message)
  return openPostgresStore({ url: at, schema, key, keyFile: undefined, onProblem, ...more })
}

/** Two stores with the same tables, as on two machines. */
async function openTwo(options: OpenOptions = {}): Promise<readonly [GatewayStore, GatewayStore, string]> {
  const schema = `store_${++count}`
  const stores = await Promise.all([open({ schema, ...options }), open({ schema, ...options })])
  onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))))
  return [...stores, schema] as const
}

gatewayStoreSuite('createFileStore', async () => {
  const home = join(folder, String(++count))
  const options = { env: { XDG_DATA_HOME: home }, cache: join(home, 'cache'), data: join(home, 'data') }
  return async () => createFileStore({ ...options, onProblem: (message) => problems.push(message) })
})
gatewayStoreSuite('openPostgresStore', async () => {
  const schema = `store_${++count}`
  return () => open({ schema })
})
// Machines without pgbouncer run the same suite without it.
gatewayStoreSuite('openPostgresStore behind pgbouncer in transaction mode', async () => {
  const schema = `store_${++count}`
  return () => open({ schema, at: pooler?.getUrl('gateways') ?? url })
})

auditSuite('an audit log in a file', async () =>
  openAuditFile({ file: join(folder, `${++count}.jsonl`), maxBytes: 2_000, keep: 100 }),
)
auditSuite('an audit log in PostgreSQL', async () => {
  const store = await open()
  onTestFinished(() => store.close())
  if (!store.audit) throw new Error('The store has no audit log.')
  return store.audit
})

describe('R65 an audit log in PostgreSQL', () => {
  it('has each call once, in order, although the database is unreachable for a while', async () => {
    const [store] = await openTwo({ patienceMs: 100 })
    if (!store.audit) throw new Error('The store has no audit log.')
    const target = { title: 'in the store', canRepeat: true, append: store.audit.append }
    const log = openAuditLog(target, createRedactor({ hide: (text) => text }), (message) => problems.push(message))
    const note = (bytes: number): void =>
      log.note({ client: undefined, preset: '', tool: 'a/b', arguments: {}, outcome: 'ok', durationMs: 1, bytes })
    note(0)
    const { stopped, start } = server.stopForAWhile()
    note(1)
    await stopped
    for (let i = 2; i < 50; i++) note(i)
    await expect.poll(() => problems.some((problem) => problem.startsWith('The audit log in the store'))).toBe(true)
    await start()
    await expect
      .poll(async () => (await store.audit?.search({ limit: 100 }).catch(() => undefined))?.entries.length, {
        timeout: 15_000,
      })
      .toBe(50)
    await log.close()
    const { entries } = await store.audit.search({ limit: 100 })
    expect(entries.map(({ bytes }) => bytes)).toEqual(Array.from({ length: 50 }, (_, i) => 49 - i))
    await store.audit.prune(1)
    expect((await store.audit.search({ limit: 100 })).entries).toHaveLength(50)
  }, 60_000)
})

describe('R65 catalogs in PostgreSQL', () => {
  it.each([
    ['directly', () => url],
    ['where announcements do not arrive', () => pooler?.getUrl('gateways') ?? url],
  ])('are announced to the other gateways: %s', async (_, getUrl) => {
    const [one, other] = await openTwo({ at: getUrl() })
    const notes = defineServer()
    const seen: (string | undefined)[] = []
    const look = async (): Promise<void> => {
      seen.push((await other.catalogs.read(notes))?.snapshot.tools[0]?.name)
    }
    const stop = other.catalogs.watch(notes, () => void look())
    await one.catalogs.write(notes, createSnapshot(createTool('first')))
    await expect.poll(() => seen.at(-1)).toBe('first')
    await one.catalogs.write(notes, createSnapshot(createTool('second')))
    await expect.poll(() => seen.at(-1)).toBe('second')
    stop()
  })

  it('are learned by one gateway, while the others wait for its row', async () => {
    const [one, other, schema] = await openTwo()
    const notes = defineServer()
    const asked: string[] = []
    let finish = (): void => undefined
    const first = one.catalogs.learn(notes, async () => {
      asked.push('one')
      await new Promise<void>((resolve) => (finish = resolve))
      await one.catalogs.write(notes, createSnapshot(createTool('first')))
    })
    await expect.poll(() => asked).toEqual(['one'])
    const second = other.catalogs.learn(notes, async () => void asked.push('other'))
    finish()
    await Promise.all([first, second])
    await other.catalogs.learn(notes, async () => void asked.push('other again'))
    expect(asked).toEqual(['one'])
    expect((await query(url, `SELECT FROM ${schema}.gateway_turns`)).rowCount).toBe(0)
  })

  it('are learned by the next gateway if one fails, or has gone', async () => {
    const [one, other, schema] = await openTwo()
    const notes = defineServer()
    const fail = (): Promise<void> => Promise.reject(new Error('It does not start.'))
    await expect(one.catalogs.learn(notes, fail)).rejects.toThrow('It does not start.')
    let asked = 0
    await other.catalogs.learn(notes, async () => void asked++)
    expect(asked).toBe(1)
    // A gateway that was killed leaves its turn behind, for a while.
    void one.catalogs.learn(notes, () => new Promise(() => undefined))
    const expire = `UPDATE ${schema}.gateway_turns SET until = now() - interval '1 second'`
    await expect.poll(async () => (await query(url, expire)).rowCount).toBe(1)
    await other.catalogs.learn(notes, async () => void asked++)
    expect(asked).toBe(2)
  })

  it('that were changed by hand are ignored, and said to be damaged', async () => {
    const [one, , schema] = await openTwo()
    const notes = defineServer()
    await one.catalogs.write(notes, createSnapshot(createTool('read')))
    await query(url, `UPDATE ${schema}.gateway_catalogs SET snapshot = replace(snapshot, 'Reads', 'Sends')`)
    expect(await one.catalogs.read(notes)).toBeUndefined()
    expect(problems.at(-1)).toContain('damaged')
  })
})

describe('R65 gateways that share a store', () => {
  it('see each other while they run', async () => {
    const [one, other] = await openTwo()
    const info = { host: 'h\u0000', pid: 1, version: '1', url: 'http://127.0.0.1:1/mcp' }
    await one.gateways.join(info)
    await other.gateways.join({ ...info, pid: 2, url: undefined })
    expect(await one.gateways.list()).toMatchObject([
      { host: 'h\uFFFD', pid: 1, state: 'alive', url: info.url },
      { pid: 2, state: 'alive', url: undefined },
    ])
    await other.gateways.leave()
    expect((await one.gateways.list()).map(({ pid }) => pid)).toEqual([1])
  })

  it('count as gone when their connection has ended, and come back', async () => {
    const [one, other] = await openTwo()
    await one.gateways.join({ host: 'h', pid: 1, version: '1', url: undefined })
    await query(
      url,
      `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()`,
    )
    await expect.poll(async () => (await other.gateways.list())[0]?.state, { interval: 20 }).toBe('alive')
  })
})

describe('R65 sign-ins in PostgreSQL', () => {
  const key = 'b'.repeat(40)

  it('cannot be read in the table', async () => {
    const [one, , schema] = await openTwo()
    await one.signIns.replace(key, createRecord('very-secret-token'))
    const { rows } = await query(url, `SELECT encode(record, 'escape') AS text FROM ${schema}.gateway_sign_ins`)
    expect(JSON.stringify(rows)).not.toContain('secret')
  })

  it('need the same key everywhere, and are not read if they were moved or changed', async () => {
    const [one, , schema] = await openTwo()
    const keyless = await open({ schema, key: '' })
    const stranger = await open({ schema, key: randomBytes(32).toString('hex') })
    const heir = await open({ schema, key: `${randomBytes(32).toString('base64')},${KEY}` })
    const wrong = await open({ schema, key: 'c2hvcnQ=' })
    onTestFinished(async () => void (await Promise.all([keyless, stranger, heir, wrong].map((store) => store.close()))))
    expect(await keyless.signIns.read(key)).toBeUndefined()
    await expect(keyless.signIns.replace(key, createRecord('x'))).rejects.toThrow(/openssl rand -base64 32/)
    await expect(wrong.signIns.replace(key, createRecord('x'))).rejects.toThrow(/must have 32 bytes/)
    await one.signIns.replace(key, createRecord('mine'))
    await expect(stranger.signIns.read(key)).rejects.toThrow(/a different key/)
    expect((await heir.signIns.read(key))?.tokens?.access_token).toBe('mine')
    await heir.signIns.replace(key, createRecord('new'))
    await expect(one.signIns.read(key)).rejects.toThrow(/a different key/)
    const other = 'c'.repeat(40)
    await query(url, `UPDATE ${schema}.gateway_sign_ins SET key = '${other}'`)
    await expect(heir.signIns.read(other)).rejects.toThrow(/changed without the key/)
  })

  it('are renewed from what is known while the database is unreachable, and saved when it is back', async () => {
    const [one, other, schema] = await openTwo()
    await one.signIns.replace(key, createRecord('old'))
    const stamp = await one.signIns.getStamp(key)
    const record = await one.signIns.update(key, async () => {
      // The connection is cut while the authorization server answers: the new token must not be lost.
      await query(url, `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted`)
      return createRecord('new', { issuedAt: 2 })
    })
    expect(record?.tokens?.access_token).toBe('new')
    expect((await one.signIns.read(key))?.tokens?.access_token).toBe('new')
    expect(await one.signIns.getStamp(key)).not.toBe(stamp)
    await expect.poll(async () => (await other.signIns.read(key))?.tokens?.access_token).toBe('new')
    expect(schema).toBeDefined()
  })
})

describe('R65 an unreachable database', () => {
  it('is reported, allows nothing that needs a decision, and is used again when it is back', async () => {
    const [store] = await openTwo({ patienceMs: 200 })
    const call = createCall('delete')
    await store.approvals.ask(call, ASKER)
    await store.approvals.approve(call.id)
    await store.signIns.replace('d'.repeat(40), createRecord('known'))
    const stamp = await store.signIns.getStamp('d'.repeat(40))
    const state = (await store.approvals.beginRound({ binding: 'b' }, ASKER)) ?? ''
    problems.length = 0
    const back = server.stopForAWhile()
    await back.stopped
    const results = await Promise.all([
      store.approvals.use(call.id, call.binding),
      store.approvals.ask(createCall('other'), ASKER),
      store.approvals.beginRound({ binding: 'b' }, ASKER),
      store.approvals.takeRound(state).catch((error: Error) => error.message),
      store.quotas.take({ key: 'k', capacity: 1, refillMs: 1 }, 1).catch((error: Error) => error.message),
      store.signIns.getStamp('d'.repeat(40)),
    ])
    expect(results).toEqual([
      false,
      'not-noted',
      undefined,
      expect.stringContaining('gateway store in PostgreSQL could not'),
      expect.stringContaining('gateway store in PostgreSQL could not'),
      stamp,
    ])
    expect(problems.filter((problem) => problem.startsWith('The store is unreachable.'))).toHaveLength(1)
    await back.start()
    await expect.poll(() => store.approvals.use(call.id, call.binding)).toBe(true)
    expect(await store.approvals.takeRound(state)).toEqual({ binding: 'b' })
    expect(problems.filter((problem) => problem.startsWith('The store is back'))).toHaveLength(1)
  }, 60_000)

  it('gets some time to restart', async () => {
    const [one, other] = await openTwo()
    const call = createCall('delete')
    await one.approvals.ask(call, ASKER)
    const restarted = server.restart('crash')
    await one.approvals.approve(call.id)
    expect(await other.approvals.use(call.id, call.binding)).toBe(true)
    await restarted
  })

  it('is reported at the start, without the password', async () => {
    const at = 'postgres://ada:very-secret-word@127.0.0.1:1/x'
    await expect(open({ at, patienceMs: 100 })).rejects.toThrow(/^The store cannot be used\. (?!.*very-secret-word)/)
  }, 60_000)
})
